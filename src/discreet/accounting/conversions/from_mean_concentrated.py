"""From mean-concentrated privacy: to zCDP, and from there on."""

from fractions import Fraction

from discreet.accounting.conversions.choose import choose, refuse_parameters
from discreet.accounting.conversions.from_zcdp import zcdp_to_approximate
from discreet.accounting.losses.result import Result
from discreet.core.loss import MeanConcentrated, Zcdp
from discreet.core.numbers import Number

_THEOREM = "Ste16, Lemma 2.4.2"


def mean_concentrated_to_zcdp(
    loss: MeanConcentrated,
    *,
    delta: Number | None = None,
    epsilon: Number | None = None,
    method: str = "auto",
) -> Result:
    r"""Return a zCDP loss that ``loss`` implies.

    Guarantee:
        :math:`D_\alpha = E[Z] + \frac{1}{\alpha-1} \ln E[e^{(\alpha-1)(Z-EZ)}] \le
        \mu + (\alpha-1)\tau^2/2`, that is :math:`(\mu - \tau^2/2, \tau^2/2)`-zCDP
        [Ste16, Lemma 2.4.2]. A negative :math:`\xi` is raised to 0, because our zCDP has none.

    Example:
        >>> mean_concentrated_to_zcdp(MeanConcentrated(mu=1, tau_squared=1)).loss
        Zcdp(ρ = 0.5, ξ = 0.5)
    """
    refuse_parameters(delta, epsilon)
    rho = loss.tau_squared / 2
    found = Zcdp(rho=rho, xi=max(Fraction(0), loss.mu - rho))
    result = Result(loss=found, method="moments", theorem=_THEOREM)
    return choose({"moments": lambda: result}, method, by="rho")


def mean_concentrated_to_approximate(
    loss: MeanConcentrated,
    *,
    delta: Number | None = None,
    epsilon: Number | None = None,
    method: str = "auto",
) -> Result:
    r"""Return an :math:`(\varepsilon, \delta)` by way of zCDP, with any of its methods."""
    line = mean_concentrated_to_zcdp(loss).loss
    assert isinstance(line, Zcdp)
    found = zcdp_to_approximate(line, delta=delta, epsilon=epsilon, method=method)
    return Result(
        loss=found.loss,
        method=found.method,
        theorem=f"{_THEOREM}; {found.theorem}",
        others=found.others,
    )
