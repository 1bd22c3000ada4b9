"""The profile: one unit moves one cell of each histogram, and what follows from it is true."""

import json

import pytest
from attrs import evolve

from discreet.core.errors import BudgetExhausted, InvalidArgument, RefusedQuery, UnknownTable
from discreet.core.loss import Pure
from discreet.curator.profile.profile import profile_plans
from discreet.releases.histogram import count_bins
from discreet.roles.connection import connect
from discreet.roles.owner import own
from discreet.sql.rows.fields import projected
from discreet.tables.catalog import Limits
from discreet.tables.column import ColumnType
from discreet.tables.keyset import PublicKeys
from discreet.tables.plans.aggregate import CountRows
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.relations.relation import Field, Projection
from discreet.tables.relations.scan import Scan
from discreet.tables.relations.totals import InnerTotal, Total, Window
from tests.support.house.narrow import whole
from tests.support.projects.clinic import visit, write_project
from tests.support.projects.memory import MemoryEngine, reveal
from tests.support.projects.neighbours import check_neighbours
from tests.support.projects.neighbours_replay import replay
from tests.support.projects.random_catalogs import UNIT_KINDS

SIZES = {"anna": 7, "ben": 1, "cleo": 30, "dan": 2, "eve": 12}
ROWS = [visit(name, "abcd"[i % 4]) for name, size in SIZES.items() for i in range(size)]


@pytest.fixture
def folder(tmp_path):
    return write_project(tmp_path, ROWS, epsilon="1000")


def nearly_exact(folder, **options):
    with own(folder) as owner:
        return owner.profile("visits", epsilon=500, **options)


def units(histogram, number: int) -> int:
    """Return how many units are in the bin of a number."""
    place = next(i for i, end in enumerate((*histogram.ends, 10**9)) if number <= end)
    return histogram.values[place]


def test_each_unit_is_in_the_bin_of_its_rows(folder):
    found = nearly_exact(folder)
    assert [units(found.rows, size) for size in (1, 2, 7, 12, 30)] == [1, 1, 1, 1, 1]
    assert sum(found.rows.values) == len(SIZES)
    groups, busiest = found.groups["clinic"], found.busiest["clinic"]
    assert [units(groups, number) for number in (1, 2, 3, 4)] == [1, 1, 0, 3]
    assert [units(busiest, number) for number in (1, 2, 3, 8)] == [2, 1, 1, 1]


def test_what_limits_leave_out_follows(folder):
    found = nearly_exact(folder)
    rows = sum(SIZES.values())
    for limit in (1, 5, 10):
        cut = sum(max(size - limit, 0) for size in SIZES.values()) / rows
        share = found.rows_left_out(limit)
        assert share.low <= cut <= share.high
        assert abs(share.about - cut) < 0.05


def random_profile(dice, world, _: MemoryEngine):
    tables = [table for table in world.catalog.tables if table.unit.column is not None]
    plans = profile_plans(dice.pick(tables))
    return "a profile", dice.pick(plans)


KINDS = tuple(kind for kind in UNIT_KINDS if kind != "row")


@pytest.mark.parametrize("number", range(6))
def test_one_unit_moves_one_cell_of_each_histogram(number):
    engine, moved = MemoryEngine(), 0
    try:
        for case in replay(engine, number, random_profile, plans=2, units=6, kinds=KINDS):
            (part,) = case.moved
            assert isinstance(case.plan.keys, PublicKeys)
            assert part.declared.l0 == len(case.plan.keys.sets)
            assert part.declared.linf == 1
            moved += part.found.bound("l1") > 0
    finally:
        engine.close()
    assert moved


def histogram_of_rows(plan: BoundedPlan, table) -> BoundedPlan:
    """Return the broken twin: each row is in the bin of its unit, and rows are counted."""
    scan = Scan(table=table, columns=())
    counted = Window(
        source=scan,
        function=InnerTotal(total=Total.COUNT_ROWS, value=None),
        partition=(),
        order=(),
        shape=Field(name="rows", type=ColumnType.INTEGER),
    )
    assert isinstance(plan.relation, Projection)
    relation = projected(counted, list(plan.relation.values), ["rows"])
    return evolve(
        plan,
        relation=relation,
        aggregates=(CountRows(),),
        limits=Limits(rows_per_group=1000, groups_per_unit=1),
    )


