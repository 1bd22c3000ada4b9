-- The keys of a public table come from its rows; the pair (district, region) is one of its rows.
SELECT d.region, p.district, COUNT(*)
FROM patients AS p JOIN districts AS d ON p.district = d.district
GROUP BY d.region, p.district

-- plan
-- unit: id of people
-- limits: 1 row of a unit in each group, 1 group of a unit
-- keys: public (region, district#0) 3
-- count rows: a unit moves 1 group by at most 1
-- join on district#0 = district#1
--   scan patients: district
--   scan public districts: district, region
