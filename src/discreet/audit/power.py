"""How much a sampling audit can see, before a single sample is drawn."""

from fractions import Fraction

from discreet.audit.binomial import upper_tail_bound
from discreet.audit.output_event import OutcomeSet
from discreet.audit.sampling import DEFAULT_CONFIDENCE, AuditResult
from discreet.core.check import whole
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact


def detectable_epsilon(
    likely: Number,
    unlikely: Number,
    *,
    samples: int,
    delta: Number = 0,
    confidence: Number = DEFAULT_CONFIDENCE,
    power: Number = Fraction(9, 10),
) -> Fraction:
    r"""Return the :math:`\varepsilon` that an audit certifies with probability at least ``power``.

    Any claim below the returned number is refuted that often. The two masses are the probabilities
    of the event on the two data sets, for example from the exact verifier's laws; the gap between
    :math:`\ln((likely - \delta)/unlikely)` and the result is what this many samples cannot see.

    Guarantee:
        Proof. Half of the samples are counted. The certified bound grows with the count on the
        likely side and falls with the other count, and each count is on the wrong side of its
        limit below with probability at most :math:`(1 - power)/2`, by certified binomial tails.

    Assumes:
        The audit bets on this event, or on a better one.

    Example:
        >>> few, many = (detectable_epsilon("3/4", "1/4", samples=n) for n in (200, 20_000))
        >>> few < many < Fraction("1.0987")
        True
    """
    likely, unlikely, power = exact(likely), exact(unlikely), exact(power)
    if not (0 <= unlikely <= 1 and 0 <= likely <= 1 and 0 < power < 1):
        raise InvalidArgument("A probability is out of range", must="lie between 0 and 1")
    trials = whole(samples) - whole(samples) // 2
    if trials < 1:
        raise InvalidArgument("samples is out of range", must="be at least 1", got=str(samples))
    miss = (1 - power) / 2
    result = AuditResult(
        event=OutcomeSet(frozenset()),
        likelier_on="first",
        likely_hits=trials - _most(trials, 1 - likely, miss),
        likely_trials=trials,
        unlikely_hits=_most(trials, unlikely, miss),
        unlikely_trials=trials,
        delta=exact(delta),
        confidence=exact(confidence),
    )
    return result.epsilon_lower


def _most(trials: int, probability: Fraction, miss: Fraction) -> int:
    """Return a number that a binomial count exceeds with probability at most ``miss``."""
    low, high = -1, trials
    while high - low > 1:
        middle = (low + high) // 2
        if upper_tail_bound(middle + 1, trials, probability) <= miss:
            high = middle
        else:
            low = middle
    return high
