"""Choices of a holdout of a table: what is chosen, charged, counted, promised and refused."""

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.adaptive import QuestionMix
from discreet.adaptive.gated.gated_promise import COUNT_PART, GatedAnswers
from discreet.adaptive.gated.person_query import choice_plan, sum_plan
from discreet.adaptive.guarantee import ROUNDING, STEPS
from discreet.adaptive.row_values import DeclaredRange
from discreet.core.errors import DiscreetError, InvalidArgument, Unsupported
from discreet.core.loss import Approximate, ApproximateZcdp, GaussianDp, Pure, Zcdp
from discreet.project.charged import charged
from discreet.project.passage import go_through
from discreet.roles.connection import connect
from tests.support.projects.clinic import exact_columns, make_curator, visit, write_project
from tests.support.statistics.exact_tests import alpha, cells_p_value

BETA = Fraction(1, 20)
MIX = QuestionMix(means=2, choices=2, candidates=4)
AGES = {"all": "max(age) > 20", "third": "max(age) > 50", "none": "max(age) > 70"}


def rows(people=3_000) -> list[dict[str, Any]]:
    """Every third person is 60 years old, and every second one comes twice."""
    ages = [60 if number % 3 == 0 else 30 for number in range(people)]
    twice = [visit(f"p{number}", "b", age=ages[number]) for number in range(0, people, 2)]
    return [*(visit(f"p{number}", age=age) for number, age in enumerate(ages)), *twice]


@pytest.fixture
def folder(tmp_path):
    return write_project(tmp_path / "clinic", rows(), epsilon="10")


def answers(mix=MIX, price: Any = None, cap: Any = None) -> GatedAnswers:
    return GatedAnswers.with_price(
        questions=mix,
        beta=BETA,
        price=Pure("0.2") if price is None else price,
        cap=Pure(3) if cap is None else cap,
    )


def test_the_best_is_chosen_and_only_the_choice_is_told(folder):
    """At ε = 0.2 a question a choice has a scale of 5 people, and 1,000 are 200 of them."""
    with connect(folder) as connection:
        holdout = connection.holdout("visits", questions=MIX, epsilon="1")
        least = holdout.choose(AGES)
        assert (least.chosen, least.place, least.number) == ("none", 2, 1)
        assert "at most" in str(least)
        assert "above the least" in str(least)
        most = holdout.choose(list(AGES.values()), largest=True)
        assert (most.chosen, most.place, most.number) == ("max(age) > 20", 0, 2)
        assert "below the largest" in str(most)
        assert holdout.left_by_kind == {"means": 2, "choices": 0}
        assert holdout.left == 2
        assert connection.budget()[0].spent == Pure(Fraction(3, 5))
        stored = connection._project.ledger.release_of(least.receipt.ticket.number)
        assert stored is not None
        public = {"kind", "sql", "holdout", "chosen_from", "best", "low", "high", "scale"}
        assert set(stored[0]) == public | {"version", "bounding", "place"}


@pytest.mark.parametrize("largest", [False, True])
def test_the_place_is_that_of_the_candidate_in_whatever_order_sums_are(folder, largest):
    """Sums of a plan have an order of their own; the best stands at each place in turn."""
    wanted = "count(*)" if largest else "max(age) > 70"
    others = ["max(age) / 100", "avg(cost) / 5 + 0.1"]
    with connect(folder) as connection:
        mix = QuestionMix(choices=2, candidates=3)
        holdout = connection.holdout("visits", questions=mix, epsilon="1")
        for place in range(2):
            texts = [*others[:place], wanted, *others[place + 1 :], "max(change) * 0.6"]
            found = holdout.choose(texts[:3], largest=largest)
            assert (found.chosen, found.place) == (wanted, place)


def test_the_same_choice_in_other_letters_is_stored(folder):
    with connect(folder) as connection:
        holdout = connection.holdout("visits", questions=MIX, epsilon="1")
        holdout.choose(["max(age) > 70", "max(age) > 20"])
        for again in (["MAX(age)>20", "MAX( age ) > 70"], ["MAX( age ) > 70", "0.0 < max(age)-20"]):
            found = holdout.choose(again)
            assert found.is_stored == (again[1] == "MAX( age ) > 70")
            assert found.chosen == "MAX( age ) > 70"


