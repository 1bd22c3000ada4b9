"""How scores can move when one unit comes or goes, which decides what a choice costs."""

from enum import Enum
from fractions import Fraction

from discreet.core.check import chosen
from discreet.core.contribution import Contribution, Metric
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Pure, Zcdp
from discreet.core.rounding import sqrt_up


class Scores(Enum):
    """What is known about the directions in which one unit moves scores."""

    GENERAL = "general"
    """Some may rise while others fall."""

    MONOTONE = "monotone"
    """Adding a unit never lowers a score (or never raises one), as with counts."""

    def spread(self, d_in: Contribution) -> Fraction:
        r"""Return how far one unit can move the *difference* of two scores.

        With changes in :math:`[-\Delta, \Delta]` that is :math:`2\Delta`; with changes in
        :math:`[0, \Delta]`, or all in :math:`[-\Delta, 0]`, it is :math:`\Delta`. If a unit is
        changed rather than added, one count may fall while another rises, so monotone scores say
        nothing there and are refused.

        Example:
            >>> Scores.GENERAL.spread(Contribution(linf=1)), Scores.MONOTONE.spread(
            ...     Contribution(linf=1)
            ... )
            (Fraction(2, 1), Fraction(1, 1))
        """
        distance = d_in.bound("linf")
        if self is Scores.GENERAL:
            return 2 * distance
        if d_in.metric is not Metric.ADD_REMOVE:
            raise Unsupported(
                "Monotone scores are about units that come or go",
                must=f"have neighbours by {Metric.ADD_REMOVE.value}",
                got=d_in.metric.value,
                next="Use Scores.GENERAL",
            )
        return distance


def scores_of(value: Scores | str) -> Scores:
    """Return the kind of scores that is meant, also by its name; refuse any other."""
    return chosen(Scores, value, noun="kind of scores")


def pure_scale(spread: Fraction, loss: Pure) -> Fraction:
    r"""Return the scale at which ``spread`` costs exactly ``loss``.

    Example:
        >>> pure_scale(Fraction(2), Pure("1/2"))
        Fraction(4, 1)
    """
    if loss.epsilon <= 0 or spread <= 0:
        raise _no_scale(f"ε = {loss.epsilon} and a spread of {spread}")
    return spread / loss.epsilon


def bounded_range_scale(spreads: list[Fraction], loss: Pure | Zcdp) -> Fraction:
    r"""Return a scale at which choices of bounded range, one for each spread, cost ``loss``.

    For zCDP each costs :math:`(spread/scale)^2/8` [CR21]; the square root is rounded up.

    Example:
        >>> bounded_range_scale([Fraction(2)], Zcdp(rho="1/8"))
        Fraction(2, 1)
    """
    if isinstance(loss, Pure):
        return pure_scale(sum(spreads, Fraction(0)), loss)
    if not isinstance(loss, Zcdp) or loss.xi:
        raise Unsupported(
            "A choice cannot be calibrated to this measure",
            must="be pure, or zCDP with ξ = 0",
            got=str(loss),
        )
    squares = sum((spread**2 for spread in spreads), Fraction(0))
    if loss.rho <= 0 or squares <= 0:
        raise _no_scale(f"ρ = {loss.rho}")
    return sqrt_up(squares / (8 * loss.rho))


def _no_scale(got: str) -> InvalidArgument:
    return InvalidArgument(
        "No scale fits", must="have a loss above 0 and a contribution above 0", got=got
    )
