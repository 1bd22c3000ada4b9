-- A column without public keys: groups are selected privately.
SELECT note, clinic, COUNT(*) FROM visits GROUP BY note, clinic

-- plan
-- unit: person of people
-- limits: 2 rows of a unit in each group, 3 groups of a unit
-- keys: private (note, clinic of 3)
-- count rows: a unit moves 3 groups by at most 2
-- scan visits: clinic, note
