"""Dishonest people: bounds that are attained, and reports that no device makes."""

import itertools
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.core.errors import InvalidArgument, Unsupported
from discreet.local.condensed.condensed_response import CondensedResponse
from discreet.local.condensed.distance import Distance
from discreet.local.device.draws import UNIT
from discreet.local.frequency.frequency_scheme import FrequencyScheme
from discreet.local.frequency.k_ary import KaryResponse
from discreet.local.frequency.local_hashing import LocalHashing
from discreet.local.frequency.unary import UnaryEncoding
from discreet.local.numbers.d_bit_flip import DBitFlip
from discreet.local.numbers.hybrid import HybridMean
from discreet.local.numbers.local_laplace import LocalLaplace
from discreet.local.numbers.number_scheme import NumberScheme
from discreet.local.numbers.one_bit_mean import OneBitMean
from discreet.local.numbers.quantiles import cumulative_shares
from discreet.local.numbers.square_wave import SquareWave
from discreet.local.poisoning.attack import attack
from discreet.local.poisoning.influence import influence, influence_below, one_report
from discreet.local.rappor.decode import decode, decoder
from discreet.local.rappor.rappor import Rappor
from discreet.local.rappor.rappor_coins import RapporCoins
from discreet.local.repeated.memoised_rounding import MemoisedRounding
from discreet.local.words.find_words import find_words
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
    """By simulation, within the interval, which covers the share that includes the attack.

    Of 40,000 reports its lower end is 8 deviations above the share of those who attack.
    """
    scheme = KaryResponse.calibrate(categories=5, epsilon=1)
    honest = scheme.randomise_many(np.zeros(38_000, dtype=np.int64), rng)
    reports = np.concatenate([honest, attack(scheme, 4, 2000, rng)])
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


@pytest.mark.parametrize(
    "scheme",
    [
        KaryResponse.calibrate(categories=10**5, epsilon="0.001"),
        DBitFlip.calibrate(categories=10**5, bits=1, epsilon=1),
    ],
    ids=lambda scheme: scheme.kind,
)
def test_a_target_that_few_reports_support_is_attacked_in_few_steps(scheme, rng):
    """One after another takes some 100,000 reports.

    Batches grow to a million reports, of which each misses the target with a chance of e**-10 at
    most: that dozens do is less likely than any level that tests have.
    """
    steps = 0

    class Counted:
        def words(self, count: int):
            nonlocal steps
            steps += 1
            assert steps < 500
            return rng.words(count)

    report = attack(scheme, 7, 1, Counted())
    assert scheme.supports(scheme.tally(report))[7] == 1


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


def test_a_mean_is_not_said_to_be_moved_by_reports_that_are_refused():
    """Below a loss of 0.61 the hybrid scheme tells bits alone; places would count for more."""
    scheme = HybridMean.calibrate(most=4, epsilon="0.5")
    worths = [scheme.worth(r[0]) for v in (0, 4) for r in device_law(scheme.recipe(), v)]
    assert (
        influence(scheme, "0.1").raised == max(worths) / 10 == influence(scheme.bit, "0.1").raised
    )
    assert influence(MemoisedRounding(bit=scheme.bit), "0.1") == influence(scheme.bit, "0.1")


SINGLE = np.arange(256, dtype=np.uint8)[:, None]


def ends_of(estimates: Iterable[np.ndarray]) -> tuple[float, float]:
    found = np.array(list(estimates))
    return float(found.min()), float(found.max())


def test_every_report_of_condensed_privacy_counts_within_the_bounds(rng):
    scheme = CondensedResponse.calibrate(distance=Distance.ordinal([0, 1, 4]), alpha=1)
    least, most = ends_of(scheme.estimate(SINGLE[told : told + 1]).means for told in range(3))
    bound = influence(scheme, "0.01")
    assert (float(bound.raised), float(bound.lowered)) == pytest.approx(
        (most / 100, (1 - least) / 100)
    )
    for target in range(3):
        worst = scheme.estimate(attack(scheme, target, 5, rng)).means[target]
        assert worst == max(scheme.estimate(SINGLE[t : t + 1]).means[target] for t in range(3))


