"""Losses of one measure add up: basic composition."""

from collections.abc import Iterable
from fractions import Fraction

from discreet.accounting.composition.workload import Workload
from discreet.accounting.losses.result import Result
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Approximate, ApproximateZcdp, Measure, PrivacyLoss
from discreet.core.rounding import short_up

_LONGEST = 4096


def compose_fixed(losses: Iterable[ApproximateZcdp]) -> Result:
    r"""Return the sums of ρ and ξ, with :math:`1 - \prod (1 - \delta_i)`.

    Guarantee:
        For losses that were fixed beforehand [BS16, Lemma 8.2]. It is proved for nothing else: a
        gate, which lets the next loss depend on answers, adds the :math:`\delta_i`
        (``accounting.filters.rules``), and that is what ``+`` does.

    Example:
        >>> losses = [ApproximateZcdp(rho="0.1", delta="0.1")] * 2
        >>> compose_fixed(losses).loss.delta
        Fraction(19, 100)
    """
    found = list(losses)
    if not found:
        raise InvalidArgument(
            "There is nothing to compose", must="give at least one loss", got="none"
        )
    kept = Fraction(1)
    for loss in found:
        if not isinstance(loss, ApproximateZcdp):
            raise Unsupported(
                "Only approximate zCDP is composed here",
                must="be approximate_zcdp",
                got=getattr(getattr(loss, "measure", None), "value", type(loss).__name__),
                next="Compose losses of one other measure with composition.basic.compose",
            )
        kept *= 1 - loss.delta
        if kept.denominator.bit_length() > _LONGEST:
            kept = 1 - short_up(1 - kept, _LONGEST // 2)
    total = ApproximateZcdp(
        rho=sum((loss.rho for loss in found), Fraction(0)),
        delta=1 - kept,
        xi=sum((loss.xi for loss in found), Fraction(0)),
    )
    return Result(loss=total, method="fixed", theorem="BS16, Lemma 8.2, for fixed losses alone")


_THEOREMS = {
    Measure.PURE: "DR14, Theorem 3.14",
    Measure.APPROXIMATE: "DR14, Theorem 3.16",
    Measure.ZCDP: "BS16, Lemma 2.3",
    Measure.APPROXIMATE_ZCDP: "BS16, Lemma 8.2",
    Measure.BOUNDED_ZCDP: "Mir17, Proposition 1",
    Measure.RENYI: "Mir17, Proposition 1",
    Measure.GAUSSIAN: "DRS22, section 3",
}


def compose(losses: Iterable[PrivacyLoss]) -> Result:
    r"""Add losses of one measure.

    Guarantee:
        If each mechanism has its loss whatever the answers before it were, all together have the
        sum, also if each mechanism was chosen after seeing those answers: :math:`\sum\varepsilon_i`
        [DR14, Theorem 3.14]; :math:`(\sum\varepsilon_i, \sum\delta_i)` [DR14, Theorem 3.16];
        :math:`(\sum\xi_i, \sum\rho_i)` [BS16, Lemma 2.3]; the same with :math:`\sum\delta_i`
        [BS16, Lemma 8.2]; Rényi losses order by order [Mir17, Proposition 1].

    Example:
        >>> from discreet import Zcdp
        >>> print(compose([Zcdp(rho="1/4"), Zcdp(rho="1/4")]))
        ρ = 0.5 (basic: BS16, Lemma 2.3)
    """
    found = list(losses)
    if not found:
        raise InvalidArgument(
            "There is nothing to compose", must="give at least one loss", got="none"
        )
    total = found[0]
    for loss in found[1:]:
        total = total + loss
    if total.measure not in _THEOREMS:
        raise Unsupported("No theorem says that sums compose here", got=total.measure.value)
    return Result(loss=total, method="basic", theorem=_THEOREMS[total.measure])


def basic_epsilon(work: Workload, delta: Fraction) -> Result:
    r"""Return :math:`\sum \varepsilon_i`, if :math:`\sum \delta_i \le \delta`.

    Example:
        >>> from discreet import Pure
        >>> basic_epsilon(Workload.read({Pure("0.1"): 10}), Fraction(0)).loss.epsilon
        Fraction(1, 1)
    """
    work.rest(delta)
    loss = Approximate(work.epsilon_sum, delta)
    return Result(loss=loss, method="basic", theorem=_THEOREMS[Measure.APPROXIMATE])


def basic_delta(work: Workload, epsilon: Fraction) -> Result:
    r"""Return :math:`\sum \delta_i`, if :math:`\sum \varepsilon_i \le \varepsilon`."""
    if epsilon < work.epsilon_sum or work.delta_sum >= 1:
        raise Unsupported(
            "Basic composition says nothing at this epsilon",
            must=f"be at least {float(work.epsilon_sum):.6g}, with deltas that sum to below 1",
            got=f"{float(epsilon):.6g}",
        )
    loss = Approximate(epsilon, work.delta_sum)
    return Result(loss=loss, method="basic", theorem=_THEOREMS[Measure.APPROXIMATE])
