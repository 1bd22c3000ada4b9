-- Every grouping set has its own groups, and a unit reaches into each of them.
SELECT clinic, urgent, COUNT(*) FROM visits GROUP BY ROLLUP (clinic, urgent)

-- plan
-- unit: person of people
-- limits: 2 rows of a unit in each group, 3 groups of a unit
-- keys: public (clinic, urgent) 6, (clinic) 3, () 1
-- count rows: a unit moves 7 groups by at most 2
-- scan visits: clinic, urgent
