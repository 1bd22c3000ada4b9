-- DuckDB's own words for the same.
SELECT COUNT(*) FROM visits SEMI JOIN patients ON person = id ANTI JOIN clinics USING (clinic)

-- plan
-- unit: person of people
-- limits: 2 rows of a unit in each group, 3 groups of a unit
-- keys: public () 1
-- count rows: a unit moves 1 group by at most 2
-- anti join on clinic#0 = clinic#1
--   semi join by owner
--     at most 1,000 rows of each owner
--       scan visits: clinic
--     at most 1,000 rows of each owner
--       scan patients
--   scan public clinics: clinic
