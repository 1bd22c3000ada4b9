-- The private side is preserved; rows without a partner are in no group of the public column.
SELECT d.region, COUNT(*) FROM patients AS p LEFT JOIN districts AS d USING (district) GROUP BY 1

-- plan
-- unit: id of people
-- limits: 1 row of a unit in each group, 1 group of a unit
-- keys: public (region) 2
-- count rows: a unit moves 1 group by at most 1
-- left join on district#0 = district#1
--   scan patients: district
--   scan public districts: district, region
