"""Many quantiles at once: the law of the whole tree on neighbours, ties, and the error bound."""

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.accounting.accountants.zcdp import zcdp_loss
from discreet.audit.law_pair import LawPair
from discreet.audit.laws import EnclosedLaw, enclosed
from discreet.audit.verdict import VerdictAnswer, verify
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Pure, Zcdp
from discreet.mechanisms.selection.quantiles import Quantiles, levels_of
from tests.mechanisms.selection.laws import rank_error, rank_law
from tests.support.statistics.exact_tests import alpha, cells_p_value

QUARTILES = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
ONE_ROW = Contribution(l1=1)
SCALE = Fraction(1, 2)
UPPER = 2

Masses = dict[Any, tuple[Fraction, Fraction]]


def parts(rows, shares, lower: int, upper: int) -> Masses:
    """The law of all answers for ``shares`` between two known ends, ties by fair coins."""
    if not shares:
        return {(): (Fraction(1), Fraction(1))}
    middle = len(shares) // 2
    share = shares[middle]
    masses: Masses = {}
    for v, own in enclosed(rank_law(rows, share, lower, upper, SCALE)).masses.items():
        below, ties = sum(x < v for x in rows), sum(x == v for x in rows)
        for coins in itertools.product((0, 1), repeat=ties):
            split = below + sum(coins)
            left = parts(rows[:split], [s / share for s in shares[:middle]], lower, v)
            rest = [(s - share) / (1 - share) for s in shares[middle + 1 :]]
            right = parts(rows[split:], rest, v, upper)
            for (a, p), (b, q) in itertools.product(left.items(), right.items()):
                low, high = masses.get((*a, v, *b), (Fraction(0), Fraction(0)))
                chance = Fraction(1, 2**ties)
                masses[*a, v, *b] = (
                    low + chance * own[0] * p[0] * q[0],
                    high + chance * own[1] * p[1] * q[1],
                )
    return masses


def tree_law(rows, shares=QUARTILES) -> EnclosedLaw:
    return EnclosedLaw(
        masses=parts(tuple(sorted(rows)), list(shares), 0, UPPER), outside=Fraction(0)
    )


def tree(shares=QUARTILES) -> Quantiles:
    return Quantiles(quantiles=shares, lower=0, upper=UPPER, scale=SCALE, tie_bits=0)


def pairs():
    for size in range(3):
        for rows in itertools.combinations_with_replacement(range(UPPER + 1), size):
            for new in range(UPPER + 1):
                yield LawPair(first=tree_law(rows), second=tree_law((*rows, new)))


def test_no_neighbours_break_the_loss_and_one_level_is_not_enough():
    loss = tree().loss(ONE_ROW)
    assert loss == Pure(4)
    claimed = zcdp_loss([tree().event(ONE_ROW)])
    assert claimed == Zcdp(rho=1)
    one_level = Pure(2)
    answers = set()
    for laws in pairs():
        assert verify(laws, loss).answer is VerdictAnswer.HOLDS
        assert verify(laws, claimed).answer is not VerdictAnswer.BROKEN
        answers.add(verify(laws, one_level).answer)
    assert VerdictAnswer.BROKEN in answers, "the twin that pays for one level is caught"


def test_sampler_has_the_law(rng):
    for number, rows in enumerate(((0, 0, 2), (1, 1, 1))):
        quantiles, given = tree(), np.array(rows)
        sample = [quantiles.release(given, rng) for _ in range(3000)]
        codes = np.array([9 * a + 3 * b + c for a, b, c in sample])
        masses = tree_law(rows).masses
        cells = {9 * a + 3 * b + c: float(low) for (a, b, c), (low, _) in masses.items()}
        assert cells_p_value(codes, cells) > alpha("quantiles/sampler", parts=2), number


def test_levels_and_shares():
    percentiles = tuple(Fraction(i, 100) for i in range(1, 100))
    levels = levels_of(percentiles)
    assert [len(nodes) for nodes in levels] == [1, 2, 4, 8, 16, 32, 36]
    assert sorted(node.middle for nodes in levels for node in nodes) == list(range(99))
    spreads = Quantiles(quantiles=percentiles, lower=0, upper=9, scale=1).spreads(ONE_ROW)
    assert len(spreads) == 7
    assert all(1 <= spread <= Fraction(4, 3) for spread in spreads)


@pytest.mark.parametrize("loss", [Pure("1/2"), Zcdp(rho="1/10")])
def test_calibrate(loss):
    deciles = [Fraction(i, 10) for i in range(1, 10)]
    d_in = Contribution(l1=5)
    found = Quantiles.calibrate(d_in=d_in, loss=loss, quantiles=deciles, lower=0, upper=99)
    if isinstance(loss, Pure):
        assert found.loss(d_in) == loss
    else:
        spent = zcdp_loss([found.event(d_in)]).rho
        assert loss.rho * Fraction(999, 1000) < spent <= loss.rho


@pytest.mark.parametrize(
    "name", ["spread out", "one atom", "an atom and a ramp", "two ends", "none"]
)
def test_error_bound_holds_with_heavy_ties(name: str, rng):
    n = 20_000
    values = {
        "spread out": rng.words(n).astype(np.int64) % 5000,
        "one atom": np.full(n, 77),
        "an atom and a ramp": np.concatenate([np.arange(8000) // 4, np.full(12_000, 2500)]),
        "two ends": np.repeat([0, 4999], n // 2),
        "none": np.array([], dtype=np.int64),
    }[name]
    shares = tuple(Fraction(i, 20) for i in range(1, 20))
    found = Quantiles.calibrate(d_in=ONE_ROW, loss=Pure(2), quantiles=shares, lower=0, upper=4999)
    limit = found.error_quantile("1e-9", rows=n)
    answers = found.release(values, rng)
    assert (np.diff(answers) >= 0).all()
    errors = [
        rank_error(values.tolist(), share, int(v)) for share, v in zip(shares, answers, strict=True)
    ]
    assert max(errors) <= min(limit, Fraction(2000))


def test_without_tie_bits_an_atom_swallows_its_neighbours(rng):
    """Why the bits are there: 12,000 equal rows at the middle split by coins, not by rank."""
    values = np.concatenate([np.arange(8000), np.full(12_000, 8500)])
    shares = tuple(Fraction(i, 20) for i in range(1, 20))
    answers = {
        bits: Quantiles(quantiles=shares, lower=0, upper=9999, scale=3, tie_bits=bits).release(
            values, rng
        )
        for bits in (0, 32)
    }
    errors = {
        bits: max(
            rank_error(values.tolist(), share, int(v))
            for share, v in zip(shares, found, strict=True)
        )
        for bits, found in answers.items()
    }
    assert errors[0] > 1000 > 10 * errors[32]


@pytest.mark.parametrize(
    "given",
    [
        {"quantiles": []},
        {"quantiles": ["1/2", "1/4"]},
        {"quantiles": ["1/2", "1/2"]},
        {"quantiles": [0, "1/2"]},
        {"quantiles": ["1/2", 1]},
        {"quantiles": ["1/1048573", "1/2"]},
        {"quantiles": ["1/2"], "tie_bits": 33},
        {"quantiles": ["1/2"], "tie_bits": -1},
        {"quantiles": ["1/2"], "lower": 9},
        {"quantiles": ["1/2"], "scale": 0},
    ],
)
def test_bad_parameters_are_refused(given):
    usual = {"lower": 0, "upper": 5, "scale": 1}
    with pytest.raises(InvalidArgument):
        Quantiles(**usual | given)
