-- One public table, joined twice, is two: its pairs are all pairs.
SELECT a.region, b.region AS other, COUNT(*)
FROM patients AS p JOIN districts AS a ON p.district = a.district
JOIN districts AS b ON b.people > a.people
GROUP BY 1, 2

-- plan
-- unit: id of people
-- limits: 1 row of a unit in each group, 1 group of a unit
-- keys: public (region#2, region#4) 4
-- count rows: a unit moves 1 group by at most 1
-- join on people#5 > people#3
--   at most 150,000 rows of each owner, with 15,000,000 characters of district#0 in all
--     join on district#0 = district#1
--       scan patients: district
--       scan public districts: district, region, people
--   scan public districts: region, people
