-- Two private tables are joined by their owner.
SELECT clinic, AVG(2025 - born) AS age
FROM visits AS v JOIN patients AS p ON v.person = p.id AND v.age > 3 GROUP BY clinic

-- plan
-- unit: person of people
-- limits: 2 rows of a unit in each group, 3 groups of a unit
-- keys: public (clinic) 3
-- sum 2025 - born in 0 to 125 by 1 around 62 where not(is_null(2025 - born)): a unit moves 3 groups by at most 126
-- count rows where not(is_null(2025 - born)): a unit moves 3 groups by at most 2
-- join by owner
--   at most 810 rows of each owner
--     project: clinic
--       filter age > 3
--         scan visits: clinic, age
--   at most 810 rows of each owner
--     scan patients: born
