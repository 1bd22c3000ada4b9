-- Totals of each person, then an answer about people.
WITH totals AS (SELECT person, COUNT(*) AS n, AVG(cost) AS cost, MAX(age) AS age
  FROM visits GROUP BY person HAVING COUNT(*) FILTER (WHERE urgent) > 1)
SELECT AVG(age), COUNT(*) FROM totals WHERE n * 2 > 6

-- plan
-- unit: person of people
-- limits: 2 rows of a unit in each group, 3 groups of a unit
-- keys: public () 1
-- sum age in 0 to 100 by 1 around 50 where not(is_null(age)): a unit moves 1 group by at most 100
-- count rows: a unit moves 1 group by at most 2
-- count rows where not(is_null(age)): a unit moves 1 group by at most 2
-- filter (n * 2) > 6
--   project: total_0 as n, total_2 as age
--     filter total_3 > 1
--       totals by (owner, person): count_rows(*), max(age), count(case(urgent, 1, NULL))
--         scan visits: person, urgent, age
