"""δ of an exact sum at an ε, each way that there is."""

from fractions import Fraction
from functools import lru_cache

from attrs import evolve

from discreet.core.rounding import dyadic_up
from discreet.noiseless.certifiable import Way
from discreet.noiseless.laws.grid_law import DiscreteLaw
from discreet.noiseless.laws.hidden import Hidden, RowLaw
from discreet.noiseless.laws.kernel_density import KernelDensity
from discreet.noiseless.sums.kernel_sums import kernel_delta
from discreet.noiseless.sums.known_law import known_law_delta
from discreet.noiseless.sums.mixture import BLOCKS, mixture_delta
from discreet.noiseless.sums.several import POINTS, several_delta
from discreet.noiseless.sums.source_bound import SourceBound

_BITS = 44
"""Digits of what is reported; more would only show where enclosures end."""

_MANY = 10**6


@lru_cache(maxsize=256)
def hidden_of(law: RowLaw) -> Hidden:
    """Return the uniform part of a law, remembered."""
    return law.hidden()


def ways_of(law: RowLaw) -> tuple[Way, ...]:
    """Return the ways in which δ can be computed for a law, each no worse than the one before."""
    has_tight = all(_is_known(one) for one in law.members())
    return (Way.SOURCE, Way.MIXTURE, Way.TIGHT) if has_tight else (Way.SOURCE, Way.MIXTURE)


def _is_known(law: RowLaw) -> bool:
    """Tell whether the whole law is known, not a part of it."""
    return isinstance(law, DiscreteLaw) or hidden_of(law).is_whole


def delta_by(
    way: Way, law: RowLaw, rows: int, epsilon: Fraction, *, blocks: int = BLOCKS
) -> Fraction:
    """Return an upper bound of δ for ``rows`` unknown rows, of the worst member of a law."""
    deltas = [_of_one(way, one, rows, epsilon, blocks) for one in law.members()]
    return min(Fraction(1), dyadic_up(max(deltas), _BITS))


def _of_one(way: Way, law: RowLaw, rows: int, epsilon: Fraction, blocks: int) -> Fraction:
    if rows < 1:
        return Fraction(1)
    hidden = hidden_of(law)
    if way is Way.SOURCE:
        return _by_source(rows, hidden, epsilon)
    if way is Way.TIGHT and isinstance(law, DiscreteLaw):
        found = known_law_delta(law, rows - 1, epsilon)
        if found is not None:
            return found
    if isinstance(law, KernelDensity):
        found = kernel_delta(law, rows, epsilon, blocks=blocks)
        if found < 1 and rows <= _MANY:
            return found
        # Cells are wide under a sum of very many rows, and the largest box may hide more.
        return min(found, _by_boxes(rows, hidden, epsilon, blocks))
    return _by_boxes(rows, hidden, epsilon, blocks)


def _by_boxes(rows: int, hidden: Hidden, epsilon: Fraction, blocks: int) -> Fraction:
    points = POINTS
    if hidden.dimensions > 1:  # each block takes whole curves
        points = min(points, blocks)
        blocks = max(4, blocks // 6)
    return mixture_delta(
        rows - 1,
        hidden,
        lambda count: grouped_delta(count, hidden, epsilon, points=points, blocks=blocks),
        blocks=blocks,
    )


def _by_source(rows: int, hidden: Hidden, epsilon: Fraction) -> Fraction:
    """Return the bound of the source; groups are its rows, all of which must be hidden."""
    groups = rows // hidden.rows
    if not groups:
        return Fraction(1)
    mass = hidden.mass**hidden.rows * hidden.share
    return SourceBound(groups, evolve(hidden, mass=mass, rows=1, share=Fraction(1))).delta(epsilon)


def grouped_delta(
    count: int, hidden: Hidden, epsilon: Fraction, *, points: int = POINTS, blocks: int = BLOCKS
) -> Fraction:
    """Return an upper bound of δ if so many rows are hidden, which may hide in groups.

    Guarantee:
        Hidden rows have one law and are independent, and so are groups of them. Which of the groups
        are uniform may be told: :func:`~.mixture.mixture_delta`, with groups for rows. Rows that
        are left over are told too.
    """
    if hidden.rows == 1 and hidden.share == 1:
        return several_delta(count, hidden, epsilon, points=points)
    return mixture_delta(
        count // hidden.rows,
        evolve(hidden, mass=hidden.share),
        lambda groups: several_delta(_rounded(groups), hidden, epsilon, points=points),
        blocks=blocks,
    )


def _rounded(count: int) -> int:
    """Return a number that is not above, with few digits, so that it comes again.

    Fewer groups hide less, so that it is a bound, and off by less than a part in 256.
    """
    bits = max(0, count.bit_length() - 9)
    return count >> bits << bits
