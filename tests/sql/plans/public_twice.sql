-- One public table, joined twice, is two: its pairs are all pairs.
SELECT a.region, b.region AS other, COUNT(*)
FROM patients AS p JOIN districts AS a ON p.district = a.district
JOIN districts AS b ON b.people > a.people
GROUP BY 1, 2

-- plan
-- unit: id of people
-- limits: 1 row of a unit in each group, 1 group of a unit
-- keys: public (region#0, region#2) 4
-- count rows: a unit moves 1 group by at most 1
-- join on people#3 > people#1
--   at most 160,000 rows of each owner
--     project: region, people
--       join on district#0 = district#1
--         scan patients: district
--         scan public districts: district, region, people
--   scan public districts: region, people
