r"""Advanced composition through concentrated privacy [BS16; Ste16, sections 1.1 and 2.8].

An :math:`(\varepsilon_i, \delta_i)`-DP mechanism is :math:`\varepsilon_i^2/2`-zCDP unless it fails,
with probability :math:`\delta_i`; the :math:`\rho` add up, and what the total says about
:math:`(\varepsilon, \delta)` depends on the tail bound that is used.
"""

from fractions import Fraction

from attrs import frozen

from discreet.accounting.composition.workload import Losses, Workload
from discreet.accounting.conversions.from_renyi import renyi_to_approximate
from discreet.accounting.conversions.from_zcdp import zcdp_to_approximate
from discreet.accounting.curves.bounded import TightPure, pure_to_kl
from discreet.accounting.curves.curve import RenyiCurve
from discreet.accounting.losses.result import Result
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Approximate, Zcdp
from discreet.core.numbers import Number, exact
from discreet.core.rounding import short_up, sqrt_up

_OPTIONS = ("basic", "square_root", "reciprocal", "mills")


@frozen
class _Corollary:
    """A theorem: the conversions from ρ that it takes the best of, and how the δ add up."""

    method: str
    theorem: str
    options: tuple[str, ...]
    adds_deltas: bool

    def epsilon(self, work: Workload, delta: Fraction) -> Result:
        rest = work.rest(delta) if self.adds_deltas else work.pure_part(delta)[0]
        if not work.square_sum:
            return self._result(Fraction(0), delta)
        _require_positive(rest, work, delta)
        loss = Zcdp(rho=work.square_sum / 2)
        ways = (zcdp_to_approximate(loss, delta=rest, method=option) for option in self.options)
        return self._result(min(_epsilon(way) for way in ways), delta)

    def delta(self, work: Workload, epsilon: Fraction) -> Result:
        rest = Fraction(0)
        if work.square_sum:
            loss = Zcdp(rho=work.square_sum / 2)
            rest = min(_delta(loss, epsilon, option) for option in self.options)
        total = rest + work.delta_sum if self.adds_deltas else work.total_delta(rest)
        return self._result(epsilon, _short(total))

    def _result(self, epsilon: Fraction, delta: Fraction) -> Result:
        return _result(self.method, self.theorem, epsilon, delta)


_SQUARES = _Corollary(
    "squares",
    "Ste16, section 1.1.2; BS16, Propositions 1.3 and 1.4",
    ("basic",),
    adds_deltas=True,
)
_TAIL = _Corollary("tail", "Ste16, Corollary 2.8.9", _OPTIONS, adds_deltas=False)
_CLOSED = _Corollary(
    "closed_form",
    "Ste16, Corollary 2.8.11, for δ' at most √(π/2)‖ε‖",
    ("square_root",),
    adds_deltas=True,
)
_ZCDP = ("zcdp", "Ste16, Propositions 2.1.4 and 2.1.13, sharpened; CKS20, Corollary 13")
_RDP = ("rdp", "Ste16, proof of Proposition 2.3.2; Mir17, Proposition 1; CKS20, Proposition 12")


def squares_epsilon(work: Workload, delta: Fraction) -> Result:
    r"""Return :math:`\frac12 \sum \varepsilon_i^2 + \sqrt{2 \ln(1/\delta') \sum \varepsilon_i^2}`.

    Guarantee:
        With :math:`\delta' = \delta - \sum \delta_i`. It is printed as the theorem of [DRV10],
        whose constants are larger, and with an index missing in :math:`\sum \delta`; it is the
        :math:`\rho` of the pure parts with the first conversion of [BS16, Propositions 1.3, 1.4].

    Example:
        >>> from discreet import Pure
        >>> work = Workload.read({Pure("0.1"): 100})
        >>> float(squares_epsilon(work, Fraction(1, 10**6)).loss.epsilon)
        5.756...
    """
    return _SQUARES.epsilon(work, delta)


def squares_delta(work: Workload, epsilon: Fraction) -> Result:
    r"""Return :math:`e^{-(\varepsilon - \rho)^2 / 4\rho} + \sum \delta_i`, its inverse."""
    return _SQUARES.delta(work, epsilon)


