"""Explanations: every number in them is derived, true, and understandable to its reader."""

import json
import math
from fractions import Fraction

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.accounting.losses.group import group
from discreet.accounting.losses.loss_json import loss_from_json
from discreet.core.event import ComposedEvent
from discreet.core.loss import Approximate, ApproximateZcdp, Pure, Zcdp
from discreet.core.mechanism_event import DiscreteGaussianEvent, DiscreteLaplaceEvent
from discreet.core.terminal_text import text_steps
from discreet.curator.explanation.kept_explanation import groups_sentence
from discreet.curator.price.allocate import allocate
from discreet.curator.price.price import price
from discreet.mechanisms.stability.thresholded_keys import ThresholdedKeys
from discreet.project.costs import costs, first_cost, group_costs
from discreet.roles.connection import connect
from discreet.tables.catalog import PeriodLength
from discreet.tables.column import ColumnType
from discreet.tables.expression import FieldValue
from discreet.tables.keyset import KeySet, PublicKeys
from discreet.tables.plans.aggregate import CountDistinct, CountRows, CountUnits
from discreet.tables.plans.sums import SumSquares
from tests.support.house.narrow import delta_of, epsilon_of
from tests.support.projects.bounded_plans import (
    AGE,
    FOUR_KEYS,
    PRIVATE,
    age_quantile,
    ages,
    equal_weights,
    make_plan,
)
from tests.support.projects.priced_plans import keys_of

AGE_FIELD = FieldValue(ColumnType.INTEGER, 2)

# ---- Derivations: the number at the end is the contribution that the accountants use.


@pytest.mark.parametrize(
    "aggregate",
    [
        CountRows(),
        CountUnits(),
        CountDistinct(value=AGE_FIELD),
        ages(),
        ages(centre=50),
        SumSquares(value=AGE_FIELD, bounds=AGE, centre=50, offset=1250),
    ],
)
@pytest.mark.parametrize("keys", [FOUR_KEYS, PRIVATE])
def test_a_derivation_ends_in_the_contribution(aggregate, keys):
    plan = make_plan(aggregate, keys=keys)
    text = aggregate.derivation(plan.reach(), "declared")
    total = plan.contributions()[0].l1  # steps are 1 here
    assert f" = {total}" in text


def test_a_quantile_says_how_many_values_one_unit_has():
    text = age_quantile().derivation(make_plan(age_quantile()).reach())
    assert "at most 2 values to each of at most 1 group" in text


def test_groups_are_counted_over_all_grouping_sets():
    total = KeySet(places=(), rows=((),))
    rolled = PublicKeys(fields=(1,), sets=(*FOUR_KEYS.sets, total))
    assert "3 + 1 = 4" in groups_sentence(make_plan(CountRows(), keys=rolled))
    assert "at most 3 of the 4" in groups_sentence(make_plan(CountRows(), keys=FOUR_KEYS))
    assert "there is 1 group" in groups_sentence(make_plan(CountRows()))
    assert "at most 3 groups" in groups_sentence(make_plan(CountRows(), keys=PRIVATE))


# ---- Costs in every measure, against formulas by hand.


def one(event) -> ComposedEvent:
    return ComposedEvent.of([event])


def test_costs_of_laplace_noise():
    event = one(DiscreteLaplaceEvent(scale=2, distance=1))
    pure, rho, *pairs = [cost.loss for cost in costs(event)]
    assert (pure, rho) == (Pure("1/2"), Zcdp("1/8"))
    # One step of discrete Laplace noise is randomised response: δ at ε' is known in closed form.
    for pair in pairs:
        top, bottom = math.exp(0.5), math.exp(float(epsilon_of(pair)))
        assert float(delta_of(pair)) >= (top - bottom) / (1 + top) - 1e-15
        assert epsilon_of(pair) <= Fraction(1, 2)


def test_costs_of_gaussian_noise():
    event = one(DiscreteGaussianEvent(sigma_squared=4, distance_squared=1))
    rho, *pairs = [cost.loss for cost in costs(event)]
    assert rho == Zcdp("1/8") == first_cost(event)
    for pair in pairs:
        classic = 1 / 8 + 2 * math.sqrt(math.log(1 / float(delta_of(pair))) / 8)
        assert 0 < float(epsilon_of(pair)) < classic


def test_costs_of_private_keys():
    plan = make_plan(CountUnits(), keys=PRIVATE)
    given = Approximate(1, "1e-7")
    found = price(plan, allocate(plan, equal_weights(plan), given), given)
    own, concentrated, *pairs = [cost.loss for cost in costs(found.event)]
    assert own == found.loss
    assert isinstance(concentrated, ApproximateZcdp)
    assert concentrated.delta == delta_of(own)
    assert concentrated.rho <= Fraction(1, 2)
    assert [delta_of(pair) for pair in pairs] == [Fraction(1, 10**6)]  # 1e-9 is below its own δ
    assert all(cost.theorem for cost in costs(found.event))


