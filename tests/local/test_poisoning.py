"""Dishonest people: bounds that are attained, and reports that no device makes."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from discreet.core.errors import InvalidArgument
from discreet.local.frequency.frequency_scheme import FrequencyScheme
from discreet.local.frequency.k_ary import KaryResponse
from discreet.local.poisoning.influence import attack, influence, one_report
from discreet.local.words.hashed_words import HashedWords
from tests.local.case import Case
from tests.local.schemes import CASES
from tests.local.test_frequency import FREQUENCY, scheme_of
from tests.support.local.device_law import device_law


@pytest.mark.parametrize("case", [c for c in CASES if c.scheme.size <= 2], ids=str)
def test_possible_reports_are_those_that_devices_make(case: Case):
    """All bytes of that length, against the law of the device's own code."""
    size = case.scheme.size
    every = np.array(list(itertools.product(range(256), repeat=size)), dtype=np.uint8)
    made = set().union(*(device_law(case.scheme.recipe(), value) for value in case.values))
    found = {row.tobytes() for row in every[case.scheme.possible(every)]}
    assert found == made
    if len(made) < 256**size:
        with pytest.raises(InvalidArgument, match="No device makes"):
            case.scheme.tally(every)


def supports(scheme: FrequencyScheme, report: bytes) -> np.ndarray:
    return scheme.supports(scheme.tally(np.frombuffer(report, np.uint8)[None]))


@pytest.mark.parametrize("case", FREQUENCY, ids=str)
def test_one_report_can_do_all_that_is_said(case: Case):
    """Some report supports a value and some does not; none counts more than once or less than 0."""
    scheme = scheme_of(case)
    target = case.values[0]
    seen = {int(supports(scheme, r)[target]) for r in device_law(scheme.recipe(), target)}
    assert seen == {0, 1}
    moved = (1 - scheme.other) / (scheme.held - scheme.other)
    moved += scheme.other / (scheme.held - scheme.other)
    assert one_report(scheme, 7) == moved / 7


@pytest.mark.parametrize("case", FREQUENCY, ids=str)
def test_the_bounds_are_the_means_under_attack(case: Case, rng):
    """All honest people hold nothing of the target: the mean is raised by exactly the bound."""
    scheme, share = scheme_of(case), Fraction(1, 10)
    p, q = scheme.held, scheme.other
    bound = influence(scheme, share)
    target, other = case.values[0], case.values[1]
    assert bool((supports(scheme, attack(scheme, target, 1, rng).tobytes())[target]) == 1)
    law = device_law(scheme.recipe(), other)
    honest = sum(w * int(supports(scheme, r)[target]) for r, w in law.items())
    mean = ((1 - share) * honest + share - q) / (p - q)
    assert mean == bound.raised
    all_hold = ((1 - share) * p - q) / (p - q)
    assert 1 - all_hold == bound.lowered


def test_an_attack_moves_an_estimate_as_far(rng):
    """By simulation, within the interval, which covers the share that includes the attack."""
    scheme = KaryResponse.calibrate(categories=5, epsilon=1)
    honest = scheme.randomise_many(np.zeros(19_000, dtype=np.int64), rng)
    reports = np.concatenate([honest, attack(scheme, 4, 1000, rng)])
    estimate = scheme.estimate(reports, confidence=1 - Fraction(1, 10**9))
    bound = influence(scheme, "1/20")
    assert estimate.low[4] <= float(bound.raised) <= estimate.high[4]
    assert estimate.low[4] > 0.05, "more than the share of those who attack"


def test_words_are_moved_more_the_more_groups_there_are():
    few, many = (HashedWords.calibrate(epsilon=2, longest=length, salt="w") for length in (4, 20))
    assert influence(few, "0.01").raised < influence(many, "0.01").raised
    with pytest.raises(InvalidArgument, match="dishonest"):
        influence(few, 1)
