"""Limits that are chosen privately: one charge, fixed before; what is chosen, and what is said."""

import json
import operator
from collections import Counter
from fractions import Fraction
from itertools import product, starmap

import numpy as np
import pandas as pd
import pytest
from attrs import evolve, frozen

from discreet.core.canonical import canonical
from discreet.core.contribution import Contribution
from discreet.core.errors import AnswerFailed, InvalidArgument, RefusedQuery
from discreet.core.event import ComposedEvent
from discreet.core.loss import Approximate, ApproximateZcdp, Pure, Zcdp
from discreet.curator.answer import answer, prepare
from discreet.curator.cut.left_out import bounded_by_units
from discreet.curator.limits import private_limits
from discreet.curator.limits.private_limits import COUNTED, SHARE, limits_to_try
from discreet.curator.publishing.largest_release import largest_release
from discreet.curator.publishing.unit_histogram import (
    binned,
    counts_all_cut,
    totals_of_units,
    units_by_limits,
)
from discreet.engines.duckdb.engine import DuckDbEngine
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.project.charged import charged
from discreet.project.terms import Terms
from discreet.releases.body import Body, ChosenPrivately
from discreet.releases.histogram import count_bins
from discreet.releases.release import Release
from discreet.roles.connection import connect
from discreet.roles.owner import own
from discreet.sql.rows.fields import projected
from discreet.tables.catalog import Limits
from discreet.tables.column import ColumnType
from discreet.tables.expression import FieldValue
from discreet.tables.plans.aggregate import CountRows, CountUnits
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.relations.totals import Total
from tests.support.house.narrow import known, of_kind, whole
from tests.support.projects.clinic import make_curator, make_plan, visit, write_project
from tests.support.projects.memory import MemoryEngine, reveal
from tests.support.projects.neighbours import check_neighbours
from tests.support.projects.neighbours_replay import replay
from tests.support.projects.real_tables import LAB_TESTS, RATINGS
from tests.support.random_sql.tree import random_plan

SIZES = {f"p{i}": 1 + i % 9 for i in range(60)} | {"much": 40}
ROWS = [visit(name, "abcde"[j % 5], age=j) for name, size in SIZES.items() for j in range(size)]
"""Rows of clinic e are in no group."""

ALL = "SELECT COUNT(*) AS n FROM visits"
BY_CLINIC = "SELECT clinic, COUNT(*) AS n, SUM(age) AS years FROM visits GROUP BY clinic"
AUTO = Terms(epsilon=1, chosen_limits="auto")


@pytest.fixture
def folder(tmp_path):
    return write_project(tmp_path, ROWS, epsilon="1000")


def with_budget(folder, budget):
    file = folder / "discreet.toml"
    file.write_text(file.read_text().replace("{ epsilon = 1000 }", budget))
    return folder


# ---- One charge, fixed before.


def own_epsilon(plan: BoundedPlan, mechanisms) -> Fraction:
    """Return what Laplace noise costs, from limits and scales alone."""
    reach = plan.reach()
    groups = reach.groups_per_unit
    rows = reach.rows_per_unit or reach.rows_per_group * groups
    most = {"CountRows": rows, "CountUnits": groups, "SumValues": 100 * rows}  # ages from 0 to 100
    return sum(
        (
            most[type(aggregate).__name__] / of_kind(DiscreteLaplace, noise).scale
            for aggregate, noise in zip(plan.aggregates, mechanisms, strict=True)
        ),
        Fraction(0),
    )


def test_choice_and_noise_cost_the_price_together_whatever_is_chosen(folder, rng):
    _, priced, _ = prepare(make_curator(folder, rng), BY_CLINIC, AUTO)
    choice = known(priced.choice)
    for_choice = 1 / choice.mechanism.choice.scale + 1 / known(choice.mechanism.noise).spread
    assert for_choice == SHARE
    assert 1 / choice.mechanism.choice.scale == SHARE * (1 - COUNTED)
    rows = limits_to_try(10_000)
    expected = [*starmap(in_groups, product(rows, (1, 2, 4))), *map(in_all, rows[1:])]
    assert [one.plan.limits for one in choice.candidates] == expected
    for one in choice.candidates:
        assert for_choice + own_epsilon(one.plan, one.mechanisms) == 1
        assert one.loss == priced.loss == Pure(1)
    assert charged(priced.event, Pure(1000)) == Pure(1)


