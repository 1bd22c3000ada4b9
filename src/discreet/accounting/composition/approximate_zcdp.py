r"""Approximate zCDP: what a fixed sequence comes to, to the last δ. A report, and never a gate."""

from collections.abc import Iterable
from fractions import Fraction

from discreet.accounting.result import Result
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import ApproximateZcdp
from discreet.core.rounding import short_up

_LONGEST = 4096


def compose_fixed(losses: Iterable[ApproximateZcdp]) -> Result:
    r"""Return the sums of ρ and ξ, with :math:`1 - \prod (1 - \delta_i)`.

    Guarantee:
        For losses that were fixed beforehand [BS16, Lemma 8.2]. It is proved for nothing else: a
        gate, which lets the next loss depend on answers, adds the :math:`\delta_i`
        (``accounting.gates.filters``), and that is what ``+`` does.

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
