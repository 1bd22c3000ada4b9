-- Each clinic of a person once.
SELECT clinic, COUNT(*) FROM (SELECT DISTINCT person, clinic FROM visits) AS t GROUP BY clinic

-- plan
-- unit: person of people
-- limits: 2 rows of a unit in each group, 3 groups of a unit
-- keys: public (clinic) 3
-- count rows: a unit moves 3 groups by at most 2
-- distinct by owner
--   project: person, clinic
--     scan visits: person, clinic
