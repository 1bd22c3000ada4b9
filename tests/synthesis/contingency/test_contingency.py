"""Tables by noise on cells, on tables and on contrasts: privacy, errors, and the fitted table."""

import itertools
import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting.accountants.pure import pure_loss
from discreet.accounting.accountants.zcdp import zcdp_loss
from discreet.audit.finding import FindingKind, replay_audit
from discreet.audit.law_pair import LawPair
from discreet.audit.laws import discrete_laplace_law, product
from discreet.audit.verdict import VerdictAnswer, pure_epsilon, verify
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Approximate, Pure, Zcdp
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.synthesis.contingency.column_sets import closure, sets_of_order
from discreet.synthesis.contingency.contrasts import (
    contrast_contribution,
    contrast_of,
    contrast_rows,
)
from discreet.synthesis.contingency.fit_table import fit_table, rounded
from discreet.synthesis.contingency.noisy_cells import NoisyCells
from discreet.synthesis.contingency.noisy_contrasts import NoisyContrasts
from discreet.synthesis.contingency.noisy_tables import NoisyTables
from discreet.synthesis.contingency.order_errors import order_errors, order_picture
from discreet.synthesis.counted.counted_rows import CountedRows
from tests.synthesis.people import counted, some_people

SIZES = (2, 3, 2, 4)
SETS = [(0, 1), (1, 2), (2, 3)]


def methods(loss, rows_per_unit: int = 1) -> dict[str, Any]:
    return {
        "cells": NoisyCells.calibrate(SIZES, loss=loss, rows_per_unit=rows_per_unit),
        "tables": NoisyTables.calibrate(SIZES, SETS, loss=loss, rows_per_unit=rows_per_unit),
        "contrasts": NoisyContrasts.calibrate(SIZES, SETS, loss=loss, rows_per_unit=rows_per_unit),
    }


def all_rows(table: np.ndarray) -> CountedRows:
    codes = np.array(list(np.ndindex(*table.shape)), dtype=np.int64)
    return CountedRows(table.shape, codes, table.ravel().astype(np.int64))


# ---------------------------------------------------------------- contrasts


def test_contrasts_of_bits_are_walsh_coefficients(rng):
    table = (rng.words(16) % np.uint64(50)).astype(np.int64).reshape(2, 2, 2, 2)
    rows = all_rows(table)
    for some in closure([(0, 1, 2, 3)]):
        coefficient = sum(
            int(table[x]) * (-1) ** sum(x[column] for column in some)
            for x in itertools.product((0, 1), repeat=4)
        )
        assert contrast_of(rows, some).ravel().tolist() == [coefficient]


@settings(max_examples=20)
@given(st.lists(st.integers(0, 30), min_size=48, max_size=48))
def test_tables_follow_from_exact_contrasts(values):
    """Also by the rows of the linear programme, which are written down another way."""
    rows = all_rows(np.array(values).reshape(SIZES))
    method = methods(Pure(1))["contrasts"]
    exactly = [contrast_of(rows, one) for one in method.sets]
    for one in closure(SETS):
        assert abs(method.estimate(exactly, one) - rows.table(one)).max() < 1e-9
    for one, contrast in zip(method.sets, exactly, strict=True):
        assert (contrast_rows(SIZES, one) @ np.array(values) == contrast.ravel()).all()


@pytest.mark.parametrize("shape", [(2, 2), (3,), (2, 3), (3, 4)])
def test_a_row_moves_a_contrast_by_exactly_its_norms(shape):
    one = np.zeros(shape, dtype=np.int64)
    one[(0,) * len(shape)] = 1
    moved = contrast_of(all_rows(one), tuple(range(len(shape)))).ravel().tolist()
    assert contrast_contribution(shape, 1) == Contribution(
        linf=max(map(abs, moved)),
        l1=sum(map(abs, moved)),
        l2_squared=sum(step**2 for step in moved),
    )


# ---------------------------------------------------------------- privacy