BUDGETS = {
    "{ epsilon = 10, delta = 1e-3 }": (Terms(epsilon=1, delta="1e-6"), Approximate(1, "1e-6")),
    "{ rho = 10 }": (Terms(rho="1/2"), Zcdp("1/2")),
    "{ rho = 10, delta = 1e-3 }": (Terms(rho="1/2", delta="1e-6"), ApproximateZcdp("1/2", "1e-6")),
    "{ mu = 10 }": (Terms(epsilon="1/2"), None),
}
NOTES = "SELECT note, COUNT(*) AS n FROM visits GROUP BY note"


@pytest.mark.parametrize(
    ("budget", "sql"),
    [
        (budget, sql)
        for budget, (terms, _) in BUDGETS.items()
        for sql in (BY_CLINIC, NOTES)
        if sql == BY_CLINIC or terms.delta is not None
    ],
)
def test_every_candidate_is_within_what_is_charged_in_every_measure(folder, rng, budget, sql):
    terms, offered = BUDGETS[budget]
    curator = make_curator(with_budget(folder, budget), rng)
    _, priced, _ = prepare(curator, sql, evolve(terms, chosen_limits="auto"))
    choice, cap = known(priced.choice), curator.catalog.id_spaces[0].cap
    assert offered is None or priced.loss <= offered
    together = [
        charged(ComposedEvent.of([choice.event, one.event]), cap) for one in choice.candidates
    ]
    assert all(loss <= priced.loss for loss in together)
    assert priced.loss in together
    release = answer(curator, sql, terms=evolve(terms, chosen_limits="auto"), analyst="a")
    assert curator.ledger.spent("people") == release.cost == priced.loss


class CountingEngine(DuckDbEngine):
    """Notes which plans are run, and fails from some number on."""

    fails_at = 99

    def execute(self, plan, salt, permit):
        self.plans = [*getattr(self, "plans", []), plan]
        if len(self.plans) >= self.fails_at:
            raise ValueError("Alice")
        return super().execute(plan, salt, permit)


def test_it_is_charged_once_and_given_again_for_nothing(folder, rng):
    engine = CountingEngine()
    curator = make_curator(folder, rng, engine=engine)
    first = answer(curator, BY_CLINIC, terms=AUTO, analyst="a")
    assert [len(plan.aggregates) for plan in engine.plans] == [1, 2]
    assert engine.plans[1].limits == first.body.limits.limits()
    again = answer(curator, BY_CLINIC, terms=AUTO, analyst="b")
    assert again.is_stored
    assert again.body == first.body
    assert len(engine.plans) == 2
    assert curator.ledger.spent("people") == Pure(1)
    # Another price, limits of one's own, and the declared ones, are other questions.
    for terms in (evolve(AUTO, epsilon=2), Terms(epsilon=1), Terms(epsilon=1, rows_per_group=5)):
        assert not answer(curator, BY_CLINIC, terms=terms, analyst="a").is_stored


@pytest.mark.parametrize("fails_at", [1, 2])
def test_a_failure_of_either_leg_keeps_the_charge_and_looks_alike(folder, rng, fails_at):
    engine = CountingEngine()
    engine.fails_at = fails_at
    curator = make_curator(folder, rng, engine=engine)
    with pytest.raises(AnswerFailed) as caught:
        answer(curator, BY_CLINIC, terms=AUTO, analyst="a")
    assert "Alice" not in f"{caught.value} {caught.value.__context__}"
    assert curator.ledger.spent("people") == Pure(1)


