"""A mechanism that nobody has heard of: everything is asked of it, and nothing is guessed."""

from fractions import Fraction
from typing import Any, ClassVar

import pytest
from attrs import evolve, field, frozen

from discreet.core.contribution import Contribution
from discreet.core.errors import LedgerError, Unsupported
from discreet.core.event import Event
from discreet.core.loss import Pure
from discreet.core.mechanism_event import DiscreteLaplaceEvent
from discreet.curator.explanation.column_explanation import ColumnExplanation
from discreet.curator.price.allocate import allocate
from discreet.curator.price.price import Drawn, PricedPlan, price
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.linf_exponential import LinfExponential
from discreet.mechanisms.noise.named_mechanism import NamedMechanism
from discreet.mechanisms.noise_json import MECHANISMS, read_noise
from discreet.mechanisms.stability.thresholded_keys import ThresholdedKeys
from discreet.releases.accuracy import error_of
from discreet.tables.plans.aggregate import CountRows
from tests.support.projects.bounded_plans import equal_weights, make_plan


@frozen
class Staircase(NamedMechanism):
    """Made up. Its field has a Gaussian's name, which must mislead nobody."""

    law: ClassVar[str] = "staircase"
    words: ClassVar[str] = "staircase"
    sigma_squared: Fraction = field(converter=Fraction)

    @property
    def spread(self) -> Fraction:
        return 3 * self.sigma_squared

    def event(self, d_in: Contribution) -> Event:
        return DiscreteLaplaceEvent(scale=self.spread, distance=d_in.bound("l1"))

    def error_quantile(self, beta: Fraction) -> Fraction:
        return Fraction(77)


def priced_with(mechanism: Any) -> PricedPlan:
    plan = make_plan(CountRows())
    found = price(plan, allocate(plan, equal_weights(plan), Pure(1)), Pure(1))
    event = mechanism.event(CountRows().contribution(plan.reach()))
    return evolve(found, answers=(Drawn(mechanism, event),))


def test_it_is_explained_in_its_own_words():
    found = ColumnExplanation.of(priced_with(Staircase(5)), 0, None)
    said = found.to_json()
    assert (said["noise"], said["scale"], said["error"]) == ("staircase", "15", 77)
    assert "So staircase noise of scale 15 costs" in found.sentence()
    assert error_of(Staircase(5), Fraction(1, 20)) == 77


def test_it_is_written_down_as_itself_and_not_read_as_another():
    written = Staircase("5/2").to_json()
    assert written == {"law": "staircase", "sigma_squared": "5/2"}
    with pytest.raises(LedgerError, match="noise that we do not know"):
        read_noise(written)
    names = {
        priced_with(noise).digest() for noise in (Staircase(5), DiscreteGaussian(sigma_squared=5))
    }
    assert len(names) == 2


def test_one_that_does_not_say_what_it_is_cannot_be_released():
    silent = priced_with(LinfExponential(scale=2, dimension=1))
    with pytest.raises(AttributeError):
        silent.digest()
    with pytest.raises(AttributeError):
        ColumnExplanation.of(silent, 0, None).to_json()


def test_no_event_is_made_up_for_keys_with_it():
    noise: Any = Staircase(5)
    with pytest.raises(Unsupported, match="this noise"):
        ThresholdedKeys(noise=noise, threshold=3)


def test_no_two_mechanisms_share_a_name():
    assert len({cls.law for cls in MECHANISMS}) == len(MECHANISMS)
    assert len({cls.words for cls in MECHANISMS}) == len(MECHANISMS)
