-- The favourite clinic of each person: a window over totals.
SELECT clinic, COUNT(*) FROM (
  SELECT person, clinic, RANK() OVER (PARTITION BY person ORDER BY COUNT(*) DESC) AS place
  FROM visits GROUP BY person, clinic) AS t WHERE place = 1 GROUP BY clinic

-- plan
-- unit: person of people
-- limits: 2 rows of a unit in each group, 3 groups of a unit
-- keys: public (clinic) 3
-- count rows: a unit moves 3 groups by at most 2
-- filter place = 1
--   project: clinic, window as place
--     window rank() over (owner, person order by total_0 desc)
--       totals by (owner, person, clinic): count_rows(*)
--         scan visits: person, clinic
