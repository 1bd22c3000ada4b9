-- QUALIFY filters after windows; a window can have a name.
SELECT COUNT(*) FROM (SELECT person, LAG(day) OVER w AS before FROM visits
  WINDOW w AS (PARTITION BY person ORDER BY day) QUALIFY ROW_NUMBER() OVER w > 1)

-- plan
-- unit: person of people
-- limits: 2 rows of a unit in each group, 3 groups of a unit
-- keys: public () 1
-- count rows: a unit moves 1 group by at most 2
-- project
--   filter window > 1
--     window row_number() over (owner, person order by day)
--       scan visits: person, day
