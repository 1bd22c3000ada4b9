"""From bounded zCDP: as a Rényi curve that ends, and from there to (ε, δ)."""

from discreet.accounting.conversions.choose import choose, refuse_parameters
from discreet.accounting.conversions.from_renyi import renyi_to_approximate
from discreet.accounting.curves.curve import RenyiCurve
from discreet.accounting.curves.line import BoundedLine
from discreet.accounting.losses.bounded_zcdp import BoundedZcdp
from discreet.accounting.result import Result
from discreet.core.numbers import Number


def bounded_zcdp_to_renyi(
    loss: BoundedZcdp,
    *,
    delta: Number | None = None,
    epsilon: Number | None = None,
    method: str = "auto",
) -> Result:
    """Return the line below its last order, which it is by definition."""
    refuse_parameters(delta, epsilon)
    result = Result(loss=_curve(loss), method="line", theorem="BS16, Definition 8.4")
    return choose({"line": lambda: result}, method, by="limit")


def bounded_zcdp_to_approximate(
    loss: BoundedZcdp,
    *,
    delta: Number | None = None,
    epsilon: Number | None = None,
    method: str = "auto",
) -> Result:
    r"""Return an :math:`(\varepsilon, \delta)` that ``loss`` implies.

    Guarantee:
        The methods of a Rényi curve, with the order kept below :math:`m`. The closed forms of
        zCDP are not used: they need orders that may lie above.

    Example:
        >>> loss = BoundedZcdp(rho="0.1", order=4)
        >>> round(float(bounded_zcdp_to_approximate(loss, delta="1e-6").loss.epsilon), 3)
        4.255
    """
    return renyi_to_approximate(_curve(loss), delta=delta, epsilon=epsilon, method=method)


def _curve(loss: BoundedZcdp) -> RenyiCurve:
    return RenyiCurve.of(BoundedLine(rho=loss.rho, order=loss.order, xi=loss.xi))
