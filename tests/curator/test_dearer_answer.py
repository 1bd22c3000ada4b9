"""A stored answer at a higher price is given for nothing, and never one that will not do."""

import math
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from fractions import Fraction
from itertools import starmap
from pathlib import Path
from random import Random
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.canonical import canonical
from discreet.core.contribution import Contribution
from discreet.core.loss import Approximate, Pure, Zcdp
from discreet.curator import dearer_answer
from discreet.curator.answer import prepare
from discreet.curator.dearer_answer import is_as_exact, is_as_near, is_no_wider
from discreet.curator.price import price as pricing
from discreet.curator.price.price import ChosenGroups, Drawn, PricedPlan
from discreet.ledger.chain import Entry, Kind, follow
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.noise_json import AggregateMechanism
from discreet.mechanisms.selection.quantile import Quantile
from discreet.mechanisms.selection.quantile_end import QuantileEnd
from discreet.project.noise import END_BETA
from discreet.project.project import open_project
from discreet.releases.accuracy import error_of
from discreet.releases.free_answer import FreeAnswer
from discreet.releases.release import Release
from discreet.roles.connection import Connection, connect
from discreet.roles.owner import own
from tests.support.projects.clinic import visit, write_project

ROWS = [visit(f"p{i}", "abcd"[i % 4], age=i % 90, note="xyz"[i % 3]) for i in range(60)]
COUNT = "SELECT COUNT(*) AS n FROM visits"
GROUPS = "SELECT clinic, COUNT(*) AS n, SUM(age) AS years FROM visits GROUP BY clinic"
MEDIAN = "SELECT MEDIAN(age) AS middle FROM visits"
NOTES = "SELECT note, COUNT(DISTINCT person) AS n, COUNT(*) AS rows FROM visits GROUP BY note"
OTHER = "SELECT COUNT(*) AS n FROM visits WHERE urgent"


def project(folder: Path, budget: str = "epsilon = 1000, delta = 0.001") -> Path:
    write_project(folder, ROWS)
    file = folder / "discreet.toml"
    file.write_text(file.read_text().replace("epsilon = 10", budget))
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return project(tmp_path)


@pytest.fixture
def connection(folder: Path) -> Iterator[Connection]:
    with connect(folder) as opened:
        yield opened


# ---- What is given.


@pytest.mark.parametrize("sql", [COUNT, GROUPS, MEDIAN])
def test_a_dearer_answer_is_given_and_says_so(connection, sql):
    dear = connection.sql(sql, epsilon=1)
    before = connection.budget()
    cheap = connection.sql(sql, epsilon="0.1")
    assert connection.budget() == before
    assert (cheap.is_stored, cheap.receipt, cheap.rows) == (True, dear.receipt, dear.rows)
    assert (cheap.cost, cheap.offered) == (dear.cost, Approximate("0.1", 0))
    said = "this is an earlier answer at ε = 1, δ = 0: more exact than what ε = 0.1, δ = 0 buys"
    assert any(note.startswith(said) for note in cheap.notes())
    assert said in str(cheap)
    assert cheap.to_json()["offered"] == Approximate("0.1", 0).to_json()
    connection.verify(cheap.receipt)


def test_explain_says_that_it_costs_nothing_and_why(connection):
    connection.sql(COUNT, epsilon=1)
    found = connection.explain(COUNT, epsilon="0.1")
    assert found.is_stored
    assert found.cost == Approximate(0, 0)
    assert found.to_json()["stored_at"] == Approximate(1, 0).to_json()
    assert "nothing: this was answered before, more exactly, at ε = 1" in str(found)
    assert connection.explain(COUNT, epsilon=1).stored_at is None


def test_a_fresh_one_is_paid_for_and_given_again_at_its_price(connection):
    dear = connection.sql(COUNT, epsilon=1)
    fresh = connection.sql(COUNT, epsilon="0.1", fresh=True)
    assert (fresh.is_stored, fresh.offered) == (False, None)
    assert connection.sql(COUNT, epsilon="0.1").receipt == fresh.receipt
    # A cheaper one that is newer hides no dearer one.
    assert connection.sql(COUNT, epsilon="0.2").receipt == dear.receipt


