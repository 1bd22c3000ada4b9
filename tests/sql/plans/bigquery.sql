-- The clause of BigQuery, with limits of its own.
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, delta = 1e-7, max_groups_contributed = 1,
  max_rows_contributed = 4, privacy_unit_column = person,
  group_selection_strategy = LAPLACE_THRESHOLD)
clinic, COUNT(*) FROM visits GROUP BY clinic

-- plan
-- unit: person of people
-- limits: 4 rows of a unit in each group, 1 group of a unit
-- keys: private (clinic of 3)
-- count rows: a unit moves 1 group by at most 4
-- scan visits: clinic
