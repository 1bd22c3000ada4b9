-- Aliases, positions and names in any case mean the same; a column comes before an alias.
SELECT V.CLINIC AS c, month(v.Day) AS m, COUNT(*) FROM Visits AS v GROUP BY c, 2

-- plan
-- unit: person of people
-- limits: 2 rows of a unit in each group, 3 groups of a unit
-- keys: public (clinic, m) 36
-- count rows: a unit moves 3 groups by at most 2
-- project: clinic, month(day) as m
--   scan visits: clinic, day
