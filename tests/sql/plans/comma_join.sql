-- The equalities of WHERE are the condition of a join by comma.
SELECT COUNT(*) FROM visits AS v, patients AS p, districts AS d
WHERE v.person = p.id AND p.district = d.district AND d.people > 600

-- plan
-- unit: person of people
-- limits: 2 rows of a unit in each group, 3 groups of a unit
-- keys: public () 1
-- count rows: a unit moves 1 group by at most 2
-- join on district#0 = district#1
--   join by owner
--     at most 670 rows of each owner
--       scan visits
--     at most 670 rows of each owner, with 67,000 characters of district in all
--       scan patients: district
--   project: district
--     filter people > 600
--       scan public districts: district, people
