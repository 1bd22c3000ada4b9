-- Public tables may be grouped freely.
SELECT r.size, COUNT(*) FROM patients AS p JOIN districts AS d USING (district)
JOIN (SELECT region, COUNT(*) AS size FROM districts GROUP BY region) AS r USING (region)
GROUP BY r.size

-- plan
-- unit: id of people
-- limits: 1 row of a unit in each group, 1 group of a unit
-- keys: public (size) 2
-- count rows: a unit moves 1 group by at most 1
-- join on region#0 = region#1
--   project: region
--     join on district#0 = district#1
--       scan patients: district
--       scan public districts: district, region
--   project: region, total_0 as size
--     totals by (region): count_rows(*)
--       scan public districts: region