def test_equal_choices_are_given_again_for_nothing(folder):
    """In another order, by other names, by another analyst; the least is not the largest."""
    with connect(folder) as connection:
        holdout = connection.holdout("visits", questions=MIX, epsilon="0.2")
        first = holdout.choose(AGES)
        before = connection.budget()[0].spent
    with connect(folder, analyst="bob") as connection:
        holdout = connection.holdout("visits", questions=MIX, epsilon="0.2")
        again = holdout.choose(list(AGES.values())[::-1])
        assert again.is_stored
        assert again.chosen == AGES[first.chosen]
        assert again.excess == first.excess < 1
        named = holdout.choose({f"{name} again": text for name, text in AGES.items()})
        assert named.chosen == f"{first.chosen} again"
        assert connection.budget()[0].spent == before
        assert holdout.left_by_kind["choices"] == 1
        opened: Any = connection.releases()[1].open()
        assert (opened.chosen, opened.excess) == (AGES[first.chosen], first.excess)
        assert opened.to_json()["stored"]
        assert not holdout.choose(AGES, largest=True).is_stored


def test_sums_are_those_of_each_candidate_and_move_in_one_direction(tmp_path, rng):
    """Against one plan for each; a person who is added lowers none of the sums."""
    texts, within = ("max(age) > 50", "avg(cost)", "count(*)"), DeclaredRange(0, 5)
    heavy = [visit("x", age=90, cost=9.5) for _ in range(50)]
    found: list[list[int]] = []
    for number, more in enumerate(([], heavy, [visit("x", age=None, cost=None)])):
        project = make_curator(write_project(tmp_path / str(number), [*rows(20), *more]), rng)
        table: Any = project.catalog.table("visits")
        plan, order = choice_plan(project, table, texts, within)
        assert [one.linf for one in plan.contributions()] == [STEPS] * 3
        assert sorted(order) == [0, 1, 2]
        columns = exact_columns(project.engine, plan)
        together = [int(columns[place][0]) for place in order]
        for text, total in zip(texts, together, strict=True):
            alone = sum_plan(project, table, text, within)
            assert total == int(exact_columns(project.engine, alone)[0][0])
        found.append(together)
    for totals in found[1:]:
        moved = [now - then for now, then in zip(totals, found[0], strict=True)]
        assert all(0 <= one <= STEPS for one in moved)


def chances(scores, scale):
    weights = [math.exp(score / scale) for score in scores]
    return [weight / sum(weights) for weight in weights]


def largest_loss(scores, moves, scale):
    before = chances(scores, scale)
    after = (
        chances([a + b for a, b in zip(scores, move, strict=True)], scale)
        for move in itertools.product(moves, repeat=len(scores))
    )
    return max(abs(math.log(p / q)) for one in after for p, q in zip(before, one, strict=True))


@pytest.mark.parametrize("sign", [1, -1])
def test_the_loss_of_a_choice_by_enumeration(sign):
    """One who comes costs what is charged; one who is replaced tells nearly twice as much.

    So a promise that counts the charge alone, a broken twin, would be too small.
    """
    found = answers(QuestionMix(choices=3, candidates=3), Pure(4))
    scale = float(found.choice.scale) / STEPS
    loss: Any = charged(found.choice_event, found.cap)
    paid = float(loss.epsilon)
    for scores in ((0, 0, 0), (0, 1, 5), (9, 0, 0), (-30, 0, 30)):
        signed = [sign * score for score in scores]
        assert largest_loss(signed, (0, sign), scale) <= paid * (1 + 1e-9)
        assert largest_loss(signed, (-1, 0, 1), scale) <= 2 * paid * (1 + 1e-9)
    assert largest_loss((0, 0, 0), (-1, 0, 1), scale) > 1.2 * paid
    ((_, own),) = [one for one in found.stabilities(0) if not one[1].delta][:1]
    assert float(own.epsilon) == pytest.approx(3 * 2 * paid)