def test_of_several_the_dearest_is_given(connection):
    receipts = [connection.sql(COUNT, epsilon=price).receipt for price in (1, 5, 2)]
    assert connection.sql(COUNT, epsilon="0.5").receipt == receipts[1]
    assert connection.sql(COUNT, epsilon=3).receipt == receipts[1]
    assert connection.sql(COUNT, epsilon=2).receipt == receipts[1]


def test_private_groups_are_given_if_as_many_are_shown(connection):
    connection.sql(NOTES, epsilon=8, delta="1e-6")
    assert connection.sql(NOTES, epsilon=4, delta="1e-7").is_stored
    # A larger δ has a lower threshold, so groups could be missing.
    assert not connection.sql(NOTES, epsilon=4, delta="1e-4").is_stored


def test_a_batch_is_given_as_a_whole(connection):
    both = [COUNT, GROUPS]
    dear = connection.batch(both, epsilon=2, delta="1e-5")
    cheap = connection.batch(both, epsilon=1, delta="1e-6")
    assert [one.receipt for one in cheap] == [one.receipt for one in dear]
    assert all(one.is_stored and one.offered is not None for one in cheap)
    assert not connection.batch(both[:1], epsilon=1, delta="1e-6")[0].is_stored
    assert not connection.sql(COUNT, epsilon="0.1").is_stored


def test_another_view_of_the_same_numbers_is_the_same_question(connection):
    connection.sql(GROUPS, epsilon=1)
    assert connection.sql(f"{GROUPS} ORDER BY n DESC LIMIT 2", epsilon="0.5").is_stored


# ---- What is not.


def test_other_questions_limits_and_versions_are_paid_for(connection, folder):
    connection.sql(COUNT, epsilon=1)
    assert not connection.sql(OTHER, epsilon="0.1").is_stored
    assert not connection.sql(COUNT, epsilon="0.1", rows_per_group=1).is_stored
    assert not connection.sql(COUNT, epsilon="0.1", rows_per_group=3).is_stored
    assert not connection.sql(COUNT, epsilon=2).is_stored
    with own(folder) as owner:
        owner.data_changed("people")
    assert not connection.sql(COUNT, epsilon="0.1").is_stored


def test_another_measure_is_never_taken(tmp_path):
    """The owner declares the budget anew in another measure: what was paid counts as it is."""
    with connect(project(tmp_path)) as connection:
        asked = prepare(connection._project, COUNT, Pure(1))[1]
    dear = evolve(asked, loss=Approximate(5, 0))
    assert is_as_exact(dear, evolve(asked, loss=Approximate(1, 0)))
    for loss in (Pure(1), Zcdp(rho="0.01")):
        assert not is_as_exact(dear, evolve(asked, loss=loss))


PRICES = (Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(5))
DELTAS = (Fraction(1, 10**7), Fraction(1, 10**5))
LEVELS = (Fraction(1, 2), Fraction(1, 20), Fraction(1, 1000), Fraction(1, 10**6))


def asked_for(dice: Random) -> tuple[str, dict[str, Any]]:
    sql = dice.choice([COUNT, GROUPS, MEDIAN, NOTES])
    delta = dice.choice(DELTAS) if sql == NOTES else None
    limits = dice.choice([{}, {}, {"rows_per_group": 1}])
    return sql, {"epsilon": dice.choice(PRICES), "delta": delta, **limits}


def play(connection: Connection, number: int, questions: int = 12) -> int:
    """Ask random questions at random prices; return how often a dearer answer was given."""
    dice = Random(number)
    paid: list[PricedPlan] = []
    given = 0
    for _ in range(questions):
        sql, terms = asked_for(dice)
        priced = connection.explain(sql, **terms).priced
        release = connection.sql(sql, **terms)
        if release.offered is not None:
            given += 1
            check_given(release, priced)
        elif not release.is_stored:
            same = [one for one in paid if one.plan == priced.plan]
            assert not any(would_do(one, priced) for one in same), "a dearer one was not found"
            paid.append(priced)
    return given


