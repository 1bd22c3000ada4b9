"""Every scheme, in both languages: the law of a report, enumerated from the devices' own code."""

import itertools

import pytest

from discreet.local.coins import loss_of_odds
from discreet.local.device.draws import SecureDraws
from discreet.local.device.randomise import randomise
from tests.local.case import Case
from tests.local.schemes import CASES
from tests.support.local.device_law import (
    Law,
    device_law,
    javascript_laws,
    javascript_reports,
)


def largest_ratio(laws: list[Law]):
    """The largest ratio of probabilities of a report under two of the laws."""
    assert len({frozenset(law) for law in laws}) == 1, "a report that only one value can make"
    return max(p[report] / q[report] for p, q in itertools.permutations(laws, 2) for report in p)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_odds_are_attained_and_never_exceeded(case: Case):
    recipe = case.scheme.recipe()
    laws = [device_law(recipe, value) for value in case.values]
    assert largest_ratio(laws) == case.scheme.odds()
    worst = [device_law(recipe, value) for value in case.scheme.worst_pair()]
    assert largest_ratio(worst) == case.scheme.odds()
    assert case.scheme.event().epsilon == loss_of_odds(case.scheme.odds())


@pytest.mark.parametrize("case", CASES, ids=str)
def test_reports_have_one_size(case: Case):
    laws = [device_law(case.scheme.recipe(), value) for value in case.values]
    assert {len(report) for law in laws for report in law} == {case.scheme.size}


def test_javascript_has_the_same_laws():
    pairs = [(case.scheme.recipe(), value) for case in CASES for value in case.values]
    found = javascript_laws(pairs)
    assert found == [device_law(recipe, value) for recipe, value in pairs]


def test_the_same_bytes_make_the_same_reports(rng):
    pairs = [(case.scheme.recipe(), value) for case in CASES for value in case.values] * 20
    stream = rng.words(2000 * len(CASES)).astype("<u8").tobytes()
    place = 0

    def take(size: int) -> bytes:
        nonlocal place
        place += size
        return stream[place - size : place]

    draws = SecureDraws(take)
    ours = [randomise(recipe, value, draws) for recipe, value in pairs]
    assert place < len(stream)
    assert ours == javascript_reports(pairs, stream)