def test_a_histogram_of_rows_moves_more_than_the_profile_pays_for(tmp_path):
    """Without Cleo the sound plan changes by one, and its broken twin by all of her rows."""
    exact: dict[str, list] = {"sound": [], "twin": []}
    for name, rows in (("with", ROWS), ("without", [r for r in ROWS if r["person"] != "cleo"])):
        with own(write_project(tmp_path / name, rows)) as owner:
            table, engine = owner.catalog().tables[0], owner._project.engine
            plan = profile_plans(table)[0]
            twin = histogram_of_rows(plan, table)
            for kind, one in (("sound", plan), ("twin", twin)):
                exact[kind].append(reveal(engine, one))
    (moved,) = check_neighbours(plan, *exact["sound"])
    assert moved.is_attained()
    with pytest.raises(AssertionError, match="not within"):
        check_neighbours(plan, *exact["twin"])


def test_it_is_charged_once_for_a_version(folder):
    with own(folder) as owner:
        first = owner.profile("visits", epsilon=1)
        again = owner.profile("visits")
        assert first.cost == Pure(1)
        assert not first.is_stored
        assert again.is_stored
        assert again.rows.values == first.rows.values
        ledger = owner.ledger()
        assert ledger.spent("people") == Pure(1)
        owner.data_changed("people")
        with pytest.raises(InvalidArgument, match="price"):
            owner.profile("visits")
        owner.profile("visits", epsilon=1)
        owner.profile("visits", epsilon=2, fresh=True)
        assert ledger.spent("people") == Pure(4)


def test_the_price_pays_for_all_histograms_together(folder):
    all_of_them = nearly_exact(folder)
    few = nearly_exact(folder, keys=[], fresh=True)
    # Rows; groups and busiest group of the clinic, and of urgent or not.
    assert all_of_them.rows.noise.spread == 5 * few.rows.noise.spread
    assert few.groups == {}


def test_what_cannot_be_profiled_is_refused_for_nothing(folder):
    with own(folder) as owner:
        for bad, options in (
            (InvalidArgument, {"epsilon": 1, "keys": ["note"]}),
            (InvalidArgument, {}),
            (BudgetExhausted, {"epsilon": 2000}),
        ):
            with pytest.raises(bad):
                owner.profile("visits", **options)
        with pytest.raises(UnknownTable):
            owner.profile("nothing", epsilon=1)
        assert owner.ledger().spent("people") == Pure(0)


def test_analysts_can_read_it_and_nothing_is_said_before(folder):
    with connect(folder) as connection:
        assert connection.profile("visits") is None
    made = nearly_exact(folder)
    with connect(folder) as connection:
        found = connection.profile("visits")
        assert found is not None
        assert found.rows.values == made.rows.values
        assert connection.budget()[0].spent == Pure(500)
    said = str(made)
    assert "rows left out" in said
    assert "a person" in said
    assert "most_rows_per_unit" in said
    data = made.to_json()
    json.dumps(data)
    assert data["histograms"]["rows"]["up_to"] == list(count_bins(10_000))


def test_auto_limits_follow_the_profile(folder):
    sql = "SELECT COUNT(*) AS n FROM visits"
    nearly_exact(folder)
    with connect(folder) as connection:
        explained = connection.explain(sql, epsilon=100, limits="auto")
        assert explained.priced.choice is None
        assert explained.priced.plan.limits.rows_per_group >= 30
        release = connection.sql(sql, epsilon=100, limits="auto")
        assert abs(whole(release.rows[0][0]) - len(ROWS)) <= 20
        assert connection.sql(sql, epsilon=100, limits="auto").is_stored
        # At a low price less of each unit counts: noise would be worse than what is cut.
        cheap = connection.explain(sql, epsilon="0.3", limits="auto")
        assert cheap.priced.plan.limits.rows_per_group < 30
        shown = str(connection.explain(sql, epsilon=100))
        assert "Left out" in shown
        assert "limits = auto" in shown
        assert connection.rehearse(sql, epsilon=100, limits="auto").rows


def test_limits_are_given_once(folder):
    with connect(folder) as connection:
        for bad in ({"limits": "auto", "rows_per_group": 1}, {"limits": "best"}):
            with pytest.raises(InvalidArgument):
                connection.sql("SELECT COUNT(*) FROM visits", epsilon=1, **bad)


def test_declared_auto_limits_hold_as_soon_as_there_is_a_profile(folder):
    file = folder / "discreet.toml"
    file.write_text(
        file.read_text().replace("rows_per_group", 'limits = "auto"\nrows_per_group', 1)
    )
    sql = "SELECT COUNT(*) AS n FROM visits"
    with connect(folder) as connection:
        before = connection.explain(sql, epsilon=100).priced.plan.limits
    nearly_exact(folder)
    with connect(folder) as connection:
        after = connection.explain(sql, epsilon=100).priced.plan.limits
        given = connection.explain(sql, epsilon=100, rows_per_group=3).priced.plan.limits
    assert before == Limits(rows_per_group=2, groups_per_unit=3)
    assert after.rows_per_group >= 30
    assert given.rows_per_group == 3


