-- The equalities of WHERE are the condition of a join by comma.
SELECT COUNT(*) FROM visits AS v, patients AS p, districts AS d
WHERE v.person = p.id AND p.district = d.district AND d.people > 600

-- plan
-- unit: person of people
-- limits: 2 rows of a unit in each group, 3 groups of a unit
-- keys: public () 1
-- count rows: a unit moves 1 group by at most 2
-- filter (person = id) and (district#2 = district#3) and (people > 600)
--   join on district#2 = district#3
--     join by owner
--       at most 480 rows of each owner, with 48,000 characters of person in all
--         scan visits: person
--       at most 480 rows of each owner, with 48,000 characters of id, district in all
--         scan patients: id, district
--     scan public districts: district, people
