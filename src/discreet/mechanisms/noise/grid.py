"""A declared rational grid: how real numbers become integers, inside the sensitivity."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.event import Event
from discreet.core.numbers import Number, exact
from discreet.core.protocols import IntArray, Mechanism, Rng
from discreet.mechanisms.noise.integers import LARGEST_VALUE


@frozen(kw_only=True)
class Grid:
    r"""The multiples of ``step`` from ``-bound`` to ``bound``, counted in *units* of ``step``.

    A real number is clamped to ``±bound`` and rounded to the nearest multiple (halves upwards):
    :math:`u = \lfloor x / step + 1/2 \rfloor`, in exact arithmetic. The bound is public and
    declared, so that whether units fit 64 bits never depends on data.

    Guarantee:
        Clamping moves no two values further apart. Rounding is a function of the entry alone, so
        an entry that does not change moves by 0, and one that changes by :math:`v` moves by at
        most :math:`\lceil |v| / step \rceil` units, which is below :math:`|v|/step + 1`. Hence for
        real vectors of which at most :math:`k` entries change, in units,

        .. math:: \ell_\infty' \le \lceil \ell_\infty / step \rceil, \qquad
            \ell_1' \le \ell_1 / step + k, \qquad
            \ell_2'^2 \le \ell_2^2 / step^2 + 2 \ell_1 / step + k.

    Example:
        >>> grid = Grid(step="1/4", bound=100)
        >>> grid.rounded(Contribution(l0=2, linf=1)).l1
        Fraction(8, 1)
        >>> grid.rounded(Contribution(l0=2, linf="0.9")).l1, grid.exact(Contribution(l1=1)).l1
        (Fraction(8, 1), Fraction(4, 1))
    """

    step: Fraction = field(converter=exact, validator=check.positive)
    bound: Fraction = field(converter=exact, validator=check.positive)

    @bound.validator
    def _fits(self, _: object, bound: Fraction) -> None:
        if bound / self.step > LARGEST_VALUE:
            raise InvalidArgument(
                "The grid is finer than the type",
                must="have bound / step below 2**62",
                got=f"step = {self.step} and bound = {bound}",
            )

    def exact(self, d_in: Contribution) -> Contribution:
        """Return ``d_in`` in units, for values that are multiples of ``step`` already."""
        return Contribution(
            l0=d_in.l0,
            linf=_over(d_in.linf, self.step),
            l1=_over(d_in.l1, self.step),
            l2_squared=_over(d_in.l2_squared, self.step**2),
            metric=d_in.metric,
        )

    def rounded(self, d_in: Contribution) -> Contribution:
        """Return ``d_in`` in units, for real values that are rounded to the grid."""
        if d_in.l0 is None:
            raise Unsupported(
                "Rounding enlarges each entry that changes, and nobody said how many do",
                must="bound l0",
                got=repr(d_in),
                next="Declare the contribution with l0=, at most the number of entries",
            )
        linf, l1 = _over(d_in.linf, self.step), _over(d_in.l1, self.step)
        l2_squared = _over(d_in.l2_squared, self.step**2)
        if l2_squared is not None:
            l2_squared = None if l1 is None else l2_squared + 2 * l1 + d_in.l0
        return Contribution(
            l0=d_in.l0,
            linf=None if linf is None else math.ceil(linf),
            l1=None if l1 is None else l1 + d_in.l0,
            l2_squared=l2_squared,
            metric=d_in.metric,
        )

    def to_units(self, values: NDArray[Any]) -> IntArray:
        """Return each value clamped and rounded, in units; floats are taken as they are, exactly.

        A NaN is refused; no error quotes a value.
        """
        array = np.asarray(values)
        if array.dtype.kind not in "iuf" and not all(
            isinstance(value, Fraction | int) for value in array.ravel()
        ):
            raise InvalidArgument(
                "The values have the wrong type",
                must="be integers, floats or fractions",
                got=str(array.dtype),
            )
        if array.dtype.kind == "f" and np.isnan(array).any():
            raise InvalidArgument("A value is not a number", must="be a number")
        units = [self._unit(value) for value in array.ravel().tolist()]
        return np.array(units, dtype=np.int64).reshape(array.shape)

    def from_units(self, units: IntArray) -> NDArray[np.object_]:
        """Return units as exact fractions."""
        values = np.array([int(unit) * self.step for unit in units.ravel()], dtype=np.object_)
        return values.reshape(units.shape)

    def _unit(self, value: float | int | Fraction) -> int:
        if isinstance(value, float) and math.isinf(value):
            clamped = self.bound if value > 0 else -self.bound
        else:
            clamped = min(self.bound, max(-self.bound, Fraction(value)))
        return math.floor(clamped / self.step + Fraction(1, 2))


@frozen(kw_only=True)
class OnGrid:
    r"""Run a mechanism for integers on real numbers, through a declared grid.

    Guarantee:
        That of ``mechanism`` at ``grid.rounded(d_in)``: clamping and rounding happen before the
        noise, and what they add to the distance is inside it.

    Assumes:
        The caller proved ``d_in`` for the real values, with ``l0`` the number of entries that
        change.

    Utility:
        Values within the bound are off by half a step more than the noise.

    Example:
        >>> from discreet import DiscreteLaplace
        >>> sums = on_grid(DiscreteLaplace(scale=20), step="0.1", bound=1000)
        >>> sums.mechanism.loss(sums.grid.rounded(Contribution(l0=1, linf="0.75")))
        Pure(ε = 0.4)
        >>> sums.error_quantile("0.05")
        Fraction(121, 20)
    """

    mechanism: Mechanism
    grid: Grid

    def event(self, d_in: Contribution) -> Event:
        """Describe one use, on real values that one unit can move by ``d_in``."""
        return self.mechanism.event(self.grid.rounded(d_in))

    def release(self, exact_values: NDArray[Any], rng: Rng) -> IntArray:
        """Return the noisy values in units of the step; see ``grid.from_units``."""
        return self.mechanism.release(self.grid.to_units(exact_values), rng)

    def error_quantile(self, beta: Number) -> Fraction:
        """Return a bound on one entry's error, in the values' own terms."""
        return (self.mechanism.error_quantile(exact(beta)) + Fraction(1, 2)) * self.grid.step


def on_grid(mechanism: Mechanism, *, step: Number, bound: Number) -> OnGrid:
    """Return ``mechanism`` for real numbers that are rounded to multiples of ``step``."""
    return OnGrid(mechanism=mechanism, grid=Grid(step=exact(step), bound=exact(bound)))


def _over(value: Fraction | None, step: Fraction) -> Fraction | None:
    return None if value is None else value / step
