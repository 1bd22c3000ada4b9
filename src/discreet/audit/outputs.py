"""Outputs as an auditor sees them: columns as arrays, and parts of outputs that have entries."""

import math
from collections.abc import Hashable, Sequence
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm, pi
from numbers import Real
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

Counts = tuple[NDArray[Any], NDArray[np.bool_]]
"""Whole numbers, of machine size or Python's own, and which of them are known."""

_DENOMINATORS = (*(10**digits for digits in range(7)), 2**10, 2**20)
_LARGEST_DENOMINATOR = 2**64
_LARGEST_SCALED = 2.0**48
_LARGEST_WORD = 2**63
_LARGE = 2.0**61
_MOST_DIGITS = 1000
_MOST_PAIRS, _MOST_STEPS, _LEAST_TIMES = 1 << 13, 4, 3
_COPRIME = 6 / pi**2
_ROOMY = 1 << 500
"""The square of a step is a float up to here; beyond, any is as surprising."""


@frozen(slots=False, eq=False)
class OutputColumn:
    """Outputs of one mechanism on one data set, in the order in which they were drawn.

    Guarantee:
        What is said about an output depends on that output alone, never on its neighbours in the
        column; so a column only makes things quicker, and an event stays a set of outputs.

    An integer of any size keeps all of its digits. What is no number, or not finite, is marked and
    never guessed.

    Example:
        >>> counts, is_whole = OutputColumn([3, -4, "three"]).in_units(Fraction(1))
        >>> counts.tolist(), is_whole.tolist()
        ([3, -4, 0], [True, True, False])
    """

    values: Sequence[Hashable] = field(repr=False)
    _known: dict[Fraction, Counts] = field(factory=dict, init=False, repr=False)

    @cached_property
    def _types(self) -> frozenset[type]:
        return frozenset(map(type, self.values))

    @cached_property
    def has_floats(self) -> bool:
        """Whether any output is a float."""
        return float in self._types

    @cached_property
    def floats(self) -> NDArray[np.float64]:
        """The outputs that are floats; NaN stands for the others."""
        if self._types == {float}:
            return np.array(self.values, dtype=np.float64)
        kept = (value if isinstance(value, float) else np.nan for value in self.values)
        return np.fromiter(kept, dtype=np.float64, count=len(self.values))

    @cached_property
    def _integers(self) -> NDArray[Any] | None:
        """The outputs if all are integers: machine words if they fit, Python's integers if not."""
        if not self._types <= {int, bool}:
            return None
        try:
            return np.array(self.values, dtype=np.int64)
        except OverflowError:
            return np.array(self.values, dtype=object)

    @cached_property
    def _rationals(self) -> list[Fraction | None]:
        """The outputs that are numbers, but not floats."""
        return [as_rational(value) for value in self.values]

    def in_units(self, unit: Fraction) -> Counts:
        """Return how many units each output is, and whether it is a whole number of them.

        A float counts as a multiple of 1/100 if it is one up to rounding: 0.07 is seven.
        """
        if unit not in self._known:
            self._known[unit] = self._in_units(unit)
        return self._known[unit]

    def _in_units(self, unit: Fraction) -> Counts:
        if self._integers is not None and unit.denominator == 1:
            every = np.ones(len(self.values), dtype=np.bool_)
            return _in_larger_units(self._integers, every, unit.numerator)
        scaled = _scaled(self.floats, unit.denominator)
        counts, fits = _in_larger_units(*scaled, unit.numerator)
        if self._types == {float}:
            return counts, fits
        counts, fits = counts.astype(object), fits.copy()
        for place, number in enumerate(self._rationals):
            if number is not None:
                over = number.numerator * unit.denominator
                under = number.denominator * unit.numerator
                counts[place], fits[place] = over // under, over % under == 0
        return counts, fits

    def denominator(self) -> int | None:
        """Return a plain number that makes every finite output whole, if there is one."""
        if self._integers is not None:
            return 1
        finite = self.floats[np.isfinite(self.floats)]
        for_floats = next((d for d in _DENOMINATORS if _scaled(finite, d)[1].all()), None)
        if for_floats is None or self._types == {float}:
            return for_floats
        others = (number.denominator for number in self._rationals if number is not None)
        common = lcm(for_floats, *others)
        return common if common < _LARGEST_DENOMINATOR else None

    def steps(self, unit: Fraction) -> list[int]:
        r"""Return the steps, in units, of lattices on which surprisingly many outputs lie.

        If a share :math:`q` of the outputs lies on one lattice of step :math:`s`, then the greatest
        common divisor of two differences is :math:`s` with probability about
        :math:`6 q^4 / \pi^2`; where there is no lattice, about :math:`6 / (\pi s)^2`.

        Example:
            >>> OutputColumn(range(5, 700, 7)).steps(Fraction(1))
            [7]
        """
        counts, fits = self.in_units(unit)
        known = counts[fits][: 4 * _MOST_PAIRS]
        if known.dtype != object and known.size and np.abs(known.astype(float)).max() > _LARGE:
            known = known.astype(object)
        gaps = known[1::2] - known[: known.size // 2 * 2 : 2]
        found, times = np.unique(
            np.gcd(gaps[: gaps.size // 2 * 2 : 2], gaps[1::2]), return_counts=True
        )
        pairs, plain = gaps.size / 2, [min(max(1, int(step)), _ROOMY) for step in found]
        expected = [pairs * _COPRIME / step**2 for step in plain]
        surprise = (times - expected) / np.sqrt(np.add(expected, 1))
        order = np.argsort(-surprise, kind="stable")[:_MOST_STEPS]
        return [int(found[i]) for i in order if times[i] >= _LEAST_TIMES and found[i] > 1]


def common_unit(first: OutputColumn, second: OutputColumn) -> Fraction | None:
    """Return the largest unit of which all outputs are whole multiples, if there is a plain one.

    Example:
        >>> common_unit(OutputColumn([0.75, 1.5]), OutputColumn([-3.0]))
        Fraction(3, 4)
    """
    one, other = first.denominator(), second.denominator()
    if one is None or other is None:
        return None
    fine = Fraction(1, lcm(one, other))
    known = [counts[fits] for counts, fits in (side.in_units(fine) for side in (first, second))]
    step = gcd(*(count for side in known for count in side.tolist()))
    return fine * step if step else None


def as_rational(value: Any) -> Fraction | None:
    """Return the number that a value is, if it is a finite one of a kind other than float.

    Example:
        >>> as_rational(3), as_rational(Decimal("0.5")), as_rational("half")
        (Fraction(3, 1), Fraction(1, 2), None)
    """
    if isinstance(value, int | Fraction):
        return Fraction(value)
    if isinstance(value, Decimal) and value.is_finite() and abs(value.adjusted()) < _MOST_DIGITS:
        return Fraction(value)
    if isinstance(value, np.longdouble) and np.isfinite(value):
        return Fraction(*value.as_integer_ratio())
    return None


def _scaled(floats: NDArray[np.float64], denominator: int) -> Counts:
    """Return floats times a denominator as integers, and which of them are that up to rounding."""
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = floats * float(denominator)
        nearest = np.rint(scaled)
        if denominator == 1:
            fits = np.isfinite(floats) & (nearest == floats)
        else:
            error = np.abs(scaled) * 2.0**-50
            fits = (np.abs(scaled - nearest) <= error) & (np.abs(scaled) < _LARGEST_SCALED)
    nearest = np.where(fits, nearest, 0.0)
    if np.all(np.abs(nearest) < float(_LARGEST_WORD)):
        return nearest.astype(np.int64), fits
    return np.array([int(value) for value in nearest.tolist()], dtype=object), fits


def _in_larger_units(counts: NDArray[Any], fits: NDArray[np.bool_], step: int) -> Counts:
    if step == 1:
        return counts, fits
    if step >= _LARGEST_WORD:
        counts = counts.astype(object)
    return counts // step, fits & np.asarray(counts % step == 0, dtype=np.bool_)


MOST_ENTRIES = 32
"""How many entries of a long output are looked at one by one."""


class Missing(Enum):
    """The part of an output that does not have it."""

    MISSING = "missing"

    def __str__(self) -> str:
        return self.value


@frozen
class VectorEntry:
    """One entry of a vector, counted from 0."""

    place: int

    def of(self, output: Any) -> Hashable:
        """Return the entry, if there is one."""
        if isinstance(output, tuple) and len(output) > self.place:
            entry: Hashable = output[self.place]
            return entry
        return Missing.MISSING

    def __str__(self) -> str:
        return f"entry {self.place} of the output"


@frozen
class VectorStep:
    """How far an entry is below the next one: noise that both share has no part in it."""

    place: int

    def of(self, output: Any) -> Hashable:
        """Return the difference, if both are there and are numbers."""
        pair = output[self.place : self.place + 2] if isinstance(output, tuple) else ()
        if len(pair) < 2 or not all(isinstance(entry, Real) for entry in pair):
            return Missing.MISSING
        step: Hashable = pair[1] - pair[0]
        return math.nan if step != step else step

    def __str__(self) -> str:
        return f"the step from entry {self.place} to entry {self.place + 1} of the output"


@frozen
class VectorLength:
    """How many entries there are."""

    def of(self, output: Any) -> Hashable:
        """Return the number of entries."""
        return len(output) if isinstance(output, tuple) else Missing.MISSING

    def __str__(self) -> str:
        return "the number of entries of the output"


@frozen
class LearnedScore:
    """A weighted sum of the entries, with weights that were learnt from other outputs."""

    weights: tuple[float, ...] = field(repr=False)

    def of(self, output: Any) -> Hashable:
        """Return the sum, if the output is as many numbers as there are weights."""
        score = self.scores([output])[0]
        return Missing.MISSING if math.isnan(score) else float(score)

    def scores(self, outputs: Sequence[Any]) -> NDArray[np.float64]:
        """Return the sum for each output, and NaN where there is none."""
        rows = number_rows(outputs, len(self.weights))
        with np.errstate(invalid="ignore", over="ignore"):
            scores: NDArray[np.float64] = (rows * np.array(self.weights)).sum(axis=1)
        return scores

    def __str__(self) -> str:
        return f"a learnt score of {len(self.weights)} entries of the output"


def number_rows(outputs: Sequence[Any], width: int) -> NDArray[np.float64]:
    """Return outputs as a row of floats each; NaN where an output is no such row.

    Example:
        >>> number_rows([(1, 2), (3,)], 2).tolist()
        [[1.0, 2.0], [nan, nan]]
    """
    rows = np.full((len(outputs), width), np.nan)
    for place, output in enumerate(outputs):
        is_row = isinstance(output, tuple) and len(output) == width
        if is_row and all(isinstance(entry, Real) for entry in output):
            rows[place] = [as_float(entry) for entry in output]
    return rows


def as_float(entry: Any) -> float:
    """Return a number as a float; NaN where it is too large for one."""
    try:
        return float(entry)
    except OverflowError:
        return math.nan


OutputPart = VectorEntry | VectorStep | VectorLength | LearnedScore
"""What can be taken from an output that has entries."""


def parts_of(outputs: Sequence[Hashable]) -> list[OutputPart]:
    """Return the parts to look at: entries and steps, up to a limit, and the length if it varies.

    Example:
        >>> print(*parts_of([(3, 1), (4, 1)]), sep="; ")
        entry 0 of the output; entry 1 of the output; the step from entry 0 to entry 1 of the output
    """
    lengths = {len(output) for output in outputs if isinstance(output, tuple)}
    width = min(max(lengths, default=0), MOST_ENTRIES)
    parts: list[OutputPart] = [VectorEntry(place) for place in range(width)]
    parts += [VectorStep(place) for place in range(width - 1)]
    return parts + [VectorLength()] * (len(lengths) > 1)
