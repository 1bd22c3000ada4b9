"""The rows that count are one fair sample: every aggregate, CASE and FILTER sees the same rows.

Exact: in place of the hash stands a ranking of the rows, and all rankings are tried, each as likely
as any other. So an expectation is a plain mean, and a share must come out to the last digit.
"""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import pytest
from attrs import evolve

from discreet.engines.duckdb.render import rows as duckdb_rows
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.relations.relation import Relation, RowLimit
from tests.support.projects.memory import Exact, MemoryEngine, reveal
from tests.support.projects.plan import plan_of
from tests.support.projects.small import patient, small_catalog, small_world, visit
from tests.support.projects.world import Row
from tests.support.statistics.exact_tests import alpha, binomial_p_value


class RankedEngine(MemoryEngine):
    """An engine whose keyed hash is a ranking that the test chooses."""

    def __init__(self) -> None:
        super().__init__()
        self.ranking: Sequence[int] = ()
        self.known: dict[str, int] = {}
        opened = self._databases._opened

        def with_ranking() -> Any:
            database = opened()
            database.create_function("ranked", self._rank, ["VARCHAR"], "BIGINT")
            return database

        self._databases._opened = with_ranking  # type: ignore[method-assign]

    def _rank(self, text: str) -> int:
        return self.ranking[self.known.setdefault(text, len(self.known))]

    def with_ranking(self, plan: BoundedPlan, ranking: Sequence[int]) -> Exact:
        """Run a plan with one ranking; different texts get different ranks."""
        self.ranking, self.known = ranking, {}
        return reveal(self, plan)


def ranked(*parts: str) -> str:
    """Stand in the place of :func:`~discreet.engines.duckdb.render.rows.keyed`."""
    shown = ", ".join(f"coalesce(CAST({part} AS VARCHAR), 'NULL')" for part in parts)
    return f"ranked(concat_ws('|', {shown}))"


def ranked_by_value(*parts: str) -> str:
    """The broken twin: identical rows have one rank, as the rule of version 1 had it."""
    return ranked(*(part for part in parts if part != "occurrence"))


@pytest.fixture(scope="module")
def engine() -> Iterator[RankedEngine]:
    engine = RankedEngine()
    yield engine
    engine.close()


def use(monkeypatch: pytest.MonkeyPatch, hash_of: Callable[..., str]) -> None:
    monkeypatch.setattr(duckdb_rows, "keyed", hash_of)


def expected(engine: RankedEngine, plan: BoundedPlan, rows: int) -> list[Any]:
    """Return the mean of each aggregate over all rankings of so many rows of one unit."""
    rankings = list(itertools.permutations(range(rows)))
    sums: list[Any] = [Counter() if _is_list(plan, i) else 0 for i in range(len(plan.aggregates))]
    for ranking in rankings:
        for i, column in enumerate(engine.with_ranking(plan, ranking).columns):
            sums[i] += column[0] if isinstance(column, list) else int(column[0])
    return [
        {value: Fraction(times, len(rankings)) for value, times in total.items()}
        if isinstance(total, Counter)
        else Fraction(total, len(rankings))
        for total in sums
    ]


def first_of(exact: Exact) -> list[int]:
    """Return the number of the first group, of each aggregate."""
    columns: Any = exact.columns
    return [int(column[0]) for column in columns]


def _is_list(plan: BoundedPlan, index: int) -> bool:
    return "Quantile" in type(plan.aggregates[index]).__name__


RARE, COMMON = 1, 3
VISITS = [
    *[visit("p", "a", urgent=True, cost=1.0, stay=2)] * RARE,
    *[visit("p", "a", urgent=False, cost=4.0, stay=-1)] * COMMON,
]
"""Four rows, of which three are alike: the rare one must not be favoured."""

URGENT = Fraction(RARE, RARE + COMMON)

CASES: list[tuple[str, list[Fraction]]] = [
    ("COUNT(*) FILTER (WHERE urgent), COUNT(*)", [URGENT, Fraction(1)]),
    ("COUNT(*) FILTER (WHERE NOT urgent), COUNT(*)", [1 - URGENT, Fraction(1)]),
    ("SUM(CASE WHEN urgent THEN 1 ELSE 0 END), COUNT(*)", [URGENT, Fraction(1)]),
    ("SUM(cost), COUNT(*)", [4 * URGENT + 16 * (1 - URGENT), Fraction(1)]),
    ("SUM(stay) FILTER (WHERE urgent), SUM(stay)", [2 * URGENT, 2 * URGENT - (1 - URGENT)]),
    ("COUNT(CASE WHEN urgent THEN 1 END), SUM(cost)", [URGENT, 4 * URGENT + 16 * (1 - URGENT)]),
]
"""What is asked, and the mean of each part for one row that is kept."""


