-- NOT IN with a column that is never NULL, and NOT EXISTS.
SELECT COUNT(*) FROM visits AS v WHERE person NOT IN (SELECT id FROM patients)
AND NOT EXISTS (SELECT 1 FROM clinics AS c WHERE c.clinic = v.clinic)

-- plan
-- unit: person of people
-- limits: 2 rows of a unit in each group, 3 groups of a unit
-- keys: public () 1
-- count rows: a unit moves 1 group by at most 2
-- anti join on clinic#1 = clinic#0
--   anti join by owner
--     at most 1,000 rows of each owner
--       scan visits: clinic
--     at most 1,000 rows of each owner
--       project
--         scan patients
--   scan public clinics: clinic