def test_several_periods_of_one_person():
    laplace = one(DiscreteLaplaceEvent(scale=2, distance=1))
    assert group_costs(laplace, PeriodLength.DAY) == ((7, Pure("7/2")), (30, Pure(15)))
    gaussian = one(DiscreteGaussianEvent(sigma_squared=4, distance_squared=1))
    assert group_costs(gaussian, PeriodLength.WEEK) == ((4, Zcdp(2)), (52, Zcdp(338)))
    assert [size for size, _ in group_costs(laplace, PeriodLength.MONTH)] == [3, 12]


def test_periods_of_private_keys_are_bounded_or_not_at_all():
    plan = make_plan(CountUnits(), keys=PRIVATE)
    small, large = Approximate("1/10", "1e-9"), Approximate(4, "1e-6")
    for given in (small, large):
        found = price(plan, allocate(plan, equal_weights(plan), given), given)
        week, month = (loss for _, loss in group_costs(found.event, PeriodLength.DAY))
        if given is large:
            assert month is None
        else:
            assert week == group(found.loss, 7).loss
            assert delta_of(week) > 7 * delta_of(found.loss)


# ---- From end to end.

DECLARATION = """
[id_spaces.people]
unit = "a person"
budget = { epsilon = 3, delta = 1e-6 }

[tables.visits]
source = "visits.parquet"
id_space = "people"
unit = UNIT
rows_per_group = 2
groups_per_unit = 3

[tables.visits.columns]
person = { type = "integer" }
day = { type = "date", min = 2025-01-01, max = 2025-12-31 }
clinic = { type = "text", keys = ["a", "b", "c", "d"] }
city = { type = "text" }
age = { type = "integer", min = 0, max = 100 }

[public_tables.cities]
source = "cities.parquet"

[public_tables.cities.columns]
city = { type = "text" }
region = { type = "text" }
"""
PERSON, ROW = '"person"', "{ each_row = true }"
PERSON_DAY = '{ column = "person", period = "day", date = "day" }'


@pytest.fixture
def project(tmp_path):
    def make(unit: str = PERSON):
        (tmp_path / "discreet.toml").write_text(DECLARATION.replace("UNIT", unit))
        text = pa.array([], pa.string())
        days, whole = pa.array([], pa.date32()), pa.array([], pa.int64())
        rows = {"person": whole, "day": days, "clinic": text, "city": text, "age": whole}
        pq.write_table(pa.table(rows), tmp_path / "visits.parquet")
        cities = pa.table({"city": ["x", "y"], "region": ["north", "south"]})
        pq.write_table(cities, tmp_path / "cities.parquet")
        return tmp_path

    return make


def explained(folder, sql, **asked):
    with connect(folder) as connection:
        found = connection.explain(sql, **asked)
        json.dumps(found.to_json())
        return found, dict(found.steps())


def test_public_keys(project):
    found, steps = explained(
        project(),
        "SELECT clinic, COUNT(*) AS n, SUM(age) AS s FROM visits GROUP BY clinic",
        epsilon=1,
    )
    assert "a person" in steps["Protects"]
    assert "person" in steps["Protects"]
    assert steps["Reads"] == "visits (private)"
    assert "4 public keys of clinic" in steps["Groups"]
    assert "2 rows" in steps["Limits"]
    assert "declared" in steps["SUM(age)"]
    assert "100 × 2 rows a group × 3 groups = 600" in steps["SUM(age)"]
    assert "scale 1200 costs ε = 0.5" in steps["SUM(age)"]
    assert "ε = 3" in steps["Left"]
    assert "ε = 2" in steps["Left"]
    data = found.to_json()
    assert data["errors"] == {"n": 36, "s": 3595}
    assert data["keys"] == {"columns": ["clinic"], "kind": "public", "count": 4, "sets": 1}
    assert data["limits"]["groups_reached"] == 3
    losses = [loss_from_json(item["loss"]) for item in data["costs"]]
    assert losses[:2] == [Pure(1), Zcdp("1/4")]
    assert data["periods"] == []
    assert loss_from_json(data["left_after"]) == Approximate(2, "1e-6")


def test_an_answer_that_costs_nothing_costs_nothing_in_other_measures(project):
    folder, sql = project(), "SELECT COUNT(*) AS n FROM visits"
    found, _ = explained(folder, sql, epsilon=1)
    assert "in other measures: " in str(found)
    with connect(folder) as connection:
        connection.sql(sql, epsilon=1)
    found, steps = explained(folder, sql, epsilon=1)
    assert steps["Costs"] == "nothing: this was answered before"
    assert "in other measures" not in str(found)


