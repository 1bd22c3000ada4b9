"""An owner's own synthetic file, attacked with rows that were in and rows that were held out."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.models.attempt import CERTAIN, AttackReport, Attempt
from discreet.attacks.models.held_out_rows import require_alike
from discreet.attacks.models.nearest_record import nearest_record_test
from discreet.attacks.reconstruction.guess_ceiling import (
    GuessingRecord,
    guess_ceiling,
    one_run_surplus,
)
from discreet.attacks.records.coded_rows import CodedRows, alike_columns, code_rows
from discreet.attacks.records.mask_rows import random_order
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Approximate, Pure
from discreet.core.protocols import IntArray, Rng
from discreet.randomness.samplers import bernoulli

MOST_PAIRS = 2000
"""About so many pairs of rows a guess is made at most."""

LEAST_PAIRS = 10


def attack_file(
    real: CodedRows,
    held_out: CodedRows,
    synthetic: CodedRows,
    *,
    rng: Rng,
    loss: Pure | Approximate | None = None,
    sensitive: str | None = None,
    on_row: Callable[[], None] | None = None,
) -> AttackReport:
    r"""Guess which of two rows was among the real ones, from a synthetic file.

    One guess is for the row with the nearer synthetic row. With ``sensitive``, another is for the
    row whose value a model finds that was trained on the file: it says what most of the nearest
    synthetic rows have.

    Guarantee:
        Rows are paired in a random order, whatever order the files have. If a random part was
        held out, all orders of all rows are equally likely then, and to exchange the two rows of a
        pair leads from one to another: which of them was in is a fair coin, whatever is known of
        the other pairs. To exchange the two is two steps, so if the file loses no more than
        ``loss``, no attack is right more often than the ceiling of two steps; the pairs are
        canaries of one run
        (:func:`~discreet.attacks.reconstruction.guess_ceiling.one_run_surplus`).

    Assumes:
        The rows were held out at random, before anybody looked at them, and one row is one unit.
        Where they were plainly not, they are refused
        (:func:`~discreet.attacks.models.held_out_rows.require_alike`).
        A low share proves nothing: another attack may do better.

    Example:
        >>> from discreet import SystemRng
        >>> rows = [code_rows({"a": list(range(at, at + 20))}) for at in (0, 100)]
        >>> attack_file(*rows, rows[0], rng=SystemRng()).attempts[0].share
        Fraction(1, 1)
    """
    names = list(real.columns)
    if set(names) != set(held_out.columns) or set(names) != set(synthetic.columns):
        raise InvalidArgument("The files have other columns", must="have the same in all three")
    pairs = min(real.rows, held_out.rows, MOST_PAIRS)
    if pairs < LEAST_PAIRS:
        raise InvalidArgument(
            "Too few rows were held out to tell anything", must=f"be {LEAST_PAIRS} or more"
        )
    inside, outside, made = _coded([real, held_out, synthetic], names)
    inside, outside = (rows[random_order(len(rows), rng)[:pairs]] for rows in (inside, outside))
    require_alike(inside, outside)
    ceiling = CERTAIN if loss is None else guess_ceiling(loss, steps=2)
    surplus = Fraction(0) if loss is None else one_run_surplus(loss, guesses=pairs, steps=2)
    test = nearest_record_test(inside, made)
    copies = f"{float(test.copies):.1%} of synthetic rows are equal to one; that is no evidence."
    near, far = (_nearness(rows, made, on_row) for rows in (inside, outside))
    attempts = [
        Attempt(
            release="the nearer row",
            record=_compared(near, far, ceiling, surplus, rng),
            note=copies,
        )
    ]
    if sensitive is not None:
        real.column(sensitive)
        order = [names.index(sensitive), *(i for i, one in enumerate(names) if one != sensitive)]
        found = [_repeated(rows[:, order], made[:, order], on_row) for rows in (inside, outside)]
        shares = [float(one.mean()) for one in found]
        note = f"the model is right for {shares[0]:.1%} of those in, {shares[1]:.1%} of the others."
        record = _compared(found[0], found[1], ceiling, surplus, rng)
        attempts.append(Attempt(release="what a model repeats", record=record, note=note))
    return AttackReport(
        attack="Which of two rows was among the real ones? One was, and the other was held out.",
        attempts=tuple(attempts),
    )


def _coded(tables: Sequence[CodedRows], names: Sequence[str]) -> list[IntArray]:
    """Return the rows of several tables with a number for each value, in the order of values."""
    columns, alike = [], alike_columns(tables, names)
    for name in names:
        values = [value for one in alike for value in one.values(name, np.arange(one.rows))]
        found = code_rows({name: values}).column(name)
        order = sorted(range(len(found.values)), key=lambda at: _place(found.values[at]))
        columns.append(np.argsort(order)[found.codes])
    together = np.stack(columns, axis=1)
    return np.split(together, np.cumsum([one.rows for one in tables])[:-1])


def _place(value: Any) -> tuple[bool, float, str]:
    """Return where a value stands among others: numbers by size, the rest by their text."""
    is_number = isinstance(value, int | float)
    return is_number, float(value) if is_number else 0.0, str(value)


def _nearness(rows: IntArray, made: IntArray, on_row: Callable[[], None] | None) -> IntArray:
    """Return how near the nearest synthetic row is, and how many are as near, in one number."""
    most = len(made) + 1
    found = np.empty(len(rows), dtype=np.int64)
    for place, row in enumerate(rows):
        away = (made != row).sum(axis=1)
        nearest = int(away.min())
        found[place] = (made.shape[1] - nearest) * most + int((away == nearest).sum())
        if on_row is not None:
            on_row()
    return found


def _repeated(rows: IntArray, made: IntArray, on_row: Callable[[], None] | None) -> IntArray:
    """Tell for which rows the model has the first column right, asked with the others."""
    found = np.empty(len(rows), dtype=np.int64)
    for place, row in enumerate(rows):
        away = (made[:, 1:] != row[1:]).sum(axis=1)
        votes = np.bincount(made[away == away.min(), 0])
        found[place] = int(votes.argmax()) == row[0]
        if on_row is not None:
            on_row()
    return found


def _compared(
    inside: IntArray, outside: IntArray, ceiling: Fraction, surplus: Fraction, rng: Rng
) -> GuessingRecord:
    """Guess of each pair that the row with the larger score was in; a coin where both are equal."""
    coins: NDArray[np.bool_] = bernoulli(Fraction(1, 2), len(inside), rng)
    right = int(np.where(inside == outside, coins, inside > outside).sum())
    return GuessingRecord(right=right, trials=len(inside), ceiling=ceiling, surplus=surplus)
