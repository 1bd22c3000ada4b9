-- IN over a private table names the unit on both sides.
SELECT COUNT(*) FROM visits WHERE person IN (SELECT id FROM patients WHERE born >= 1990)
AND clinic IN (SELECT clinic FROM clinics WHERE town = 'Barton')

-- plan
-- unit: person of people
-- limits: 2 rows of a unit in each group, 3 groups of a unit
-- keys: public () 1
-- count rows: a unit moves 1 group by at most 2
-- semi join on clinic#0 = clinic#1
--   semi join by owner
--     at most 1,000 rows of each owner
--       scan visits: clinic
--     at most 1,000 rows of each owner
--       project
--         filter born >= 1990
--           scan patients: born
--   project: clinic
--     filter town = 'Barton'
--       scan public clinics: clinic, town
