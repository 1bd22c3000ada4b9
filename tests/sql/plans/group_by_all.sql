-- GROUP BY ALL groups by the items that have no aggregate.
SELECT clinic, urgent, COUNT(*), 1 AS one FROM visits GROUP BY ALL

-- plan
-- unit: person of people
-- limits: 2 rows of a unit in each group, 3 groups of a unit
-- keys: public (clinic, urgent) 6
-- count rows: a unit moves 3 groups by at most 2
-- scan visits: clinic, urgent
