"""The mean from a place near the value: better than one bit where the loss is not small."""

from typing import Self

from attrs import frozen

from discreet.core.numbers import Number, exact
from discreet.local.coins import most_odds
from discreet.local.numbers.number_scheme import grid
from discreet.local.numbers.window_scheme import WindowScheme, inside_below


@frozen(kw_only=True)
class PiecewiseMean(WindowScheme):
    r"""Report a place, with the window that suits means [WXYZHSSY19, section III-B].

    Guarantee:
        That of :class:`~discreet.local.numbers.window_scheme.WindowScheme`. Calibration takes the
        largest threshold that keeps the odds below :math:`e^\varepsilon`.

    Utility:
        The window has :math:`m e^{-\varepsilon/2}` places, at least one. As the grid becomes fine
        the variance comes near to
        :math:`m^2 (t^2/(s-1) + (s+3)/(3(s-1)^2))/4`, with :math:`s = e^{\varepsilon/2}` and
        :math:`t = 2x/m - 1`: for values in the middle it falls with :math:`e^{-\varepsilon/2}`,
        where that of one bit does not fall below :math:`m^2/4`.

    Example:
        >>> scheme = PiecewiseMean.calibrate(most=100, epsilon=2)
        >>> scheme.width, scheme.size, round(float(scheme.event().epsilon), 9)
        (37, 1, 2.0)
    """

    @classmethod
    def calibrate(cls, *, most: int, epsilon: Number) -> Self:
        """Return the scheme whose reports tell as much as ``epsilon`` allows."""
        every = grid(most)
        width = window_for_means(every, epsilon)
        return cls(most=every, width=width, inside=inside_below(most_odds(epsilon), every, width))


def window_for_means(most: int, epsilon: Number) -> int:
    """Return how many places the window of a scheme for means has."""
    return max(1, round(most / most_odds(exact(epsilon) / 2)))
