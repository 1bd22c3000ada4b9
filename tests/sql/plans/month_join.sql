-- A unit with a period: the whole unit is the person and the month.
SELECT COUNT(*) FROM trips AS a JOIN trips AS b
ON a.person = b.person AND date_trunc('month', a.day) = date_trunc('month', b.day) AND a.km < b.km

-- plan
-- unit: person and month of travel
-- limits: 5 rows of a unit in each group, 1 group of a unit
-- keys: public () 1
-- count rows: a unit moves 1 group by at most 5
-- join by owner on (date_trunc('month', day#0) = date_trunc('month', day#2)) and (km#1 < km#3)
--   at most 940 rows of each owner
--     scan trips: day, km
--   at most 940 rows of each owner
--     scan trips: day, km
