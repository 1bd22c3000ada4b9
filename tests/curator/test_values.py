"""Value histograms: one unit moves one cell of each, and what is said of clamps is true."""

import datetime
import json
from fractions import Fraction
from itertools import pairwise

import pytest
from attrs import evolve

from discreet.core.errors import InvalidArgument
from discreet.core.loss import Pure
from discreet.curator.profile.profile import profile_plans
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.releases.value_bins import ABOVE, MEASURED, NO_VALUE, value_bins
from discreet.releases.values import read_values
from discreet.roles.connection import connect
from discreet.roles.owner import own
from discreet.sql.rows.fields import projected
from discreet.tables.catalog import Limits
from discreet.tables.column import Bounds, Column, ColumnType, DateRange
from discreet.tables.expression import FieldValue
from discreet.tables.functions.call import call
from discreet.tables.keyset import PublicKeys
from discreet.tables.plans.aggregate import CountRows
from discreet.tables.relations.relation import Filter, Projection
from discreet.tables.relations.scan import Scan
from tests.support.projects.clinic import visit, write_project
from tests.support.projects.memory import MemoryEngine, reveal
from tests.support.projects.neighbours import check_neighbours
from tests.support.projects.neighbours_replay import replay
from tests.support.projects.random_catalogs import UNIT_KINDS

DAY = datetime.date(2024, 1, 1)


def rows_of(units: int):
    """Unit i has values from i - 1 to i + 1 quarters; every tenth has none."""
    for i in range(units):
        for j in (-1, 0, 1):
            cost = None if i % 10 == 0 else (i % 40 + j) / 4
            yield visit(f"p{i}", cost=cost, day=DAY + datetime.timedelta(days=i + j))


@pytest.fixture
def folder(tmp_path):
    return write_project(tmp_path, rows_of(200), epsilon="1000")


def nearly_exact(folder, *values, **options):
    with own(folder) as owner:
        return owner.profile("visits", epsilon=500, keys=[], values=values, **options)


# ---- Bins.

COLUMNS = (
    Column(name="free", type=ColumnType.INTEGER),
    Column(name="real", type=ColumnType.REAL),
    Column(name="short", type=ColumnType.INTEGER, bounds=Bounds(lower=-3, upper=5)),
    Column(name="long", type=ColumnType.REAL, bounds=Bounds(lower=0, upper=10**6, step="0.01")),
    Column(name="off", type=ColumnType.INTEGER, bounds=Bounds(lower=500, upper=1_000)),
    Column(name="minus", type=ColumnType.REAL, bounds=Bounds(lower=-900, upper=-100, step="0.5")),
    Column(name="day", type=ColumnType.DATE),
    Column(name="year", type=ColumnType.DATE, dates=DateRange(first=DAY, last=DAY.replace(2025))),
    Column(
        name="ever",
        type=ColumnType.DATE,
        dates=DateRange(first=datetime.date.min, last=datetime.date.max),
    ),
)


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: column.name)
def test_bins_cover_the_range_and_are_few(column):
    bins = value_bins(column)
    assert list(bins.ends) == sorted(set(bins.ends))
    assert len(bins.ends) <= 320 or column.name == "ever"
    if column.bounds is not None:
        assert (bins.lowest, bins.highest) == (column.bounds.lower, column.bounds.upper)
    if column.name in ("free", "real", "long"):
        # What is far from zero is known to a fifth of its size.
        far = [end for end in bins.ends if end > 20]
        assert all(after <= 1.2 * end + 1 for end, after in pairwise(far))


def test_other_columns_have_no_bins():
    with pytest.raises(InvalidArgument, match="no order"):
        value_bins(Column(name="note", type=ColumnType.TEXT))


# ---- Each unit is in one bin of each histogram.


def test_each_unit_is_in_the_bin_of_its_largest_and_of_its_smallest_value(folder):
    found = nearly_exact(folder, "cost", "day", "age")
    cost = found.values["cost"]
    assert cost.without == (20, 20)
    assert sum(cost.largest) == sum(cost.smallest) == 180
    largest = dict(zip((*cost.bins.ends, ABOVE), cost.largest, strict=True))
    smallest = dict(zip((*cost.bins.ends, ABOVE), cost.smallest, strict=True))
    # Twenty units have 4 to 6 quarters at most; those with a zero in the middle go below zero.
    assert largest[6] == 5
    assert smallest[4] == 5
    assert smallest[-1] == 0
    assert largest[40] == 5
    assert sum(found.values["day"].largest) == 200
    assert found.values["day"].smallest[0] == 0
    age = found.values["age"]
    assert max(age.largest) == 200