def plan_for(
    engine: MemoryEngine, select: str, visits: Sequence[Row], *, limit: int
) -> BoundedPlan:
    world = small_world(
        [patient("p")], visits, small_catalog(rows_per_group=limit, groups_per_unit=1)
    )
    engine.tables = world.arrow()
    return plan_of(f"SELECT {select}", world.catalog, engine)


@pytest.mark.parametrize("limit", [1, 3])
@pytest.mark.parametrize(("select", "means"), CASES)
def test_every_share_is_that_of_all_rows(engine, monkeypatch, select, means, limit):
    plan = plan_for(engine, f"{select} FROM visits", VISITS, limit=limit)
    use(monkeypatch, ranked)
    found = expected(engine, plan, len(VISITS))
    assert sorted(found) == sorted(limit * mean for mean in means)


@pytest.mark.parametrize("limit", [1, 3])
def test_a_hash_of_values_alone_is_caught(engine, monkeypatch, limit):
    """Three that are alike stand or fall together, so the rare one comes first half the time."""
    plan = plan_for(engine, f"{CASES[0][0]} FROM visits", VISITS, limit=limit)
    use(monkeypatch, ranked_by_value)
    assert sorted(expected(engine, plan, len(VISITS))) == [Fraction(1, 2), limit]


def test_people_weigh_as_many_rows_as_are_kept_of_them(engine, monkeypatch):
    """The share is the mean over people, each weighing min(limit, rows): what is promised."""
    limit, others = 3, [visit("q", "a", urgent=True), visit("r", "a"), visit("r", "a")]
    plan = plan_for(engine, f"{CASES[0][0]} FROM visits", [*VISITS, *others], limit=limit)
    use(monkeypatch, ranked)
    assert sorted(expected(engine, plan, len(VISITS))) == [limit * URGENT + 1, limit + 1 + 2]


def test_rows_of_a_quantile_are_the_same_sample(engine, monkeypatch):
    select = "MEDIAN(cost), COUNT(*) FILTER (WHERE urgent) FROM visits"
    plan = plan_for(engine, select, VISITS, limit=1)
    use(monkeypatch, ranked)
    means = expected(engine, plan, len(VISITS))
    values = next(mean for mean in means if isinstance(mean, dict))
    assert values == {4: URGENT, 16: 1 - URGENT}
    assert URGENT in means


def test_one_sample_serves_all_conditions(engine, monkeypatch):
    """Whatever the ranking, the parts add up to the whole: they are parts of the same rows."""
    parts = "COUNT(*) FILTER (WHERE urgent), COUNT(*) FILTER (WHERE NOT urgent), COUNT(*)"
    plan = plan_for(engine, f"{parts} FROM visits", VISITS, limit=2)
    use(monkeypatch, ranked)
    for ranking in itertools.permutations(range(len(VISITS))):
        *some, whole = sorted(first_of(engine.with_ranking(plan, ranking)))
        assert sum(some) == whole == 2


IN_GROUPS = [*[visit("p", "a")] * 3, visit("p", "b")]
"""Three rows of one person in one clinic, and one in another."""


def means_of_groups(engine: RankedEngine, **limits: int) -> list[Fraction]:
    """Return the mean of COUNT(*) in each of the first two clinics, over all rankings."""
    world = small_world([patient("p")], IN_GROUPS, small_catalog(**limits))
    engine.tables = world.arrow()
    by_clinic = "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic"
    plan = plan_of(by_clinic, world.catalog, engine)
    rankings = list(itertools.permutations(range(len(IN_GROUPS))))
    columns: list[Any] = [engine.with_ranking(plan, ranking).columns[0] for ranking in rankings]
    return [Fraction(int(sum(column[i] for column in columns)), len(rankings)) for i in (0, 1)]


@pytest.mark.parametrize("most", [1, 2, 3])
def test_shares_over_groups_survive_a_limit_on_all_rows(engine, monkeypatch, most):
    """Three of four rows are in the first clinic, and three of four that count are."""
    use(monkeypatch, ranked)
    found = means_of_groups(engine, rows_per_group=most, groups_per_unit=most, rows_per_unit=most)
    assert found == [most * Fraction(3, 4), most * Fraction(1, 4)]


def test_a_limit_in_each_group_distorts_shares_over_groups(engine, monkeypatch):
    """The twin that samples each group by itself: as much of the small group as of the large."""
    use(monkeypatch, ranked)
    assert means_of_groups(engine, rows_per_group=1, groups_per_unit=2) == [1, 1]


