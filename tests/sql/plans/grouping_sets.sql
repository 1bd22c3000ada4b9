-- Sets are crossed with what stands beside them.
SELECT clinic, urgent, year(day) AS y, COUNT(*) FROM visits
GROUP BY GROUPING SETS ((clinic), (urgent), ()), y

-- plan
-- unit: person of people
-- limits: 2 rows of a unit in each group, 3 groups of a unit
-- keys: public (clinic, y) 3, (y, urgent) 2, (y) 1
-- count rows: a unit moves 6 groups by at most 2
-- project: clinic, urgent, year(day) as y
--   scan visits: clinic, urgent, day
