"""The accountant that people ask, against closed forms, a peer library and its own orderings."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from dp_accounting import dp_event
from dp_accounting.rdp import RdpAccountant

from discreet.accounting.accounting_question import METHODS, account
from discreet.accounting.notation import read_events
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Approximate, Measure, PrivacyLoss
from discreet.core.mechanism_event import TwoCoinResponseEvent
from discreet.core.stated_event import (
    ApproximateEvent,
    BoundedRangeEvent,
    GaussianEvent,
    LaplaceEvent,
    PureEvent,
    ZcdpEvent,
)
from tests.support.statistics.numbered_rng import NumberedRng


def spent(events, **options) -> Approximate:
    loss = account(events, **options).loss
    assert isinstance(loss, Approximate)
    return loss


def epsilon(events, **options) -> float:
    return float(spent(events, **options).epsilon)


def epsilon_of(loss: PrivacyLoss | None) -> Fraction:
    assert isinstance(loss, Approximate)
    return loss.epsilon


@pytest.mark.parametrize(
    ("text", "delta", "expected"),
    [
        ("gaussian(scale=1)", "1e-5", 4.3772),
        ("gaussian(scale=10) * 100", "1e-5", 4.3772),
        ("gaussian(scale=2)", "1e-5", 1.9931),
        ("gaussian(scale=100) * 1000", "1e-6", 1.3676),
        ("gaussian(scale=300) * 10000", "1e-6", 1.4480),
        ("pure(0.1) * 100", "1e-6", 4.7746),
        ("pure(0.1) * 1000", "1e-6", 19.3447),
    ],
)
def test_exact_values(text, delta, expected):
    result = account(read_events(text), delta=delta)
    assert abs(float(epsilon_of(result.loss)) - expected) < 1e-4
    assert 0 <= epsilon_of(result.loss) - epsilon_of(result.lower) < Fraction(1, 10**6)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gaussian(scale=1)", 4.7285),
        ("gaussian(scale=2)", 2.1657),
        ("laplace(scale=10) * 100", 4.5327),
        ("laplace(scale=10) * 1000", 18.5757),
        ("laplace(scale=10) * 10 + gaussian(scale=10) * 10", 1.8222),
    ],
)
def test_renyi_is_at_most_the_peer(text, expected):
    """The peer looks at a list of orders; we look at all of them."""
    ours = epsilon(read_events(text), delta="1e-5", measure="rdp")
    assert expected - 0.02 < ours < expected + 1e-4


CASES = 200


def random_composition(number: int):
    """Return a composition as our events and as the peer's."""
    words = NumberedRng(number, label="account/peer").words(16)
    units = [int(word >> np.uint64(11)) / 2**53 for word in words]
    ours, theirs = [], []
    for kind in range(1 + int(units[0] * 3)):
        scale = round(10 ** (units[2 * kind + 1] * 2 - 0.3), 3)
        count = 1 + int(units[2 * kind + 2] ** 2 * 200)
        if units[8 + kind] < 0.5:
            ours.append(GaussianEvent(scale=scale) * count)
            theirs.append(dp_event.SelfComposedDpEvent(dp_event.GaussianDpEvent(scale), count))
        else:
            ours.append(LaplaceEvent(scale=scale) * count)
            theirs.append(dp_event.SelfComposedDpEvent(dp_event.LaplaceDpEvent(scale), count))
    return ours, dp_event.ComposedDpEvent(theirs), 10.0 ** -(3 + int(units[12] * 7))


def test_renyi_agrees_with_the_peer_on_random_compositions():
    """Ours is never above theirs (they try fewer orders), and hardly ever far below."""
    far = 0
    for number in range(CASES):
        ours, theirs, delta = random_composition(number)
        peer = RdpAccountant().compose(theirs).get_epsilon(delta)
        mine = epsilon(ours, delta=delta, measure="rdp")
        assert mine <= peer * (1 + 1e-6), f"case {number}: {mine} above {peer}"
        far += mine < 0.97 * peer
    # The two part where the best order lies between or beyond the peer's list of orders.
    assert far <= CASES // 5


@pytest.mark.parametrize("number", range(20))
def test_orderings_hold(number):
    ours, _, delta = random_composition(number)
    result = account(ours, delta=delta)
    by_name = {r.method: epsilon_of(r.loss) for r in (result, *result.others)}
    assert epsilon_of(result.loss) == min(by_name.values())
    if "rdp" in by_name and "zcdp" in by_name:
        assert by_name["rdp"] <= by_name["zcdp"] * Fraction(1_000_001, 1_000_000)
    if result.lower is not None:
        assert epsilon_of(result.lower) <= epsilon_of(result.loss)


@pytest.mark.parametrize("number", range(20))
def test_epsilon_and_delta_undo_each_other(number):
    ours, _, delta = random_composition(number)
    found = spent(ours, delta=delta, measure="rdp")
    back = spent(ours, epsilon=found.epsilon, measure="rdp")
    assert back.delta <= Fraction(delta) * Fraction(1_001, 1_000)


def test_the_deltas_of_events_are_added_and_used_up():
    events = ApproximateEvent(epsilon="0.1", delta="1e-8") * 50
    for measure in ("zcdp", "rdp", "kov", "drv"):
        assert epsilon(events, delta="1e-6", measure=measure) < 5
    with pytest.raises(Unsupported, match="uses up"):
        account(events, delta="1e-7", measure="rdp")


def test_no_lower_bound_where_none_is_known():
    assert account(read_events("zcdp(0.1)"), delta="1e-6").lower is None
    assert account(read_events("exponential(0.1) * 100"), delta="1e-6", measure="kov").lower is None
    assert account(read_events("laplace(3) * 100"), delta="1e-6", measure="kov").lower is None