def test_private_keys(project):
    found, steps = explained(
        project(),
        "SELECT city, COUNT(DISTINCT person) AS n FROM visits GROUP BY city",
        epsilon=1,
        delta="1e-7",
    )
    keys = found.to_json()["keys"]
    mechanism = keys_of(found.priced)
    assert isinstance(mechanism, ThresholdedKeys)
    assert keys["threshold"] == mechanism.threshold
    assert mechanism.release_probability(keys["units_needed"]) >= Fraction(95, 100)
    assert str(keys["threshold"]) in steps["Groups"]
    assert "no further cost" in steps["COUNT(DISTINCT unit)"]
    assert loss_from_json(keys["cost"]) == found.cost


def test_joins_say_that_limits_hold_after_them(project):
    sql = "SELECT region, COUNT(*) FROM visits JOIN cities USING (city) GROUP BY region"
    _, steps = explained(project(), sql, epsilon=1)
    assert "limits hold after the join" in steps["Joins"]
    assert steps["Reads"] == "visits (private), cities (public)"


def test_how_many_rows_are_looked_at_is_said_where_it_is_limited(project):
    folder = project()
    found, steps = explained(folder, "SELECT COUNT(*) FROM visits", epsilon=1)
    assert "Looks at" not in steps
    assert found.to_json()["limits"]["rows_looked_at"] is None
    later = "EXISTS (SELECT 1 FROM visits AS w WHERE w.person = v.person AND w.day > v.day)"
    found, steps = explained(folder, f"SELECT COUNT(*) FROM visits AS v WHERE {later}", epsilon=1)
    assert steps["Looks at"].startswith("1,000 rows of one person at most, so that nobody's rows")
    assert found.to_json()["limits"]["rows_looked_at"] == 1_000
    pairs = "visits AS v JOIN visits AS w USING (person) WHERE v.city <> w.city"
    _, steps = explained(folder, f"SELECT COUNT(*) FROM {pairs}", epsilon=1)
    assert "(with 100,000 characters of long texts in all)" in steps["Looks at"]
    dear = " OR ".join(f"city LIKE '%{'_' * 90}{i}%'" for i in range(3))
    _, steps = explained(folder, f"SELECT COUNT(*) FROM visits WHERE {dear}", epsilon=1)
    assert "Joins" not in steps
    assert "characters of long texts in all), so that nobody's rows can" in steps["Looks at"]


def test_a_person_day_shows_the_loss_of_a_week_and_a_month(project):
    found, steps = explained(project(PERSON_DAY), "SELECT COUNT(*) FROM visits", epsilon="1/10")
    assert "each day" in steps["Protects"]
    periods = found.to_json()["periods"]
    assert [(item["count"], loss_from_json(item["loss"])) for item in periods] == [
        (7, Pure("7/10")),
        (30, Pure(3)),
    ]
    assert "over any 7 days of the same person: ε = 0.7" in str(found)


def test_rows_that_are_units_are_named_as_such(project):
    _, steps = explained(project(ROW), "SELECT COUNT(*) FROM visits", epsilon=1)
    assert "each row by itself" in steps["Protects"]
    assert "not for all of them together" in steps["Protects"]


def test_averages_and_medians_say_what_their_error_depends_on(project):
    found, _ = explained(
        project(), "SELECT AVG(age) AS mean, MEDIAN(age) AS mid FROM visits", epsilon=1
    )
    errors = [text for heading, text in found.steps() if heading == "Error"]
    assert "how many rows" in errors[0]
    assert "(10,000 rows)" in errors[0]
    assert "rank" in errors[1]
    data = found.to_json()
    assert data["errors"] == {"mean": None, "mid": None}
    assert data["errors_by_group_size"]["mean"]["10000"] < 1
    assert {column["error_in"] for column in data["columns"]} == {"ranks", "values"}


def test_accuracy_and_what_it_rests_on(project):
    found, steps = explained(project(), "SELECT COUNT(*) AS n FROM visits", accuracy="±20 at 95 %")
    assert found.to_json()["errors"]["n"] <= 20
    assert found.to_json()["accuracy"] == "± 20 at 95 %"
    assert "the data had no part" in steps["Accuracy"]


def test_too_much_is_said_to_be_too_much(project):
    found, steps = explained(project(), "SELECT COUNT(*) FROM visits", epsilon=4)
    assert not found.is_affordable()
    assert "too much" in steps["Costs"]
    assert found.to_json()["left_after"] is None


def test_nothing_is_spent_or_read_by_explaining(project):
    folder = project()
    (folder / "visits.parquet").unlink()
    with connect(folder) as connection:
        connection.explain("SELECT COUNT(*) FROM visits", epsilon=1)
        assert connection.budget()[0].spent == Approximate(0, 0)


def test_lines_keep_numbers_and_their_signs_together():
    text = " ".join(["word"] * 18 + ["± 36", "95 % of", "ε = 1", "end"])
    for width in range(60, 100):
        shown = text_steps([("x" * (width - 60), text)])
        assert all(len(line) <= 100 for line in shown.splitlines())
        for part in ("± 36", "95 %", "ε = 1"):
            assert part in shown
