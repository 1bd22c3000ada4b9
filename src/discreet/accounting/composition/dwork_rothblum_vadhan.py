r"""Advanced composition as it was first proved [DRV10]."""

from fractions import Fraction

from discreet.accounting.composition.workload import Workload
from discreet.accounting.losses.result import Result
from discreet.core.errors import Unsupported
from discreet.core.loss import Approximate
from discreet.core.rounding import exp_up, log_up, short_up, sqrt_up

_METHOD, _THEOREM = "drv", "DRV10; DR14, Theorem 3.20"
_LARGEST_SHOWN = 10**300
_LARGEST_EPSILON = 1000


def drv_epsilon(work: Workload, delta: Fraction) -> Result:
    r"""Return an ε at which the losses together are (ε, δ)-DP.

    Guarantee:
        .. math:: \varepsilon = \sqrt{2 \ln(1/\delta') \sum \varepsilon_i^2}
                  + \sum \varepsilon_i (e^{\varepsilon_i} - 1),
                  \qquad \delta' = \delta - \sum \delta_i > 0.

        The privacy loss of step :math:`i` lies
        in :math:`[-\varepsilon_i, \varepsilon_i]` and has a mean of at most
        :math:`\varepsilon_i (e^{\varepsilon_i} - 1)` given the past, so by the inequality of
        Azuma and Hoeffding the sum exceeds the bound with probability at most :math:`\delta'`
        [DRV10; DR14, Theorem 3.20]. With :math:`\delta_i > 0` compare with the complete mechanism
        of each step, which is pure unless it fails, with probability :math:`\delta_i`
        [KOV15; MV16, Lemma 3.2].

    Example:
        >>> from discreet import Pure
        >>> float(drv_epsilon(Workload.read({Pure("0.1"): 100}), Fraction(1, 10**6)).loss.epsilon)
        6.308...
    """
    rest = work.rest(delta)
    if rest == 0:
        raise Unsupported(
            "Advanced composition needs a delta of its own",
            must=f"be above {float(work.delta_sum):.3g}",
            got=f"{float(delta):.3g}",
        )
    bound = sqrt_up(2 * log_up(1 / rest) * work.square_sum) + _mean(work)
    return Result(loss=Approximate(short_up(bound), delta), method=_METHOD, theorem=_THEOREM)


def drv_delta(work: Workload, epsilon: Fraction) -> Result:
    r"""Return :math:`e^{-(\varepsilon - m)^2 / (2 \sum \varepsilon_i^2)} + \sum \delta_i`.

    Here ``m`` is the second sum of :func:`drv_epsilon`, of which this is the inverse.
    """
    beyond = epsilon - _mean(work)
    if beyond <= 0:
        raise Unsupported(
            "Advanced composition says nothing at this epsilon",
            must=f"be above {_shown(epsilon - beyond)}",
            got=_shown(epsilon),
        )
    square = work.square_sum
    delta = (exp_up(-(beyond**2) / (2 * square)) if square else Fraction(0)) + work.delta_sum
    if delta >= 1:
        raise Unsupported("Advanced composition says nothing at this epsilon", got="a delta of 1")
    return Result(
        loss=Approximate(epsilon, min(short_up(delta), (1 + delta) / 2)),
        method=_METHOD,
        theorem=_THEOREM,
    )


def _mean(work: Workload) -> Fraction:
    if work.responses and max(work.responses) > _LARGEST_EPSILON:
        raise Unsupported(
            "Advanced composition is of no use for so large an epsilon",
            must=f"be at most {_LARGEST_EPSILON}",
            got=_shown(max(work.responses)),
            next="Basic composition is better",
        )
    means = (n * e * (exp_up(e) - 1) for e, n in work.responses.items())
    return sum(means, Fraction(0))


def _shown(value: Fraction) -> str:
    return f"{float(value):.6g}" if value <= _LARGEST_SHOWN else f"above {_LARGEST_SHOWN:.0e}"
