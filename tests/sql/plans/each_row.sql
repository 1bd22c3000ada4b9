-- A table in which each row is a unit.
SELECT kind, AVG(value) FROM readings GROUP BY kind

-- plan
-- unit: a row of sensors
-- limits: 1 row of a unit in each group, 1 group of a unit
-- keys: public (kind) 2
-- sum value in 0 to 50 by 1 around 25 where not(is_null(value)): a unit moves 1 group by at most 25
-- count rows where not(is_null(value)): a unit moves 1 group by at most 1
-- scan readings: kind, value
