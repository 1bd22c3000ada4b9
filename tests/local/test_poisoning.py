"""Dishonest people: bounds that are attained, and reports that no device makes."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from discreet.core.errors import InvalidArgument
from discreet.local.device.draws import UNIT
from discreet.local.frequency.frequency_scheme import FrequencyScheme
from discreet.local.frequency.k_ary import KaryResponse
from discreet.local.numbers.d_bit_flip import DBitFlip
from discreet.local.numbers.hybrid import HybridMean
from discreet.local.numbers.local_laplace import LocalLaplace
from discreet.local.numbers.number_scheme import NumberScheme
from discreet.local.numbers.one_bit_mean import OneBitMean
from discreet.local.poisoning.influence import attack, influence, one_report
from discreet.local.words.hashed_words import HashedWords
from tests.local.case import Case
from tests.local.schemes import CASES
from tests.local.test_frequency import FREQUENCY, scheme_of
from tests.support.local.device_law import Law, device_law


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
    """All honest people hold another value, or the target: the estimate moves by the bounds."""
    scheme, share = scheme_of(case), Fraction(1, 10)
    bound = influence(scheme, share)
    target, other = case.values[0], case.values[1]
    assert bool((supports(scheme, attack(scheme, target, 1, rng).tobytes())[target]) == 1)
    holding, not_holding = (device_law(scheme.recipe(), value) for value in (target, other))
    worths = {
        report: float(scheme.estimate(np.frombuffer(report, np.uint8)[None]).shares[target])
        for report in holding
    }

    def attacked(law: Law, dishonest: float) -> float:
        honest = sum(float(chance) * worths[report] for report, chance in law.items())
        return float(1 - share) * honest + float(share) * dishonest

    raised, lowered = attacked(not_holding, max(worths.values())), min(worths.values())
    assert raised == pytest.approx(float(bound.raised))
    assert 1 - attacked(holding, lowered) == pytest.approx(float(bound.lowered))


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


@pytest.mark.parametrize("bits", [1, 3])
def test_zeros_of_d_bit_flip_lower_an_estimate_as_far_as_is_said(bits):
    """Everybody holds the last bucket; some say 0 of it. Exactly, from the law of the device."""
    scheme = DBitFlip.calibrate(categories=5, bits=bits, epsilon=1)
    law = device_law(scheme.recipe(), 4)
    p = Fraction(scheme.truth, UNIT)

    def worth(report: bytes) -> Fraction:
        told = {byte // 2: byte % 2 for byte in report}
        adds = {None: Fraction(0), 0: p - 1, 1: p}[told.get(4)]
        return adds / (scheme.held - scheme.other)

    assert sum(share * worth(report) for report, share in law.items()) == 1
    assert scheme.counts_for() == (min(map(worth, law)), max(map(worth, law)))
    found = influence(scheme, "0.01")
    assert found.lowered == Fraction(1, 100) * (1 - min(map(worth, law)))
    assert found.raised == Fraction(1, 100) * max(map(worth, law))
    assert found.lowered > Fraction(1, 100) * scheme.held / (scheme.held - scheme.other)


def test_nobody_attacks_or_answers(rng):
    scheme = KaryResponse.calibrate(categories=3, epsilon=1)
    assert attack(scheme, 1, 0, rng).shape == (0, 1)
    with pytest.raises(InvalidArgument, match="count is out of range"):
        attack(scheme, 1, -1, rng)
    with pytest.raises(InvalidArgument, match="people is out of range"):
        one_report(scheme, 0)


@pytest.mark.parametrize(
    "scheme",
    [
        OneBitMean.calibrate(most=4, epsilon=1),
        HybridMean.calibrate(most=4, epsilon=2),
        LocalLaplace.calibrate(most=3, epsilon=2),
    ],
    ids=lambda scheme: scheme.kind,
)
def test_means_are_moved_as_far_as_is_said(scheme: NumberScheme):
    """The reports that count for most and for least, among those that honest devices make."""
    share = Fraction(1, 10)
    worths = [
        scheme.worth(int.from_bytes(report, "little"))
        for report in device_law(scheme.recipe(), scheme.most)
    ]
    mean = {value: (1 - share) * value for value in (0, scheme.most)}
    found = influence(scheme, share)
    assert mean[0] + share * max(worths) == found.raised
    assert scheme.most - (mean[scheme.most] + share * min(worths)) == found.lowered