def test_every_report_of_rappor_counts_within_the_bounds_and_the_attack_attains_them(rng):
    coins = RapporCoins.calibrate(epsilon=2, hashes=2, p="0.1", q="0.8")
    scheme = Rappor(bits=6, hashes=2, cohorts=3, salt="p", coins=coins)
    names = ["red", "green", "blue"]
    made = decoder(scheme, names)
    every = np.array([(c, bits) for c in range(3) for bits in range(64)], dtype=np.uint8)
    counts = np.array([decode(scheme, scheme.tally(one[None]), made).counts for one in every])
    bound = influence(made, "0.01")
    assert float(bound.raised) == pytest.approx(counts.max() / 100)
    assert float(bound.lowered) == pytest.approx((1 - counts.min()) / 100)
    for place, name in enumerate(names):
        reports = attack(scheme, name, 4, rng, candidates=names)
        found = decode(scheme, scheme.tally(reports), made).counts[place] / 4
        assert found == pytest.approx(counts[:, place].max())


def test_quantiles_are_moved_as_far_as_is_said():
    wave = SquareWave.calibrate(most=5, epsilon=1)
    least, most = ends_of(
        wave.cumulative(SINGLE[t : t + 1]).shares[:-1] for t in range(wave.outcomes)
    )
    found = influence_below(wave, "0.01")
    assert (float(found.raised), float(found.lowered)) == pytest.approx(
        (most / 100, (1 - least) / 100)
    )

    for scheme in (
        UnaryEncoding.optimised(categories=4, epsilon=1),
        KaryResponse.calibrate(categories=4, epsilon=1),
        DBitFlip.calibrate(categories=4, bits=1, epsilon=1),
        LocalHashing.calibrate(categories=4, epsilon=1, bits=1),
    ):
        reports = SINGLE[scheme.possible(SINGLE)]
        tallies = [scheme.tally(one[None]) for one in reports]
        least, most = ends_of(cumulative_shares(scheme, one, 1).shares[:-1] for one in tallies)
        found = influence_below(scheme, "0.01")
        assert most / 100 <= float(found.raised) * (1 + 1e-9)
        assert (1 - least) / 100 <= float(found.lowered) * (1 + 1e-9)
        if isinstance(scheme, UnaryEncoding):
            assert (float(found.raised), float(found.lowered)) == pytest.approx(
                (most / 100, (1 - least) / 100)
            )


@pytest.mark.parametrize("target", [0, 6])
@pytest.mark.parametrize(
    "scheme",
    [
        HybridMean.calibrate(most=6, epsilon="0.5"),
        HybridMean.calibrate(most=6, epsilon=2),
        LocalLaplace.calibrate(most=6, epsilon=2),
        SquareWave.calibrate(most=6, epsilon=2),
    ],
    ids=lambda scheme: f"{scheme.kind} {scheme.size}",
)
def test_a_mean_is_attacked_with_the_report_that_counts_most(scheme: NumberScheme, target, rng):
    found = scheme.estimate(attack(scheme, target, 7, rng)).mean
    bound = influence(scheme, "1/2")
    moved = found if target else scheme.most - found
    assert moved == pytest.approx(2 * float(bound.raised if target else bound.lowered))


def test_a_word_that_nobody_holds_is_planted(rng):
    """By a share of liars below the share that is looked for; ends are ten errors from it."""
    scheme = HashedWords.calibrate(epsilon=1, longest=4, salt="w")
    honest = scheme.randomise_many(["abba"] * 260_000, rng)
    reports = np.concatenate([honest, attack(scheme, "lies", 40_000, rng)])
    assert "lies" in find_words(scheme, scheme.tally(reports), least="0.15").words
    assert float(influence(scheme, Fraction(4, 30)).raised) > 0.15


def test_what_is_not_known_of_dishonest_reports_is_said(rng):
    coins = RapporCoins.calibrate(epsilon=1)
    rappor: Any = Rappor(bits=8, hashes=1, cohorts=2, salt="p", coins=coins)
    bit: Any = OneBitMean.calibrate(most=4, epsilon=1)
    name: Any = "k_ary"
    rounding: Any = MemoisedRounding(bit=bit)
    with pytest.raises(InvalidArgument, match="decoder"):
        influence(rappor, "0.1")
    with pytest.raises(Unsupported, match="not known"):
        influence(name, "0.1")
    with pytest.raises(Unsupported, match="at or below"):
        influence_below(bit, "0.1")
    with pytest.raises(Unsupported, match="No attack"):
        attack(rounding, 4, 1, rng)
    with pytest.raises(InvalidArgument, match="no end of the grid"):
        attack(bit, 2, 1, rng)
    for scheme, candidates in ((rappor, []), (rappor, ["red"]), (bit, ["blue"])):
        with pytest.raises(InvalidArgument, match="candidate of RAPPOR"):
            attack(scheme, "blue", 1, rng, candidates=candidates)
