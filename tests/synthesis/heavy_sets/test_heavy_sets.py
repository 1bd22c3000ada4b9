"""Heavy sets: halves that no data decides, their price, and the table that follows from them."""

import math
from typing import Any

import numpy as np
import pytest

from discreet.accounting.accountants.pure import pure_loss
from discreet.accounting.accountants.zcdp import zcdp_loss
from discreet.audit.finding import FindingKind, replay_audit
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Pure, Zcdp
from discreet.synthesis.counted.counted_rows import CountedRows
from discreet.synthesis.heavy_sets import heavy_sets
from discreet.synthesis.heavy_sets.heavy_sets import (
    KEY_WORDS,
    HalvedTables,
    HeavySets,
    best_halves,
)
from tests.support.statistics.exact_tests import alpha, cells_p_value
from tests.synthesis.people import counted, some_people

SIZES = (2, 3, 2)
CODES = np.array(list(np.ndindex(2, 2)), dtype=np.int64)


def small(**changes: Any) -> HeavySets:
    given: dict[str, Any] = {"halves": 20, "loss": Zcdp(rho=1), "rows_per_unit": 3} | changes
    return HeavySets.calibrate(SIZES, [0], [2, 1], **given)


def test_a_unit_moves_each_half_by_no_more_than_its_rows(rng):
    """For every key: the coins of one row more are those of before, and one more."""
    sets = small()
    people = some_people(rng, SIZES, people=12, most=3)
    everyone = counted(people, SIZES, most=3)
    for left_out in range(len(people)):
        key = rng.words(KEY_WORDS).tobytes()
        others = counted(people[:left_out] + people[left_out + 1 :], SIZES, most=3)
        pairs = zip(sets.exact(everyone, key), sets.exact(others, key), strict=True)
        for one, other in pairs:
            assert (one >= other).all()
            assert (one - other).sum(axis=1).max() <= 3


def test_halves_replay_and_the_sensitivity_of_a_row_does_not(rng):
    people = some_people(rng, SIZES, people=12, most=3)
    data, neighbour = (counted(some, SIZES, most=3) for some in (people, people[:-1]))
    sets = small()

    def run(rows, recorder, rows_per_unit=3):
        key = recorder.rng.words(KEY_WORDS).tobytes()
        d_in = Contribution(linf=rows_per_unit, l1=sets.halves * rows_per_unit)
        sides = sets.exact(rows, key)
        return [recorder.watch(sets.noise, d_in=d_in).release(one, recorder.rng) for one in sides]

    assert replay_audit(run, data, neighbour, rng) == ()
    findings = replay_audit(lambda d, r: run(d, r, rows_per_unit=1), data, neighbour, rng)
    assert {finding.kind for finding in findings} == {FindingKind.CONTRIBUTION}


@pytest.mark.parametrize("loss", [Pure(2), Zcdp(rho="0.3")], ids=str)
def test_all_halves_of_both_sides_are_paid_for(loss):
    sets = small(loss=loss)
    account = pure_loss if isinstance(loss, Pure) else zcdp_loss
    assert account([sets.event(3)]) == loss
    by_hand = Contribution(l1=3 * 40, l2_squared=9 * 40, linf=3)
    assert sets.event(3) == sets.noise.event(by_hand)
    assert not account([sets.event(4)]) <= loss


def test_a_half_has_each_row_by_a_fair_coin(rng):
    rows = CountedRows((2, 2), CODES, np.array([3, 0, 0, 0]))
    sets = HeavySets.calibrate((2, 2), [0], [1], halves=4000, loss=Pure(1))
    kept = sets.exact(rows, rng.words(KEY_WORDS).tobytes())[0][:, 0]
    level = alpha("synthesis/fair halves")
    assert cells_p_value(kept, {k: math.comb(3, k) / 8 for k in range(4)}) > level
    wrong = {k: math.comb(3, k) * 0.4**k * 0.6 ** (3 - k) for k in range(4)}
    assert cells_p_value(kept, wrong) < level, "the check has power"


def test_the_table_follows_from_halves_within_its_standard_error(rng):
    """Four cells, 30 releases: squared errors over stated ones are 1 on average, here within 3."""
    truth = np.array([400, 100, 100, 400])
    rows = CountedRows((2, 2), CODES, truth)
    sets = HeavySets.calibrate((2, 2), [0], [1], halves=400, loss=Zcdp(rho=4))
    squares, shares, errors = [], [], []
    for _ in range(30):
        measured = sets.measure(rows, rng)
        found = sets.estimate(measured)
        squares.append(
            (((found.counts.ravel() - truth) / found.standard_error.ravel()) ** 2).mean()
        )
        shares.append(sets.given_heavy(measured, 0, 0))
        errors.append(found.standard_error[0, 0])
    assert 1 / 3 < np.mean(squares) < 3
    assert np.mean(shares) == pytest.approx(0.8, abs=0.25)
    expected = sets.standard_error(rows=1000, left="1/2", right="1/2", both="2/5")
    assert np.mean(errors) == pytest.approx(expected, rel=0.25)  # one is off by 8 % or so
    assert expected > 100 * sets.direct_error(), "asking directly is far cheaper"


def test_the_best_number_of_halves():
    rows, rho = 20_000, 2
    best = best_halves(rows=rows, rho=rho)

    def error(halves: int) -> float:
        sets = HeavySets.calibrate((2, 2), [0], [1], halves=halves, loss=Zcdp(rho=rho))
        return sets.standard_error(rows=rows, left="1/2", right="1/2", both="1/4")

    assert error(best) < 1.03 * min(error(best // 2), error(best), error(2 * best))
    assert error(best) == pytest.approx(4 * math.sqrt(rows / 2 / rho), rel=0.1)


@pytest.mark.parametrize(
    "bad",
    [
        lambda: HeavySets.calibrate((2, 2), [0], [0], halves=9, loss=Pure(1)),
        lambda: HeavySets.calibrate((2, 2), [], [0], halves=9, loss=Pure(1)),
        lambda: HeavySets.calibrate((2, 2), [0], [5], halves=9, loss=Pure(1)),
        lambda: HeavySets.calibrate((2, 2), [0], [1], halves=1, loss=Pure(1)),
        lambda: HeavySets.calibrate((2, 2), [0], [1], halves=1 << 21, loss=Pure(1)),
        lambda: HeavySets.calibrate((2, 2), [0], [1], halves=9, loss=Pure(0)),
        lambda: small().event(0),
    ],
)
def test_what_makes_no_sense_is_refused(bad):
    with pytest.raises(InvalidArgument):
        bad()


def test_noise_that_hides_all_is_said_and_nobody_is_measured_too(rng):
    nobody = CountedRows((2, 2), CODES[:0], np.zeros(0, dtype=np.int64))
    sets = HeavySets.calibrate((2, 2), [0], [1], halves=50, loss=Zcdp(rho="1e-3"))
    measured = sets.measure(nobody, rng)
    assert np.isfinite(sets.estimate(measured).counts).all()
    constant = np.zeros((50, 2), dtype=np.int64)
    with pytest.raises(InvalidArgument, match="hides which halves are heavy"):
        sets.given_heavy(HalvedTables(left=constant, right=constant), 0, 0)


def test_huge_counts_take_no_more_than_is_bounded(monkeypatch):
    monkeypatch.setattr(heavy_sets, "MOST_IN_CELL", 100)
    huge = CountedRows((2, 2), CODES, np.array([2**61, 3, 0, 0]))
    left, _ = HeavySets.calibrate((2, 2), [0], [1], halves=5, loss=Pure(1)).exact(huge, b"key")
    assert left.max() <= 103