def test_a_rehearsal_has_units_as_the_profile_says(tmp_path):
    rows = [visit(f"p{i}", "abcd"[j % 4]) for i in range(40) for j in range(25)]
    folder = write_project(tmp_path, rows, epsilon="1000")
    sql = "SELECT COUNT(*) AS n FROM visits"
    with connect(folder, epsilon=100) as connection:
        before = connection.rehearse(sql, rows=1000, rows_per_group=4).rows[0][0]
    nearly_exact(folder)
    with connect(folder, epsilon=100) as connection:
        after = connection.rehearse(sql, rows=1000, rows_per_group=4).rows[0][0]
    # Of about 250 made-up units most have at most four rows; of forty, each has about 25.
    assert whole(before) > 600
    assert whole(after) < 250


@pytest.mark.parametrize("keys", [1, 1_000, 1_001, 20_000])
def test_a_column_may_have_any_number_of_keys(tmp_path, keys):
    rows = [visit(f"p{i}", f"k{j}") for i in range(30) for j in range(1 + i % 3)]
    folder = write_project(tmp_path, rows, epsilon="1000")
    file, listed = folder / "discreet.toml", json.dumps([f"k{i}" for i in range(keys)])
    file.write_text(file.read_text().replace('["a", "b", "c", "d"]', listed))
    with own(folder) as owner:
        found = owner.profile("visits", epsilon=500, keys=["clinic"])
    groups = found.groups["clinic"]
    expected = [30] if keys == 1 else [10, 10, 10]
    assert [units(groups, number) for number in (1, 2, 3)][: len(expected)] == expected
    assert sum(groups.values) == 30


@pytest.mark.parametrize("most", [1, 2**20, 2**62])
def test_any_declared_number_of_rows_has_its_bins(tmp_path, most):
    folder = write_project(tmp_path, ROWS, epsilon="1000")
    file = folder / "discreet.toml"
    text = f"most_rows_per_unit = {most}\nrows_per_group"
    file.write_text(file.read_text().replace("rows_per_group", text, 1))
    found = nearly_exact(folder)
    assert found.rows.ends[-1] == min(most, 1_000_000)
    assert sum(found.rows.values) == len(SIZES)


def test_a_profile_of_noise_says_so(folder):
    with own(folder) as owner:
        found = owner.profile("visits", epsilon="0.1")
    nothing = evolve(found.rows, values=(0,) * len(found.rows.values))
    assert "no people stand out from the noise" in str(evolve(found, rows=nothing))


MEDIAN = "MEDIAN(age) AS middle"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("COUNT(*) AS n", "[… to …] takes account of it (give"),
        (f"COUNT(*) AS n, {MEDIAN}", "[… to …] takes account of it, except for middle (give"),
        (MEDIAN, "nothing here takes account of it (give"),
    ],
)
def test_an_interval_that_is_not_shown_takes_account_of_nothing(tmp_path, asked, said):
    """A quantile has no total interval, so a note must not say what that one does."""
    folder = write_project(tmp_path, ROWS, epsilon="1000")
    file = folder / "discreet.toml"
    text = "most_rows_per_unit = 30\nrows_per_group"
    file.write_text(file.read_text().replace("rows_per_group", text, 1))
    nearly_exact(folder)
    with connect(folder, epsilon=10) as connection:
        release = connection.sql(f"SELECT {asked} FROM visits")
    (note,) = [note for note in release.notes() if "what is beyond is left out" in note]
    assert said in note
    shown = str(release).split(note)[0]
    assert ("[unknown]" in shown) == ("MEDIAN" in asked)


def test_a_profile_is_read_once_and_a_newer_one_takes_its_place(folder):
    first = nearly_exact(folder)
    with connect(folder) as connection:
        found, again = connection.profile("visits"), connection.profile("visits")
        assert found is again
        assert found is not None
        assert found.receipt == first.receipt
    newer = nearly_exact(folder, fresh=True)
    with connect(folder) as connection:
        found = connection.profile("visits")
    assert found is not None
    assert found.receipt == newer.receipt
    assert found.rows.most is None
    declaration = folder / "discreet.toml"
    written = declaration.read_text(encoding="utf-8")
    said = written.replace("rows_per_group", "most_rows_per_unit = 50\nrows_per_group", 1)
    declaration.write_text(said, encoding="utf-8")
    with connect(folder) as connection:
        found = connection.profile("visits")
    assert found is not None
    assert found.rows.most == 50


def test_a_price_that_is_too_high_is_refused_with_what_to_offer(tmp_path):
    write_project(tmp_path, [visit("p")], epsilon="10000000")
    with own(tmp_path) as owner, pytest.raises(RefusedQuery, match="Offer a lower price"):
        owner.profile("visits", epsilon=1_000_000)