def test_the_largest_candidate_bounds_the_release(folder, rng):
    curator = make_curator(with_budget(folder, "{ epsilon = 1000, delta = 0.1 }"), rng)
    for sql in (ALL, BY_CLINIC, NOTES):
        terms = Terms(epsilon=20, delta="1e-3", chosen_limits="auto")
        _, priced, _ = prepare(curator, sql, terms)
        body = answer(curator, sql, terms=terms, analyst="a").body.to_json()
        assert len(canonical(body).encode()) <= largest_release(priced).bytes


# ---- The histogram of units.


def in_groups(rows: int, groups: int) -> Limits:
    return Limits(rows_per_group=rows, groups_per_unit=groups)


def in_all(rows: int) -> Limits:
    return Limits(rows_per_group=rows, groups_per_unit=rows, rows_per_unit=rows)


def brute_force(limits: Limits, *, grouped: bool) -> int:
    """Count the units that have more rows in a group, more groups, or more rows in all groups."""
    cut = 0
    for name in SIZES:
        mine = [row["clinic"] for row in ROWS if row["person"] == name]
        each = Counter(key for key in mine if key in "abcd") if grouped else Counter(all=len(mine))
        numbers = (max(each.values(), default=0), len(each), each.total())
        most = (limits.rows_per_group, limits.groups_per_unit, limits.rows_per_unit or len(mine))
        cut += any(map(operator.gt, numbers, most))
    return cut


@pytest.mark.parametrize("sql", [ALL, BY_CLINIC])
def test_units_are_counted_by_what_limits_cut_of_them(folder, rng, sql):
    curator = make_curator(folder, rng)
    choice = known(prepare(curator, sql, AUTO)[1].choice)
    (units,) = reveal(curator.engine, choice.plan).columns
    scores = choice.mechanism.scores(np.array(units))
    cut = [
        -score - handicap
        for score, handicap in zip(scores, choice.mechanism.handicaps, strict=True)
    ]
    for number, one in zip(cut, choice.candidates, strict=True):
        expected = brute_force(one.plan.limits, grouped=bool(one.plan.keys.fields))
        assert number == expected
    over_all = [one.plan.limits.rows_per_unit for one in choice.candidates]
    assert any(over_all) is (sql == BY_CLINIC)
    assert len(set(cut)) > 3


def histogram_of(plan: BoundedPlan) -> BoundedPlan:
    groups, in_all = ((1, 2, 3), (2, 4)) if plan.keys.fields else ((1,), ())
    return units_by_limits(plan, (1, 2, 3, 5), groups, in_all, sharing=2)


def random_histogram(dice, world, engine: MemoryEngine):
    for _ in range(100):
        plan = random_plan(dice, world.catalog)
        try:
            return "units by limits", histogram_of(plan)
        except RefusedQuery:
            continue  # dear expressions: the question would be refused as well
    raise AssertionError("some plan is cheap enough")


@pytest.mark.parametrize("number", range(5))
def test_one_unit_moves_one_cell_by_one(number):
    engine, moved = MemoryEngine(), 0
    try:
        for case in replay(engine, number, random_histogram, plans=3, units=6):
            (part,) = case.moved
            assert part.declared == Contribution(l0=1, linf=1)
            moved += part.found.bound("l1") > 0
    finally:
        engine.close()
    assert moved


def pairs_for_units(plan: BoundedPlan, sound: BoundedPlan) -> BoundedPlan:
    """Return the broken twin: a row for each unit and group, which falls into a bin by itself."""
    pairs = totals_of_units(plan.relation, plan.keys.fields, [("n", Total.COUNT_ROWS, None)])
    value = binned(FieldValue(ColumnType.INTEGER, len(plan.keys.fields)), BINS)
    return evolve(
        sound,
        relation=projected(pairs, [value], ["rows"]),
        aggregates=(CountRows(),),
        limits=Limits(rows_per_group=1000, groups_per_unit=1000),
    )


BINS = (1, 2, 3, 5)