def test_what_is_chosen_has_the_law_of_the_mechanism(rng):
    """Both ways; a scale that is a third smaller is told apart."""
    found = answers(QuestionMix(choices=1, candidates=3), Pure(2))
    sums, runs = np.array([0, STEPS, 3 * STEPS], dtype=np.int64), 4_000
    share = alpha("adaptive/table-choices", parts=4)
    scale = float(found.choice.scale)
    for is_largest in (True, False):
        chooser = found.chooser(is_largest=is_largest)
        chosen = [chooser.select(sums, rng) for _ in range(runs)]
        signed = sums if is_largest else -sums
        wanted, twin = (
            dict(enumerate(map(float, chances(signed.tolist(), one))))
            for one in (scale, scale * 2 / 3)
        )
        assert cells_p_value(chosen, wanted) > share
        assert cells_p_value(chosen, twin) < share


def closed_form(found: GatedAnswers, people: int) -> float:
    """Return the promise of choices by its closed form, without a δ, with the best part of β."""
    mix, scale = found.mix, float(found.choice.scale) / STEPS
    beta = float(BETA) / 2 * (1 - float(COUNT_PART)) / len(mix.by_kind)
    count = math.log(2 / (float(BETA) / 2 * float(COUNT_PART))) * scale
    best = 1.0
    for part in np.geomspace(1e-6, 0.3, 400) * float(BETA) / 2:
        gap = scale * math.log((mix.candidates - 1) * mix.choices / part)
        tilt = 2 * math.tanh((mix.means + 2 * mix.choices) / scale / 4)
        best = min(best, gap / (people - count) + tilt + 2 * part / beta)
    return best


@pytest.mark.parametrize("people", [5_000, 50_000, 500_000])
@pytest.mark.parametrize("mix", [QuestionMix(choices=1, candidates=5), MIX])
def test_promises_against_closed_forms(people, mix):
    """At most a twentieth more than by the pure loss; with one choice, not less than it either."""
    found = answers(mix)
    promise, wanted = float(found.reach(people, None, "choices")), closed_form(found, people)
    assert promise <= wanted * 1.05
    if mix.total == 1:
        assert promise >= wanted * 0.95
    assert promise > float(2 * ROUNDING)


@pytest.mark.parametrize(
    ("price", "cap", "besides"),
    [
        (Pure("0.2"), Approximate(3, "1e-6"), Approximate("0.01", "1e-10")),
        (Zcdp("0.002"), Zcdp(1), Zcdp("0.0001")),
        (Zcdp("0.002"), ApproximateZcdp(1, "1e-6"), ApproximateZcdp("0.0001", "1e-10")),
        (Pure("0.05"), Zcdp(1), Zcdp("0.00001")),
    ],
)
def test_every_budget_has_its_promise_and_its_price(price, cap, besides):
    found = answers(price=price, cap=cap)
    if type(price) is type(cap):
        assert Fraction(99, 100) * price <= found.whole <= price
    for kind in ("means", "choices"):
        alone, beside = found.reach(10**5, None, kind), found.reach(10**5, besides, kind)
        assert 0 < alone < beside < Fraction(1, 2)
    assert found.reach(10**5, None) == max(
        found.reach(10**5, None, kind) for kind in ("means", "choices")
    )
    assert found.reach(1, None, "choices") >= 1
    assert answers(QuestionMix(means=4, candidates=9)) == answers(QuestionMix(means=4))


def test_an_analyst_who_fits_choices_to_choices_stays_inside(rng):
    """Each choice is among votes that agree with all earlier ones; the truth of each is a half.

    No candidate is better than another one for the population, so the excess is 0, and what is
    looked at is the sample: how far the last one is below a half there, which must be inside too.
    """
    people, mix = 20_000, QuestionMix(choices=20, candidates=8)
    found, random = answers(mix, Pure("0.4")), np.random.default_rng(3)
    votes = np.zeros(people)
    chooser = found.chooser(is_largest=False)
    for _ in range(mix.choices):
        coins = random.integers(0, 2, (mix.candidates, people))
        place = chooser.select(coins.sum(axis=1).astype(np.int64) * STEPS, rng)
        votes += coins[place] - 0.5
    fitted = abs(float((votes > 0).mean() + (votes == 0).mean() / 2) - 0.5)
    assert fitted < float(found.reach(people, None, "choices")) < 1


