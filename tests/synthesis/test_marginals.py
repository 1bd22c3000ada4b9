"""Marginals: what one unit can move of all that is measured, and what becomes of it."""

import json
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from discreet.accounting.accountants.zcdp import zcdp_loss
from discreet.audit.sampling import audit_outputs
from discreet.core.loss import Pure, Zcdp
from discreet.core.protocols import IntArray, Rng
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.noise_json import Noise
from discreet.project.noise import choose_noise
from discreet.synthesis.counted.counted_rows import CountedColumn, CountedRows, sum_integers
from discreet.synthesis.marginals.choose_tables import MOST_TABLES, Scored, choose_pairs, shares_of
from discreet.synthesis.marginals.coarse_values import CoarseValues, coarse_values
from discreet.synthesis.marginals.estimate import estimate
from discreet.synthesis.marginals.measure import (
    FIRST,
    SCORES,
    MarginalMechanism,
    expected_table,
)
from discreet.synthesis.marginals.measured import MeasuredMarginals, noise_variance
from discreet.synthesis.marginals.measurement import Measurement, agreeing
from discreet.synthesis.marginals.pair_tables import pair_tables
from discreet.synthesis.marginals.summed import summed
from tests.support.statistics.exact_tests import alpha
from tests.support.statistics.numbered_rng import NumberedRng

COLUMNS = (
    CountedColumn(3, has_order=False, has_null=False),
    CountedColumn(9, has_order=True, has_null=True),
    CountedColumn(4, has_order=False, has_null=True),
    CountedColumn(2, has_order=False, has_null=False),
)


def _rows(random, count, *, depends=True):
    """Return rows in which the second column follows the first, and the last the third."""
    codes = np.stack([random.integers(0, one.size, count) for one in COLUMNS], axis=1)
    if depends:
        codes[:, 1] = np.minimum(3 * codes[:, 0] + random.integers(0, 3, count), 8)
        codes[:, 3] = codes[:, 2] > 1
    return codes.astype(np.int64)


def _counted(codes):
    return CountedRows(tuple(one.size for one in COLUMNS), codes, np.ones(len(codes), np.int64))


# ---- Neighbour replay: both worlds are shown the same noisy numbers, and what was exact differs.


