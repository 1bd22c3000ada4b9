-- An expression of one public table has public values too.
SELECT upper(region) AS r, COUNT(*) FROM patients JOIN districts USING (district) GROUP BY r

-- plan
-- unit: id of people
-- limits: 1 row of a unit in each group, 1 group of a unit
-- keys: public (r) 2
-- count rows: a unit moves 1 group by at most 1
-- project: upper(region) as r
--   join on district#0 = district#1
--     scan patients: district
--     scan public districts: district, region