def limited(relation: Relation, rows: int) -> Relation:
    """Return a relation whose row limits are smaller than they ever are by themselves."""
    parts: dict[str, Any] = {
        name: limited(value, rows)
        for name in ("source", "left", "right", "first", "second")
        if isinstance(value := getattr(relation, name, None), Relation)
    }
    if isinstance(relation, RowLimit):
        parts["rows"] = rows
    return evolve(relation, **parts)


JOINED = "COUNT(*) FILTER (WHERE v.urgent), COUNT(*) FROM visits AS v JOIN patients USING (person)"


def below_a_join(engine: MemoryEngine, visits: Sequence[Row]) -> BoundedPlan:
    plan = plan_for(engine, JOINED, visits, limit=100)
    smaller = evolve(plan, relation=limited(plan.relation, 1))
    assert smaller != plan
    return smaller


def test_rows_below_a_join_are_a_fair_sample_too(engine, monkeypatch):
    plan = below_a_join(engine, VISITS)
    use(monkeypatch, ranked)
    assert sorted(expected(engine, plan, len(VISITS))) == [URGENT, 1]


def test_a_hash_of_values_alone_is_caught_below_a_join(engine, monkeypatch):
    plan = below_a_join(engine, VISITS)
    use(monkeypatch, ranked_by_value)
    assert sorted(expected(engine, plan, len(VISITS))) == [Fraction(1, 2), 1]


def test_units_and_keys_ignore_the_sample(engine):
    """A unit counts wherever it has a row, and its values up to the limit, whatever is sampled."""
    rows = [visit("p", "a", diagnosis=f"d{i % 3}", urgent=i == 0) for i in range(9)]
    counts = "COUNT(DISTINCT person) FILTER (WHERE urgent), COUNT(DISTINCT diagnosis)"
    plan = plan_for(engine, f"{counts} FROM visits", rows, limit=2)
    assert sorted(first_of(reveal(engine, plan))) == [1, 2]
    by_key = plan_for(engine, "diagnosis, COUNT(*) FROM visits GROUP BY diagnosis", rows, limit=2)
    found = reveal(engine, evolve(by_key, limits=evolve(by_key.limits, groups_per_unit=9)))
    assert sorted(found.keys or ()) == [("d0",), ("d1",), ("d2",)]


ZEROS = [-0.0, 0.0, math.nan, None]


def test_zeros_and_nan_are_one_before_they_are_counted(engine):
    """What compares as equal is equal in every bit, so its number among its like tells nothing."""
    select = (
        "COUNT(*) FILTER (WHERE CAST(v.cost AS TEXT) LIKE '-%'), COUNT(v.cost), COUNT(*) "
        "FROM visits AS v JOIN patients USING (person)"
    )
    seen = set()
    for costs in itertools.permutations(ZEROS):
        rows = [visit("p", "a", cost=cost) for cost in costs]
        plan = plan_for(engine, select, rows, limit=100)
        plan = evolve(plan, relation=limited(plan.relation, 3))
        seen.add(tuple(first_of(reveal(engine, plan))))
    assert len(seen) == 1


PEOPLE = 6_000


@pytest.mark.parametrize("how", ["in a group", "below a join"])
def test_the_real_hash_is_fair(rng, how):
    """Each person has one rare row among five and keeps one: a binomial number of rare ones.

    The salt is the test's, and people are independent under it. Version 1 kept half of them.
    """
    people = [f"{how} {i}" for i in range(PEOPLE)]
    rows = [visit(who, "a", urgent=i == 0) for who in people for i in range(5)]
    world = small_world(
        [patient(who) for who in people],
        rows,
        small_catalog(rows_per_group=1, groups_per_unit=1),
    )
    engine = MemoryEngine(world.arrow())
    sql = "COUNT(*) FILTER (WHERE urgent) FROM visits" if how == "in a group" else JOINED
    plan = plan_of(f"SELECT {sql}", world.catalog, engine)
    if how == "below a join":
        wide = evolve(plan.limits, rows_per_group=100)
        plan = evolve(plan, relation=limited(plan.relation, 1), limits=wide)
    salt = rng.words(4).tobytes()
    kept = min(first_of(reveal(engine, plan, salt)))
    engine.close()
    share = alpha("fair sample/real hash", parts=2)
    assert binomial_p_value(kept, PEOPLE, Fraction(1, 5)) > share
    assert binomial_p_value(PEOPLE // 2, PEOPLE, Fraction(1, 5)) < share
