"""What is wrong on purpose: each broken device is named with the check that catches it.

Two checks are exact, by enumeration of what a device does. *Biased* finds values that are supported
with another probability than the estimator assumes; *exceeds* finds odds above those that are
claimed. Swapped coins and shared maps cost no privacy, so only the first can see them.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from attrs import evolve

from discreet.local.coins import most_odds
from discreet.local.device.draws import UNIT, Draws
from discreet.local.device.randomise import randomise
from discreet.local.frequency.frequency_scheme import FrequencyScheme
from discreet.local.frequency.k_ary import KaryResponse
from discreet.local.frequency.local_hashing import LocalHashing
from discreet.local.frequency.subset_selection import SubsetSelection
from discreet.local.frequency.unary import UnaryEncoding
from tests.support.local.device_law import Law, device_law, law_of

Device = Callable[[int, Draws], bytes]

UNARY = UnaryEncoding.optimised(categories=4, epsilon=1)
HASHING = LocalHashing.calibrate(categories=4, epsilon=1)
SUBSET = SubsetSelection.calibrate(categories=5, epsilon=1)
SCHEMES = [UNARY, HASHING, SUBSET]


def laws(scheme: FrequencyScheme, device: Device) -> list[Law]:
    return [law_of(partial(device, held)) for held in range(scheme.categories)]


def right(scheme: FrequencyScheme) -> Device:
    return lambda held, draws: randomise(scheme.recipe(), held, draws)


def biased(scheme: FrequencyScheme, device: Device) -> bool:
    """Whether some value is supported with another probability than the estimator assumes."""
    for held, law in enumerate(laws(scheme, device)):
        mean = np.array([Fraction(0)] * scheme.categories)
        for report, weight in law.items():
            row = np.frombuffer(report, dtype=np.uint8).reshape(1, -1)
            mean = mean + np.array(weight) * scheme.supports(scheme.tally(row))
        wanted = [
            scheme.held if asked == held else scheme.other for asked in range(scheme.categories)
        ]
        if mean.tolist() != wanted:
            return True
    return False


def exceeds(scheme: FrequencyScheme, device: Device, odds: Fraction) -> bool:
    """Whether some report is more than ``odds`` times as likely for one value as for another."""
    return any(
        weight > odds * second.get(report, Fraction(0))
        for first, second in itertools.permutations(laws(scheme, device), 2)
        for report, weight in first.items()
    )


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: scheme.kind)
def test_the_right_devices_pass(scheme: FrequencyScheme):
    assert not biased(scheme, right(scheme))
    assert not exceeds(scheme, right(scheme), scheme.odds())


def swapped(held: int, draws: Draws) -> bytes:
    """The coins of the value and of the others in each other's place."""
    recipe = UNARY.recipe()
    return randomise({**recipe, "held": recipe["other"], "other": recipe["held"]}, held, draws)


class SharedMap:
    """Draws that give every device the same map, and are right for all that follows."""

    def __init__(self, draws: Draws, shared: int) -> None:
        self._draws = draws
        self._shared: int | None = shared

    def coin(self, threshold: int) -> bool:
        return self._draws.coin(threshold)

    def uniform(self, choices: int) -> int:
        shared, self._shared = self._shared, None
        return self._draws.uniform(choices) if shared is None else shared

    def pick(self, cuts: Sequence[int]) -> int:
        return self._draws.pick(cuts)


@pytest.mark.parametrize("shared", range(8))
def test_a_shared_map_is_biased_and_no_less_private(shared: int):
    def device(held: int, draws: Draws) -> bytes:
        return randomise(HASHING.recipe(), held, SharedMap(draws, shared))

    assert biased(HASHING, device)
    assert not exceeds(HASHING, device, HASHING.odds())


def test_swapped_coins_are_biased_and_no_less_private():
    assert biased(UNARY, swapped)
    assert not exceeds(UNARY, swapped, UNARY.odds())


def fair_truth(held: int, draws: Draws) -> bytes:
    """A fair coin for the value, as unary encoding has it."""
    return randomise({**SUBSET.recipe(), "truth": UNIT // 2}, held, draws)


def test_a_fair_coin_for_the_truth_of_a_subset_is_biased():
    assert biased(SUBSET, fair_truth)


FLOATS = 2**24
"""How many values a generator of short floats has."""


def float_thresholds(held: int, draws: Draws) -> bytes:
    """Coins of a generator of floats, below a probability that was rounded as floats are."""
    other = int(FLOATS / (math.e + 1)) * (UNIT // FLOATS)
    return randomise({**UNARY.recipe(), "other": other}, held, draws)


def test_float_thresholds_exceed_what_was_asked():
    """Rounded coins are close, but their odds are above e."""
    assert exceeds(UNARY, float_thresholds, most_odds(1))
    assert not exceeds(UNARY, right(UNARY), most_odds(1))


def looks_at_the_value(held: int, draws: Draws) -> bytes:
    """A device that tosses no coin for what it knows it will not name."""
    return randomise(UNARY.recipe(), held, draws) if held else bytes(1)


def test_a_tree_of_draws_that_depends_on_the_value_makes_reports_only_one_value_can():
    assert exceeds(UNARY, looks_at_the_value, UNARY.odds())


EPSILONS = [Fraction(1, 1000), Fraction(1, 10), 1, Fraction(5, 2), 8, 30]


@pytest.mark.parametrize("epsilon", EPSILONS, ids=str)
def test_calibration_uses_all_of_the_loss_and_no_more(epsilon):
    """One step of a threshold further, and the odds are above what was asked for."""
    most = most_odds(epsilon)
    k_ary = KaryResponse.calibrate(categories=5, epsilon=epsilon)
    hashing = LocalHashing.calibrate(categories=50, epsilon=epsilon)
    subset = SubsetSelection.calibrate(categories=9, epsilon=epsilon)
    for scheme in (k_ary, hashing, subset):
        assert scheme.odds() <= most
        if scheme.truth + 1 < UNIT:
            assert evolve(scheme, truth=scheme.truth + 1).odds() > most
    unary = UnaryEncoding.optimised(categories=5, epsilon=epsilon)
    assert unary.odds() <= most
    if unary.when_other > 1:
        assert evolve(unary, when_other=unary.when_other - 1).odds() > most
    symmetric = UnaryEncoding.symmetric(categories=5, epsilon=epsilon)
    assert symmetric.odds() <= most
    assert float(symmetric.odds() / most) == pytest.approx(1, abs=1e-6)


def test_a_value_that_is_no_category_is_refused_unquoted():
    with pytest.raises(ValueError, match="no category"):
        device_law(UNARY.recipe(), 4)