def check_given(release: Release | FreeAnswer, asked: PricedPlan) -> None:
    """An oracle that knows of error bars, and nothing of scales."""
    body = release.body
    limits = asked.plan.limits
    assert (body.limits.rows_per_group, body.limits.groups_per_unit) == (
        limits.rows_per_group,
        limits.groups_per_unit,
    )
    fields = asked.plan.relation.fields()
    labels = [aggregate.label(fields)["text"] for aggregate in asked.plan.aggregates]
    assert [one.text for one in body.aggregates] == labels
    assert release.cost.measure is asked.loss.measure
    assert asked.loss <= release.cost
    assert release.offered == asked.loss
    for stored, mechanism in zip(body.aggregates, asked.mechanisms, strict=True):
        for level in LEVELS:
            assert error_of(stored.noise, level) <= error_of(mechanism, level)
    if isinstance(asked.groups, ChosenGroups):
        assert body.selection is not None
        assert body.selection.threshold <= asked.groups.mechanism.threshold


def would_do(stored: PricedPlan, asked: PricedPlan) -> bool:
    """Tell whether an answer with noise of the same kinds and no larger spread was paid for."""
    pairs = list(zip(stored.mechanisms, asked.mechanisms, strict=True))
    are_smaller = all(type(a) is type(b) and a.spread < b.spread for a, b in pairs)
    is_public = not isinstance(asked.groups, ChosenGroups)
    return is_public and are_smaller and asked.loss <= stored.loss


def test_random_prices(tmp_path, soak):
    for number in range(soak.cases(1)):
        with connect(project(tmp_path / str(number))) as connection:
            assert play(connection, number) > 2
            connection.verify()


def test_a_budget_in_rho(tmp_path):
    with connect(project(tmp_path, "rho = 1000, delta = 0.001")) as connection:
        dear = connection.sql(GROUPS, rho=1)
        assert connection.sql(GROUPS, rho="0.01").receipt == dear.receipt
        assert not connection.sql(GROUPS, rho=2).is_stored


# ---- Power: broken twins.


def nameless(plans: Any, *, is_batch: bool) -> str:
    """A name of a question that forgets its limits, its rows and its aggregates."""
    return "one name for everything"


def trusting(is_exact: Callable[..., bool]) -> Callable[..., Any]:
    """Take whatever is found under the name of a question, and look at the price alone."""

    def answered_by(plans: Any, *, is_batch: bool) -> Any:
        return lambda paid, bodies: is_exact(paid, plans)

    return answered_by


def test_a_name_that_forgets_the_limits_gives_nothing_away(monkeypatch, tmp_path):
    """The name only finds; what is found must have the name of the plan, with its noise."""
    monkeypatch.setattr("discreet.curator.answer.question_of", nameless)
    with connect(project(tmp_path)) as connection:
        connection.sql(COUNT, epsilon=50, rows_per_group=1)
        connection.sql(GROUPS, epsilon=50, rows_per_group=2)
        assert not connection.sql(COUNT, epsilon="0.1", rows_per_group=2).is_stored
        assert connection.sql(COUNT, epsilon="0.2", rows_per_group=1).is_stored


def test_a_twin_that_ignores_the_limits_is_caught(monkeypatch, tmp_path):
    monkeypatch.setattr("discreet.curator.answer.question_of", nameless)
    monkeypatch.setattr("discreet.curator.answer.answered_by", trusting(lambda *_: True))
    with connect(project(tmp_path)) as connection, pytest.raises(AssertionError):
        play(connection, 1)


def check_plans(stored: PricedPlan, asked: PricedPlan) -> None:
    if is_as_exact(stored, asked):
        for one, other in zip(stored.mechanisms, asked.mechanisms, strict=True):
            assert all(error_of(one, level) <= error_of(other, level) for level in LEVELS)


def with_noise(priced: PricedPlan, noises: list[AggregateMechanism], price: int) -> PricedPlan:
    pairs = zip(priced.answers, noises, strict=True)
    answers = tuple(Drawn(noise, answer.event) for answer, noise in pairs)
    return evolve(priced, answers=answers, loss=Pure(price))