def test_a_histogram_of_units_and_groups_is_caught(tmp_path):
    exact: dict[str, list] = {"sound": [], "twin": []}
    for name, rows in (("with", ROWS), ("without", [r for r in ROWS if r["person"] != "much"])):
        with own(write_project(tmp_path / name, rows)) as owner:
            plan = make_plan(owner.catalog(), BY_CLINIC)
            sound = units_by_limits(plan, BINS, (1,), sharing=2)
            for kind, one in (("sound", sound), ("twin", pairs_for_units(plan, sound))):
                exact[kind].append(reveal(owner._project.engine, one))
    (moved,) = check_neighbours(sound, *exact["sound"])
    assert moved.is_attained()
    with pytest.raises(AssertionError, match="not within"):
        check_neighbours(sound, *exact["twin"])


# ---- What is said.


def test_the_release_says_what_was_chosen(folder):
    with connect(folder) as connection:
        release = connection.sql(BY_CLINIC, epsilon=100, limits="auto")
        chosen = known(release.body.limits.chosen)
        assert chosen.share == SHARE
        assert chosen.is_exact
        cut = brute_force(release.body.limits.limits(), grouped=True)
        assert abs(chosen.units_cut - cut) <= chosen.noise.spread * 30
        data = release.to_json()
        json.dumps(data)
        assert data["limits"]["chosen"]["share"] == "1/5"
        assert data["limits"]["rows_per_group"] == release.body.limits.rows_per_group
        assert "chosen privately" in str(release)
        assert "chosen privately" in release._repr_html_()
        assert "people have more than counts" in str(release)
        assert Body.from_json(release.body.to_json()) == release.body
        stored = connection.releases(release.receipt.ticket.number)[0].open()
        assert isinstance(stored, Release)
        assert stored.body == release.body
        assert "chosen privately" in str(stored)
        # Nearly nobody is cut at such a price, so the answer is nearly that of all rows.
        exact = sum(row["clinic"] == "a" for row in ROWS)
        assert abs(whole(release.rows[0][1]) - exact) <= 40


def test_what_is_damaged_in_it_is_refused(folder):
    with connect(folder) as connection:
        body = connection.sql(ALL, epsilon=1, limits="auto").body.to_json()
    for bad in ({"share": "2"}, {"units_cut": "3"}, {"exact": 1}, {"noise": {"law": "none"}}):
        broken = body | {"limits": body["limits"] | {"chosen": body["limits"]["chosen"] | bad}}
        with pytest.raises(Exception, match="stored release"):
            Body.from_json(broken)


def test_explain_says_how_and_reads_nothing(folder):
    with connect(folder) as connection:
        explained = connection.explain(BY_CLINIC, epsilon=1, limits="auto")
        shown = " ".join(str(explained).split())
        assert "chosen privately, behind the gate, for 20 % of the price (ε = 0.2)" in shown
        assert "rows_per_group of 1, 2, 4, 8, 16, 32, …, 10,000" in shown
        assert "groups_per_unit of 1, 2, 4" in shown
        worth = known(explained.priced.choice).mechanism.handicaps
        few = f"fewer than about {max(worth) - min(worth):,} people may be cut however many rows"
        assert few in shown
        data = explained.to_json()["limits"]["chosen"]
        assert data["share"] == "1/5"
        assert [1, 4] in data["candidates"]
        assert "or rows_per_unit of 2, 4, 8, 16, 32, 64, …, 10,000" in shown
        assert data["rows_per_unit"][:2] == [2, 4]
        assert explained.cost == Pure(1)
        assert connection.budget()[0].spent == Pure(0)
        connection.sql(BY_CLINIC, epsilon=1, limits="auto")
        assert connection.explain(BY_CLINIC, epsilon=1, limits="auto").is_stored
        assert connection.explain(ALL, epsilon=1).to_json()["limits"]["chosen"] is None


