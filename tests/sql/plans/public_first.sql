-- A public table may stand first in an inner join: the private one is put first in the plan.
SELECT region, COUNT(*) FROM districts JOIN patients USING (district) GROUP BY region

-- plan
-- unit: id of people
-- limits: 1 row of a unit in each group, 1 group of a unit
-- keys: public (region) 2
-- count rows: a unit moves 1 group by at most 1
-- join on district#1 = district#0
--   scan patients: district
--   scan public districts: district, region
