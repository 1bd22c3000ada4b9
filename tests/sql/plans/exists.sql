-- Conditions on the sub-query alone stay in it; the others pair its rows.
SELECT COUNT(*) FROM visits AS v WHERE EXISTS (
  SELECT * FROM visits AS w WHERE w.person = v.person AND w.day > v.day AND w.urgent)

-- plan
-- unit: person of people
-- limits: 2 rows of a unit in each group, 3 groups of a unit
-- keys: public () 1
-- count rows: a unit moves 1 group by at most 2
-- semi join by owner on day#1 > day#0
--   at most 1,000 rows of each owner
--     scan visits: day
--   at most 1,000 rows of each owner
--     project: day
--       filter urgent
--         scan visits: urgent, day
