"""Say a loss in another measure: the table of all conversions, and the one verb over it."""

from collections.abc import Callable

from discreet.accounting.conversions.from_approximate import (
    approximate_to_approximate,
    approximate_to_approximate_zcdp,
)
from discreet.accounting.conversions.from_approximate_zcdp import approximate_zcdp_to_approximate
from discreet.accounting.conversions.from_gaussian import (
    gaussian_to_approximate,
    gaussian_to_mean_concentrated,
    gaussian_to_renyi,
    gaussian_to_zcdp,
)
from discreet.accounting.conversions.from_mean_concentrated import (
    mean_concentrated_to_approximate,
    mean_concentrated_to_zcdp,
)
from discreet.accounting.conversions.from_pure import (
    pure_to_approximate,
    pure_to_approximate_zcdp,
    pure_to_gaussian,
    pure_to_mean_concentrated,
    pure_to_renyi,
    pure_to_zcdp,
)
from discreet.accounting.conversions.from_renyi import (
    bounded_zcdp_to_approximate,
    bounded_zcdp_to_renyi,
    renyi_to_approximate,
    renyi_to_zcdp,
)
from discreet.accounting.conversions.from_zcdp import (
    zcdp_to_approximate,
    zcdp_to_approximate_zcdp,
    zcdp_to_mean_concentrated,
    zcdp_to_pure,
    zcdp_to_renyi,
)
from discreet.accounting.losses.result import Result
from discreet.core.errors import Unsupported
from discreet.core.loss import (
    Approximate,
    ApproximateZcdp,
    Measure,
    PrivacyLoss,
    Pure,
    Zcdp,
    measure_of,
)
from discreet.core.numbers import Number

CONVERSIONS: dict[tuple[Measure, Measure], Callable[..., Result]] = {
    (Measure.PURE, Measure.APPROXIMATE): pure_to_approximate,
    (Measure.PURE, Measure.ZCDP): pure_to_zcdp,
    (Measure.PURE, Measure.APPROXIMATE_ZCDP): pure_to_approximate_zcdp,
    (Measure.PURE, Measure.RENYI): pure_to_renyi,
    (Measure.PURE, Measure.MEAN_CONCENTRATED): pure_to_mean_concentrated,
    (Measure.PURE, Measure.GAUSSIAN): pure_to_gaussian,
    (Measure.APPROXIMATE, Measure.APPROXIMATE): approximate_to_approximate,
    (Measure.APPROXIMATE, Measure.APPROXIMATE_ZCDP): approximate_to_approximate_zcdp,
    (Measure.ZCDP, Measure.PURE): zcdp_to_pure,
    (Measure.ZCDP, Measure.APPROXIMATE): zcdp_to_approximate,
    (Measure.ZCDP, Measure.APPROXIMATE_ZCDP): zcdp_to_approximate_zcdp,
    (Measure.ZCDP, Measure.RENYI): zcdp_to_renyi,
    (Measure.ZCDP, Measure.MEAN_CONCENTRATED): zcdp_to_mean_concentrated,
    (Measure.APPROXIMATE_ZCDP, Measure.APPROXIMATE): approximate_zcdp_to_approximate,
    (Measure.BOUNDED_ZCDP, Measure.APPROXIMATE): bounded_zcdp_to_approximate,
    (Measure.BOUNDED_ZCDP, Measure.RENYI): bounded_zcdp_to_renyi,
    (Measure.MEAN_CONCENTRATED, Measure.ZCDP): mean_concentrated_to_zcdp,
    (Measure.MEAN_CONCENTRATED, Measure.APPROXIMATE): mean_concentrated_to_approximate,
    (Measure.RENYI, Measure.APPROXIMATE): renyi_to_approximate,
    (Measure.RENYI, Measure.ZCDP): renyi_to_zcdp,
    (Measure.GAUSSIAN, Measure.APPROXIMATE): gaussian_to_approximate,
    (Measure.GAUSSIAN, Measure.ZCDP): gaussian_to_zcdp,
    (Measure.GAUSSIAN, Measure.RENYI): gaussian_to_renyi,
    (Measure.GAUSSIAN, Measure.MEAN_CONCENTRATED): gaussian_to_mean_concentrated,
}
"""Every pair of measures that a theorem covers."""


def convert(
    loss: PrivacyLoss,
    *,
    to: Measure | str,
    delta: Number | None = None,
    epsilon: Number | None = None,
    method: str = "auto",
) -> Result:
    r"""Return what ``loss`` implies in the measure ``to``, with the method and the theorem.

    Guarantee:
        The result's loss is implied by ``loss``; every rounding went up. A target of
        :math:`(\varepsilon, \delta)` needs one of ``delta`` and ``epsilon``, and finds the other
        (a pure or approximate loss may do without). ``auto`` takes the best valid method and lists
        the others. A pair of measures with no theorem is refused. ``to`` may be written as text:
        ``"approximate"``.

    Example:
        >>> print(convert(Zcdp(rho="0.1"), to=Measure.APPROXIMATE, delta="1e-6"))
        ε = 2.142, δ = 0.000001 (cks: CKS20, Corollary 13)
        >>> print(convert(Pure(1), to=Measure.ZCDP, method="half_square"))
        ρ = 0.5 (half_square: BS16, Proposition 1.4)
    """
    target = measure_of(to)
    source = loss if (loss.measure, target) in CONVERSIONS else _without_exception(loss)
    conversion = CONVERSIONS.get((source.measure, target))
    if conversion is None and source.measure is target:
        return Result(loss=source, method="identity", theorem="nothing to prove")
    if conversion is None:
        raise _no_theorem(loss, target)
    return conversion(source, delta=delta, epsilon=epsilon, method=method)


def _without_exception(loss: PrivacyLoss) -> PrivacyLoss:
    """Return the same loss in the measure that has no δ, if its δ is 0."""
    if isinstance(loss, Approximate) and loss.delta == 0:
        return Pure(loss.epsilon)
    if isinstance(loss, ApproximateZcdp) and loss.delta == 0:
        return Zcdp(rho=loss.rho, xi=loss.xi)
    return loss


def _no_theorem(loss: PrivacyLoss, to: Measure) -> Unsupported:
    targets = [target.value for source, target in CONVERSIONS if source is loss.measure]
    return Unsupported(
        "No theorem leads from the one measure to the other",
        must=f"be one of {', '.join(targets)}",
        got=f"{loss.measure.value} to {to.value}",
        next="Convert to one of those, or account for the events in the other measure",
    )
