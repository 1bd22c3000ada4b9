-- Also with the rows of the left preserved; both sides have one owner.
SELECT COUNT(*) FROM patients AS p LEFT JOIN visits AS v ON v.person = p.id WHERE v.clinic IS NULL

-- plan
-- unit: id of people
-- limits: 2 rows of a unit in each group, 3 groups of a unit
-- keys: public () 1
-- count rows: a unit moves 1 group by at most 2
-- filter is_null(clinic)
--   left join by owner
--     at most 1,000 rows of each owner
--       scan patients
--     at most 1,000 rows of each owner
--       scan visits: clinic
