"""The pairs of mechanisms that see a sample, from the pairs of the mechanisms themselves."""

from collections.abc import Sequence

import numpy as np

from discreet.accounting.pld.grid import FloatArray
from discreet.accounting.pld.laws.fixed_size import FixedSizeLaw
from discreet.accounting.pld.laws.law import Law
from discreet.accounting.pld.laws.mixture import MixtureLaw
from discreet.accounting.pld.laws.response import response_law
from discreet.accounting.pld.laws.sampled import AdditionLaw, RemovalLaw
from discreet.accounting.pld.laws.stated import stated_law
from discreet.accounting.pld.laws.together import lower_together, upper_together
from discreet.accounting.pld.laws.worst import WorstLaw
from discreet.accounting.pld.machine import LARGEST_LOSS, RELATIVE
from discreet.accounting.pld.pair import Pair

_POINTS = 600
_TAIL = 1e-40


def together_pair(pairs: Sequence[tuple[Pair, int]]) -> Pair:
    r"""Return one pair for several mechanisms that see the same sample.

    Guarantee:
        Products of dominating pairs dominate, also for mechanisms chosen adaptively, and what is
        attained by neighbours that stay the same is attained together.
    """
    if len(pairs) == 1 and pairs[0][1] == 1:
        return pairs[0][0]
    removal = upper_together([(pair.removal, count) for pair, count in pairs])
    known = [(pair.attained, count) for pair, count in pairs if pair.attained is not None]
    attained: tuple[Law, Law] | None = None
    is_symmetric = all(pair.is_symmetric for pair, _ in pairs)
    if len(known) == len(pairs):
        first = lower_together([(laws[0], count) for laws, count in known])
        second = first
        if not is_symmetric:
            second = lower_together([(laws[1], count) for laws, count in known])
        attained = first, second
    addition = removal
    if not is_symmetric:
        addition = upper_together([(pair.addition, count) for pair, count in pairs])
    return Pair(removal, addition, attained)


def poisson_pair(pair: Pair, rate: float) -> Pair:
    """Return the pair of a Poisson sample when a unit is added or removed [ZDW22]."""
    removal, addition = RemovalLaw(pair.removal, rate), AdditionLaw(pair.addition, rate)
    if pair.attained is None:
        return Pair(removal, addition, None)
    if pair.attained[0] is pair.removal and pair.attained[1] is pair.addition:
        return Pair(removal, addition, (removal, addition))
    attained = RemovalLaw(pair.attained[0], rate), AdditionLaw(pair.attained[1], rate)
    return Pair(removal, addition, attained)


def told_pair(pair: Pair, rate: float) -> Pair:
    r"""Return the pair of a Poisson sample when a unit is changed, from one about changes.

    Guarantee:
        By joint convexity :math:`H_e((1-r)M_0 + rM_1 \| (1-r)M_0 + rM_1') \le (1-r)(1-e)_+ +
        r H_e(M_1 \| M_1')`: the curve of a mechanism that also tells whether the unit was sampled.
        Nothing less holds, because :math:`M_0` may be as far from the others as one likes: a
        mechanism may tell the size of its sample.
    """
    nothing = response_law(0.0)

    def mixed(law: Law) -> Law:
        return MixtureLaw((law, nothing), (rate, 1 - rate))

    removal = mixed(pair.removal)
    if pair.is_symmetric and pair.attained is not None and pair.attained[0] is pair.removal:
        return Pair.symmetric(removal)
    addition = removal if pair.is_symmetric else mixed(pair.addition)
    attained = None
    if pair.attained is not None:
        first = mixed(pair.attained[0])
        attained = first, first if pair.is_symmetric else mixed(pair.attained[1])
    return Pair(removal, addition, attained)


def exchanged_pair(two_steps: Pair, one_step: Pair, rate: float) -> Pair:
    r"""Return the pair of a Poisson sample when a unit is changed, from one and two steps.

    Guarantee:
        For :math:`e' \ge 1` and :math:`e' - 1 = r(e - 1)`, as for a sample of fixed size,

        .. math:: H_{e'}((1-r)M_0 + rM_1 \| (1-r)M_0 + rM_1')
                  = r H_e(M_1 \| (1-\beta)M_0 + \beta M_1')
                  \le r (1-\beta)\,\delta_1(e) + r \beta\,\delta_2(e), \qquad \beta = e'/e,

        because :math:`M_0` is one step from :math:`M_1` and :math:`M_1'` is two. Some points of
        that bound are enough for :func:`discreet.accounting.pld.laws.stated.stated_law`. What is
        attained is a unit that is removed, or added: exchanged for one that does not matter.
    """
    law = _exchanged(_either(one_step), _either(two_steps), rate)
    if one_step.attained is None:
        return Pair(law, law, None)
    removal, addition = one_step.attained
    return Pair(law, law, (RemovalLaw(removal, rate), AdditionLaw(addition, rate)))


def _exchanged(one: Law, two: Law, rate: float) -> Law:
    farthest = max(law.span(_TAIL)[1] + 4 * law.slack() for law in (one, two))
    farthest = min(farthest, LARGEST_LOSS)
    outer = np.linspace(0.0, RemovalLaw(two, rate).mapped(farthest), _POINTS)
    inner = np.log1p(np.expm1(outer) / rate)
    share = np.exp(outer - inner)
    deltas = rate * ((1 - share) * _curve(one, inner) + share * _curve(two, inner))
    return stated_law(outer, np.maximum(deltas, _TAIL) * (1 + 8 * RELATIVE))


def _curve(law: Law, epsilons: FloatArray) -> FloatArray:
    """Return the curve of a law, rounded up."""
    at = np.maximum(epsilons - law.slack() * (1 + RELATIVE), 0.0)
    tails, factor = law.tails(at), np.exp(at)
    p, q = tails.right_p[0] + float(law.infinite[0]), factor * tails.right_q[0]
    return np.asarray(np.maximum(p - q, 0.0) + 4 * RELATIVE * (p + q) + law.dropped)


def fixed_size_pair(pair: Pair, rate: float) -> Pair:
    """Return the pair of a sample of fixed size when a unit is changed.

    Both halves of :class:`FixedSizeLaw` are attained, each by itself. If all other units are like
    the changed one after (or before) the change, what is not sampled makes the sample look like
    that side: the pair of a removal (or an addition).
    """
    law = FixedSizeLaw(_either(pair), rate)
    if pair.attained is None:
        return Pair(law, law, None)
    first, second = pair.attained
    return Pair(law, law, (RemovalLaw(first, rate), AdditionLaw(second, rate)))


def either_pair(pair: Pair) -> Pair:
    """Return the same pair for both directions: which one it is, is not known."""
    law = _either(pair)
    return Pair(law, law, pair.attained)


def _either(pair: Pair) -> Law:
    """Return a law that dominates both directions, and is then its own reverse at most."""
    return pair.removal if pair.is_symmetric else WorstLaw(pair.removal, pair.addition)
