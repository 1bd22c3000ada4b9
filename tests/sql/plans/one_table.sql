-- The plainest question: public keys of one table.
SELECT clinic, COUNT(*) AS visits FROM visits GROUP BY clinic

-- plan
-- unit: person of people
-- limits: 2 rows of a unit in each group, 3 groups of a unit
-- keys: public (clinic) 3
-- count rows: a unit moves 3 groups by at most 2
-- scan visits: clinic
