-- UNION drops the repeated rows of each person.
SELECT COUNT(*) FROM (SELECT person FROM visits UNION SELECT id FROM patients) AS everybody

-- plan
-- unit: person of people
-- limits: 2 rows of a unit in each group, 3 groups of a unit
-- keys: public () 1
-- count rows: a unit moves 1 group by at most 2
-- distinct by owner
--   union all
--     project: person
--       scan visits: person
--     project: id
--       scan patients: id