def test_what_clamps_cut_follows(folder):
    found = nearly_exact(folder, "cost")
    units = [i % 40 for i in range(200) if i % 10]
    for low, high in ((0, 10), (0, 5), (2, 8), (Fraction(1, 3), "7.1"), (9, 10)):
        cut = sum((i + 1) / 4 > Fraction(high) or (i - 1) / 4 < low for i in units) / len(units)
        share = found.clamped("cost", low, high)
        assert share.low <= cut <= share.high
    assert found.clamped("COST", 0, 5).about == pytest.approx(0.5, abs=0.02)
    values = found.values_of("cost")
    assert values.largest_quantile(0.5) == values.smallest_quantile(0.5) == 5
    assert values.largest_quantile(0.99) == 10


def test_dates_have_shares_and_quantiles(folder):
    found = nearly_exact(folder, "day")
    share = found.clamped("day", datetime.date(2024, 1, 1), datetime.date(2024, 12, 31))
    assert share.low <= 1 / 200 <= share.high
    assert found.values["day"].largest_quantile(0.9) == datetime.date(2024, 12, 31)
    with pytest.raises(InvalidArgument, match="another type"):
        found.clamped("day", 0, 10)


def test_an_empty_clamp_is_refused(folder):
    with pytest.raises(InvalidArgument, match="empty"):
        nearly_exact(folder, "cost").clamped("cost", 5, 4)


def test_noise_never_proves_that_nobody_is_beyond(tmp_path):
    """Without a declared range the upper end of a share takes in what is beyond all bins."""
    column = Column(name="free", type=ColumnType.INTEGER)
    bins = value_bins(column)
    units = dict.fromkeys((*bins.ends, ABOVE, NO_VALUE), 0)
    found = read_values(bins, units, units, DiscreteLaplace(scale=10))
    assert found.above.amount_beyond(10**9, 0.05)[1] is None
    assert found.most_above(2 * 10**9, 0.05) > 0
    assert found.most_above(-2 * 10**9, 0.05) >= found.units(0.05)[1]


def test_a_range_that_the_histogram_refutes_is_not_believed(tmp_path):
    rows = [visit(f"p{i}", cost=50.0 if i < 30 else 5.0) for i in range(100)]
    found = nearly_exact(write_project(tmp_path, rows, epsilon="1000"), "cost")
    values = found.values["cost"]
    assert values.is_refuted
    assert values.above.most is None
    assert values.below.most is not None
    assert "not believed" in str(found)


# ---- Privacy: one unit moves one cell of each histogram.


def random_values(dice, world, _: MemoryEngine):
    tables = [table for table in world.catalog.tables if table.unit.column is not None]
    table = dice.pick(tables)
    named = [column.name for column in table.columns if column.type in MEASURED]
    plan = profile_plans(table, [], [dice.pick(named)])[-1]
    return "values of a column", plan


KINDS = tuple(kind for kind in UNIT_KINDS if kind != "row")


@pytest.mark.parametrize("number", range(5))
def test_one_unit_moves_one_cell_of_each_histogram(number):
    engine, moved = MemoryEngine(), 0
    try:
        for case in replay(engine, number, random_values, plans=2, units=5, kinds=KINDS):
            (part,) = case.moved
            assert isinstance(case.plan.keys, PublicKeys)
            assert part.declared.l0 == len(case.plan.keys.sets) == 2
            assert part.declared.linf == 1
            moved += part.found.bound("l1") > 0
    finally:
        engine.close()
    assert moved


def histogram_of_rows(plan, table):
    """Return the broken twin: each row is in the bin of its own value, and rows are counted."""
    column = table.column("cost")
    scan = Scan(table=table, columns=(column,))
    there = call("not", [call("is_null", [FieldValue(column.type, 0)])])
    rows = Filter(source=scan, condition=there)
    twice = projected(rows, [FieldValue(column.type, 0)] * 2, ["largest", "smallest"])
    assert isinstance(plan.relation, Projection)
    relation = projected(twice, list(plan.relation.values), ["largest cost", "smallest cost"])
    return evolve(
        plan,
        relation=relation,
        aggregates=(CountRows(),),
        limits=Limits(rows_per_group=1000, groups_per_unit=1000),
    )


