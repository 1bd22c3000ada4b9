"""Families of laws of a row: what a MAP release chooses from, as masses of the cells of a table."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise

from attrs import field, frozen

from discreet.accounting.tails.normal_tail import normal_tail_bounds
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact
from discreet.core.rounding import exp_up, log_up, short_up

MOST_LAWS = 64
_BITS = 96


def _laws(rows: Iterable[Iterable[Number]]) -> tuple[tuple[Fraction, ...], ...]:
    return tuple(tuple(exact(value) for value in row) for row in rows)


@frozen
class RowFamily:
    r"""Laws of a row, of which one is true, and nobody is to say which.

    Attributes:
        masses: For each law, upper bounds of the masses of cells; the same cells for each.
        ratio: M, how many times likelier any value can be by one law than by another.
        is_exact: Whether the masses are the law itself: a row is one of finitely many values.
        words: What the laws are, in words.
    """

    masses: tuple[tuple[Fraction, ...], ...] = field(converter=_laws)
    ratio: Fraction
    is_exact: bool
    words: str

    @property
    def size(self) -> int:
        """How many laws there are."""
        return len(self.masses)


def finite_family(laws: Mapping[str, Sequence[Number]]) -> RowFamily:
    """Return laws on the same finitely many values, each of which has a positive probability.

    Example:
        >>> family = finite_family({"fair": ["1/2", "1/2"], "loaded": ["1/3", "2/3"]})
        >>> family.ratio
        Fraction(3, 2)
    """
    rows = _laws(laws.values())
    _require_laws(rows)
    ratio = max(a / b for one in rows for other in rows for a, b in zip(one, other, strict=True))
    return RowFamily(rows, ratio, True, f"one of {len(rows)} laws ({', '.join(laws)})")


def _require_laws(rows: tuple[tuple[Fraction, ...], ...]) -> None:
    if not 2 <= len(rows) <= MOST_LAWS:
        raise InvalidArgument(
            "The number of laws is out of range",
            must=f"be from 2 to {MOST_LAWS}",
            got=str(len(rows)),
        )
    if any(len(row) != len(rows[0]) for row in rows):
        raise InvalidArgument("The laws have different values", must="list the same values")
    for row in rows:
        if min(row, default=Fraction(0)) <= 0 or sum(row) != 1:
            raise InvalidArgument(
                "A law cannot be true",
                must="have positive probabilities that add up to 1 exactly",
                got=f"a total of {sum(row)}",
                next="A value that one law excludes would tell the law from a single row",
            )
    if len(set(rows)) != len(rows):
        raise InvalidArgument(
            "Two laws are the same", must="be different", next="Leave one of them out"
        )


def truncated_normals(
    means: Sequence[Number], *, deviation: Number, low: Number, high: Number, cells: int = 200
) -> RowFamily:
    r"""Return normal laws of one deviation, cut to the same public interval.

    Guarantee:
        The masses of ``cells`` equal parts are rounded up: each is a difference of normal tails,
        over the least that the interval can have. ``ratio`` is an upper bound. Proof. The logarithm
        of the ratio of two such densities is linear in :math:`x` up to a constant, so its extremes
        are at the ends of the interval.

    Example:
        >>> family = truncated_normals([-1, 1], deviation=1, low=-2, high=2, cells=40)
        >>> family.size, round(float(family.ratio), 2)
        (2, 54.6)
    """
    centres = [exact(mean) for mean in means]
    sigma, start, end = exact(deviation), exact(low), exact(high)
    if sigma <= 0 or start >= end or not 1 <= cells <= 10_000:
        raise InvalidArgument(
            "No such laws", must="have a deviation above 0, low < high, and 1 to 10000 cells"
        )
    if len(set(centres)) != len(centres) or not 2 <= len(centres) <= MOST_LAWS:
        raise InvalidArgument("The means are no family", must=f"be 2 to {MOST_LAWS}, all different")
    edges = [start + (end - start) * step / cells for step in range(cells + 1)]
    masses, totals = [], []
    for mean in centres:
        tails = [_tail((edge - mean) / sigma) for edge in edges]
        total = tails[0][0] - tails[-1][1]
        totals.append((total, tails[0][1] - tails[-1][0]))
        masses.append([short_up((a[1] - b[0]) / total) for a, b in pairwise(tails)])
    ratio = Fraction(1)
    for one, (_, most) in zip(centres, totals, strict=True):
        for other, (least, _) in zip(centres, totals, strict=True):
            for x in (start, end):
                exponent = ((x - one) ** 2 - (x - other) ** 2) / (2 * sigma * sigma)
                ratio = max(ratio, exp_up(exponent) * most / least)
    words = f"one of {len(centres)} normal laws of deviation {sigma}, cut to [{start}, {end}]"
    return RowFamily(masses, short_up(ratio), False, words)


def _tail(z: Fraction) -> tuple[Fraction, Fraction]:
    """Enclose the normal tail above z."""
    low, high = normal_tail_bounds(z * z, _BITS)
    return (low, high) if z >= 0 else (1 - high, 1 - low)


def affinity_up(family: RowFamily, first: int, second: int, power: Fraction) -> Fraction:
    r"""Return a number not below :math:`E_{f_j}[(f_i/f_j)^s] = \int f_i^s f_j^{1-s}`.

    Guarantee:
        Hölder's inequality on each cell: :math:`\int_c f_i^s f_j^{1-s} \le
        (\int_c f_i)^s (\int_c f_j)^{1-s}`. So masses that are rounded up give an upper bound,
        whatever the cells are; its error falls with the square of their width. If each cell is one
        value it is the sum itself, rounded up.

    Example:
        >>> coins = finite_family({"a": ["0.4", "0.6"], "b": ["0.6", "0.4"]})
        >>> round(float(affinity_up(coins, 0, 1, Fraction(1, 2))), 5)
        0.9798
    """
    total = Fraction(0)
    for a, b in zip(family.masses[first], family.masses[second], strict=True):
        if a > 0 and b > 0:
            total += exp_up(short_up(power * log_up(a) + (1 - power) * log_up(b), _BITS))
    return short_up(total, _BITS)
