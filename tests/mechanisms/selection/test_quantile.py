"""One quantile: the law by enumeration, every neighbour, the window, and the noisy search."""

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.accounting.accountants.zcdp import zcdp_loss
from discreet.audit.law_pair import LawPair
from discreet.audit.laws import enclosed
from discreet.audit.verdict import VerdictAnswer, verify
from discreet.core.contribution import Contribution, Metric
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Pure, Zcdp
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.selection.binary_search_quantile import BinarySearchQuantile
from discreet.mechanisms.selection.quantile import Quantile
from discreet.mechanisms.selection.rank_choice import _Domain, choose_by_rank
from discreet.mechanisms.selection.rank_mechanism import rank_spread
from tests.mechanisms.selection.laws import rank_error, rank_law
from tests.randomness.fit import residue_p_value
from tests.randomness.scripted_rng import ScriptedRng, SilentRng
from tests.support.statistics.exact_tests import alpha, cells_p_value, dkw_p_value

MOST = 2**62 - 1

SHARES = [Fraction(1, 2), Fraction(1, 4), Fraction(9, 10), Fraction(0), Fraction(1)]
LOWER, UPPER = 0, 3
ONE_ROW = Contribution(l1=1)
SAMPLES = 6000


def data_sets(most: int):
    return [
        rows
        for size in range(most + 1)
        for rows in itertools.combinations_with_replacement(range(LOWER, UPPER + 1), size)
    ]


def neighbours(most: int):
    return [
        (rows, tuple(sorted((*rows, new))))
        for rows in data_sets(most)
        for new in range(LOWER, UPPER + 1)
    ]


@pytest.mark.parametrize("share", SHARES, ids=str)
def test_no_neighbours_break_the_loss(share: Fraction):
    scale = Fraction(3, 4)
    loss = Quantile(quantile=share, lower=LOWER, upper=UPPER, scale=scale).loss(ONE_ROW)
    known = {rows: rank_law(rows, share, LOWER, UPPER, scale) for rows in data_sets(4)}
    for first, second in neighbours(3):
        laws = LawPair(first=known[first], second=known[second])
        assert verify(laws, loss).answer is VerdictAnswer.HOLDS, (first, second)


@pytest.mark.parametrize("share", SHARES, ids=str)
def test_spread_is_reached_and_never_exceeded(share: Fraction):
    """Over all data of up to five rows: the price cannot be lower, and monotone would be."""
    widest = Fraction(0)
    for first, second in neighbours(5):
        changes = [
            rank_error(second, share, v) - rank_error(first, share, v)
            for v in range(LOWER, UPPER + 1)
        ]
        widest = max(widest, max(changes) - min(changes))
    assert widest <= rank_spread(share)
    if share in (Fraction(1, 2), Fraction(1, 4)):
        assert widest == rank_spread(share)


def test_verifier_catches_the_monotone_price():
    """Half the scale, as if all rank errors moved the same way."""
    share, scale = Fraction(1, 2), Fraction(1)
    claim = Pure(Quantile(quantile=share, lower=0, upper=40, scale=scale).loss(ONE_ROW).epsilon / 2)
    first = tuple(range(10, 30))
    laws = [rank_law(rows, share, 0, 40, scale) for rows in (first, (*first, 40))]
    assert verify(LawPair(first=laws[0], second=laws[1]), claim).answer is VerdictAnswer.BROKEN


def test_several_rows_of_one_unit():
    share, scale, rows = Fraction(1, 4), Fraction(2), 3
    loss = Quantile(quantile=share, lower=LOWER, upper=UPPER, scale=scale).loss(
        Contribution(l1=rows)
    )
    assert loss.epsilon == 3 * Fraction(3, 2) / 2
    for new in itertools.combinations_with_replacement(range(4), rows):
        for base in ((), (0, 1, 2, 3), (2, 2, 2)):
            laws = LawPair(
                first=rank_law(base, share, LOWER, UPPER, scale),
                second=rank_law((*base, *new), share, LOWER, UPPER, scale),
            )
            assert verify(laws, loss).answer is VerdictAnswer.HOLDS