@pytest.mark.parametrize(
    "text", ["pure(0.1) * 100", "laplace(10) * 100", "laplace(3) + gaussian(9)"]
)
def test_the_interval_is_narrow_where_it_is_known(text):
    result = account(read_events(text), delta="1e-6")
    high, low = epsilon_of(result.loss), epsilon_of(result.lower)
    assert low <= high <= low + max(high, Fraction(1)) / 1000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("laplace(scale=10) * 100", 4.2203),
        ("laplace(scale=10) * 1000", 17.4237),
        ("laplace(scale=10) * 10 + gaussian(scale=10) * 10", 1.6909),
    ],
)
def test_loss_distributions_come_close_to_the_peer(text, expected):
    """At the default width of a thousandth, from both sides."""
    result = account(read_events(text), delta="1e-5", measure="pld")
    assert float(epsilon_of(result.lower)) <= expected + 1e-4
    assert expected - 1e-4 <= float(epsilon_of(result.loss)) <= expected * 1.001


def test_delta_zero_asks_for_the_pure_loss():
    for nothing in (0, "0", 0.0, "0.0"):
        assert account(LaplaceEvent(scale=10) * 3, delta=nothing).loss == Approximate("3/10", 0)
    with pytest.raises(Unsupported, match="no pure loss"):
        account(ApproximateEvent(epsilon=1, delta="1e-9"), delta=0)
    with pytest.raises(Unsupported):
        account(GaussianEvent(scale=1), delta=0)


def test_bounded_range_is_a_quarter_of_pure():
    pure = epsilon(PureEvent(epsilon="0.1") * 1000, delta="1e-6", measure="zcdp")
    ranged = epsilon(read_events("exponential(0.1) * 1000"), delta="1e-6", measure="zcdp")
    assert ranged < 0.6 * pure


@pytest.mark.parametrize("delta", [-1, 1, 2, math.nan])
def test_bad_deltas(delta):
    with pytest.raises(InvalidArgument):
        account(PureEvent(epsilon=1), delta=delta)


@pytest.mark.parametrize(
    ("event", "most"),
    [
        (GaussianEvent(scale=1000) * (10**7 + 1), 19.43),
        (GaussianEvent(scale=10**6) * 10**13, 19.43),
        (LaplaceEvent(scale=10**5) * 10**7 + LaplaceEvent(scale=10**5 + 1) * 10**7, 0.3),
        (ZcdpEvent(rho="1e-9") * 10**9, 10),
    ],
)
def test_more_uses_than_a_grid_holds(event, most):
    """The first two, and the third, were refused although other methods answer."""
    assert epsilon(event, delta="1e-6") < most


def refuse(error: type[Exception]):
    def method(question):
        raise error("This method does not like the question")

    return method


@pytest.mark.parametrize("error", [Unsupported, InvalidArgument])
@pytest.mark.parametrize("answers", METHODS)
def test_auto_survives_the_refusal_of_all_but_one(monkeypatch, answers, error):
    """A property of the class: whatever refuses, the one that answers is heard."""
    event = {
        "gaussian": GaussianEvent(scale=3),
        "discrete": read_events("discrete_gaussian(scale=3)"),
    }.get(answers, PureEvent(epsilon="0.1"))
    alone = account(event, delta="1e-6", measure=answers)
    for name in METHODS:
        if name != answers:
            monkeypatch.setitem(METHODS, name, refuse(error))
    assert account(event, delta="1e-6").loss == alone.loss
    monkeypatch.setitem(METHODS, answers, refuse(error))
    with pytest.raises(error, match="does not like"):
        account(event, delta="1e-6")


def test_a_measure_is_a_method_if_one_is_called_so():
    """A raw AttributeError on the old code."""
    event = GaussianEvent(scale=20)
    assert account(event, delta="1e-6", measure=Measure.ZCDP).method == "zcdp"
    others: tuple[Any, ...] = (Measure.PURE, 5)
    for wrong in others:
        with pytest.raises(InvalidArgument, match="no such method"):
            account(event, delta="1e-6", measure=wrong)


@pytest.mark.parametrize(
    ("events", "question"),
    [
        (TwoCoinResponseEvent(truth=1, yes="1/2") * 2 + PureEvent(epsilon=1), {"epsilon": 10}),
        (ApproximateEvent(epsilon=2, delta="0.1") * 10_000, {"delta": "1e-6"}),
    ],
)
def test_what_promises_nothing_is_refused_in_words(events, question):
    """Errors of arithmetic and of indices on the old code."""
    with pytest.raises(Unsupported):
        account(events, **question)


def test_one_method_that_cannot_show_its_number_stops_no_other():
    """An OverflowError on the old code, in the message of a refusal."""
    assert spent(BoundedRangeEvent(epsilon=700) * 10**9, epsilon=10**13).delta == 0


def test_bad_questions():
    with pytest.raises(InvalidArgument, match="either delta or epsilon"):
        account(PureEvent(epsilon=1))
    with pytest.raises(InvalidArgument, match="no such method"):
        account(PureEvent(epsilon=1), delta="1e-6", measure="vibes")
    with pytest.raises(Unsupported):
        account(ZcdpEvent(rho=1), delta="1e-6", measure="kov")
    with pytest.raises(InvalidArgument):
        account([], delta="1e-6")


@pytest.mark.parametrize("measure", METHODS)
def test_every_measure_says_what_it_rests_on(measure):
    texts = {"gaussian": "gaussian(scale=3)", "discrete": "discrete_gaussian(scale=3)"}
    result = account(read_events(texts.get(measure, "pure(1)")), delta="1e-6", measure=measure)
    assert result.theorem
    assert result.to_json()["method"]
    assert "<table>" in result._repr_html_()
