"""Features: what an auditor looks at in an output when the whole of it is too much to learn.

A feature gives each output a label. What it cannot label, such as text or a number that is not
finite, is left out. Any function of the output would do: a feature decides what is found, never
what is true.

Floats are finer near 0, and a sum is rounded to the grain of its largest part. So the grain of
``x + noise`` can tell which ``x`` it was [Mir12].
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.audit.outputs import OutputColumn, common_unit
from discreet.core import check

Labels = NDArray[np.int64]

UNLABELLED = int(np.iinfo(np.int64).min)
"""The label of an output that does not have the feature."""

NO_BIT = 5000
"""Stands for the place of a bit where no bit is set; all places are below it."""


class Feature(Protocol):
    """A function of the output into labels, and words for both.

    Assumes:
        The label of an output depends on that output alone.
    """

    def look(self, column: OutputColumn) -> Labels:
        """Return the label of each output."""

    def show(self, label: int) -> str:
        """Return a label in words."""

    def describe(self, subject: str) -> str:
        """Return what is looked at in words, for example in ``"the output"``."""


@frozen(kw_only=True)
class Residue:
    """The output in whole units, modulo a number: low bits, parity, last digits, or a lattice.

    Example:
        >>> Residue(modulus=10).look(OutputColumn([2003, -1])).tolist()
        [3, 9]
    """

    modulus: int = field(validator=check.positive)
    unit: Fraction = Fraction(1)

    def look(self, column: OutputColumn) -> Labels:
        """Return the residue of each output that is a whole number of units."""
        counts, fits = column.in_units(self.unit)
        return labelled((counts % self.modulus).astype(np.int64), fits)

    def show(self, label: int) -> str:
        """Return the residue."""
        return str(label)

    def describe(self, subject: str) -> str:
        """Name the modulus, and the unit if it is not 1."""
        return f"{_in_units(subject, self.unit)} modulo {self.modulus}"


@frozen(kw_only=True)
class TrailingZeros:
    """The number of zero bits at the end of the output in whole units; for 0 there is no end.

    Example:
        >>> TrailingZeros().look(OutputColumn([1, 12, -1024])).tolist()
        [0, 2, 10]
    """

    unit: Fraction = Fraction(1)

    def look(self, column: OutputColumn) -> Labels:
        """Return the number of zeros of each output that is a whole number of units."""
        counts, fits = column.in_units(self.unit)
        lowest = counts & -counts
        if counts.dtype == object:
            places = np.array([int(bit).bit_length() - 1 for bit in lowest], dtype=np.int64)
            places = np.minimum(places, NO_BIT - 1)
        else:
            places = np.frexp(np.abs(lowest.astype(np.float64)))[1] - 1
        is_zero = np.asarray(counts == 0, dtype=np.bool_)
        return labelled(np.where(is_zero, NO_BIT, places), fits)

    def show(self, label: int) -> str:
        """Return the number of zeros."""
        return "endless" if label == NO_BIT else str(label)

    def describe(self, subject: str) -> str:
        """Name the unit if it is not 1."""
        return f"the number of zero bits at the end of {_in_units(subject, self.unit)}"


def labelled(labels: NDArray[Any], is_known: NDArray[np.bool_]) -> Labels:
    """Return labels where they are known."""
    return np.where(is_known, labels.astype(np.int64), UNLABELLED)


def _in_units(subject: str, unit: Fraction) -> str:
    return subject if unit == 1 else f"{subject} in units of {unit}"


_DIGITS = 53
_ZERO, _INFINITE = -2000, 2000
_PLACES = 1 << 14


@frozen
class LowestBit:
    """The lowest bit that is set: the widest power of two of which the float is a multiple.

    Example:
        >>> LowestBit().look(OutputColumn([0.75, 6.0])).tolist()
        [-2, 1]
    """

    def look(self, column: OutputColumn) -> Labels:
        """Return the place of the lowest bit of each finite float."""
        return labelled(_lowest(column.floats), np.isfinite(column.floats))

    def show(self, label: int) -> str:
        """Return the bit as a power of two."""
        return _show_bit(label)

    def describe(self, subject: str) -> str:
        """Say that it is about the lowest bit."""
        return f"the lowest bit of {subject}"


@frozen
class FloatShape:
    """The leading bit with its sign, and the lowest bit: both ends of the digits.

    Example:
        >>> shape = FloatShape()
        >>> [shape.show(label) for label in shape.look(OutputColumn([0.75, -0.0])).tolist()]
        ['(+2^-1, 2^-2)', '(-0, none)']
    """

    def look(self, column: OutputColumn) -> Labels:
        """Return one number for the two places, for each float that is not NaN."""
        floats = column.floats
        return labelled(_leading(floats) * _PLACES + _lowest(floats), ~np.isnan(floats))

    def show(self, label: int) -> str:
        """Return the two bits."""
        leading, place = divmod(label + _PLACES // 2, _PLACES)
        return f"({_show_leading(leading)}, {_show_bit(place - _PLACES // 2)})"

    def describe(self, subject: str) -> str:
        """Say that it is about both ends."""
        return f"the pair (leading bit, lowest bit) of {subject}"


@frozen(kw_only=True)
class Significand:
    """The leading bit with its sign, and the digits as an integer modulo a number.

    A product with a round number, such as a scale of 10, reaches only some floats: their digits
    avoid some residues, and other ones after a value was added.

    Example:
        >>> fifths = Significand(modulus=5)
        >>> labels = fifths.look(OutputColumn([1.5, float("inf")])).tolist()
        >>> [fifths.show(label) for label in labels]
        ['(+2^0, 4)', '(+inf, 0)']
    """

    modulus: int = field(validator=check.positive)

    def look(self, column: OutputColumn) -> Labels:
        """Return one number for the two, for each float that is not NaN."""
        floats = column.floats
        labels = _leading(floats) * self.modulus + _digits(floats) % self.modulus
        return labelled(labels, ~np.isnan(floats))

    def show(self, label: int) -> str:
        """Return the leading bit and the residue."""
        leading, digits = divmod(label, self.modulus)
        return f"({_show_leading(leading)}, {digits})"

    def describe(self, subject: str) -> str:
        """Name the modulus."""
        return f"the pair (leading bit, digits modulo {self.modulus}) of {subject}"


@frozen(kw_only=True)
class Remainder:
    """What is left of a float, towards zero, after whole multiples of a power of two.

    If noise lies on a lattice of such multiples, then this is what the true value leaves.

    Example:
        >>> halves = Remainder(exponent=-1)
        >>> [halves.show(label) for label in halves.look(OutputColumn([1.75, -3.0])).tolist()]
        ['0.25', '0.0']
    """

    exponent: int

    def look(self, column: OutputColumn) -> Labels:
        """Return the bits of the remainder of each finite float; the division is exact."""
        finite = np.isfinite(column.floats)
        rest = np.fmod(np.where(finite, column.floats, 0.0), 2.0**self.exponent)
        # Adding 0.0 turns -0.0 into 0.0: both mean that nothing is left.
        return labelled((rest + 0.0).view(np.int64), finite)

    def show(self, label: int) -> str:
        """Return the remainder."""
        return repr(float(np.int64(label).view(np.float64)))

    def describe(self, subject: str) -> str:
        """Name the power of two."""
        return f"the remainder of {subject} by 2^{self.exponent}"


def _digits(floats: NDArray[np.float64]) -> Labels:
    """Return the 53 binary digits of each float as an integer without sign."""
    fractions = np.frexp(np.where(np.isfinite(floats), np.abs(floats), 0.0))[0]
    return np.ldexp(fractions, _DIGITS).astype(np.int64)


def _lowest(floats: NDArray[np.float64]) -> Labels:
    """Return the place of the lowest bit of each float."""
    exponents = np.frexp(np.where(np.isfinite(floats), floats, 0.0))[1]
    digits = _digits(floats)
    zeros = np.frexp((digits & -digits).astype(np.float64))[1] - 1
    return np.where(digits == 0, NO_BIT, exponents - _DIGITS + zeros).astype(np.int64)


def _leading(floats: NDArray[np.float64]) -> Labels:
    """Return a number for the place of the leading bit and the sign; zeros have a sign too."""
    places = np.frexp(np.where(np.isfinite(floats), floats, 0.0))[1].astype(np.int64) - 1
    places = np.where(floats == 0, _ZERO, places)
    places = np.where(np.isinf(floats), _INFINITE, places)
    return 2 * places + np.signbit(floats)


def _show_bit(place: int) -> str:
    return "none" if place == NO_BIT else f"2^{place}"


def _show_leading(leading: int) -> str:
    place, sign = divmod(leading, 2)
    named = {_ZERO: "0", _INFINITE: "inf"}
    return "+-"[sign] + named.get(place, f"2^{place}")


MODULI = (
    *range(2, 17),
    *(2**bits for bits in range(5, 17)),
    *(2**bits for bits in (20, 24, 32, 48)),
    *(25, 27, 60, 125, 255),
    *(10**digits for digits in range(2, 7)),
)
"""What whole numbers are reduced by: every small one, low bits, bytes and last digits."""

ODD_MODULI = (3, 5, 7, 9, 11, 13, 15, 25, 27, 125, 625, 3125, 15625)
"""What the digits of floats are reduced by; powers of two are in the lowest bit already."""

LATTICES = (0, -8, -16, -24, -32, -40, -48)
"""The powers of two by which floats are divided."""


def battery(first: OutputColumn, second: OutputColumn) -> Iterator[Feature]:
    """Yield features that may tell the outputs on two neighbouring data sets apart.

    Half-lines and frequent outputs see faults of *size*: too little noise, no noise, noise that is
    cut off. These features see faults of *grain*: noise that leaves some numbers out, or favours
    some. Adding it to the true value moves the favoured ones, and their residues, low bits and gaps
    tell by how much. They are computed from the outputs, as is the unit in which they count: the
    auditor knows nothing about the mechanism.

    Example:
        >>> first, second = OutputColumn([0, 2]), OutputColumn([1, 3])
        >>> [feature.describe("it") for feature in battery(first, second)]
        ['it modulo 2', 'it modulo 3', 'the number of zero bits at the end of it']
    """
    unit = common_unit(first, second)
    if unit is not None:
        yield from _whole_number_features(first, second, unit)
    if first.has_floats or second.has_floats:
        yield LowestBit()
        yield FloatShape()
        yield from (Significand(modulus=modulus) for modulus in ODD_MODULI)
        yield from (Remainder(exponent=exponent) for exponent in LATTICES)


def _whole_number_features(
    first: OutputColumn, second: OutputColumn, unit: Fraction
) -> Iterator[Feature]:
    """Yield residues, also by the steps that the outputs have: there a lattice with holes shows.

    A modulus beyond the spread of the outputs would only tell apart all of them, as the outputs
    themselves do.
    """
    known = [counts[fits] for counts, fits in (side.in_units(unit) for side in (first, second))]
    ends = [int(end) for counts in known if counts.size for end in (counts.min(), counts.max())]
    spread = max(ends) - min(ends)
    found = {*first.steps(unit), *second.steps(unit)}
    for modulus in sorted({*MODULI, *found}):
        if 1 < modulus <= min(spread, 1 << 62):
            yield Residue(modulus=modulus, unit=unit)
    yield TrailingZeros(unit=unit)
