"""What is shown at a prompt: short, in decimals, and never a stronger claim than the exact one."""

import re
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import events
from discreet.accounting.accounting_question import account
from discreet.accounting.calibration import calibrate
from discreet.accounting.losses.result import Result
from discreet.core.errors import InvalidArgument, NoSuchNumber
from discreet.core.event import Event
from discreet.core.loss import (
    Approximate,
    ApproximateZcdp,
    BoundedZcdp,
    GaussianDp,
    MeanConcentrated,
    PrivacyLoss,
    Pure,
    Zcdp,
)
from discreet.events import FixedSizeSampledEvent, GaussianEvent, LaplaceEvent, PoissonSampledEvent
from tests.support.statistics.every_event import every_event

NUMBERS = st.fractions(0, 10**4, max_denominator=10**9)
SMALL = st.fractions(0, Fraction(999, 1000), max_denominator=10**9)
LOSSES: st.SearchStrategy[PrivacyLoss] = st.one_of(
    st.builds(Pure, NUMBERS),
    st.builds(Approximate, NUMBERS, SMALL),
    st.builds(Zcdp, NUMBERS, NUMBERS),
    st.builds(ApproximateZcdp, NUMBERS, SMALL, NUMBERS),
    st.builds(GaussianDp, NUMBERS),
    st.builds(MeanConcentrated, NUMBERS, NUMBERS),
    st.builds(BoundedZcdp, NUMBERS, NUMBERS.map(lambda n: n + 2), NUMBERS),
)
FIELDS = {
    "ε": "epsilon",
    "δ": "delta",
    "ρ": "rho",
    "ξ": "xi",
    "m": "order",
    "μ": "mu",
    "μ²": "mu_squared",
    "τ²": "tau_squared",
}


def read_back(kind: type[PrivacyLoss], text: str) -> PrivacyLoss:
    """Return the loss that a reader of ``text`` believes in."""
    found = re.findall(r"([εδρξmμτ]²?) [=≤≥] ([\d.e+-]+)", text)
    return kind(**{FIELDS[symbol]: number for symbol, number in found})


@given(loss=LOSSES)
def test_what_is_shown_follows_from_the_loss(loss: PrivacyLoss):
    for text in (str(loss), repr(loss), repr(Result(loss=loss, method="x", theorem="y"))):
        assert loss <= read_back(type(loss), text)
        assert len(text) < 120


def test_an_order_is_rounded_down():
    """A bound that holds below 10/3 is not shown as one that holds below 3.334."""
    loss = BoundedZcdp(rho=1, order="10/3")
    assert str(loss) == "ρ = 1, m = 3.333"
    assert repr(loss) == "BoundedZcdp(ρ = 1, m ≥ 3.333)"


@pytest.mark.parametrize(
    ("loss", "shown"),
    [
        (Pure("0.5"), "Pure(ε = 0.5)"),
        (Pure("1/3"), "Pure(ε ≤ 0.3334)"),
        (Approximate("0.5", "1e-9"), "Approximate(ε = 0.5, δ = 1e-9)"),
        (Zcdp("0.1"), "Zcdp(ρ = 0.1)"),
        (Zcdp("0.1", "1/7"), "Zcdp(ρ = 0.1, ξ ≤ 0.1429)"),
        (GaussianDp("1/4"), "GaussianDp(μ² = 0.25)"),
    ],
)
def test_a_loss_says_whether_it_was_rounded(loss: PrivacyLoss, shown: str):
    assert repr(loss) == shown


def test_a_result_has_the_numbers_of_its_loss():
    result = account(GaussianEvent(20) * 1000, delta="1e-6")
    assert repr(result) == "ε ≤ 8.307 at δ = 0.000001 (gaussian)"
    assert result.epsilon == result.loss.epsilon  # type: ignore[attr-defined]
    assert result.delta == Fraction(1, 10**6)
    found = calibrate(LaplaceEvent, target=Pure("1/2"))
    assert found.epsilon == Fraction(1, 2)
    assert found.delta == 0
    assert repr(found) == "scale = 2: ε = 0.5 (basic)"
    assert calibrate(GaussianEvent, target=Zcdp("0.5")).rho == Fraction(1, 2)


def test_a_number_that_a_loss_has_not_is_refused_as_an_attribute():
    result = Result(loss=Zcdp(1), method="zcdp", theorem="BS16, Lemma 2.3")
    with pytest.raises(NoSuchNumber, match="no epsilon"):
        _ = result.epsilon
    assert not hasattr(result, "delta")
    assert result.rho == 1


@given(event=every_event())
def test_an_event_shows_how_it_is_made(event: Event):
    shown = repr(event)
    assert "Fraction(" not in shown
    if "≈" not in shown and "more)" not in shown:
        assert eval(shown, dict(vars(events))) == event


def test_events_take_their_numbers_in_order():
    gaussian = GaussianEvent(scale=2, distance=1, metric="change_one")
    assert GaussianEvent(2, 1, metric="change_one") == gaussian
    assert PoissonSampledEvent("0.1", gaussian, metric="change_one") == PoissonSampledEvent(
        rate="0.1", inner=gaussian, metric="change_one"
    )
    assert FixedSizeSampledEvent(100, 10, gaussian).rate == Fraction(1, 10)


@pytest.mark.parametrize("given", [(GaussianEvent(1), "0.1"), ("0.1", "0.1"), ("0.1", None)])
def test_numbers_and_events_in_the_wrong_order_are_refused(given: tuple[Any, Any]):
    with pytest.raises(InvalidArgument):
        PoissonSampledEvent(*given)


def test_the_relation_is_never_taken_from_its_place():
    with pytest.raises(TypeError):
        GaussianEvent(1, 1, "change_one")  # type: ignore[call-arg]
