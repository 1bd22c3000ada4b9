"""Features: what an auditor looks at in an output when the whole of it is too much to learn.

A feature gives each output a label. What it cannot label, such as text or a number that is not
finite, is left out. Any function of the output would do: a feature decides what is found, never
what is true.
"""

from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.audit.output_column import OutputColumn
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
