"""Central against local: how many people the same error takes, if nobody is trusted."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from attrs import frozen

from discreet.accounting.picture import ACCENT, OTHERS, new_figure, tidy
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact
from discreet.local.numbers.one_bit_mean import OneBitMean

ERRORS = tuple(Fraction(error) for error in ("0.1", "0.03", "0.01", "0.003", "0.001"))


@frozen(kw_only=True)
class PeopleNeeded:
    """How many people a share takes at an error: with a trusted curator, and without."""

    error: Fraction
    central: int
    local: int

    @property
    def ratio(self) -> float:
        """How many times as many people the local model takes."""
        return self.local / self.central


def people_needed(error: Number, *, epsilon: Number) -> PeopleNeeded:
    r"""Return how many people it takes for a share of people to have this standard deviation.

    A curator who is trusted adds Laplace noise of scale :math:`1/(\varepsilon n)` to the share:
    the standard deviation is :math:`\sqrt 2/(\varepsilon n)`. Devices that randomise one bit each
    give :math:`e^{\varepsilon/2}/((e^\varepsilon-1)\sqrt n)`. So for a small error
    :math:`a` one needs :math:`1/(a\varepsilon)` people, and the other the square of that, up to
    factors which this function does not leave out.

    Example:
        >>> needed = people_needed("0.01", epsilon=1)
        >>> needed.central, needed.local
        (142, 9207)
    """
    wanted, loss = exact(error), exact(epsilon)
    if not 0 < wanted < 1:
        raise InvalidArgument(
            "error is out of range", must="lie strictly between 0 and 1", got=str(error)
        )
    bit = OneBitMean.calibrate(most=1, epsilon=loss)
    return PeopleNeeded(
        error=wanted,
        central=_root_up(2 / (loss * wanted) ** 2),
        local=math.ceil(bit.variance(0) / wanted**2),
    )


def comparison_picture(*, epsilon: Number, errors: Sequence[Number] = ERRORS) -> Any:
    """Draw how many people each model takes against the error. Needs matplotlib."""
    rows = [people_needed(error, epsilon=epsilon) for error in errors]
    figure = new_figure()
    axes = figure.subplots()
    at = [float(row.error) for row in rows]
    axes.loglog(at, [row.local for row in rows], "o-", color=OTHERS[1], label="nobody is trusted")
    axes.loglog(at, [row.central for row in rows], "o-", color=ACCENT, label="a curator is trusted")
    axes.invert_xaxis()
    axes.legend(frameon=False)
    tidy(
        axes,
        title=f"People needed for the same error, at ε = {exact(epsilon)}",
        x="standard deviation of an estimated share",
        y="people",
    )
    return figure


def _root_up(square: Fraction) -> int:
    """Return the smallest whole number whose square is not below ``square``."""
    return math.isqrt(math.ceil(square) - 1) + 1