@pytest.mark.parametrize(
    ("values", "share"),
    [
        ([], Fraction(1, 2)),
        ([2, 2, 2, 2], Fraction(1, 2)),
        ([0, 1, 1, 5, 9, 9], Fraction(1, 3)),
        ([-7, 4, 30], Fraction(9, 10)),
    ],
)
def test_sampler_has_the_law(values, share, rng):
    """Duplicates, values outside the domain, gaps and an empty table."""
    quantile = Quantile(quantile=share, lower=0, upper=9, scale="3/4")
    given = np.array(values, dtype=np.int64)
    sample = np.array([quantile.release(given, rng) for _ in range(SAMPLES)])
    moved = [min(9, max(0, x)) for x in values]
    masses = enclosed(rank_law(moved, share, 0, 9, Fraction(3, 4))).masses
    share_ = alpha("quantile/sampler", parts=4)
    assert cells_p_value(sample, {v: float(low) for v, (low, _) in masses.items()}) > share_


def test_sampler_has_the_law_inside_a_window(rng):
    """5000 rows and a small scale: most intervals are never looked at."""
    values = np.sort(rng.words(5000).astype(np.int64) % 1000)
    values[2000:2400] = values[2000]
    quantile = Quantile(quantile="1/2", lower=0, upper=999, scale=4)
    sample = np.array([quantile.release(values, rng) for _ in range(4000)])
    masses = enclosed(rank_law(values.tolist(), Fraction(1, 2), 0, 999, 4)).masses
    cells = {v: float(low) for v, (low, _) in masses.items() if low > Fraction(1, 10**4)}
    assert cells_p_value(sample, cells) > alpha("quantile/window")


def test_a_first_word_of_zero_is_decided_exactly(rng):
    """All far intervals together weigh less than 2**-66: only then are they looked at."""
    values = np.arange(5000)
    half: dict[str, Any] = {
        "lower": 0,
        "upper": 4999,
        "share": Fraction(1, 2),
        "scale": Fraction(1),
        "rng": rng,
    }
    near = choose_by_rank(values, **half | {"rng": ScriptedRng([0, 2**63], then=rng)})
    assert abs(near - 2500) < 200
    far = choose_by_rank(values, **half | {"rng": ScriptedRng([0] * 40, then=rng)})
    assert abs(far - 2500) >= 50, "a uniform number below 2**-2560 lands beyond the window"


@pytest.mark.parametrize("share", [Fraction(1, 2), Fraction(1, 10)])
def test_error_holds_for_atoms_and_spread_out_data(share, rng):
    quantile = Quantile(quantile=share, lower=0, upper=10**6, scale=5)
    limit = quantile.error_quantile("1/100")
    assert limit <= 5 * Fraction("18.5")
    data = [
        np.full(1001, 123),
        np.repeat([0, 10**6], [500, 501]),
        rng.words(1000).astype(np.int64) % 10**6,
    ]
    for values in data:
        errors = [rank_error(values.tolist(), share, quantile.release(values, rng)) for _ in "123"]
        assert max(errors) <= limit


def test_calibrate():
    for share in ("1/2", "1/4"):
        given: dict[str, Any] = {
            "d_in": Contribution(l1=4),
            "quantile": share,
            "lower": 0,
            "upper": 99,
        }
        assert Quantile.calibrate(loss=Pure("1/3"), **given).loss(given["d_in"]) == Pure("1/3")
        spent = zcdp_loss([Quantile.calibrate(loss=Zcdp(rho=1), **given).event(given["d_in"])])
        assert Fraction(999, 1000) < spent.rho <= 1
        search = BinarySearchQuantile.calibrate(loss=Pure("1/3"), **given)
        assert search.loss(given["d_in"]) == Pure("1/3")
        search = BinarySearchQuantile.calibrate(loss=Zcdp(rho="1/3"), **given)
        assert zcdp_loss([search.event(given["d_in"])]) <= Zcdp(rho="1/3")


def test_a_changed_row_costs_two():
    changed = Contribution(l0=2, linf=1, metric=Metric.CHANGE_ONE)
    quantile = Quantile(quantile="1/2", lower=0, upper=9, scale=1)
    assert quantile.loss(changed) == Pure(2)
    for old, new in itertools.product(range(4), repeat=2):
        laws = LawPair(
            first=rank_law((1, 2, old), Fraction(1, 2), 0, 3, 1),
            second=rank_law((1, 2, new), Fraction(1, 2), 0, 3, 1),
        )
        assert verify(laws, Pure(2)).answer is VerdictAnswer.HOLDS


# ---------------------------------------------------------------- binary search