def test_explain_shows_usual_limits_where_roots_are_rounded(folder):
    """By rounding any candidate can be the dearest by a hair; that one is charged and named."""
    sql = "SELECT MEDIAN(age) AS m FROM visits"
    with connect(with_budget(folder, "{ rho = 10 }")) as connection:
        explained = connection.explain(sql, rho="0.1", limits="auto")
        declared = explained.question.limits.rows_per_group
        assert explained.priced.plan.limits.rows_per_group == declared
        assert connection.sql(sql, rho="0.1", limits="auto").cost == explained.cost
        assert connection.explain(sql, rho="0.1", limits="auto").is_stored
        _, priced, _ = prepare(connection._project, sql, Terms(rho="0.1", chosen_limits="auto"))
    assert explained.cost == priced.loss
    choice = known(priced.choice)
    for one in choice.candidates:
        both = ComposedEvent.of([choice.event, one.event])
        assert charged(both, Zcdp(10)) <= priced.loss


def test_joins_and_private_groups_have_their_limits_chosen_too(folder):
    with_budget(folder, "{ epsilon = 1000, delta = 0.1 }")
    with connect(folder) as connection:
        joined = connection.sql(
            "SELECT COUNT(*) AS n FROM visits AS v JOIN visits AS w ON v.person = w.person"
            " AND v.age = w.age",
            epsilon=100,
            limits="auto",
        )
        assert abs(whole(joined.rows[0][0]) - len(ROWS)) <= 30
        private = connection.sql(
            "SELECT age, COUNT(*) AS n FROM visits GROUP BY age",
            epsilon=100,
            delta="1e-3",
            limits="auto",
        )
        assert private.body.limits.groups_per_unit == 3
        assert not known(private.body.limits.chosen).is_exact
        rolled = connection.sql(
            "SELECT clinic, COUNT(*) AS n FROM visits GROUP BY ROLLUP (clinic)",
            epsilon=100,
            limits="auto",
        )
        assert not known(rolled.body.limits.chosen).is_exact
        assert connection.rehearse(BY_CLINIC, epsilon=1, limits="auto").rows


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(DISTINCT person) AS n FROM visits",
        "SELECT COUNT(*) AS n FROM (SELECT person FROM visits GROUP BY person)",
    ],
)
def test_where_there_is_nothing_to_choose_nothing_is_paid_for_it(folder, rng, sql):
    _, priced, _ = prepare(make_curator(folder, rng), sql, AUTO)
    assert priced.choice is None
    assert priced.loss == Pure(1)
    assert own_epsilon(priced.plan, priced.mechanisms) == 1


def test_units_that_are_counted_have_the_number_of_their_groups_chosen(folder, rng):
    sql = "SELECT clinic, COUNT(DISTINCT person) AS n FROM visits GROUP BY clinic"
    curator = make_curator(folder, rng)
    _, priced, _ = prepare(curator, sql, AUTO)
    tried = [one.plan.limits for one in known(priced.choice).candidates]
    assert {limits.rows_per_group for limits in tried} == {2}
    assert [limits.groups_per_unit for limits in tried] == [1, 2, 4]
    release = answer(curator, sql, terms=evolve(AUTO, epsilon=200), analyst="a")
    exact = len({row["person"] for row in ROWS if row["clinic"] == "a"})
    assert abs(whole(release.rows[0][1]) - exact) <= 5


def test_an_accuracy_is_refused_and_a_profile_comes_first(folder):
    with connect(folder) as connection:
        with pytest.raises(InvalidArgument, match="price follows"):
            connection.sql(ALL, accuracy="±50 at 95 %", limits="auto")
        assert connection.budget()[0].spent == Pure(0)
        assert connection.explain(ALL, epsilon=1, limits="auto").priced.choice is not None
    with own(folder) as owner:
        owner.profile("visits", epsilon=500)
    with connect(folder) as connection:
        assert connection.explain(ALL, epsilon=1, limits="auto").priced.choice is None


def test_a_price_without_noise_for_some_limits_leaves_them_out(folder, rng):
    curator = make_curator(with_budget(folder, "{ epsilon = 1e9 }"), rng)
    _, priced, _ = prepare(curator, ALL, Terms(epsilon=5000, chosen_limits="auto"))
    tried = [one.plan.limits.rows_per_group for one in known(priced.choice).candidates]
    assert 1 not in tried
    assert 10_000 in tried
    with pytest.raises(RefusedQuery, match="noise outside the range"):
        prepare(curator, ALL, Terms(epsilon=10**8, chosen_limits="auto"))


