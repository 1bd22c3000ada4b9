"""δ of an exact sum at an ε, each way that there is."""

from fractions import Fraction
from functools import lru_cache

from discreet.core.rounding import dyadic_up
from discreet.noiseless.certifiable import Way
from discreet.noiseless.laws.grid_law import DiscreteLaw
from discreet.noiseless.laws.hidden import Hidden, RowLaw
from discreet.noiseless.sums.known_law import known_law_delta
from discreet.noiseless.sums.mixture import BLOCKS, mixture_delta
from discreet.noiseless.sums.several import POINTS, several_delta
from discreet.noiseless.sums.source_bound import SourceBound

_BITS = 44
"""Digits of what is reported; more would only show where enclosures end."""


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
    return isinstance(law, DiscreteLaw) or hidden_of(law).mass == 1


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
        return SourceBound(rows, hidden).delta(epsilon)
    if way is Way.TIGHT and isinstance(law, DiscreteLaw):
        found = known_law_delta(law, rows - 1, epsilon)
        if found is not None:
            return found
    points = POINTS
    if hidden.dimensions > 1:  # each block takes whole curves
        points = min(points, blocks)
        blocks = max(4, blocks // 6)
    return mixture_delta(
        rows - 1,
        hidden,
        lambda count: several_delta(count, hidden, epsilon, points=points),
        blocks=blocks,
    )
