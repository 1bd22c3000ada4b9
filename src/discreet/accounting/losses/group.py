"""What a loss for one person says about several, and about other neighbours.

If two data sets differ in ``k`` people, a chain of ``k`` steps leads from one to the other, each
between neighbours; a theorem is what survives the chain.

To change the rows of one unit is to remove the unit and to add it again: two steps. The other way
there is no theorem: a mechanism that publishes the number of units tells nothing under *change one*
and everything under *add or remove*.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import singledispatch

from discreet.accounting.curves.curve import RenyiCurve
from discreet.accounting.losses.result import Result
from discreet.core import check
from discreet.core.contribution import Metric, metric_of
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Approximate, ApproximateZcdp, GaussianDp, PrivacyLoss, Pure, Zcdp
from discreet.core.numbers import Number, exact, exp_bounds
from discreet.core.rounding import log_down, log_up, short_up

_LARGEST = 10**9
_HARMONIC = 1000


def group(loss: PrivacyLoss, size: int) -> Result:
    r"""Return a loss for data sets that differ in up to ``size`` people.

    Guarantee:
        The theorem of each measure, named in the result. A mechanism made of a pure and a
        concentrated part is best treated part by part, and the results composed: the pure part
        grows by ``k``, where the :math:`\xi` of a sum grows by :math:`k H_k`.

    Example:
        >>> print(group(Approximate(1, "0.01"), 2))
        ε = 2, δ = 0.03719 (group: Ste16, Fact 4.2.1)
        >>> print(group(Zcdp(rho="0.1"), 3))
        ρ = 0.9 (group: BS16, Proposition 1.9)
    """
    number = check.whole(size)
    if not 1 <= number <= _LARGEST:
        raise InvalidArgument(
            "size is out of range", must=f"lie between 1 and {_LARGEST}", got=str(size)
        )
    found, theorem = _grouped(loss, number)
    return Result(loss=found, method="group", theorem=theorem)


@singledispatch
def _grouped(loss: PrivacyLoss, size: int) -> tuple[PrivacyLoss, str]:
    raise Unsupported(
        "No theorem about groups is known for this measure",
        must="be pure, approximate, zcdp or gaussian",
        got=loss.measure.value if isinstance(loss, PrivacyLoss) else type(loss).__name__,
    )


@_grouped.register
def _(loss: Pure, size: int) -> tuple[PrivacyLoss, str]:
    """Multiply: the factors along the chain do."""
    return Pure(size * loss.epsilon), "DR14, Theorem 2.2"


@_grouped.register
def _(loss: Approximate, size: int) -> tuple[PrivacyLoss, str]:
    r"""Add up a geometric series.

    :math:`P_0(S) \le e^\varepsilon P_1(S) + \delta \le \dots \le e^{k\varepsilon} P_k(S) + \delta
    \sum_{j<k} e^{j\varepsilon}`: each step multiplies what the steps before it lost. It is often
    printed as :math:`k\delta`, which is false.
    """
    delta = _series(loss.epsilon, loss.delta, size)
    return Approximate(size * loss.epsilon, delta), "Ste16, Fact 4.2.1"


@_grouped.register
def _(loss: Zcdp, size: int) -> tuple[PrivacyLoss, str]:
    r"""Multiply :math:`\rho` by :math:`k^2` and :math:`\xi` by :math:`k H_k`.

    Without a :math:`\rho` the loss is pure, and :math:`\xi` is multiplied by ``k`` only
    [BS16, Proposition 1.9].
    """
    if loss.rho == 0:
        return Zcdp(rho=0, xi=size * loss.xi), "Ste16, Lemma 2.3.1; DR14, Theorem 2.2"
    xi = size * _harmonic(size) * loss.xi if loss.xi else Fraction(0)
    return Zcdp(rho=size**2 * loss.rho, xi=xi), "BS16, Proposition 1.9"


@_grouped.register
def _(loss: GaussianDp, size: int) -> tuple[PrivacyLoss, str]:
    r"""Multiply :math:`\mu` by ``k``.

    Telling the ends of a chain of trade-off functions apart is at worst telling the ends of a chain
    of normal laws apart, each :math:`\mu` further on [DRS22].
    """
    return GaussianDp(mu_squared=size**2 * loss.mu_squared), "DRS22, on groups"


@_grouped.register
def _(loss: ApproximateZcdp, size: int) -> tuple[PrivacyLoss, str]:
    if size == 1:
        return loss, "one unit"
    raise Unsupported(
        "Approximate zCDP says nothing known about groups",
        must="be pure, approximate, zcdp or gaussian",
        got=loss.measure.value,
        next="Convert it to (ε, δ) first; the events that are left out may differ at each step",
    )


@_grouped.register
def _(loss: RenyiCurve, size: int) -> tuple[PrivacyLoss, str]:
    if size == 1:
        return loss, "one unit"
    raise Unsupported(
        "The curve of a group is known order by order only",
        got=loss.measure.value,
        next="Use group_renyi(curve.upper, alpha=..., size=...)",
    )


def group_renyi(curve: Callable[[Fraction], Fraction], *, alpha: Number, size: int) -> Fraction:
    r"""Return a bound on the Rényi divergence at ``alpha`` between data sets ``size`` people apart.

    ``curve`` gives the bound :math:`f` for neighbours at any order above 1, rounded up.

    Guarantee:
        .. math:: D_\alpha \le \sum_{j=1}^k \frac{k\alpha}{c_j}\, f(c_j),
                  \qquad c_j = k(\alpha-1) + j.

        Proof. By the inequality of Hölder, :math:`D_\alpha(P \| Q) \le \frac{j\alpha}{j\alpha-1}
        D_{(j\alpha-1)/(j-1)}(P \| R) + D_{j\alpha}(R \| Q)` for :math:`j > 1` [BS16, Lemma 5.2].
        Take :math:`j = k` with :math:`R` one person from :math:`Q`, then go on with the other
        ``k - 1`` at the order :math:`\alpha' = (k\alpha-1)/(k-1)`, for which
        :math:`(k-1)\alpha' = k\alpha - 1`: the orders that are met are :math:`c_k, c_{k-1}, \dots`,
        and the factors :math:`c_i/(c_i - 1) = c_i/c_{i-1}` multiply to :math:`c_k/c_j`. For a
        line it is :math:`k^2\rho\alpha + \xi\sum_j k\alpha/c_j`, at most the bound of zCDP.

    Example:
        >>> group_renyi(lambda order: order / 2, alpha=2, size=3)
        Fraction(9, 1)
    """
    order, number = exact(alpha), check.whole(size)
    if order <= 1:
        raise InvalidArgument("alpha is out of range", must="be greater than 1", got=str(alpha))
    if not 1 <= number <= _HARMONIC:
        raise InvalidArgument(
            "size is out of range", must=f"lie between 1 and {_HARMONIC}", got=str(size)
        )
    orders = [number * (order - 1) + j for j in range(1, number + 1)]
    return sum((number * order / c * curve(c) for c in orders), Fraction(0))


def _series(epsilon: Fraction, delta: Fraction, size: int) -> Fraction:
    r"""Return :math:`\delta (e^{k\varepsilon} - 1) / (e^\varepsilon - 1)`, rounded up."""
    if delta == 0 or size == 1:
        return delta
    if epsilon == 0:
        total = size * delta
    elif (size - 1) * epsilon >= log_down(1 / delta):
        raise _vacuous(epsilon, delta)
    else:
        bits = 128 + epsilon.denominator.bit_length()
        high = exp_bounds(size * epsilon, bits)[1]
        total = delta * (high - 1) / (exp_bounds(epsilon, bits)[0] - 1)
    if total >= 1:
        raise _vacuous(epsilon, delta)
    return min(short_up(total), (1 + total) / 2)


def _vacuous(epsilon: Fraction, delta: Fraction) -> Unsupported:
    most = int(float(log_up(1 / delta)) / float(epsilon)) if epsilon else int(1 / delta)
    return Unsupported(
        "For a group of this size the loss promises nothing",
        must=f"be smaller than about {most + 1} units",
        next="A pure or concentrated loss covers larger groups",
    )


def _harmonic(size: int) -> Fraction:
    r"""Return :math:`H_k`, rounded up: exact at first, then with :math:`\ln` of the rest."""
    exact_part = sum((Fraction(1, i) for i in range(1, min(size, _HARMONIC) + 1)), Fraction(0))
    if size <= _HARMONIC:
        return exact_part if size <= 50 else short_up(exact_part)
    return short_up(exact_part + log_up(Fraction(size, _HARMONIC)))


def convert_neighbours(loss: PrivacyLoss, *, source: Metric | str, target: Metric | str) -> Result:
    r"""Return a loss under ``target`` for a mechanism that has ``loss`` under ``source``.

    Guarantee:
        From *add or remove* to *change one* it is the loss of a group of two:
        :math:`2\varepsilon`; :math:`(2\varepsilon, (1 + e^\varepsilon)\delta)`;
        :math:`(3\xi, 4\rho)`-zCDP; :math:`2\mu`-Gaussian DP. They are often called equivalent;
        they are not, and the converse is refused.

    Example:
        >>> from discreet import Pure
        >>> loss = Pure("0.5")
        >>> changed = convert_neighbours(loss, source=Metric.ADD_REMOVE, target=Metric.CHANGE_ONE)
        >>> print(changed)
        ε = 1 (remove and add: DR14, Theorem 2.2)
    """
    source, target = metric_of(source), metric_of(target)
    if source is target:
        return Result(loss=loss, method="none", theorem="the same neighbours")
    if target is Metric.ADD_REMOVE:
        raise Unsupported(
            "A loss for changing a unit says nothing about adding or removing one",
            must=f"be a loss under {Metric.ADD_REMOVE.value}",
            got=source.value,
            next="Ask the mechanism for its loss under add_remove; "
            "the number of units must be hidden as well",
        )
    found = group(loss, 2)
    return Result(loss=found.loss, method="remove and add", theorem=found.theorem)