def tail_epsilon(work: Workload, delta: Fraction) -> Result:
    r"""Return the least ε that Corollary 2.8.9 of [Ste16] admits at ``delta``.

    Guarantee:
        With :math:`\rho = \frac12 \sum \varepsilon_i^2` and :math:`u = 1 + (\varepsilon - \rho) /
        2\rho`, for :math:`\varepsilon \ge \rho` the losses together are
        :math:`(\varepsilon,\ 1 - (1 - \delta') \prod (1 - \delta_i))`-DP, where

        .. math:: \delta' = e^{-(\varepsilon-\rho)^2/4\rho} \min\Bigl\{1,\ \sqrt{\pi\rho},\
                  \tfrac1u,\ \tfrac{2}{u + \sqrt{u^2 + 4/\pi\rho}}\Bigr\}.

    Example:
        >>> from discreet import Pure
        >>> work = Workload.read({Pure("0.1"): 100})
        >>> float(tail_epsilon(work, Fraction(1, 10**6)).loss.epsilon)
        5.403...
    """
    return _TAIL.epsilon(work, delta)


def tail_delta(work: Workload, epsilon: Fraction) -> Result:
    """Return the δ of Corollary 2.8.9 at ``epsilon``, which must be at least ρ."""
    return _TAIL.delta(work, epsilon)


def tail_curve(losses: Losses, *, tail: Number) -> Result:
    r"""Return Corollary 2.8.10 of [Ste16]: the same curve, followed by :math:`\lambda \ge 0`.

    Guarantee:
        With :math:`s = \sqrt\rho` the losses together are :math:`(s^2 + 2\lambda s,\
        1 - (1 - \delta') \prod (1 - \delta_i))`-DP with :math:`\delta' = e^{-\lambda^2}
        \min\{1, \sqrt\pi s, 1/u, 2/(u + \sqrt{u^2 + 4/\pi s^2})\}`, :math:`u = 1 + \lambda / s`:
        Corollary 2.8.9 at :math:`\varepsilon = s^2 + 2\lambda s`, which is rounded up here.

    Example:
        >>> from discreet import Pure
        >>> loss = tail_curve({Pure("0.1"): 100}, tail="3.4").loss
        >>> round(float(loss.epsilon), 4), float(loss.delta) < 1.9e-6
        (5.3083, True)
    """
    work, far = Workload.read(losses), exact(tail)
    if far < 0:
        raise InvalidArgument("tail is out of range", must="be at least 0", got=str(tail))
    rho = work.square_sum / 2
    epsilon = short_up(rho + 2 * far * sqrt_up(rho))
    loss = _TAIL.delta(work, epsilon).loss
    return Result(loss=loss, method="tail_curve", theorem="Ste16, Corollary 2.8.10")


def closed_epsilon(work: Workload, delta: Fraction) -> Result:
    r"""Return the ε of the closed form of [Ste16, Corollary 2.8.11] at ``delta``.

    Guarantee:
        .. math:: \varepsilon = \tfrac12\|\varepsilon\|^2 + \|\varepsilon\|
                  \sqrt{2 \ln(\sqrt{\pi/2}\, \|\varepsilon\| / \delta')},
                  \qquad \delta' = \delta - \sum \delta_i,

        for :math:`0 < \delta' \le \sqrt{\pi/2}\, \|\varepsilon\|`. It is printed for all
        :math:`\delta' \ge 0`, but beyond that the logarithm is negative; there
        :math:`\frac12\|\varepsilon\|^2` will do, and is what is returned.

    Example:
        >>> from discreet import Pure
        >>> work = Workload.read({Pure("0.1"): 100})
        >>> float(closed_epsilon(work, Fraction(1, 10**6)).loss.epsilon)
        5.799...
    """
    return _CLOSED.epsilon(work, delta)


def closed_delta(work: Workload, epsilon: Fraction) -> Result:
    r"""Return :math:`\sqrt{\pi/2}\|\varepsilon\| e^{-\lambda^2} + \sum \delta_i`, its inverse."""
    return _CLOSED.delta(work, epsilon)


