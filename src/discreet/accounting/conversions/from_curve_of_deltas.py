r"""From an :math:`(\varepsilon, \delta)` at every δ at once: back to zCDP."""

from fractions import Fraction

from discreet.accounting.result import Result
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Zcdp
from discreet.core.numbers import Number, exact
from discreet.core.rounding import short_up, sqrt_up


def deltas_to_zcdp(*, xi: Number, rho: Number) -> Result:
    r"""Return the zCDP loss of a mechanism with a sub-Gaussian family of guarantees.

    Guarantee:
        If a mechanism is :math:`(\hat\xi + \sqrt{\hat\rho\ln(1/\delta)}, \delta)`-DP for *every*
        :math:`\delta > 0`, with :math:`\hat\xi, \hat\rho \in [0, 1]`, it is
        :math:`(\hat\xi - \hat\rho/4 + 5\hat\rho^{1/4}, \hat\rho/4)`-zCDP [Ste16, Lemma 2.3.9]. One
        :math:`(\varepsilon, \delta)` alone implies no zCDP at all.

    Example:
        >>> deltas_to_zcdp(xi="1/2", rho=0).loss
        Zcdp(ρ = 0, ξ = 0.5)
    """
    intercept, slope = exact(xi), exact(rho)
    for name, value in (("xi", intercept), ("rho", slope)):
        if not 0 <= value <= 1:
            raise InvalidArgument(f"{name} is out of range", must="lie in [0, 1]", got=str(value))
    root = short_up(sqrt_up(sqrt_up(slope)))
    found = Zcdp(rho=slope / 4, xi=max(Fraction(0), intercept - slope / 4 + 5 * root))
    return Result(loss=found, method="converse", theorem="Ste16, Lemma 2.3.9")
