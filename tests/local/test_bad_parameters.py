"""What no scheme can be made of, or no estimate: an error of our own, at once, and not repeated."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from discreet.core.errors import InvalidArgument, Unsupported
from discreet.local import (
    CondensedResponse,
    DBitFlip,
    Distance,
    HashedWords,
    HybridMean,
    KaryResponse,
    LocalHashing,
    LocalLaplace,
    OneBitMean,
    PiecewiseMean,
    Rappor,
    RapporCoins,
    ReportBatch,
    SquareWave,
    SubsetSelection,
    UnaryEncoding,
    amplify,
    decoder,
    plan_words,
)
from discreet.local.device.draws import UNIT
from tests.support.local.device_law import device_law

NO_NUMBERS = [0, -1, True, 2.5, "x", None, float("nan"), float("inf"), 10**30, [4]]
BY_CATEGORIES: list[Callable[..., Any]] = [
    KaryResponse.calibrate,
    UnaryEncoding.optimised,
    LocalHashing.calibrate,
    SubsetSelection.calibrate,
]
BY_MOST: list[Callable[..., Any]] = [
    OneBitMean.calibrate,
    PiecewiseMean.calibrate,
    HybridMean.calibrate,
    SquareWave.calibrate,
    LocalLaplace.calibrate,
]
COINS = RapporCoins.declare(f="1/2")


@pytest.mark.parametrize("number", NO_NUMBERS, ids=str)
def test_sizes_of_domains(number):
    for calibrate in BY_CATEGORIES:
        with pytest.raises(InvalidArgument):
            calibrate(categories=number, epsilon=1)
    for calibrate in BY_MOST:
        with pytest.raises(InvalidArgument):
            calibrate(most=number, epsilon=1)


@pytest.mark.parametrize("calibrate", BY_CATEGORIES, ids=lambda c: c.__qualname__)
def test_a_single_category(calibrate):
    with pytest.raises(InvalidArgument):
        calibrate(categories=1, epsilon=1)


@pytest.mark.parametrize("calibrate", BY_MOST, ids=lambda c: c.__qualname__)
def test_a_loss_below_all_digits_is_refused(calibrate):
    for epsilon in ("1e-13", "1e-20", "1e-60"):
        with pytest.raises(InvalidArgument, match="epsilon"):
            calibrate(most=10, epsilon=epsilon)


def test_a_loss_below_all_digits_is_refused_as_such_by_schemes_for_shares():
    """Not with the threshold of a coin, of which whoever asked knows nothing."""
    for calibrate in BY_CATEGORIES:
        with pytest.raises(InvalidArgument, match="epsilon"):
            calibrate(categories=100, epsilon="1e-15")
    with pytest.raises(InvalidArgument, match="epsilon"):
        RapporCoins.calibrate(epsilon="1e-15")


def test_a_grid_of_numpys_integers():
    assert LocalLaplace.calibrate(most=np.int64(5), epsilon=1).most == 5


def test_bits_and_counts():
    for bits in (0, -1, "x"):
        with pytest.raises(InvalidArgument):
            DBitFlip.calibrate(categories=4, bits=bits, epsilon=1)
        with pytest.raises(InvalidArgument):
            LocalHashing.calibrate(categories=4, bits=bits, epsilon=1)
        with pytest.raises(InvalidArgument):
            SubsetSelection.calibrate(categories=4, count=bits, epsilon=1)


def test_tallies_of_nobody_and_of_more_than_everybody():
    shares, bit = (
        KaryResponse.calibrate(categories=4, epsilon=1),
        OneBitMean.calibrate(most=4, epsilon=1),
    )
    with pytest.raises(InvalidArgument, match="no reports"):
        shares.estimate_tally(np.zeros(4, dtype=np.int64), 0)
    with pytest.raises(InvalidArgument, match="not of so many people"):
        shares.estimate_tally(np.array([5, 0, 0, 0]), 3)
    for scheme in (bit, LocalLaplace.calibrate(most=4, epsilon=1)):
        with pytest.raises(InvalidArgument, match="no reports"):
            scheme.estimate_tally(np.zeros(scheme.outcomes, dtype=np.int64))
    with pytest.raises(InvalidArgument):
        bit.within(0, "0.05")
    wave = SquareWave.calibrate(most=4, epsilon=1)
    with pytest.raises(InvalidArgument, match="no reports"):
        wave.cumulative_of_tally(np.zeros(wave.outcomes, dtype=np.int64))


def test_levels_are_refused_by_their_own_names():
    words = HashedWords.calibrate(epsilon=1, longest=4, salt="s")
    shuffled = amplify(
        KaryResponse.calibrate(categories=4, epsilon=1), ReportBatch(honest=9, closed=True)
    )
    for name, asked in {
        "delta": lambda: shuffled.epsilon(0),
        "least": lambda: plan_words(words, 9, least=0),
        "false_discoveries": lambda: plan_words(words, 9, least="0.1", false_discoveries=1),
        "missed": lambda: plan_words(words, 9, least="0.1", missed=2),
    }.items():
        with pytest.raises(InvalidArgument, match=f"^{name} is out of range"):
            asked()


@pytest.mark.parametrize(
    "values", [None, "cat", [None], [1], [float("nan")], [b"x"], [["a"], ["b", "c"]], ["a\ud800"]]
)
def test_what_is_no_list_of_texts_is_refused(values, rng):
    words = HashedWords.calibrate(epsilon=1, longest=4, salt="s")
    for scheme in (words, Rappor(bits=8, hashes=1, cohorts=2, salt="s", coins=COINS)):
        with pytest.raises(InvalidArgument, match="no text"):
            scheme.randomise_many(values, rng)


@pytest.mark.parametrize("candidates", [[], ["a", "a"], ["\ud800"], [1, 2], [["a"]]], ids=str)
def test_candidates_that_are_no_texts_are_refused(candidates):
    scheme = Rappor(bits=8, hashes=1, cohorts=2, salt="s", coins=COINS)
    with pytest.raises(InvalidArgument, match="candidates"):
        decoder(scheme, candidates)


def test_arrays_keep_what_devices_keep_at_the_end_of_a_text(rng):
    """An array of texts would drop a last NUL, and report another text."""
    truth = RapporCoins(f=2, p=0, q=UNIT)
    scheme = Rappor(bits=64, hashes=2, cohorts=1, salt="s", coins=truth)
    reports = scheme.randomise_many(["a\x00", "a"], rng)
    assert reports[0].tobytes() != reports[1].tobytes()


def test_salts_and_steps_of_words():
    with pytest.raises(InvalidArgument):
        HashedWords.calibrate(epsilon=1, longest=4, salt="s", step=0)
    for salt in (5, "\ud800"):
        with pytest.raises(InvalidArgument, match="salt"):
            HashedWords.calibrate(epsilon=1, longest=4, salt=salt)
    for alphabet in (["ab"], "\ud800", ""):
        with pytest.raises(InvalidArgument, match="alphabet"):
            HashedWords.calibrate(epsilon=1, longest=4, salt="s", alphabet=alphabet)
    with pytest.raises(InvalidArgument, match="people"):
        plan_words(HashedWords.calibrate(epsilon=1, longest=4, salt="s"), 0, least="0.1")


def test_weights_of_another_form():
    half = UNIT // 2
    with pytest.raises(InvalidArgument, match="another form"):
        CondensedResponse(
            distance=Distance.numeric(3), alpha=1, weights=((half, half), (half, half))
        )


def test_worst_pairs_that_cannot_be_found_are_said():
    full = Rappor(bits=64, hashes=32, cohorts=1, salt="s", coins=COINS)
    with pytest.raises(Unsupported, match="No two such texts"):
        full.worst_pair()
    narrow = [
        HashedWords(alphabet="a", lengths=(1, 1), buckets=2, salt=f"s{n}", truth=UNIT - 1)
        for n in range(100)
    ]
    told = 0
    for scheme in narrow:
        try:
            one, two = scheme.worst_pair()
        except Unsupported:
            continue
        laws = [device_law(scheme.recipe(), word) for word in (one, two)]
        assert max(laws[0][report] / laws[1][report] for report in laws[0]) == scheme.odds()
        told += 1
    assert 0 < told < len(narrow)