def test_a_twin_that_ignores_the_noise_is_caught(folder, monkeypatch):
    """Under a δ a dearer answer may have Laplace noise, and a cheaper one Gaussian noise."""
    found = open_project(folder)
    _, priced, _ = prepare(found, GROUPS, Pure(1))
    found.close()
    dice = Random(3)

    def noises() -> list[AggregateMechanism]:
        scales = [Fraction(dice.randint(10, 90), 10) for _ in priced.answers]
        return [
            DiscreteLaplace(scale=scale)
            if dice.random() < 1 / 2
            else DiscreteGaussian(sigma_squared=scale**2)
            for scale in scales
        ]

    pairs = [(noises(), noises()) for _ in range(60)]
    plans = [(with_noise(priced, a, 2), with_noise(priced, b, 1)) for a, b in pairs]
    for stored, asked in plans:
        check_plans(stored, asked)
    assert 5 <= sum(is_as_exact(stored, asked) for stored, asked in plans) <= 30
    monkeypatch.setattr(dearer_answer, "is_no_wider", lambda *_: True)
    with pytest.raises(AssertionError):
        list(starmap(check_plans, plans))


# ---- The law: no interval is wider, at any confidence.

SCALES = st.fractions(Fraction(1, 3), 20, max_denominator=50)


def tails(mechanism: AggregateMechanism, most: int) -> list[float]:
    """Return P(|noise| ≥ k) for small k, by adding up weights."""
    if isinstance(mechanism, DiscreteLaplace):
        weights = [math.exp(-k / mechanism.scale) for k in range(most)]
    else:
        assert isinstance(mechanism, DiscreteGaussian)
        weights = [math.exp(-(k**2) / (2 * mechanism.sigma_squared)) for k in range(most)]
    doubled = [weights[0], *(2 * weight for weight in weights[1:])]
    total = sum(doubled)
    found, rest = [], 0.0
    for weight in reversed(doubled):
        rest += weight / total
        found.append(rest)
    return found[::-1]


NOISES = st.one_of(
    st.builds(lambda scale: DiscreteLaplace(scale=scale), SCALES),
    st.builds(lambda scale: DiscreteGaussian(sigma_squared=scale**2), SCALES),
)


@given(NOISES, NOISES)
def test_no_wider_means_that_no_tail_is_heavier(stored, asked):
    if not is_no_wider(stored, asked):
        return
    pairs = zip(tails(stored, 1000), tails(asked, 1000), strict=True)
    assert all(one <= other * (1 + 1e-9) for one, other in pairs if other > 1e-290)


@given(SCALES, SCALES)
def test_the_rule_is_not_far_from_what_is_true(scale, other):
    """If the Gaussian's tails are lighter even at three quarters, the rule says so."""
    gaussian, laplace = DiscreteGaussian(sigma_squared=scale**2), DiscreteLaplace(scale=other)
    if other >= 3 and scale <= other * Fraction(6, 10):
        assert is_no_wider(gaussian, laplace)
    assert not is_no_wider(laplace, gaussian)


def test_another_quantile_or_domain_will_not_do():
    one = Quantile(quantile="1/2", lower=0, upper=100, scale=5)
    assert is_no_wider(one, evolve(one, scale=6))
    assert not is_no_wider(one, evolve(one, scale=4))
    for change in ({"quantile": "1/4"}, {"lower": 1}, {"upper": 99}):
        assert not is_no_wider(one, evolve(one, scale=6, **change))
    assert not is_no_wider(one, DiscreteLaplace(scale=100))
    assert not is_no_wider(DiscreteLaplace(scale=1), one)


def test_ends_that_are_farther_apart_or_less_sure_will_not_do():
    bounds: dict[str, Any] = {"quantile": "1/2", "lower": 0, "upper": 100}
    d_in = Contribution(l1=1)
    dear, cheap = (
        QuantileEnd.calibrate(d_in=d_in, loss=Pure(price), beta=END_BETA, side="low", **bounds)
        for price in (2, 1)
    )
    assert is_as_near(dear, cheap)
    assert is_as_near(cheap, cheap)
    assert not is_as_near(cheap, dear)
    assert not is_as_near(evolve(dear, distance=cheap.distance + 1), cheap)
    assert not is_as_near(evolve(dear, distance=1), cheap)
    for change in ({"side": "high"}, {"quantile": "1/4"}, {"lower": 1}, {"upper": 99}):
        assert not is_as_near(evolve(dear, **change), cheap)


