"""Choosing tables privately must not make rows worse than columns by themselves.

What is to be told apart are ratios of 1.01 and of 1.02, and the error of one run is a few per cent
off its mean. So both ways of a run have the *same* noise where they measure the same: the same
numbers, times whatever deviation either pays for, rounded. At deviations of ten and more that is
nearly the law of the noise, and what is left of the ratio's error is less than a thousandth. Scores
have noise of their own.
"""

from itertools import combinations

import numpy as np
import pytest

from discreet.core.loss import Pure, Zcdp
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.synthesis.counted.counted_rows import CountedColumn, CountedRows
from discreet.synthesis.marginals import choose_tables, measure
from discreet.synthesis.marginals.measure import MarginalMechanism
from discreet.synthesis.marginals.measured import MeasuredTable
from discreet.synthesis.synthetic_model import SyntheticModel

SIZES = (2, 3, 5, 8, 12, 4, 6, 2)
COUNT = 10_000
RHOS = {"0.01": "1.2e-6", "0.1": "1.2e-4", "1": "1.19e-2"}
"""What an ε with δ = 1e-9 buys, about."""
MOST = 1.02


def _rows(random, *, depends):
    codes = np.stack([random.integers(0, size, COUNT) for size in SIZES], axis=1)
    if depends:
        for column in range(1, len(SIZES)):
            copied = random.random(COUNT) < 0.4
            codes[copied, column] = codes[copied, column - 1] % SIZES[column]
    return codes


class _SameNoise:
    """Measures tables with noise that depends on the run, the table and how often it was seen."""

    def __init__(self, number):
        self.number = number
        self.seen = {}

    def measured(self, rows, columns, noise, rng):
        self.seen[columns] = self.seen.get(columns, 0) + 1
        random = np.random.default_rng([self.number, self.seen[columns], *columns])
        exact = rows.table(columns)
        is_laplace = isinstance(noise, DiscreteLaplace)
        drawn = (random.laplace if is_laplace else random.normal)(size=exact.shape)
        scale = noise.scale if is_laplace else noise.sigma_squared**0.5
        return MeasuredTable(columns, noise, exact + np.rint(float(scale) * drawn).astype(np.int64))


def _error(counted, exact, price, tables, number, rng, monkeypatch, *, has_residuals=False):
    """Return the mean distance of all tables of two columns, of one synthesis."""
    monkeypatch.setattr(measure, "_measured", _SameNoise(number).measured)
    columns = tuple(CountedColumn(size, has_order=False, has_null=False) for size in SIZES)
    mechanism = MarginalMechanism(
        columns=columns, rows_per_unit=1, price=price, tables=tables, has_residuals=has_residuals
    )
    model = SyntheticModel.of((), mechanism.release(counted, rng))
    return np.mean([np.abs(table - model.table(pair)).sum() / 2 for pair, table in exact.items()])


def _ratio(codes, price, repeats, rng, monkeypatch, **options):
    """Return the ratio of mean errors, with tables that are chosen and without, and its error."""
    counted = CountedRows(SIZES, codes, np.ones(COUNT, dtype=np.int64))
    pairs = combinations(range(len(SIZES)), 2)
    exact = {pair: counted.table(pair) / COUNT for pair in pairs}
    numbers = [int(word) for word in rng.words(repeats)]
    chosen, alone = (
        np.array(
            [_error(counted, exact, price, how, n, rng, monkeypatch, **options) for n in numbers]
        )
        for how in (None, ())
    )
    ratio = chosen.mean() / alone.mean()
    deviation = (chosen - ratio * alone).std(ddof=1) / alone.mean() / repeats**0.5
    return ratio, deviation


@pytest.mark.parametrize("epsilon", RHOS)
@pytest.mark.parametrize("depends", [True, False])
def test_choosing_is_never_worse_than_columns_by_themselves(
    soak, rng, epsilon, depends, monkeypatch
):
    """The mean of many runs, at each price, whether columns depend on each other or not.

    Scores make all noise 1.0102 times as large, and errors at most about as much where none are
    believed: ratios are 1.009 and less. False alarms: their deviation is .0006 at most with 20
    runs, so an estimate would have to be more than ten of them too large, once in 1e9 runs even by
    Student's law with 19 degrees.
    """
    codes = _rows(np.random.default_rng(7), depends=depends)
    price = Zcdp(RHOS[epsilon])
    ratio, deviation = _ratio(codes, price, 400 if soak.active else 20, rng, monkeypatch)
    assert ratio + 5 * deviation <= MOST


def test_scores_take_as_little_of_an_epsilon(soak, rng, monkeypatch):
    """Noise is in proportion to 1/ε, so that scores may have half of what they have of a ρ.

    Its noise has heavy tails: were as many deviations taken from scores as of normal noise, every
    fourth run would choose a table, and the ratio be 1.022. False alarms: it is 1.009, and one run
    in forty or fewer chooses a table, by which a mean of 20 is .01 more at most.
    """
    codes = _rows(np.random.default_rng(7), depends=False)
    ratio, _ = _ratio(codes, Pure("0.1"), 400 if soak.active else 20, rng, monkeypatch)
    assert ratio <= MOST


@pytest.mark.parametrize("price", [Zcdp(RHOS["0.1"]), Pure("0.1"), Pure(1)])
def test_a_second_round_is_not_paid_where_nothing_is_missed(soak, price, rng, monkeypatch):
    """Two rounds for half an ε each have 1.4 times the noise of one, where they measure the same.

    False alarms: no table is worth half of the price where none is worth the whole of it, so there
    are fewer runs with one than above.
    """
    codes = _rows(np.random.default_rng(7), depends=False)
    repeats = 400 if soak.active else 20
    ratio, _ = _ratio(codes, price, repeats, rng, monkeypatch, has_residuals=True)
    assert ratio <= MOST


def test_scores_for_a_tenth_of_the_price_are_worse(rng, monkeypatch):
    """The twin pays more for scores, which makes noise 5 % larger; few runs show it."""
    codes = _rows(np.random.default_rng(7), depends=False)
    monkeypatch.setattr(measure, "SCORES", measure.SCORES * 5)
    assert _ratio(codes, Zcdp(RHOS["0.1"]), 5, rng, monkeypatch)[0] > MOST


def test_taking_every_score_for_a_dependence_is_worse(rng, monkeypatch):
    """The twin believes scores that are nothing but noise; few runs show it, by far."""
    codes = _rows(np.random.default_rng(7), depends=False)
    monkeypatch.setattr(choose_tables, "_noise_alone", lambda *_: -1e9)
    monkeypatch.setattr(choose_tables, "GAIN", 1e9)
    monkeypatch.setattr(choose_tables, "_sum_of_errors", lambda *a: -len(a[-1]))
    assert _ratio(codes, Zcdp(RHOS["0.1"]), 2, rng, monkeypatch)[0] > 1.05
