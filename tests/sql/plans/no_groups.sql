-- Without GROUP BY there is one group with everybody in it.
SELECT SUM(age) FROM visits WHERE urgent AND age >= 18

-- plan
-- unit: person of people
-- limits: 2 rows of a unit in each group, 3 groups of a unit
-- keys: public () 1
-- sum age in 0 to 100 by 1 around 0 where not(is_null(age)): a unit moves 1 group by at most 200
-- filter urgent and (age >= 18)
--   scan visits: urgent, age