def test_an_answer_without_ends_will_not_do_for_a_price_that_draws_them(folder, monkeypatch):
    with connect(folder) as connection:
        with monkeypatch.context() as patch:
            patch.setattr(pricing, "ends_for", lambda *_: ())
            old = connection.sql(MEDIAN, epsilon=5)
        assert not old.body.aggregates[0].ends
        asked = connection.explain(MEDIAN, epsilon=1).priced
        without = evolve(asked, answers=(Drawn(asked.mechanisms[0], asked.event),))
        assert is_as_exact(asked, asked)
        assert not is_as_exact(without, asked)
        found = connection.sql(MEDIAN, epsilon=1)
        assert not found.is_stored
        assert found.intervals("middle") != (None,)


def test_fewer_groups_will_not_do(folder):
    found = open_project(folder)
    _, asked, _ = prepare(found, NOTES, Approximate(1, Fraction(1, 10**6)))
    assert isinstance(asked.groups, ChosenGroups)
    few, many = (evolve(asked, groups=evolve(asked.groups, most_groups=n)) for n in (5, 9))
    assert is_as_exact(many, few)
    assert is_as_exact(asked, few)
    assert not is_as_exact(few, many)
    assert not is_as_exact(few, asked)
    higher = evolve(asked.groups.mechanism, threshold=asked.groups.mechanism.threshold + 1)
    assert not is_as_exact(evolve(asked, groups=evolve(asked.groups, mechanism=higher)), asked)
    found.close()


# ---- Hostile hands on the ledger.

LEDGER = "ledger.sqlite"


def rewrite(folder: Path, change: Callable[[Entry, dict[str, Any]], None]) -> None:
    """Write the chain anew, with every digest and every row of the index as they must be."""
    (file,) = folder.rglob(LEDGER)
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        for (name,) in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        rows = connection.execute(
            "SELECT sequence, kind, payload, previous, digest FROM entries ORDER BY sequence"
        ).fetchall()
        connection.execute("DELETE FROM entries")
        connection.execute("DELETE FROM subjects")
        head: Entry | None = None
        for sequence, kind, text, previous, digest in rows:
            before = Entry(
                sequence=sequence, kind=Kind(kind), text=text, previous=previous, digest=digest
            )
            payload = before.payload
            change(before, payload)
            head = follow(head, Kind(kind), payload)
            connection.execute(
                "INSERT INTO entries VALUES (?, ?, ?, ?, ?)",
                (head.sequence, kind, head.text, head.previous, head.digest),
            )
            for subject in head.subjects:
                connection.execute(
                    "INSERT INTO subjects VALUES (?, ?, ?)",
                    (kind, canonical(subject), head.sequence),
                )


def questions(folder: Path) -> list[str]:
    with connect(folder) as connection:
        return [e.payload["question"] for e in connection.history() if e.kind is Kind.COMMIT]


def test_a_release_of_another_question_is_never_given(tmp_path):
    """Even if the whole chain is written anew, so that only an anchor could tell."""
    folder = project(tmp_path)
    with connect(folder) as connection:
        connection.sql(OTHER, epsilon=5)
        connection.sql(COUNT, epsilon=1, fresh=True)
    other, wanted = questions(folder)

    def exchange(entry: Entry, payload: dict[str, Any]) -> None:
        order = payload["order"] if entry.kind is Kind.RESERVE else payload
        if order.get("question") == other:
            order["question"] = wanted

    rewrite(folder, exchange)
    for anchor in folder.glob("*.anchor"):
        anchor.unlink()
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    assert questions(folder) == [wanted, wanted]
    with connect(folder) as connection:
        release = connection.sql(COUNT, epsilon="0.5")
        assert release.cost == Approximate(1, 0)
        assert connection.sql(COUNT, epsilon=2).is_stored is False


def test_an_exchanged_name_of_a_question_is_found(tmp_path):
    folder = project(tmp_path)
    with connect(folder) as connection:
        connection.sql(OTHER, epsilon=5)
        connection.sql(COUNT, epsilon=1)
    _, wanted = questions(folder)

    def exchange(entry: Entry, payload: dict[str, Any]) -> None:
        if entry.kind is Kind.COMMIT:
            payload["question"] = wanted

    rewrite(folder, exchange)
    for anchor in folder.glob("*.anchor"):
        anchor.unlink()
    with connect(folder) as connection, pytest.raises(Exception, match="commit was not allowed"):
        connection.verify()
