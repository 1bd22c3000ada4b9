r"""From :math:`\delta`-approximate zCDP: to :math:`(\varepsilon, \delta)`."""

from fractions import Fraction

from discreet.accounting.conversions.choose import choose, one_of
from discreet.accounting.conversions.from_approximate import approximate_to_approximate
from discreet.accounting.conversions.from_zcdp import candidates
from discreet.accounting.losses.result import Result
from discreet.core.errors import Unsupported
from discreet.core.loss import Approximate, ApproximateZcdp, Zcdp
from discreet.core.numbers import Number
from discreet.core.rounding import short_up


def approximate_zcdp_to_approximate(
    loss: ApproximateZcdp,
    *,
    delta: Number | None = None,
    epsilon: Number | None = None,
    method: str = "auto",
) -> Result:
    r"""Return an :math:`(\varepsilon, \delta'')` that ``loss`` implies.

    Guarantee:
        With :math:`\rho = 0` it is :math:`(\xi, \delta)`-DP. Otherwise, if the zCDP part implies
        :math:`(\varepsilon, \delta')`-DP by any of its methods, the whole is
        :math:`(\varepsilon, \delta + (1-\delta)\delta')`-DP [Ste16, Lemma 2.8.8]. (Both
        exceptional events may be taken to have probability exactly :math:`\delta`: enlarge the
        smaller one by an independent coin.)

    Example:
        >>> loss = ApproximateZcdp(rho="0.1", delta="1e-7")
        >>> result = approximate_zcdp_to_approximate(loss, delta="1e-6")
        >>> result.method, round(float(result.loss.epsilon), 4)
        ('cks', 2.1518)
    """
    if loss.rho == 0:
        pair = Approximate(loss.xi, loss.delta)
        return approximate_to_approximate(pair, delta=delta, epsilon=epsilon)
    found_delta, found_epsilon = one_of(delta, epsilon)
    inner = None if found_delta is None else _inner(loss.delta, found_delta)
    part = Zcdp(rho=loss.rho, xi=loss.xi)
    ways = candidates(part, inner, found_epsilon)
    chosen = choose(ways, method, by="epsilon" if found_epsilon is None else "delta")
    others = tuple(_outer(loss.delta, other, found_delta) for other in chosen.others)
    outer = _outer(loss.delta, chosen, found_delta)
    return Result(loss=outer.loss, method=outer.method, theorem=outer.theorem, others=others)


def _inner(own: Fraction, delta: Fraction) -> Fraction:
    if delta <= own:
        raise Unsupported(
            "A δ this small does not follow",
            must=f"be greater than the loss's own, {own}",
            got=str(delta),
            next="Give a larger δ",
        )
    return (delta - own) / (1 - own)


def _outer(own: Fraction, inner: Result, delta: Fraction | None) -> Result:
    assert isinstance(inner.loss, Approximate)
    whole = short_up(own + (1 - own) * inner.loss.delta) if delta is None else delta
    if whole >= 1:
        raise Unsupported("At this ε the loss promises nothing", next="Ask for a larger ε")
    return Result(
        loss=Approximate(inner.loss.epsilon, whole),
        method=inner.method,
        theorem=f"{inner.theorem}; Ste16, Lemma 2.8.8",
    )