def test_a_histogram_of_rows_moves_more_than_the_profile_pays_for(tmp_path):
    """Without Cleo, who has thirty rows, the sound plan changes by one and its twin by thirty."""
    everybody = [visit("cleo", cost=i % 3) for i in range(30)] + [visit("dan", cost=1.0)]
    exact: dict[str, list] = {"sound": [], "twin": []}
    for name, rows in (("with", everybody), ("without", everybody[30:])):
        with own(write_project(tmp_path / name, rows)) as owner:
            table, engine = owner.catalog().tables[0], owner._project.engine
            plan = profile_plans(table, [], ["cost"])[-1]
            for kind, one in (("sound", plan), ("twin", histogram_of_rows(plan, table))):
                exact[kind].append(reveal(engine, one))
    (moved,) = check_neighbours(plan, *exact["sound"])
    assert moved.is_attained()
    with pytest.raises(AssertionError, match="not within"):
        check_neighbours(plan, *exact["twin"])


# ---- Price, and what is stored.


def test_the_price_pays_for_all_histograms_together(folder):
    alone = nearly_exact(folder)
    both = nearly_exact(folder, "cost", "cost", "day", fresh=True)
    assert both.rows.noise.spread == 5 * alone.rows.noise.spread
    assert both.values["cost"].noise == both.rows.noise
    assert both.cost == Pure(500)
    assert "which 5 histograms share: ε = 100 each" in str(both)


def test_values_are_asked_for_by_name_and_stored_with_the_rest(folder):
    made = nearly_exact(folder, "cost")
    with connect(folder) as connection:
        found = connection.profile("visits")
    assert found is not None
    assert found.values["cost"].largest == made.values["cost"].largest
    json.dumps(made.to_json())
    assert made.to_json()["values"]["cost"]["up_to"][:3] == [-0.25, 0, 0.25]
    with own(folder) as owner:
        assert owner.profile("visits", values=["COST"]).is_stored
        with pytest.raises(InvalidArgument, match="has no values of age"):
            owner.profile("visits", values=["age"])
        with pytest.raises(InvalidArgument, match="no order"):
            owner.profile("visits", epsilon=1, values=["note"], fresh=True)
        assert owner.ledger().spent("people") == Pure(500)
    with pytest.raises(InvalidArgument, match="--value age"):
        made.clamped("age", 0, 10)


def test_a_profile_without_values_says_nothing_of_them(folder):
    found = nearly_exact(folder)
    assert found.values == {}
    assert found.to_json()["values"] == {}
    assert "all values of a person" not in str(found)


def test_a_value_is_in_the_bin_of_the_step_that_a_sum_rounds_it_to(tmp_path):
    costs = [0.124, 0.125, 0.374, 0.375, -0.1, -0.2, 10.1, 10.2]
    rows = [visit(f"p{i}", cost=cost) for i, cost in enumerate(costs)]
    values = nearly_exact(write_project(tmp_path, rows, epsilon="1000"), "cost").values["cost"]
    found = dict(zip((*values.bins.ends, ABOVE), values.largest, strict=True))
    assert {end: units for end, units in found.items() if units} == {
        -1: 1,
        0: 2,
        1: 2,
        2: 1,
        40: 1,
        ABOVE: 1,
    }


def test_of_too_few_units_nothing_is_told(folder):
    """What noise alone could have made has no quantiles: neither as text nor as JSON."""
    found = nearly_exact(folder, "cost")
    values = found.values["cost"]
    loud = evolve(values, noise=DiscreteLaplace(scale=60))
    assert loud.is_faint
    assert not values.is_faint
    assert loud.largest_quantile(0.5) is loud.smallest_quantile(0.5) is None
    assert loud.to_json()["quantiles"]["0.5"] == {"no_value_above": None, "no_value_below": None}
    shown = str(evolve(found, values={"cost": loud}))
    assert "cost: too few people have a value to tell how far values reach" in shown
    assert "is at most" not in shown
    rows = evolve(found.rows, noise=DiscreteLaplace(scale=1000))
    nothing = str(evolve(found, rows=rows, values={"cost": loud}))
    assert "no people stand out from the noise" in nothing
    assert "left out" not in nothing
    assert "too few for this price" in nothing