@pytest.mark.parametrize("name", ["cells", "tables", "contrasts"])
@pytest.mark.parametrize("loss", [Pure(1), Zcdp(rho="0.1")], ids=str)
def test_each_way_spends_its_price_on_a_person_of_many_rows(name: str, loss):
    method = methods(loss, rows_per_unit=3)[name]
    account = pure_loss if isinstance(loss, Pure) else zcdp_loss
    spent = account([method.event(3)])
    assert spent <= loss
    assert spent.share_of(loss) > Fraction(999, 1000)
    assert not account([method.event(4)]) <= loss


@pytest.mark.parametrize("name", ["cells", "tables", "contrasts"])
def test_measurements_replay_and_the_sensitivity_of_a_row_does_not(name: str, rng):
    people = some_people(rng, SIZES, people=15, most=3)
    data, neighbour = (counted(some, SIZES, most=3) for some in (people, people[:-1]))
    method = methods(Zcdp(rho="0.1"))[name]

    def run(rows, recorder, rows_per_unit=3):
        def release(noise, d_in, values):
            return recorder.watch(noise, d_in=d_in).release(values, recorder.rng)

        if name == "contrasts":
            return [
                release(
                    noise,
                    contrast_contribution(method.shape(one), rows_per_unit),
                    contrast_of(rows, one),
                )
                for one, noise in zip(method.sets, method.noises, strict=True)
            ]
        sets = method.sets if name == "tables" else [tuple(range(4))]
        d_in = Contribution(l1=rows_per_unit)
        return [release(method.noise, d_in, rows.table(one)) for one in sets]

    assert replay_audit(run, data, neighbour, rng) == ()
    findings = replay_audit(lambda d, r: run(d, r, rows_per_unit=1), data, neighbour, rng)
    assert {finding.kind for finding in findings} == {FindingKind.CONTRIBUTION}


def test_exact_law_of_contrasts_and_the_twin_that_pays_for_one_of_them():
    """One bit: the total and the contrast. A row moves both by 1: twice the price of one."""
    method = NoisyContrasts.calibrate([2], [[0]], loss=Pure(1))
    scales = [noise.scale for noise in method.noises if isinstance(noise, DiscreteLaplace)]

    def law(centre):
        return product(
            *(
                discrete_laplace_law(scale, centre=c, window=(-3, 4))
                for scale, c in zip(scales, centre, strict=True)
            )
        )

    for moved in ((1, 1), (1, -1)):
        pair = LawPair(first=law((0, 0)), second=law(moved))
        assert verify(pair, Pure(1)).answer is VerdictAnswer.HOLDS
        measured = pure_epsilon(pair)
        assert measured.low <= 1 <= measured.high
    one = noise_event_loss(method, 0)
    assert verify(pair, one).answer is VerdictAnswer.BROKEN


def noise_event_loss(method: NoisyContrasts, place: int) -> Pure:
    return pure_loss([method.noises[place].event(Contribution(l1=1))])


def test_walsh_noise_is_that_of_the_paper():
    """F contrasts of bits have Lap(F m/ε) each if all have an equal share: here, by symmetry."""
    method = NoisyContrasts.calibrate([2] * 3, [[0, 1, 2]], loss=Pure(1), rows_per_unit=2)
    assert len(method.sets) == 8
    assert set(method.noises) == {DiscreteLaplace(scale=16)}
    gauss = NoisyContrasts.calibrate([2] * 3, [[0, 1, 2]], loss=Zcdp(rho=1), rows_per_unit=2)
    assert set(gauss.noises) == {DiscreteGaussian(sigma_squared=16)}


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize("loss", [Pure(1), Zcdp(rho="0.1")], ids=str)
def test_deviations_are_those_of_draws(loss, rng):
    """Of 60 releases each; means of squares over all cells, within a factor of 2."""
    rows = all_rows(np.full(SIZES, 100))
    for method in methods(loss).values():
        squares = []
        for _ in range(60):
            measured = method.measure(rows, rng)
            squares.append(((method.estimate(measured, (1, 2)) - rows.table((1, 2))) ** 2).mean())
        assert 0.5 < np.mean(squares) / method.deviation((1, 2)) ** 2 < 2


