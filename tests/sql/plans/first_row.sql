-- The first visit of each person.
SELECT clinic, COUNT(*) FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY person ORDER BY day DESC) AS place FROM visits)
WHERE place = 1 GROUP BY clinic

-- plan
-- unit: person of people
-- limits: 2 rows of a unit in each group, 3 groups of a unit
-- keys: public (clinic) 3
-- count rows: a unit moves 3 groups by at most 2
-- filter place = 1
--   project: clinic, window as place
--     window row_number() over (owner, person order by day desc)
--       scan visits: person, clinic, day
