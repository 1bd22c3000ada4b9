-- A name given by WITH hides a table, and sees the ones before it.
WITH visits AS (SELECT * EXCLUDE (note, weight) FROM visits WHERE urgent),
old (who, years) AS (SELECT v.person, v.age + 1 FROM visits AS v)
SELECT SUM(years) FROM old

-- plan
-- unit: person of people
-- limits: 2 rows of a unit in each group, 3 groups of a unit
-- keys: public () 1
-- sum years in 1 to 101 by 1 around 0 where not(is_null(years)): a unit moves 1 group by at most 202
-- project: v.age + 1 as years
--   project: age + 1 as v.age + 1
--     project: age
--       filter urgent
--         scan visits: urgent, age