def test_choices_and_means_are_counted_apart(folder):
    """One beyond its number is charged only if two ask at once; it counts as told besides."""
    with connect(folder) as connection:
        holdout: Any = connection.holdout("visits", questions=MIX, epsilon="0.2")
        project, within = connection._project, DeclaredRange(0, 1)
        late = holdout._plan.choice(
            project, ("count(*) > 1", "max(age) > 50"), within, is_largest=False
        )
        holdout.choose(AGES)
        holdout.choose(AGES, largest=True)
        with pytest.raises(InvalidArgument, match="All choices were asked"):
            holdout.choose(["count(*) > 1", "max(age) > 50"])
        before = holdout.alphas["means"]
        assert before < 1
        beyond = holdout.selection(go_through(project, late, analyst="bob"))
        assert (beyond.number, beyond.excess) == (3, 1)
        assert "nothing is promised" in str(beyond)
        assert holdout.alphas["means"] > before
        mean = holdout.ask("max(age) > 50")
        assert (mean.number, mean.questions) == (1, 2)
        assert mean.low <= Fraction(1, 3) <= mean.high


def test_choices_that_are_refused_change_nothing(folder):
    with connect(folder) as connection:
        holdout = connection.holdout("visits", questions=MIX, epsilon="1")
        before = connection.budget()[0].spent
        wrongs: tuple[Any, ...] = (
            [],
            ["max(age)"],
            ["max(age)", "MAX( age ) "],
            "max(age)",
            {"a": "max(age)"},
            {1: "max(age)", "b": "count(*)"},
            ["max(age)", None],
            ["max(age)", "max(note)"],
            ["max(age)", "age"],
            ["max(age)", "1) AS value FROM visits WHERE (true"],
            ["max(age)", "count(*)), (max(cost)"],
            ["1", "2", "3", "4", "5"],
            7,
        )
        for wrong in wrongs:
            with pytest.raises(DiscreetError):
                holdout.choose(wrong)
        with pytest.raises(DiscreetError, match="range is empty"):
            holdout.choose(AGES, low=3, high=3)
        means = connection.holdout("visits", questions=2, epsilon="0.1")
        with pytest.raises(InvalidArgument, match="made for no choices"):
            means.choose(AGES)
        only = connection.holdout("visits", questions=QuestionMix(choices=2), epsilon="0.1")
        with pytest.raises(InvalidArgument, match="made for no means"):
            only.ask("max(age) > 50")
        assert connection.budget()[0].spent == before + Pure(Fraction(1, 30)) * 2
        assert holdout.left == 4


def test_mixes_that_are_refused(folder):
    with connect(folder) as connection:
        with pytest.raises(Unsupported, match="no values"):
            connection.holdout("visits", questions=QuestionMix(values=1), epsilon="1")
        assert connection.budget()[0].spent == Pure(0)
    text = (folder / "discreet.toml").read_text()
    (folder / "discreet.toml").write_text(text.replace("epsilon = 10", "mu = 1"))
    with connect(folder) as connection:
        with pytest.raises(Unsupported, match="no loss in the measure"):
            connection.holdout("visits", questions=MIX, rho="0.1")
        assert connection.budget()[0].spent == GaussianDp(0)


def test_an_explanation_is_what_is_promised(folder):
    with connect(folder) as connection:
        told = connection.explain_holdout("visits", units=5_000, questions=MIX, epsilon="0.2")
        assert "2 means, 2 choices of 4" in str(told)
        assert told.to_json()["choices"] == 2
        assert connection.budget()[0].spent == Pure(0)
        holdout = connection.holdout("visits", questions=MIX, epsilon="0.2")
        assert told.alphas["choices"] == holdout._plan.answers.reach(5_000, None, "choices")
        assert told.alpha == max(told.alphas.values())


def test_stored_choices_keep_their_names(folder):
    """Whoever has paid for one finds it again, in later versions too."""
    with connect(folder) as connection:
        holdout: Any = connection.holdout("visits", questions=MIX, epsilon="1")
        within = DeclaredRange(0, 1)
        order = holdout._plan.in_order(connection._project, list(AGES.values()), within)
        asked = holdout._plan.choice(connection._project, order, within, is_largest=False)
        assert (
            holdout._plan.name == "1367cb192fd1ea572f937a8865b077f5d13a4bc7e2b63523d6c5c2a247142735"
        )
        assert asked.name == "326b52ff12325f51e0f77efe4357bc829de4c4506c23224625d1166b42208a56"