class _World:
    """Notes what noise is given and shows; or shows what an earlier world was shown."""

    def __init__(self, shown: Sequence[IntArray] | None = None) -> None:
        self.exact: list[IntArray] = []
        self.noises: list[Noise] = []
        self.shown: list[IntArray] = []
        self._earlier = shown

    def watch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Look over the shoulder of every noise."""
        for kind, drawn in _DRAWN.items():

            def release(noise: Any, values: IntArray, rng: Rng, drawn: Any = drawn) -> IntArray:
                number = len(self.exact)
                self.exact.append(np.array(values))
                self.noises.append(noise)
                out = drawn(noise, values, rng) if self._earlier is None else self._earlier[number]
                self.shown.append(out)
                return out

            monkeypatch.setattr(kind, "release", release)


_DRAWN = {kind: kind.release for kind in (DiscreteLaplace, DiscreteGaussian)}


def _loss_between(mechanism, one, other, rng, monkeypatch):
    """Return the loss between two worlds that were shown the same, over all that was drawn."""
    first = _World()
    first.watch(monkeypatch)
    mechanism.release(_counted(one), rng)
    second = _World(first.shown)
    second.watch(monkeypatch)
    mechanism.release(_counted(other), rng)
    assert len(first.exact) == len(second.exact)
    total = Fraction(0)
    for here, there, noise in zip(first.exact, second.exact, first.noises, strict=True):
        moved = [abs(int(a) - int(b)) for a, b in zip(here, there, strict=True)]
        if isinstance(mechanism.price, Pure):
            assert isinstance(noise, DiscreteLaplace)
            total += sum(moved) / noise.scale
        elif isinstance(noise, DiscreteGaussian):
            total += Fraction(sum(one * one for one in moved)) / (2 * noise.sigma_squared)
        else:
            total += (sum(moved) / noise.scale) ** 2 / 2
    return total


PRICES = [Zcdp(Fraction(1, 10)), Zcdp(5), Pure(Fraction(1, 2)), Pure(20)]


@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("tables", [None, (), ((0, 1), (1, 2, 3))])
def test_one_unit_moves_no_more_than_is_paid_for(price, tables, rng, monkeypatch):
    """People with many rows are added and removed; among them one with all rows in one cell."""
    mechanism = MarginalMechanism(columns=COLUMNS, rows_per_unit=5, price=price, tables=tables)
    budget = price.epsilon if isinstance(price, Pure) else price.rho
    random = np.random.default_rng(3)
    base = _rows(random, 3_000)
    for added in (_rows(random, 5), np.repeat(_rows(random, 1), 5, axis=0), _rows(random, 1)):
        more = np.concatenate([base, added])
        assert _loss_between(mechanism, base, more, rng, monkeypatch) <= budget
        assert _loss_between(mechanism, more, base, rng, monkeypatch) <= budget


@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("depends", [True, False])
def test_one_unit_moves_no_more_in_two_rounds(price, depends, rng, monkeypatch):
    """Without a dependence there is one round, for all that two would have cost."""
    mechanism = MarginalMechanism(columns=COLUMNS, rows_per_unit=5, price=price, has_residuals=True)
    budget = price.epsilon if isinstance(price, Pure) else price.rho
    random = np.random.default_rng(4)
    base = _rows(random, 3_000, depends=depends)
    for added in (_rows(random, 5), np.repeat(_rows(random, 1), 5, axis=0)):
        more = np.concatenate([base, added])
        assert _loss_between(mechanism, base, more, rng, monkeypatch) <= budget
        assert _loss_between(mechanism, more, base, rng, monkeypatch) <= budget


def test_replay_catches_a_second_round_for_the_price_of_one(rng, monkeypatch):
    """The twin gives each round of tables what one alone may have."""
    price = Zcdp(1)

    class Twin(MarginalMechanism):
        @property
        def rounds(self):
            return (self.price * (1 - FIRST - SCORES),) * 2

    twin = Twin(columns=COLUMNS, rows_per_unit=5, price=price, has_residuals=True)
    random = np.random.default_rng(4)
    base = _rows(random, 3_000)
    more = np.concatenate([base, np.repeat([[0, 8, 0, 1]], 5, axis=0)])
    assert _loss_between(twin, base, more, rng, monkeypatch) > price.rho


def test_replay_catches_the_sensitivity_of_a_row(rng, monkeypatch):
    """The twin takes a row for a person, as peers do."""
    price = Zcdp(1)
    twin = MarginalMechanism(columns=COLUMNS, rows_per_unit=1, price=price)
    random = np.random.default_rng(3)
    base = _rows(random, 3_000)
    more = np.concatenate([base, np.repeat(_rows(random, 1), 5, axis=0)])
    assert _loss_between(twin, base, more, rng, monkeypatch) > price.rho


def test_replay_catches_scores_without_their_noise(rng, monkeypatch):
    """The twin draws the noise of one score for each of all pairs."""
    price = Zcdp(1)

    class Twin(MarginalMechanism):
        def score_noise(self):
            return choose_noise(self.each, self.price * SCORES)

    random = np.random.default_rng(3)
    base = _rows(random, 3_000)
    more = np.concatenate([base, np.repeat([[0, 8, 0, 1]], 5, axis=0)])
    twin = Twin(columns=COLUMNS, rows_per_unit=5, price=price)
    assert _loss_between(twin, base, more, rng, monkeypatch) > price.rho


@pytest.mark.parametrize("price", PRICES)
def test_event_states_the_price(price):
    mechanism = MarginalMechanism(columns=COLUMNS, rows_per_unit=5, price=price)
    rho = price.epsilon**2 / 2 if isinstance(price, Pure) else price.rho
    assert zcdp_loss([mechanism.event()]).rho == rho


@pytest.mark.parametrize("sizes", [[1], [2, 3], [10**4] * 60, [1, 10**6], list(range(1, 300))])
def test_shares_are_at_most_the_whole(sizes):
    shares = shares_of(sizes)
    assert min(shares) > 0
    assert sum(shares) <= 1 < sum(shares) + Fraction(len(shares), 2**20)


# ---- What comes out.


def test_dependent_columns_are_found_and_others_are_not(rng):
    """False alarms: noise alone chooses a table in one run in ten at most, and so in 15 runs of 20
    once in 1e11, where columns are independent to the row; dependences here are hundreds of
    deviations.
    """
    random = np.random.default_rng(4)
    mechanism = MarginalMechanism(columns=COLUMNS, rows_per_unit=1, price=Zcdp(1))
    measured = mechanism.release(_counted(_rows(random, 20_000)), rng)
    tables = {one.columns for one in measured.tables if len(one.columns) > 1}
    assert tables >= {(0, 1), (2, 3)}
    rows = _counted(np.indices([one.size for one in COLUMNS]).reshape(len(COLUMNS), -1).T)
    runs = [mechanism.release(rows, rng).tables for _ in range(20)]
    assert sum(any(len(one.columns) > 1 for one in tables) for tables in runs) < 15


def test_a_second_round_finds_what_the_model_of_the_first_misses(rng):
    """Three columns of which each two are independent are not missed; a later pair would be."""
    codes = _rows(np.random.default_rng(5), 20_000)
    mechanism = MarginalMechanism(
        columns=COLUMNS, rows_per_unit=1, price=Zcdp(1), has_residuals=True
    )
    found = mechanism.release(_counted(codes), rng)
    assert set(found.together) >= {(0, 1), (2, 3)}
    assert len([one for one in found.tables if one.columns == (0, 1)]) == 2
    stored = MeasuredMarginals.from_json(json.loads(json.dumps(found.to_json())))
    assert stored.residuals is not None
    assert found.residuals is not None
    assert (stored.residuals.values == found.residuals.values).all()
    missed = Scored(
        sizes=(3, 3, 3),
        scores=(10.0, 10.0, 5_000.0),
        margin=12.5,
        variances=(4.0,) * 3,
        fine_variances=(4.0,) * 3,
        fine_sizes=(3,) * 3,
        total=10_000.0,
        deviation=lambda share: 2 / float(share) ** 0.5,
        before={(0, 1): 8.0},
    )
    assert choose_pairs(missed, most_cells=1_000) == ((0, 1), (1, 2))


def test_kept_tables_are_those_that_are_counted_and_nobody_can_change_them():
    """What an engine counted is kept nowhere else, so that whoever holds it can overwrite it."""
    rows = _counted(_rows(np.random.default_rng(6), 500))
    grouped = rows.grouped([np.arange(one.size, dtype=np.int64) // 2 for one in COLUMNS])
    for pair in ((0, 1), (1, 0), (2, 3)):
        kept = grouped.table(pair)
        assert grouped.table(pair) is kept
        again = CountedRows(grouped.sizes, grouped.codes, grouped.counts).table(pair)
        assert (kept == again).all()
        with pytest.raises(ValueError, match="read-only"):
            kept[0, 0] = 1
        assert rows.table(pair) is not rows.table(pair)
        rows.table(pair)[...] = 0
        assert rows.table(pair).sum() == 500


@pytest.mark.parametrize("others", [0, 5, 10])
def test_a_second_round_finds_a_dependence_that_only_the_model_has(others, rng):
    """Who works and in which year are independent; what is only asked of workers in one year says
    something of both. A model with that alone between them has them depend on each other, by a
    sixth of the rows, and no score of the first round tells. False alarms: the distance is .01 at
    most, and what is missed is 4,000 rows and more above the noise of its score, of deviation 600.
    Noise alone has the first round measure both together in one run in ten at most, so in all nine
    of nine once in 1e9.
    """
    random = np.random.default_rng(3)
    year, works = random.integers(0, 2, (2, 20_000))
    codes = np.column_stack([year, works, year & works, random.integers(0, 9, (20_000, others))])
    sizes = (2, 2, 2) + (9,) * others
    columns = tuple(CountedColumn(size, has_order=False, has_null=False) for size in sizes)
    counted = CountedRows(sizes, codes, np.ones(20_000, dtype=np.int64))

    def off(*, has_residuals):
        mechanism = MarginalMechanism(
            columns=columns, rows_per_unit=1, price=Zcdp("0.02"), has_residuals=has_residuals
        )
        measured = mechanism.release(counted, rng)
        model = estimate([one.size for one in measured.coarse], measured.measurements()).model
        return np.abs(pair_tables(model)[0, 1] - 0.25).sum() / 2

    assert any(off(has_residuals=False) > 0.1 for _ in range(9))
    assert off(has_residuals=True) < 0.03


@pytest.mark.parametrize("size", [1_000, 100])
def test_no_more_is_stored_than_is_said_before(size, rng):
    """With many values nearly all of it is used: tables of coarse values, and columns thrice.

    Where few of the values can stand in a table, two rounds need no more room than one did.
    """
    random = np.random.default_rng(5)
    first = random.integers(0, size, 100_000)
    codes = np.column_stack([first, first, (first + random.integers(0, 3, 100_000)) % size])
    columns = (CountedColumn(size, has_order=False, has_null=False),) * 3
    counted = CountedRows((size,) * 3, codes, np.ones(100_000, dtype=np.int64))
    mechanism = MarginalMechanism(
        columns=columns, rows_per_unit=1, price=Zcdp(10), has_residuals=True
    )
    found = mechanism.release(counted, rng)
    every = [*found.first, *found.tables, found.scores, found.residuals]
    stored = sum(one.values.size for one in every if one is not None)
    most = 2 * 3 * size + mechanism.most_measured()
    assert 0.9 * most < stored <= most
    assert mechanism.most_measured() < evolve(mechanism, has_residuals=False).most_measured()


def test_a_second_round_has_room_where_the_first_took_all_that_it_can(rng):
    """Ten columns that depend on each other fill the first round, and the model still says that two
    do that know nothing of each other, as above. False alarms: what is missed is 6,000 rows above
    the noise of its score, of deviation 60, and the distance of a table is .005 at most.
    """
    random = np.random.default_rng(3)
    year, works = random.integers(0, 2, (2, 20_000))
    often = 0.05 + 0.9 * random.random((20_000, 1))
    others = (random.random((20_000, 10)) < often).astype(np.int64)
    codes = np.column_stack([year, works, year & works, others])
    columns = (CountedColumn(2, has_order=False, has_null=False),) * 13
    counted = CountedRows((2,) * 13, codes, np.ones(20_000, dtype=np.int64))
    mechanism = MarginalMechanism(
        columns=columns, rows_per_unit=1, price=Zcdp(1), has_residuals=True
    )
    measured = mechanism.release(counted, rng)
    assert len(measured.together) > MOST_TABLES * 13
    stored = sum(one.values.size for one in measured.tables)
    assert stored + 2 * 78 <= mechanism.most_measured()
    model = estimate([one.size for one in measured.coarse], measured.measurements()).model
    assert np.abs(pair_tables(model)[0, 1] - 0.25).sum() / 2 < 0.03


def test_a_tree_closes_no_circle(rng):
    random = np.random.default_rng(4)
    codes = np.repeat(random.integers(0, 2, (20_000, 1)), 4, axis=1)
    for is_tree, pairs in ((True, 3), (False, 6)):
        mechanism = MarginalMechanism(
            columns=COLUMNS, rows_per_unit=1, price=Zcdp(10), is_tree=is_tree
        )
        measured = mechanism.release(_counted(codes), rng)
        assert sum(len(one.columns) > 1 for one in measured.tables) == pairs


def test_measured_numbers_survive_being_stored(rng):
    mechanism = MarginalMechanism(columns=COLUMNS, rows_per_unit=2, price=Zcdp(1))
    measured = mechanism.release(_counted(_rows(np.random.default_rng(5), 9_000)), rng)
    again = MeasuredMarginals.from_json(measured.to_json())
    assert again.to_json() == measured.to_json()
    pairs = zip(measured.measurements(), again.measurements(), strict=True)
    assert all((one.counts == other.counts).all() for one, other in pairs)


def test_an_estimate_agrees_with_tables_that_have_no_noise():
    codes = _rows(np.random.default_rng(6), 20_000)
    rows = _counted(codes)
    tables = [(0,), (1,), (2,), (3,), (0, 1), (2, 3), (1, 2)]
    measured = [Measurement.of(one, rows.table(one).astype(float), 1e-3) for one in tables]
    found = estimate(rows.sizes, measured)
    assert found.is_found
    assert found.total == pytest.approx(20_000, rel=1e-3)
    for one in tables:
        assert found.model.marginal(one) == pytest.approx(rows.table(one) / 20_000, abs=2e-3)


def test_an_estimate_keeps_to_what_can_be():
    rows = _counted(_rows(np.random.default_rng(6), 5_000))
    mask = np.zeros((3, 2), dtype=bool)
    mask[0, 1] = True
    measured = [Measurement.of((0,), rows.table((0,)).astype(float), 10.0)]
    found = estimate(rows.sizes, measured, impossible=[((0, 3), mask)])
    assert found.model.marginal((0, 3))[0, 1] == 0


def test_agreeing_tables_are_fitted_as_well_as_those_that_do_not():
    """Whatever the counts, the sums of squares differ by one constant."""
    random = np.random.default_rng(12)
    sizes = (3, 4, 2, 5)
    tables = [(0,), (1,), (0, 1), (1, 2), (0, 1, 3), (2, 3), (0, 1)]
    measured = []
    for columns in tables:
        shape = [sizes[column] for column in columns]
        counts = random.normal(50, 30, shape)
        measured.append(Measurement.of(columns, counts, random.uniform(1, 9, shape)))

    def misfit(found, universe):
        total = 0.0
        for one in found:
            others = tuple(axis for axis in range(len(sizes)) if axis not in one.columns)
            total += ((universe.sum(axis=others) - one.counts) ** 2 / one.variances).sum()
        return total

    agreed = agreeing(measured)
    shared = agreed[0].counts - agreed[2].counts.sum(axis=1)
    assert np.abs(shared).max() < 1e-2
    assert np.abs(agreed[2].counts - agreed[-1].counts).max() < 1e-2
    universes = [random.uniform(0, 20, sizes) for _ in range(20)]
    apart = [misfit(measured, one) - misfit(agreed, one) for one in universes]
    assert np.ptp(apart) < 1e-6 * abs(apart[0])


def test_an_estimate_that_is_not_found_says_so():
    rows = _counted(_rows(np.random.default_rng(6), 20_000))
    tables = [(0, 1), (1, 2), (0, 2)]
    measured = [Measurement.of(one, rows.table(one).astype(float), 1.0) for one in tables]
    assert not estimate(rows.sizes, measured, most_tours=1).is_found


def test_coarse_values_are_numbered_without_a_gap():
    random = np.random.default_rng(8)
    for has_order in (True, False):
        for _ in range(50):
            counts = random.normal(20, 30, int(random.integers(2, 60)))
            found = coarse_values(counts, 10, has_order=has_order, has_null=True, most=8)
            assert set(found.numbers) == set(range(found.size))
            assert (found.numbers == found.numbers[-1]).sum() == 1
            assert found.sums(found.shares(counts)) == pytest.approx(np.ones(found.size))
            assert found.size <= 10


def test_counts_that_add_up_to_nothing_but_rounding_have_equal_shares():
    """Means of noisy counts that add up to 0 seldom do so in floating point."""
    counts = np.array([5.0, -5.0, 0.1 + 0.2, -0.3])
    assert 0 < counts.sum() < 1e-15
    together = CoarseValues(np.zeros(4, dtype=np.int64))
    assert together.shares(counts).tolist() == [0.25] * 4
    assert together.shares(counts + np.array([1e-6, 0, 0, 0])).argmax() == 0


def test_sums_of_integers_are_exact():
    values = np.array([2**53 + 1, 2**53 + 3, 1, 2**62], dtype=np.int64)
    places = np.array([0, 0, 1, 1])
    assert sum_integers(places, values, 3).tolist() == [2**54 + 4, 2**62 + 1, 0]


def test_variance_of_noise_is_that_of_its_law():
    """Against the sum over the law itself."""
    for scale in (Fraction(1, 3), Fraction(2), Fraction(50)):
        noise = DiscreteLaplace(scale=scale)
        weights = np.exp(-np.arange(1, 4_000) / float(noise.scale))
        exact = 2 * (weights * np.arange(1, 4_000) ** 2).sum() / (1 + 2 * weights.sum())
        assert noise_variance(noise) == pytest.approx(exact)
    assert noise_variance(DiscreteLaplace(scale=Fraction(1, 10**6))) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("axes", [(), (0,), (1, 3), (0, 2, 3), (0, 1, 2, 3)])
def test_sums_over_axes_are_tables_of_their_own(axes):
    table = np.arange(120.0).reshape(2, 3, 4, 5)
    found = summed(table, axes)
    np.testing.assert_array_equal(found, table.sum(axis=axes))
    assert not np.shares_memory(found, table)


def test_many_axes_of_one_value_aresummed():
    assert summed(np.ones((1,) * 60), tuple(range(59))).shape == (1,)


def _seen(mechanism, counted, known, rng):
    """Return what an adversary looks at who knows all rows but those of one unit.

    It is a cell of each column, and how much the score is more than the known rows explain.
    """
    found = mechanism.release(counted, rng)
    assert found.scores is not None
    expected = expected_table(found.first, found.coarse, (0, 1)).astype(np.int64)
    grouped = known.grouped([one.numbers for one in found.coarse])
    explained = int(np.abs(grouped.table((0, 1)) - expected).sum())
    cells = [int(one.values[0]) for one in found.first]
    return [*cells, int(found.scores.values[0]) - explained]


class _Scoreless(MarginalMechanism):
    """The twin whose scores have next to no noise."""

    def score_noise(self):
        return DiscreteLaplace(scale=Fraction(1, 10))


@pytest.mark.parametrize(
    ("kind", "rows", "is_sound"),
    [(MarginalMechanism, 200, True), (MarginalMechanism, 1, False), (_Scoreless, 200, False)],
)
def test_samples_refute_noise_that_is_too_small(soak, kind, rows, is_sound):
    """One unit has 200 rows; a twin takes a row for a unit. False alarms: one in 10^9 audits."""
    share = Fraction(alpha("synthesis/marginals/samples"))
    columns = (CountedColumn(2, has_order=False, has_null=False),) * 2
    codes = np.array([[0, 0], [1, 1]])
    base, more = (CountedRows((2, 2), codes, np.array([n, 200])) for n in (200, 400))
    mechanism = kind(columns=columns, rows_per_unit=rows, price=Pure(1))
    rng = NumberedRng(rows, label=f"marginals {kind.__name__}")
    drawn = [
        np.array([_seen(mechanism, one, base, rng) for _ in range(soak.cases(250))])
        for one in (base, more)
    ]
    result = audit_outputs(drawn[0], drawn[1], confidence=1 - share)
    assert (result.epsilon_lower <= 1) is is_sound