# ---- What limits left out, by the number of units that they cut.


@pytest.mark.parametrize("sql", [ALL, "SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic"])
@pytest.mark.parametrize(
    "limits", [*starmap(in_groups, product((1, 3, 8), (1, 2, 4))), in_all(2), in_all(5)], ids=str
)
def test_the_rows_that_were_cut_are_within_what_the_units_say(folder, sql, limits):
    with own(folder) as owner:
        engine = owner._project.engine
        plan = make_plan(owner.catalog(), sql)
        assert counts_all_cut(plan)
        plan = evolve(plan, aggregates=(*plan.aggregates, CountUnits()))
        narrow = evolve(plan, limits=limits)
        wide = evolve(plan, limits=Limits(rows_per_group=1000, groups_per_unit=4))
        kept, everything = (reveal(engine, one).columns for one in (narrow, wide))
    units = brute_force(limits, grouped=bool(plan.keys.fields))
    chosen = ChosenPrivately(
        share=SHARE,
        candidates=9,
        units_cut=units,
        is_exact=True,
        noise=DiscreteLaplace(scale="1/50"),
    )
    found = bounded_by_units(narrow, chosen, 40)
    lost, people = ((np.array(everything[i]) - np.array(kept[i])).tolist() for i in (0, -1))
    low, high = found.rows
    assert known(low) <= sum(lost) <= known(high)
    for (least, most), each in ((found.each[0], lost), (found.each[-1], people)):
        assert all(known(least) <= one <= known(most) for one in each)
    assert bounded_by_units(narrow, chosen, None).rows[1] == (None if units else 0)


def test_totals_of_a_private_choice_are_known_where_the_most_rows_are(folder):
    file = folder / "discreet.toml"
    with connect(folder) as connection:
        release = connection.sql(ALL, epsilon=5, limits="auto")
        ((low, high),) = release.totals("n", confidence="0.999999")
        left_out = release.left_out
        # How many rows those have who were cut is not declared: the total is known if nobody was.
        assert (high is None) == (left_out is not None and left_out.rows[1] is None)
        assert known(low) <= len(ROWS)
        assert high is None or len(ROWS) <= high
    file.write_text(
        file.read_text().replace("rows_per_group", "most_rows_per_unit = 40\nrows_per_group", 1)
    )
    with connect(folder) as connection:
        release = connection.sql(ALL, epsilon=5, limits="auto", fresh=True)
        ((low, high),) = release.totals("n", confidence="0.999999")
        assert known(low) <= len(ROWS) <= known(high)


def test_where_nobody_is_cut_nothing_is_said_to_be_left_out(tmp_path):
    """At this price the noise of the choice is 0 (false alarms: fewer than one in 10^15)."""
    rows = [visit(f"p{i}", "a") for i in range(60)]
    with connect(write_project(tmp_path, rows, epsilon="1000")) as connection:
        release = connection.sql(ALL, epsilon=900, limits="auto")
    chosen = release.body.limits.chosen
    assert chosen is not None
    assert chosen.units_cut == 0
    assert release.headline() == ()
    ((low, high),) = release.totals("n")
    assert known(low) <= len(rows) <= known(high)
    assert any("no people have more than counts" in note for note in release.notes())
    assert low <= release.rows[0][0] <= high


# ---- How good it is, on real tables.

GROUPED = "SELECT kind, COUNT(*) AS n FROM records GROUP BY kind"
EVERYTHING = "SELECT COUNT(*) AS n FROM records"