def test_tables_by_contrasts_agree_and_by_tables_do_not(rng):
    rows = all_rows(np.full(SIZES, 20))
    found = methods(Zcdp(rho="0.1"))
    contrasts = found["contrasts"].measure(rows, rng)
    tables = found["tables"].measure(rows, rng)
    ways = [
        (
            found["contrasts"].estimate(contrasts, (0, 1)),
            found["contrasts"].estimate(contrasts, (1, 2)),
        ),
        (tables[0], tables[1]),
    ]
    apart = [abs(left.sum(axis=0) - right.sum(axis=1)).max() for left, right in ways]
    assert apart[0] < 1e-9
    assert apart[1] >= 1


def test_contrasts_are_the_best_and_the_shares_are_the_best_ones():
    found = order_errors([2] * 6, loss=Zcdp(rho="0.1"), orders=range(1, 7))
    for place, order in enumerate(found.orders):
        cells, tables, contrasts = (
            found.deviations[n][place] for n in ("cells", "tables", "contrasts")
        )
        assert cells == pytest.approx(math.sqrt(2 ** (6 - order) * 5))
        assert tables == pytest.approx(math.sqrt(math.comb(6, order) * 5))
        equal = math.sqrt(sum(math.comb(6, i) for i in range(order + 1)) * 5 / 2**order)
        assert contrasts <= min(cells, tables, equal) * (1 + 1e-6)
    figure = order_picture(found, seen={2: 5.0})
    assert figure.axes[0].get_yscale() == "log"
    assert len(figure.axes[0].lines) == 4


def test_the_best_shares_are_a_minimum():
    """Moving a hundredth of the price between any two contrasts makes the sum of squares larger."""
    method = methods(Zcdp(rho="0.1"))["contrasts"]

    def total(shares):
        noises = tuple(
            DiscreteGaussian.calibrate(
                d_in=contrast_contribution(method.shape(one), 1), loss=Zcdp(rho=share)
            )
            for one, share in zip(method.sets, shares, strict=True)
        )
        moved = NoisyContrasts(sizes=SIZES, sets=method.sets, noises=noises)
        return sum(moved.deviation(one) ** 2 * math.prod(moved.shape(one)) for one in SETS)

    shares = [
        zcdp_loss([noise.event(contrast_contribution(method.shape(one), 1))]).rho
        for one, noise in zip(method.sets, method.noises, strict=True)
    ]
    least = total(shares)
    for first, second in itertools.permutations(range(0, len(shares), 3), 2):
        moved = list(shares)
        moved[first], moved[second] = shares[first] * 99 / 100, shares[second] + shares[first] / 100
        assert total(moved) >= least * (1 - 1e-9)


# ---------------------------------------------------------------- the fitted table


def test_a_fitted_table_is_whole_and_from_zero_and_near(rng):
    words = rng.words(4 * 900).reshape(900, 4)
    people = Counter(
        tuple(int(w) % 7 % size for w, size in zip(row, SIZES, strict=True)) for row in words
    )
    table = np.zeros(SIZES, dtype=np.int64)
    for cell, count in people.items():
        table[cell] = count
    rows = all_rows(table)
    method = methods(Zcdp(rho="0.5"))["contrasts"]
    measured = method.measure(rows, rng)
    fitted = fit_table(method, measured)
    assert fitted.counts.dtype == np.int64
    assert fitted.counts.min() >= 0
    assert np.count_nonzero(fitted.counts) <= sum(part.size for part in measured) + 1
    for one in SETS:
        assert abs(fitted.marginal(one) - rows.table(one)).max() <= 8 * method.deviation(one) + 4
    exactly = fit_table(method, [contrast_of(rows, one) for one in method.sets])
    assert exactly.misfit == pytest.approx(0, abs=1e-6)
    assert all(abs(exactly.marginal(one) - rows.table(one)).max() <= 24 for one in SETS)