@pytest.mark.parametrize("share", [Fraction(1, 2), Fraction(1, 4), Fraction(1)], ids=str)
@pytest.mark.parametrize("size", [1, 2, 3, 8, 1000])
def test_search_without_noise_finds_the_quantile(share: Fraction, size: int, rng):
    """Noise far below one step (its scale is 1/1000) never moves an integer count."""
    search = BinarySearchQuantile(
        quantile=share, lower=5, upper=4 + size, noise=DiscreteLaplace(scale="1/1000")
    )
    for values in ([], [5], [7] * 9, list(range(0, 2 * size, 3))):
        found = search.release(np.array(values, dtype=np.int64), rng)
        moved = [min(4 + size, max(5, x)) for x in values]
        assert rank_error(moved, share, found) == 0


def test_search_asks_no_more_than_it_pays_for(rng):
    counted = []

    class Counting:
        def words(self, count: int):
            counted.append(count)
            return rng.words(count)

    for size in (1, 2, 3, 5, 64, 65):
        search = BinarySearchQuantile(
            quantile="1/2", lower=1, upper=size, noise=DiscreteLaplace(scale="1/1000")
        )
        for value in range(1, size + 1):
            counted.clear()
            search.release(np.array([value] * 3), Counting())
            assert len(counted) <= 2 * search.steps
        assert 2 ** (search.steps - 1) < size <= 2**search.steps or size == 1


def test_search_error_holds_in_simulation(rng):
    search = BinarySearchQuantile.calibrate(
        d_in=ONE_ROW, loss=Pure(1), quantile="1/4", lower=0, upper=1000
    )
    values = np.sort(rng.words(2000).astype(np.int64) % 1000)
    limit = search.error_quantile("1/20")
    failures = sum(
        rank_error(values.tolist(), Fraction(1, 4), search.release(values, rng)) > limit
        for _ in range(100)
    )
    assert failures <= 30  # more has a chance below 1e-15 at 1/20


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    "given",
    [
        {"quantile": "3/2", "lower": 0, "upper": 1},
        {"quantile": "-1/2", "lower": 0, "upper": 1},
        {"quantile": Fraction(1, 2**21 + 1), "lower": 0, "upper": 1},
        {"quantile": "1/2", "lower": 2, "upper": 1},
        {"quantile": "1/2", "lower": 0, "upper": 2**62},
    ],
)
def test_bad_parameters_are_refused(given):
    with pytest.raises(InvalidArgument):
        Quantile(scale=1, **given)
    with pytest.raises(InvalidArgument):
        BinarySearchQuantile(noise=DiscreteLaplace(scale=1), **given)


def test_bad_values_are_refused_and_not_quoted():
    quantile = Quantile(quantile="1/2", lower=0, upper=9, scale=1)
    with pytest.raises(InvalidArgument) as error:
        quantile.release(np.array([0.77]), SilentRng())
    assert "77" not in str(error.value)


@pytest.mark.parametrize("values", [[], [0], [-MOST], [MOST], [-MOST, MOST], [-MOST, 3, 3, MOST]])
def test_the_widest_domain_is_cut_into_all_its_integers(values: list[int]):
    """There are 2**63 - 1 of them; no piece wraps around, and none is counted twice."""
    domain = _Domain(np.array(values, dtype=np.int64), -MOST, MOST, len(values), 2)
    pieces = domain.pieces(0, len(values))
    ends = [
        (first, first + length)
        for first, length in zip(pieces.firsts.tolist(), pieces.lengths.tolist(), strict=True)
        if length
    ]
    assert sum(end - first for first, end in ends) == 2**63 - 1
    ordered = sorted(ends)
    assert (ordered[0][0], ordered[-1][1]) == (-MOST, MOST + 1)
    assert all(end == first for (_, end), (first, _) in itertools.pairwise(ordered))


def test_a_quantile_of_nothing_is_any_integer_of_the_widest_domain(rng):
    quantile = Quantile(quantile="1/2", lower=-MOST, upper=MOST, scale=1)
    nothing = np.empty(0, dtype=np.int64)
    sample = np.array([quantile.release(nothing, rng) for _ in range(2000)])
    share = alpha("quantile/widest", parts=2)
    assert dkw_p_value(sample, lambda z: Fraction(z + MOST + 1, 2 * MOST + 1)) > share
    assert residue_p_value(sample, 64, 1 / MOST) > share
