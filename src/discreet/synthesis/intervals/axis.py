"""An axis: a column of numbers in cells of equal width. Without cells there are no intervals."""

import math
from fractions import Fraction
from typing import Self

from attrs import field, frozen

from discreet.core import check
from discreet.core.errors import UndeclaredBound
from discreet.core.numbers import Number, exact
from discreet.synthesis.counted.integer_noise import MOST_CELLS


@frozen(kw_only=True)
class Axis:
    """Cells of width ``step`` from ``lower`` on. They come from a declaration, not from rows.

    Example:
        >>> ages = Axis.of(lower=0, upper=120, step=5)
        >>> ages.cells, ages.cell(42), ages.cell(300)
        (24, 8, 23)
        >>> ages.run(20, 30)  # the cells from 20 up to, and not with, 30
        (4, 5)
    """

    lower: Fraction = field(converter=exact)
    step: Fraction = field(converter=exact, validator=check.positive)
    cells: int = field(converter=check.whole, validator=check.positive)

    @classmethod
    def of(
        cls, *, lower: Number | None = None, upper: Number | None = None, step: Number | None = None
    ) -> Self:
        r"""Return the axis between two bounds; refuse one that is not bounded and in steps.

        No :math:`\alpha`-DP mechanism finds a median between the :math:`1/2 \pm k` quantiles of
        every set of real numbers with positive probability, for any :math:`k < 1/2` and
        any :math:`\alpha`. Useful counts of intervals would give a median, by binary
        search; so for no error below one half are there any, nor for boxes, halfspaces or balls,
        which contain intervals [BLR13]. The sources print the corollary for
        :math:`\varepsilon = o(n)`; an error is a share of the rows, and below one half is meant.
        """
        if lower is None or upper is None or step is None:
            missing = [
                name
                for name, value in (("lower", lower), ("upper", upper), ("step", step))
                if value is None
            ]
            raise UndeclaredBound(
                "Intervals of undiscretised real numbers cannot be answered privately: by the "
                "theorem of Blum, Ligett and Roth no differentially private mechanism is useful "
                "for them, at any loss",
                must="have a lower bound, an upper bound and a step",
                got=f"no {', no '.join(missing)}",
                next="Declare the column's bounds and a step, or give them",
            )
        start, end, width = exact(lower), exact(upper), exact(step)
        cells = math.ceil((end - start) / width) if width > 0 and end > start else 0
        if not 0 < cells <= MOST_CELLS:
            raise UndeclaredBound(
                "These bounds and this step make no cells",
                must="have a lower bound below the upper one and a step above 0, for 2**62 cells",
                got=f"{lower} to {upper} in steps of {step}",
            )
        return cls(lower=start, step=width, cells=cells)

    def cell(self, value: Number) -> int:
        """Return the cell of a value; what is beyond the bounds is in the first or last cell."""
        place = (exact(value) - self.lower) // self.step
        return int(min(max(place, 0), self.cells - 1))

    def run(self, start: Number, end: Number) -> tuple[int, int]:
        """Return the first and the last of the cells that begin in ``[start, end)``."""
        first = math.ceil((exact(start) - self.lower) / self.step)
        last = math.ceil((exact(end) - self.lower) / self.step) - 1
        return max(first, 0), min(last, self.cells - 1)