def zcdp_epsilon(work: Workload, delta: Fraction) -> Result:
    r"""Return the least ε at ``delta`` by the best conversion from :math:`\rho` that is known.

    Guarantee:
        :math:`\rho = \sum \varepsilon_i \tanh(\varepsilon_i / 2)`, at most
        :math:`\frac12 \sum \varepsilon_i^2`, outside failures of probability
        :math:`1 - \prod (1 - \delta_i)`, converted by [CKS20, Corollary 13].
    """
    rest = work.pure_part(delta)[0]
    if not work.square_sum:
        return _result(*_ZCDP, Fraction(0), delta)
    _require_positive(rest, work, delta)
    found = zcdp_to_approximate(_total(work), delta=rest, method="cks")
    return _result(*_ZCDP, _epsilon(found), delta)


def zcdp_delta(work: Workload, epsilon: Fraction) -> Result:
    """Return the δ at ``epsilon`` by the best conversion from ρ that is known."""
    rest = _delta(_total(work), epsilon, "cks") if work.square_sum else Fraction(0)
    return _result(*_ZCDP, epsilon, _short(work.total_delta(rest)))


def rdp_epsilon(work: Workload, delta: Fraction) -> Result:
    r"""Return the least ε at ``delta`` by the tight Rényi curve of each pure part.

    Guarantee:
        The curve of randomised response bounds that of any :math:`\varepsilon_i`-DP mechanism
        [Ste16, proof of Proposition 2.3.2], the curves add up [Mir17, Proposition 1], and failures
        have probability :math:`1 - \prod (1 - \delta_i)`; converted by [CKS20, Proposition 12].
    """
    rest = work.pure_part(delta)[0]
    if not work.square_sum:
        return _result(*_RDP, Fraction(0), delta)
    _require_positive(rest, work, delta)
    return _result(*_RDP, _epsilon(renyi_to_approximate(_curve(work), delta=rest)), delta)


def rdp_delta(work: Workload, epsilon: Fraction) -> Result:
    """Return the δ at ``epsilon`` by the tight Rényi curve of each pure part."""
    rest = Fraction(0)
    if work.square_sum:
        rest = _approximate(renyi_to_approximate(_curve(work), epsilon=epsilon)).delta
    return _result(*_RDP, epsilon, _short(work.total_delta(rest)))


def _total(work: Workload) -> Zcdp:
    return Zcdp(rho=sum((n * pure_to_kl(e) for e, n in work.responses.items()), Fraction(0)))


def _curve(work: Workload) -> RenyiCurve:
    return RenyiCurve([(TightPure(e), n) for e, n in work.responses.items()])


def _delta(loss: Zcdp, epsilon: Fraction, option: str) -> Fraction:
    try:
        return _approximate(zcdp_to_approximate(loss, epsilon=epsilon, method=option)).delta
    except Unsupported as refusal:
        if epsilon < loss.rho and option != "cks":
            raise _too_small(loss.rho, epsilon) from refusal
        return Fraction(1)


def _epsilon(result: Result) -> Fraction:
    return _approximate(result).epsilon


def _approximate(result: Result) -> Approximate:
    assert isinstance(result.loss, Approximate)
    return result.loss


def _too_small(rho: Fraction, epsilon: Fraction) -> Unsupported:
    return Unsupported(
        "This theorem says nothing at so small an epsilon",
        must=f"be at least half the sum of the squares, {float(rho):.6g}",
        got=f"{float(epsilon):.6g}",
    )


def _require_positive(rest: Fraction, work: Workload, delta: Fraction) -> None:
    if rest == 0:
        raise Unsupported(
            "Advanced composition needs a delta of its own",
            must=f"be above {float(work.delta_sum):.3g}",
            got=f"{float(delta):.3g}",
        )


def _result(method: str, theorem: str, epsilon: Fraction, delta: Fraction) -> Result:
    loss = Approximate(short_up(epsilon), delta)
    return Result(loss=loss, method=method, theorem=theorem)


def _short(delta: Fraction) -> Fraction:
    if delta >= 1:
        raise Unsupported("This theorem says nothing at this epsilon", got="a delta of 1")
    return min(short_up(delta), (1 + delta) / 2)