def test_a_fit_to_noise_alone_is_a_table_too(rng):
    method = methods(Pure(1))["contrasts"]
    nobody = CountedRows(SIZES, np.zeros((0, 4), dtype=np.int64), np.zeros(0, dtype=np.int64))
    fitted = fit_table(method, method.measure(nobody, rng))
    assert fitted.counts.min() >= 0
    assert fitted.misfit > 0, "no table from 0 has such contrasts"


@given(st.lists(st.floats(0, 1e6, allow_nan=False), min_size=1, max_size=30))
@settings(max_examples=40)
def test_rounding_keeps_the_total_and_moves_no_cell_by_more_than_one(cells):
    found = rounded(np.array(cells))
    assert abs(int(found.sum()) - sum(cells)) <= 0.5 + 1e-5
    assert (abs(found - np.array(cells)) < 1 + 1e-6).all()
    assert found.min() >= 0


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("bad", "what"),
    [
        (lambda: NoisyCells.calibrate([2] * 30, loss=Pure(1)), "too large"),
        (lambda: NoisyCells.calibrate([], loss=Pure(1)), "needs columns"),
        (lambda: NoisyCells.calibrate([1], loss=Pure(1)), "at least 2"),
        (lambda: NoisyTables.calibrate([2], [], loss=Pure(1)), "no table"),
        (lambda: NoisyTables.calibrate([2], [[1]], loss=Pure(1)), "no such column"),
        (lambda: NoisyTables.calibrate([2], [[0]], loss=Pure(0)), "No scale fits"),
        (lambda: NoisyContrasts.calibrate([2], [[-1]], loss=Pure(1)), "no such column"),
        (lambda: NoisyContrasts.calibrate([2] * 40, [range(40)], loss=Pure(1)), "too many columns"),
        (lambda: NoisyContrasts(sizes=[2], sets=[[0]], noises=()), "missing"),
        (lambda: methods(Pure(1))["contrasts"].deviation((0, 3)), "No contrast"),
        (lambda: methods(Pure(1))["tables"].deviation((0, 3)), "No measured table"),
        (lambda: methods(Pure(1))["cells"].estimate(np.zeros(SIZES), (9,)), "no such column"),
        (lambda: sets_of_order(3, 4), "order is out of range"),
    ],
)
def test_what_makes_no_sense_is_refused(bad, what: str):
    with pytest.raises(InvalidArgument, match=what):
        bad()


def test_a_programme_that_is_too_large_says_how_large_it_may_be():
    method = NoisyContrasts.calibrate([2] * 22, [[0]], loss=Pure(1))
    with pytest.raises(InvalidArgument, match="at most 2,000,000 cells"):
        fit_table(method, [np.array(0), np.array([0])])


def test_what_was_not_measured_is_refused():
    contrasts, tables = (methods(Pure(1))[name] for name in ("contrasts", "tables"))
    for wrong in ([], [np.array(0)], [np.array(np.nan)] * len(contrasts.sets)):
        for use in (lambda: contrasts.estimate(wrong, (0,)), lambda: fit_table(contrasts, wrong)):  # noqa: B023
            with pytest.raises(InvalidArgument, match="other measurements"):
                use()
        with pytest.raises(InvalidArgument, match="other measurements"):
            tables.estimate(wrong, (0,))


def test_other_measures_and_other_columns_are_refused(rng):
    loss: Any = Approximate(1, "1e-6")
    with pytest.raises(Unsupported, match="cannot be calibrated"):
        NoisyTables.calibrate([2], [[0]], loss=loss)
    other = all_rows(np.ones((2, 2), dtype=np.int64))
    for method in methods(Pure(1)).values():
        with pytest.raises(InvalidArgument, match="other columns"):
            method.measure(other, rng)
