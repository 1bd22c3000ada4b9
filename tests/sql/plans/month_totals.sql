-- With a period the month is a part of the unit, by position or by alias.
SELECT COUNT(*) FROM (
  SELECT person, date_trunc('month', day) AS month, SUM(km) AS km FROM trips GROUP BY 1, month)
WHERE km > 100

-- plan
-- unit: person and month of travel
-- limits: 5 rows of a unit in each group, 1 group of a unit
-- keys: public () 1
-- count rows: a unit moves 1 group by at most 5
-- filter km > 100
--   project: total_0 as km
--     totals by (owner, person, key_1): sum(km)
--       project: person, km, date_trunc('month', day) as key_1
--         scan trips: person, day, km
