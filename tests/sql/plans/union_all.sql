-- A person on both sides is one owner.
SELECT COUNT(DISTINCT who) FROM (
  SELECT person AS who FROM visits UNION ALL SELECT id FROM patients) AS everybody

-- plan
-- unit: person of people
-- limits: 2 rows of a unit in each group, 3 groups of a unit
-- keys: public () 1
-- count units: a unit moves 1 group by at most 1
-- union all
--   project
--     scan visits
--   project
--     scan patients
