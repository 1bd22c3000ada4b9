"""Compose (ε, δ) losses by the privacy-loss distribution of what is worst for each of them."""

from fractions import Fraction

from discreet.accounting.composition.workload import Workload
from discreet.accounting.losses.result import Result
from discreet.accounting.pld.accountant import pld_delta, pld_epsilon
from discreet.core.errors import Unsupported
from discreet.core.event import Event
from discreet.core.loss import Approximate
from discreet.core.rounding import short_down, short_up
from discreet.core.stated_event import ApproximateEvent

_WIDTH = Fraction(1, 10**3)


def pld_workload_epsilon(work: Workload, delta: Fraction) -> Result:
    r"""Return an ε at ``delta``, in an interval that contains the optimum.

    Guarantee:
        The complete mechanism of :math:`(\varepsilon_i, \delta_i)` dominates every mechanism with
        that loss and has it itself [KOV15; MV16, Lemma 3.2], so that the optimum over all
        mechanisms is the loss of all of these together: both ends of the interval are about it.

    Utility:
        Hundreds of different losses take a fraction of a second, where the exact optimum is a sum
        over all subsets.

    Example:
        >>> from discreet import Pure
        >>> work = Workload.read([Pure(Fraction(k, 10_000)) for k in range(1, 301)])
        >>> found = pld_workload_epsilon(work, Fraction(1, 10**6))
        >>> found.loss.epsilon - found.lower.epsilon < Fraction(1, 500)
        True
    """
    return _own(pld_epsilon(_worst(work), delta=delta, width=_WIDTH))


def pld_workload_delta(work: Workload, epsilon: Fraction) -> Result:
    """Return a δ at ``epsilon``, in an interval that contains the optimum.

    From the sum of all ε on there is nothing to compose: only what was told with certainty counts.
    """
    if epsilon >= work.epsilon_sum:
        high, low = short_up(work.total_delta(Fraction(0))), work.least_delta(Fraction(0))
        ends = Approximate(epsilon, high), Approximate(epsilon, short_down(low))
        return Result(loss=ends[0], lower=ends[1], method="pld", theorem="MV16, Theorem 1.5")
    return _own(pld_delta(_worst(work), epsilon=epsilon, width=_WIDTH))


def _own(result: Result) -> Result:
    if result.method != "pld":
        raise Unsupported("The interval around the optimum is not narrow here")
    return Result(
        loss=result.loss, lower=result.lower, method=result.method, theorem=result.theorem
    )


def _worst(work: Workload) -> dict[Event, int]:
    return {ApproximateEvent(epsilon=e, delta=d): n for e, d, n in work.parts}
