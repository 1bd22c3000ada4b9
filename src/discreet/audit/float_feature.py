"""Features of floats: their lowest bit, their digits, and what a lattice leaves of them.

Floats are finer near 0, and a sum is rounded to the grain of its largest part. So the grain of
``x + noise`` can tell which ``x`` it was [Mir12].
"""

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.audit.feature import NO_BIT, Labels, labelled
from discreet.audit.output_column import OutputColumn
from discreet.core import check

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
