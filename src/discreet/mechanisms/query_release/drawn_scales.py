"""Which scales can be drawn: what cannot is refused when a mechanism is made, before the gate."""

from collections.abc import Iterable
from fractions import Fraction

from discreet.core.errors import Unsupported
from discreet.core.loss import short
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.randomness.tables.law import LARGEST, SMALLEST


def require_drawable(parts: Iterable[DiscreteLaplace | DiscreteGaussian | Fraction]) -> None:
    """Refuse noise, or the scale of a choice, for which nothing is drawn exactly.

    Example:
        >>> require_drawable([DiscreteLaplace(scale=5), Fraction(7)])
        >>> require_drawable([Fraction(10**18)])
        Traceback (most recent call last):
        ...
        discreet.core.errors.Unsupported: Noise of this scale is not drawn. It must lie between...
    """
    for part in parts:
        scale = part if isinstance(part, Fraction) else part.spread
        if not SMALLEST <= scale <= LARGEST:
            raise Unsupported(
                "Noise of this scale is not drawn",
                must=f"lie between {SMALLEST} and {LARGEST}",
                got=short(scale),
                next="Spend more, or less, or change how many rows a unit may have",
            )
