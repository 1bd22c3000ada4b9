"""Exact totals: which rows follow, against enumeration; and who knows more than was assumed."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from discreet.attacks.models.exact_attack import (
    TotalAttack,
    attack_total,
    read_totals,
    solve_rows,
)
from discreet.audit.binomial import lower_confidence, upper_confidence
from discreet.core.errors import InvalidArgument
from tests.support.statistics.exact_tests import alpha


def written(rows: int, values: list[int], sets: list[list[int]], known: tuple[int, ...] = ()):
    totals = [{"of": members, "total": sum(values[i] for i in members)} for members in sets]
    return {"rows": rows, "totals": totals, "known": {str(i): values[i] for i in known}}


def told_by_rank(rows: int, sets: list[list[int]], known: tuple[int, ...]) -> set[int]:
    """Which rows are in the span of the totals and the known rows, by the rank of matrices."""
    lines = [[i in members for i in range(rows)] for members in sets]
    lines += [[i == one for i in range(rows)] for one in known]
    matrix = np.array(lines, dtype=float)
    rank = np.linalg.matrix_rank(matrix)
    return {
        row
        for row in range(rows)
        if np.linalg.matrix_rank(np.vstack([matrix, np.eye(rows)[row]])) == rank
    }


def test_every_row_that_follows_is_found_and_no_other(rng):
    rows, told = 6, 0
    for _ in range(60):
        values = (rng.words(rows) % np.uint64(50)).tolist()
        masks = rng.words(4) % np.uint64(2**rows)
        sets = [[i for i in range(rows) if int(mask) >> i & 1] or [0] for mask in masks]
        known = (int(rng.words(1)[0] % np.uint64(rows)),)
        found = solve_rows(read_totals(written(rows, values, sets, known))).values
        assert set(found) == told_by_rank(rows, sets, known) - set(known)
        assert all(found[row] == values[row] for row in found)
        told += len(found)
    assert told > 60


def test_one_more_known_row_gives_the_last_away():
    values = [7, 11, 13, 40]
    everybody = [list(range(4))]
    assert not solve_rows(read_totals(written(4, values, everybody, (0, 1)))).values
    found = solve_rows(read_totals(written(4, values, everybody, (0, 1, 2))))
    assert found.values == {3: 40}
    assert str(found) == "1 of 4 rows follow exactly from the totals."
    assert found.to_json() == {"rows": 4, "certain": {"3": "40"}}
    assert "40" not in repr(found)


def test_differencing_through_several_totals():
    values = [1, 2, 4, 8, 16, 32]
    sets = [[0, 1, 2], [3, 4, 5], [0, 3], [1, 4], [0, 1, 3, 4, 5]]
    found = solve_rows(read_totals(written(6, values, sets))).values
    assert found == {2: 4, 5: 32}


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"rows": 2, "totals": []},
        {"rows": 2, "totals": [{"of": [2], "total": 1}]},
        {"rows": 2, "totals": [{"of": [0], "total": "much"}]},
        {"rows": 2, "totals": [{"of": [0], "total": 1}], "known": {"x": 1}},
    ],
)
def test_what_cannot_be_read_is_refused(wrong):
    with pytest.raises(InvalidArgument):
        read_totals(wrong)


def test_totals_that_no_table_has_are_refused():
    twice = [{"of": [0, 1], "total": total} for total in (3, 4)]
    with pytest.raises(InvalidArgument, match="No table"):
        solve_rows(read_totals({"rows": 2, "totals": twice}))


def test_certified_totals_hide_a_row_until_too_much_is_known(rng):
    report = attack_total(TotalAttack(rows=400, known=50, trials=400), rng)
    shares = [one.share for one in report.attempts]
    assert shares[3] == 1, "who knows all others subtracts them"
    assert shares[1] > Fraction(3, 4)
    assert report.attempts[0].record.ceiling < Fraction(11, 20)
    assert not report.breaks_ceiling(Fraction(alpha("attacks/models/total")))


def test_the_guess_is_the_best_there_is(rng):
    """With one unknown row of three values beside the target the best guess is enumerated."""
    attack = TotalAttack(rows=2, known=0, most=2, trials=4000)
    law = dict.fromkeys(range(attack.most + 1), Fraction(1, 3))
    sums = [{value + bit * attack.most: mass for value, mass in law.items()} for bit in (0, 1)]
    best = sum(
        max(one.get(total, Fraction(0)) for one in sums) / 2
        for total in set(itertools.chain(*sums))
    )
    level = Fraction(alpha("attacks/models/best guess", parts=2))
    right = attack.guessed(0, rng)
    assert lower_confidence(right, 4000, level) <= best <= upper_confidence(right, 4000, level)


@pytest.mark.parametrize(("rows", "known"), [(10, 0), (30, 5), (100, 50)])
def test_the_best_guess_is_below_the_certified_ceiling(rows, known, rng):
    """The law of the game is the one that the certificate is about, exactly."""
    attack = TotalAttack(rows=rows, known=known, trials=4000)
    hidden = np.ones(1)
    for _ in range(rows - 1 - known):
        hidden = np.convolve(hidden, np.full(attack.most + 1, 1 / (attack.most + 1)))
    low, high = (np.pad(hidden, ends) for ends in ((0, attack.most), (attack.most, 0)))
    best = float(np.maximum(low, high).sum()) / 2
    record = attack_total(attack, rng).attempts[0].record
    assert 0.98 < best / float(record.ceiling) <= 1
    level = Fraction(alpha("attacks/models/best total", parts=6))
    assert lower_confidence(record.right, 4000, level) <= Fraction(best)
    assert Fraction(best) <= upper_confidence(record.right, 4000, level)


def test_a_release_that_nothing_certifies_has_no_ceiling(rng):
    report = attack_total(TotalAttack(rows=3, known=2, trials=20), rng)
    assert report.attempts[0].record.ceiling == 1


@pytest.mark.parametrize("wrong", [{"rows": 5, "known": 5}, {"epsilon": 0}])
def test_bad_input_is_refused(wrong):
    with pytest.raises(InvalidArgument):
        TotalAttack(**wrong)


def test_rows_in_no_total_take_no_room():
    totals = [{"of": [10**14, 7], "total": 5}, {"of": [7], "total": 2}]
    found = solve_rows(read_totals({"rows": 10**15, "totals": totals}))
    assert found.values == {7: 2, 10**14: 3}


def test_a_row_that_a_total_names_twice_is_refused():
    with pytest.raises(InvalidArgument, match="twice"):
        read_totals({"rows": 3, "totals": [{"of": [0, 0, 1], "total": 5}]})
