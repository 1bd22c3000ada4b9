r"""A box on which the vector of a row's moments has a density, and what it hides a row with.

Cor. 6.2 of [Gro14] asks for a box on which the density of what is added up is at least h. A row is
then, with probability v (h times the volume), uniform on the box and otherwise told: so of n rows a
binomial number hides the others, each coordinate by itself.
"""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from math import prod

from attrs import frozen

from discreet.core.numbers import written
from discreet.noiseless.regression.design import RegressionDesign, Span
from discreet.noiseless.regression.row_moments import RowMoment

_HALVINGS = 7


@frozen
class HiddenBox:
    """Where a vector of moments has a density, how large it is, and how far a row moves it.

    Attributes:
        moments: What is added up.
        ends: By moment, the box.
        density: The density of the vector of one term is at least this on the box.
        widths: By moment, how far apart the values of two rows within the clamps can be.
        rows_a_term: How many rows make one term; 1 unless rows are grouped.
    """

    moments: tuple[RowMoment, ...]
    ends: tuple[Span, ...]
    density: Fraction
    widths: tuple[Fraction, ...]
    rows_a_term: int = 1

    @property
    def weight(self) -> Fraction:
        """The probability v with which a term is uniform on the box, at least."""
        return self.density * prod(high - low for low, high in self.ends)

    @property
    def shifts(self) -> tuple[Fraction, ...]:
        """How far a row can be from the middle of its range, in units of the box's sides."""
        return tuple(
            width / 2 / (high - low)
            for width, (low, high) in zip(self.widths, self.ends, strict=True)
        )

    @property
    def merit(self) -> Fraction:
        r"""The square of the shifts over the weight, a row: ε grows with its root.

        A sum of m uniform numbers has variance m / 12, so a row's move in standard deviations is
        about :math:`\\sqrt{12\\,merit / n}`.
        """
        return sum(shift * shift for shift in self.shifts) / self.weight * self.rows_a_term

    def to_json(self) -> dict[str, object]:
        """Return the box as text."""
        return {
            "moments": [str(one) for one in self.moments],
            "box": [[written(low), written(high)] for low, high in self.ends],
            "density": written(self.density),
            "rows_a_term": self.rows_a_term,
        }


def widths_of(design: RegressionDesign, moments: Sequence[RowMoment]) -> tuple[Fraction, ...]:
    """Return how far apart the moments of two rows within the clamps can be."""
    spans = [moment.span(design) for moment in moments]
    return tuple(high - low for low, high in spans)


def linear_box(design: RegressionDesign, names: Sequence[str]) -> HiddenBox:
    """Return the box of plain columns: it is the asserted one.

    Example:
        >>> design = RegressionDesign.uniform({"g": (-1, 1)}, {"h": (-1, 1)})
        >>> linear_box(design, ["g", "h"]).weight
        Fraction(1, 1)
    """
    moments = tuple(RowMoment((name,)) for name in names)
    ends = tuple(design.column(name).box for name in names)
    return HiddenBox(moments, ends, design.density_of(names), widths_of(design, moments))


def best_box(
    make: Callable[[Sequence[Fraction]], HiddenBox | None],
    starts: Iterable[Sequence[Fraction]],
    step: Fraction,
) -> HiddenBox | None:
    """Return the box of least merit that a search from some points finds, or None.

    Every box that ``make`` returns is certified, so the search decides how good it is and no more.
    It sees what was asserted, and no row.
    """
    found = [(box, tuple(point)) for point in starts if (box := make(point)) is not None]
    if not found:
        return None
    best, at = min(found, key=lambda one: float(one[0].merit))
    for _ in range(_HALVINGS):
        moved = True
        while moved:
            moved = False
            for index in range(len(at)):
                for sign in (1, -1):
                    other = (*at[:index], at[index] + sign * step, *at[index + 1 :])
                    box = make(other)
                    if box is not None and float(box.merit) < float(best.merit):
                        best, at, moved = box, other, True
        step /= 2
    return best