@frozen
class Contributions:
    """How many rows each person has in each group."""

    rows: np.ndarray
    group: np.ndarray
    groups_of_person: np.ndarray
    rows_of_person: np.ndarray

    @staticmethod
    def of(records: pd.DataFrame, sql: str) -> "Contributions":
        keys = ["person", "kind"] if sql == GROUPED else ["person"]
        pairs = records.groupby(keys).size().rename("n").reset_index()
        group = pairs["kind"].factorize()[0] if sql == GROUPED else np.zeros(len(pairs), int)
        many, every = (pairs.groupby("person")["n"].transform(name) for name in ("size", "sum"))
        return Contributions(pairs["n"].to_numpy(), group, many.to_numpy(), every.to_numpy())

    def error(self, limits: Limits, epsilon: float) -> float:
        """Return the mean error of a count that is to be expected: of what is cut and of noise."""
        part = np.minimum(1, limits.groups_per_unit / self.groups_of_person)
        kept, most = np.minimum(self.rows, limits.rows_per_group) * part, limits.rows_per_unit
        if most is not None:
            kept = self.rows * np.minimum(1, most / self.rows_of_person)
        lost = np.bincount(self.group, self.rows - kept)
        reach = min(limits.groups_per_unit, len(lost))
        scale = (most or limits.rows_per_group * reach) / epsilon
        return float(np.mean(lost + scale * np.exp(-lost / scale)))


FACTORS = {
    ("lab tests", EVERYTHING): 3,
    ("lab tests", GROUPED): 3,
    ("ratings", EVERYTHING): 4,
    ("ratings", GROUPED): 3,
}
"""How many times the error of the best limits in hindsight is to be expected, at most.

There are only 671 people in the ratings."""


@pytest.mark.parametrize("table", [LAB_TESTS, RATINGS], ids=lambda table: table.name)
def test_the_error_is_within_a_factor_of_the_best_in_hindsight(tmp_path, table):
    """The law of the choice is known, so what is to be expected is worked out, not tried."""
    folder, records = table.write(tmp_path)
    with own(folder) as owner:
        project = owner._project
        for sql, epsilon in product((EVERYTHING, GROUPED), ("0.1", "1")):
            _, priced, _ = prepare(project, sql, Terms(epsilon=epsilon, chosen_limits="auto"))
            choice = known(priced.choice)
            (units,) = reveal(project.engine, choice.plan).columns
            scores = choice.mechanism.scores(np.array(units)) / float(choice.mechanism.choice.scale)
            law = np.exp(scores - scores.max())
            found = Contributions.of(records, sql)
            rest = float(epsilon) * float(1 - SHARE)
            errors = [found.error(one.plan.limits, rest) for one in choice.candidates]
            many = count_bins(int(found.group.max()) + 1)
            tried = [in_groups(r, g) for r, g in product(count_bins(table.most), many)]
            tried += [in_all(r) for r in count_bins(table.most) if sql == GROUPED]
            best = min(found.error(limits, float(epsilon)) for limits in tried)
            assert float(law @ errors / law.sum()) <= FACTORS[table.name, sql] * best


def test_what_an_earlier_version_chose_is_given_again(folder, rng, monkeypatch):
    """It tried no limits over all groups, so its answers have another name."""
    curator = make_curator(folder, rng)
    monkeypatch.setattr(private_limits, "_over_all", lambda *_: ())
    first = answer(curator, BY_CLINIC, terms=AUTO, analyst="a")
    monkeypatch.undo()
    priced = prepare(curator, BY_CLINIC, AUTO)[1]
    assert priced.digest() != first.receipt.plan_digest
    again = answer(curator, BY_CLINIC, terms=AUTO, analyst="a")
    assert again.is_stored
    assert again.rows == first.rows


def test_an_answer_with_limits_of_its_own_is_none_with_chosen_ones(folder, rng):
    """A dearer answer is given for nothing to the same question alone."""
    curator = make_curator(folder, rng)
    _, priced, _ = prepare(curator, ALL, AUTO)
    limits = priced.plan.limits
    terms = Terms(
        epsilon=5, rows_per_group=limits.rows_per_group, groups_per_unit=limits.groups_per_unit
    )
    answer(curator, ALL, terms=terms, analyst="a")
    assert not answer(curator, ALL, terms=AUTO, analyst="a").is_stored
    cheap = evolve(terms, epsilon="1/2")
    assert answer(curator, ALL, terms=cheap, analyst="a").cost == Pure(5)
