"""Schemes that report a place: often one in the window that begins at the value."""

from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.protocols import IntArray, Rng
from discreet.local.coins import part, threshold_below
from discreet.local.device.draws import UNIT
from discreet.local.numbers.number_scheme import NumberScheme, check_most
from discreet.local.report_numbers import Reports, as_reports
from discreet.local.tails import Floats
from discreet.randomness.samplers import bernoulli, uniform_integers


@frozen(kw_only=True)
class WindowScheme(NumberScheme):
    r"""Report a place from 0 to ``most + width - 1``.

    With probability :math:`p`, ``inside / UNIT``, it is one of the :math:`w` places from the value
    on, all equally likely; otherwise one of the :math:`m` others, all equally likely. It is the
    exact form on a grid of two schemes for real numbers, which differ in the width of the window:
    piecewise [WXYZHSSY19] and square wave [LWLLS20].

    Guarantee:
        A place in the window has probability :math:`p/w` and any other :math:`(1-p)/m`, so the
        odds are :math:`pm/((1-p)w)`. Any two values attain them: of two windows each has a place
        that the other has not.

    Utility:
        The mean of a report is linear in the value, because windows of all values are equally wide
        and lie among the places; so an exact line makes it unbiased.
    """

    kind: ClassVar[str] = "window"
    most: int = field(converter=check.whole)
    width: int = field(converter=check.whole)
    inside: int = field(converter=check.whole)

    @most.validator
    def _on_a_grid(self, _: object, most: int) -> None:
        check_most(most)

    @width.validator
    def _some_places(self, _: object, width: int) -> None:
        if not 1 <= width <= 2 * self.most:
            raise InvalidArgument(
                "width is out of range", must="be at least 1 and at most 2 * most", got=str(width)
            )

    @inside.validator
    def _more_than_a_guess(self, _: object, inside: int) -> None:
        if not UNIT * self.width < inside * self.outcomes < UNIT * self.outcomes:
            raise InvalidArgument(
                "inside is out of range",
                must="be above UNIT * width / (most + width) and below UNIT",
                got=str(inside),
            )

    @property
    def outcomes(self) -> int:
        """How many places there are."""
        return self.most + self.width

    def recipe(self) -> dict[str, Any]:
        """Return the public part of the scheme."""
        return {
            "kind": self.kind,
            "most": self.most,
            "width": self.width,
            "inside": self.inside,
        }

    def odds(self) -> Fraction:
        """Return the largest ratio of the probabilities of a report under two values."""
        return self._near() / self._far()

    def worth(self, told: int) -> Fraction:
        """Return what a place counts for in the mean."""
        slope, start = self._line()
        return (told - start) / slope

    def worths(self) -> Floats:
        """Return what each place counts for, as floats."""
        slope, start = self._line()
        return (np.arange(self.outcomes, dtype=np.float64) - float(start)) / float(slope)

    def variance(self, value: int) -> Fraction:
        """Return the exact variance of the worth of one report of ``value``."""
        slope, start = self._line()
        in_window = _squares(value + self.width) - _squares(value)
        second = (self._near() - self._far()) * in_window + self._far() * _squares(self.outcomes)
        return (second - (slope * value + start) ** 2) / slope**2

    def law(self) -> Floats:
        """Return the probability of each place (columns) for each value (rows)."""
        values = np.arange(self.most + 1)[:, None]
        places = np.arange(self.outcomes)[None, :]
        within = (values <= places) & (places < values + self.width)
        return np.where(within, float(self._near()), float(self._far()))

    def randomise_many(self, values: IntArray, rng: Rng) -> Reports:
        """Return the report of each person; the words used do not depend on the values."""
        return as_reports(self.places(self.check_values(values), rng), self.outcomes)

    def places(self, held: IntArray, rng: Rng) -> IntArray:
        """Return a place for each value."""
        tells = bernoulli(part(self.inside), held.size, rng)
        near = held + uniform_integers(self.width, held.size, rng)
        others = uniform_integers(self.most, held.size, rng)
        far = np.where(others < held, others, others + self.width)
        found: NDArray[np.int64] = np.where(tells, near, far)
        return found

    def _near(self) -> Fraction:
        return part(self.inside) / self.width

    def _far(self) -> Fraction:
        return (1 - part(self.inside)) / self.most

    def _line(self) -> tuple[Fraction, Fraction]:
        """Return slope and start of the mean place as a line in the value."""
        gap = self._near() - self._far()
        start = gap * Fraction(self.width * (self.width - 1), 2)
        start += self._far() * Fraction(self.outcomes * (self.outcomes - 1), 2)
        return gap * self.width, start


def inside_below(odds: Fraction, most: int, width: int) -> int:
    """Return the largest threshold of a window that keeps the odds."""
    return threshold_below(odds * width / (odds * width + most))


def _squares(count: int) -> int:
    """Return the sum of the squares of the numbers below ``count``."""
    return (count - 1) * count * (2 * count - 1) // 6
