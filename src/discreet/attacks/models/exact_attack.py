"""Exact releases: totals that give a row away, and who knows more rows than was assumed."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from attrs import field, frozen

from discreet.attacks.models.attempt import CERTAIN, AttackReport, Attempt
from discreet.attacks.reconstruction.guess_ceiling import GuessingRecord, guess_ceiling
from discreet.attacks.reconstruction.printed_table import (
    read_number,
    read_whole,
    refuse_unknown,
)
from discreet.core import check
from discreet.core.errors import DiscreetError, InvalidArgument
from discreet.core.loss import Approximate, Pure
from discreet.core.numbers import exact
from discreet.core.protocols import IntArray, Rng
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.noiseless.advisor.certify import certify
from discreet.randomness.samplers import bernoulli, uniform_integers

MOST_ROWS = 10**7
MOST_DRAWN = 10**9
"""The product of rows and games is at most so large: some minutes."""

_AT_ONCE = 1 << 22

MOST_TOTALS = 256
"""Exact elimination is done for at most so many totals."""

_EPSILONS = ("0", "0.05", "0.25", "1")
_SHAPE = '{"rows": N, "totals": [{"of": [0, 2], "total": "12.5"}, ...], "known": {"1": "3"}}'


@frozen(kw_only=True)
class PrintedTotals:
    """Totals of sets of rows, as published, and rows that somebody knows besides."""

    rows: int
    totals: tuple[tuple[frozenset[int], Fraction], ...] = field(repr=False)
    known: Mapping[int, Fraction] = field(repr=False)


def read_totals(written: Any) -> PrintedTotals:
    """Return published totals from what a JSON file holds.

    Example:
        >>> read_totals({"rows": 3, "totals": [{"of": [0, 2], "total": 5}]}).rows
        3
    """
    try:
        refuse_unknown(written, {"rows", "totals", "known"})
        rows = check.at_least_one(written["rows"], "The number of rows")
        for one in written["totals"]:
            refuse_unknown(one, {"of", "total"})
        totals = tuple(
            (_members(one["of"]), read_number(one["total"])) for one in written["totals"]
        )
        given = dict(written.get("known", {}))
        known = {int(row): read_number(value) for row, value in given.items()}
    except DiscreetError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InvalidArgument("The totals cannot be read", must=f"be {_SHAPE}") from None
    named = {row for members, _ in totals for row in members} | set(known)
    if not 0 < len(totals) <= MOST_TOTALS or not all(0 <= row < rows for row in named):
        raise InvalidArgument(
            "The totals are out of range",
            must=f"be from 1 to {MOST_TOTALS}, of rows from 0 to {rows - 1:,}",
        )
    return PrintedTotals(rows=rows, totals=totals, known=known)


def _members(rows: Sequence[Any]) -> frozenset[int]:
    members = frozenset(read_whole(row) for row in rows)
    if len(members) != len(rows):
        raise InvalidArgument("A total names a row twice", must="name each row once")
    return members


@frozen(kw_only=True)
class SolvedRows:
    """Which rows follow from totals. Private: they are the data."""

    values: Mapping[int, Fraction] = field(repr=False)
    """The rows that are certain, and were not known before."""
    rows: int

    def __str__(self) -> str:
        """Return how many rows are certain, and no value."""
        return f"{len(self.values):,} of {self.rows:,} rows follow exactly from the totals."

    def to_json(self) -> dict[str, Any]:
        """Return the rows for other programs."""
        found = {str(row): str(value) for row, value in sorted(self.values.items())}
        return {"rows": self.rows, "certain": found}


def solve_rows(printed: PrintedTotals) -> SolvedRows:
    r"""Return every row whose value is the same in all tables that have these totals.

    Guarantee:
        Exact and complete, for rows that may be any number. Known rows are taken out of the
        totals. Rows that are in the same totals can be exchanged, so none of them follows unless
        it is alone; as unknowns there are then the sums of such classes. A linear system determines
        an unknown if and only if a row of its reduced echelon form has that unknown alone.
        Elimination is done with fractions.

    Utility:
        Rows with a known range may follow from less
        (:func:`~discreet.attacks.reconstruction.grouped_sum.value_range`).

    Example:
        >>> june = {"of": list(range(100)), "total": 5000}
        >>> july = {"of": list(range(99)), "total": 4963}
        >>> solve_rows(read_totals({"rows": 100, "totals": [june, july]})).values
        {99: Fraction(37, 1)}
    """
    classes: dict[tuple[int, ...], list[int]] = {}
    places: dict[int, list[int]] = {}
    for place, (members, _) in enumerate(printed.totals):
        for row in sorted(members):
            places.setdefault(row, []).append(place)
    for row, where in places.items():
        if row not in printed.known:
            classes.setdefault(tuple(where), []).append(row)
    equations = []
    for place, (members, total) in enumerate(printed.totals):
        left = total - sum((printed.known.get(row, Fraction(0)) for row in members), Fraction(0))
        equations.append([Fraction(place in where) for where in classes] + [left])
    alone = {at: rows[0] for at, rows in enumerate(classes.values()) if len(rows) == 1}
    values = {}
    for equation in _echelon(equations):
        held = [at for at, weight in enumerate(equation[:-1]) if weight]
        if not held and equation[-1]:
            raise InvalidArgument("No table has these totals", must="agree with one another")
        if len(held) == 1 and held[0] in alone:
            values[alone[held[0]]] = equation[-1]
    return SolvedRows(values=values, rows=printed.rows)


def _echelon(equations: Sequence[Sequence[Fraction]]) -> list[list[Fraction]]:
    """Return the reduced echelon form; what is left without unknowns comes last."""
    rows = [list(one) for one in equations]
    done = 0
    for at in range(len(rows[0]) - 1):
        found = next((i for i in range(done, len(rows)) if rows[i][at]), None)
        if found is None:
            continue
        rows[done], rows[found] = rows[found], rows[done]
        lead = rows[done][at]
        rows[done] = [value / lead for value in rows[done]]
        for i, row in enumerate(rows):
            if i != done and row[at]:
                factor = row[at]
                rows[i] = [a - factor * b for a, b in zip(row, rows[done], strict=True)]
        done += 1
    return rows


@frozen(kw_only=True)
class TotalAttack:
    r"""A game about an exact total: does one row have the least value, or the largest?

    The other rows are whole numbers of a range, all equally likely, as an owner may assert.

    Guarantee:
        A certificate says that the total is :math:`(\varepsilon, \delta)`-close to one that is
        simulated without the row. So the totals with either value are two steps apart, and nobody
        who knows as many of the other rows as was certified, or fewer, guesses more often right
        than the ceiling of two steps, at any :math:`\varepsilon` of the certificate. Of those who
        know more it says nothing; who knows all others subtracts them.
    """

    rows: int = field(default=1000, converter=check.whole, validator=check.positive)
    known: int = field(default=200, converter=check.whole, validator=check.non_negative)
    most: int = field(default=40, converter=check.whole, validator=check.positive)
    epsilon: Fraction = field(default=Fraction(1, 4), converter=exact)
    trials: int = field(default=500, converter=check.whole, validator=check.positive)

    def __attrs_post_init__(self) -> None:
        if self.known >= self.rows or self.epsilon <= 0:
            raise InvalidArgument(
                "This is no release to attack",
                must="have fewer known rows than rows, and an epsilon above 0",
            )
        if self.rows > MOST_ROWS or self.rows * self.trials > MOST_DRAWN:
            raise InvalidArgument(
                "There are too many rows and games",
                must=f"have at most {MOST_ROWS:,} rows, and {MOST_DRAWN:,} as their product",
                got=f"{self.rows:,} rows and {self.trials:,} games",
            )

    def guessed(self, known: int, rng: Rng, *, noise: DiscreteLaplace | None = None) -> int:
        """Return how many guesses are right, of an adversary who knows so many other rows."""
        hidden = self.rows - 1 - known
        bits = bernoulli(Fraction(1, 2), self.trials, rng)
        rest = self._sums(hidden, rng) + np.where(bits, self.most, 0)
        if noise is not None:
            rest = noise.release(rest, rng)
        middle, coins = (hidden + 1) * self.most, bernoulli(Fraction(1, 2), self.trials, rng)
        guesses = np.where(2 * rest == middle, coins, 2 * rest > middle)
        return int((guesses == bits).sum())

    def _sums(self, hidden: int, rng: Rng) -> IntArray:
        """Return sums of so many whole numbers of the range, all equally likely."""
        sums, games = np.zeros(self.trials, dtype=np.int64), max(1, _AT_ONCE // max(1, hidden))
        for first in range(0, self.trials, games):
            shape = (min(games, self.trials - first), hidden)
            sums[first : first + games] = uniform_integers(self.most + 1, shape, rng).sum(axis=1)
        return sums


def attack_total(attack: TotalAttack, rng: Rng) -> AttackReport:
    """Guess a row from a certified total, and from what an adversary knows beyond that.

    Example:
        >>> from discreet import SystemRng
        >>> report = attack_total(TotalAttack(rows=200, known=20, trials=50), SystemRng())
        >>> report["all other rows known"].share
        Fraction(1, 1)
    """
    certificate = certify(
        "sum",
        rows=attack.rows,
        known=attack.known,
        law=f"uniform(0, {attack.most})",
        grid=1,
        epsilon=attack.epsilon,
    )
    curve = [(epsilon, certificate.delta(epsilon)) for epsilon in _EPSILONS]
    points = [Approximate(epsilon, delta) for epsilon, delta in curve if delta < 1]
    certified = min((guess_ceiling(point, steps=2) for point in points), default=CERTAIN)
    said = "as certified" if certified < CERTAIN else "nothing certified"
    noise = DiscreteLaplace(scale=attack.most / attack.epsilon)
    ways = [
        (f"{attack.known:,} rows known, {said}", attack.known, certified, None),
        ("all but two rows known", max(0, attack.rows - 3), CERTAIN, None),
        ("all but one row known", max(0, attack.rows - 2), CERTAIN, None),
        ("all other rows known", attack.rows - 1, CERTAIN, None),
        ("all known, with noise", attack.rows - 1, guess_ceiling(Pure(attack.epsilon)), noise),
    ]
    attempts = [
        Attempt(
            release=release,
            record=GuessingRecord(
                right=attack.guessed(known, rng, noise=added),
                trials=attack.trials,
                ceiling=ceiling,
            ),
        )
        for release, known, ceiling, added in ways
    ]
    return AttackReport(
        attack=f"Is one row 0 or {attack.most}? The exact total of {attack.rows:,} rows is known.",
        attempts=tuple(attempts),
    )
