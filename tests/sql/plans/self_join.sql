-- Pairs of visits of one person.
SELECT COUNT(*) FROM visits AS a JOIN visits AS b USING (person) WHERE a.day < b.day

-- plan
-- unit: person of people
-- limits: 2 rows of a unit in each group, 3 groups of a unit
-- keys: public () 1
-- count rows: a unit moves 1 group by at most 2
-- join by owner on day#0 < day#1
--   at most 1,000 rows of each owner
--     scan visits: day
--   at most 1,000 rows of each owner
--     scan visits: day
