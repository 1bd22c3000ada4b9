"""Events of our own mechanisms: noise, responses, selections, stable releases and thresholds.

Only the *differences* between scores matter to a choice of one of many. ``spread`` is how far one
unit can move such a difference: the largest minus the smallest change of any score. For scores that
may move by at most Δ each it is 2Δ; if all of them move in the same direction it is Δ.
"""

from fractions import Fraction

from attrs import field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.event import Event, event_of
from discreet.core.numbers import exact


@frozen(repr=False)
class DiscreteLaplaceEvent(Event):
    """Independent discrete Laplace noise of ``scale`` on integers at L1 distance ``distance``."""

    kind = "discrete_laplace"
    scale: Fraction = field(converter=exact, validator=check.positive)
    distance: Fraction = field(converter=exact, validator=check.non_negative)


@frozen(repr=False)
class DiscreteGaussianEvent(Event):
    """Independent discrete Gaussian noise on integers at squared L2 distance ``distance_squared``.

    ``entries`` (how many entries change) and ``largest`` (by how much at most) may sharpen the
    bound; ``None`` means that nothing is known.
    """

    kind = "discrete_gaussian"
    sigma_squared: Fraction = field(converter=exact, validator=check.positive)
    distance_squared: Fraction = field(converter=exact, validator=check.non_negative)
    entries: int | None = field(default=None, converter=check.optional_whole)
    largest: Fraction | None = field(default=None, converter=check.optional_exact)


@frozen(kw_only=True, repr=False)
class TruncatedGeometricEvent(Event):
    """Discrete Laplace noise of ``scale``, moved to ``±bound`` where it is beyond, on integers.

    At most ``entries`` entries change, each by at most ``largest``, all by at most ``distance``.
    """

    kind = "truncated_geometric"
    scale: Fraction = field(converter=exact, validator=check.positive)
    bound: int = field(converter=check.whole, validator=check.positive)
    distance: Fraction = field(converter=exact, validator=check.non_negative)
    largest: Fraction = field(converter=exact, validator=check.non_negative)
    entries: int = field(converter=check.whole, validator=check.non_negative)


@frozen(repr=False)
class LinfExponentialEvent(Event):
    """Noise with weight ``exp(-max|z| / scale)`` on integer vectors at L∞ distance ``distance``."""

    kind = "linf_exponential"
    scale: Fraction = field(converter=exact, validator=check.positive)
    distance: Fraction = field(converter=exact, validator=check.non_negative)


@frozen(repr=False)
class UniformNoiseEvent(Event):
    """Independent uniform noise on ``-radius..radius`` on integers at L1 distance ``distance``."""

    kind = "uniform_noise"
    radius: int = field(converter=check.whole, validator=check.non_negative)
    distance: Fraction = field(converter=exact, validator=check.non_negative)


@frozen(repr=False)
class RandomisedResponseEvent(Event):
    """The true one of ``categories`` is reported e^epsilon times as often as each other one."""

    kind = "randomised_response"
    epsilon: Fraction = field(converter=exact, validator=check.non_negative)
    categories: int = field(default=2, converter=check.whole, validator=check.positive)


@frozen(repr=False)
class TwoCoinResponseEvent(Event):
    """The true bit with probability ``truth``, otherwise a coin that says yes with ``yes``."""

    kind = "two_coin_response"
    truth: Fraction = field(converter=exact, validator=check.probability)
    yes: Fraction = field(converter=exact, validator=check.probability)


@frozen(repr=False)
class ApproximateResponseEvent(Event):
    """The complete mechanism: tell the bit with probability ``delta``, else randomise it."""

    kind = "approximate_response"
    epsilon: Fraction = field(converter=exact, validator=check.non_negative)
    delta: Fraction = field(converter=exact, validator=check.probability)


@frozen(repr=False)
class SignOfGaussianEvent(Event):
    """The sign of a value of ±1 plus one normal variable of variance ``sigma_squared``."""

    kind = "sign_of_gaussian"
    sigma_squared: Fraction = field(converter=exact, validator=check.positive)


@frozen(repr=False)
class ExponentialSelectionEvent(Event):
    """One candidate, chosen with a weight proportional to ``exp(score / scale)``.

    Each candidate may have a weight of its own besides, if no data went into it.
    """

    kind = "exponential_selection"
    scale: Fraction = field(converter=exact, validator=check.positive)
    spread: Fraction = field(converter=exact, validator=check.non_negative)


@frozen(repr=False)
class PermuteAndFlipEvent(Event):
    """The candidate whose score plus exponential noise of mean ``scale`` is the largest."""

    kind = "permute_and_flip"
    scale: Fraction = field(converter=exact, validator=check.positive)
    spread: Fraction = field(converter=exact, validator=check.non_negative)


@frozen(repr=False)
class LaplaceNoisyMaxEvent(Event):
    """The first candidate with the largest integer score plus discrete Laplace noise of ``scale``.

    With it, by how much more than needed its noisy score won.
    """

    kind = "laplace_noisy_max"
    scale: Fraction = field(converter=exact, validator=check.positive)
    spread: Fraction = field(converter=exact, validator=check.non_negative)


@frozen(kw_only=True, repr=False)
class ThresholdedLaplaceEvent(Event):
    """Counts of *present* keys plus discrete Laplace noise, shown if at least ``threshold``.

    An absent key has no noise and is never shown. One unit moves at most ``groups`` counts, each by
    at most ``largest`` and all by at most ``distance``; a key that only its rows make present
    therefore counts at most ``largest``.
    """

    kind = "thresholded_laplace"
    scale: Fraction = field(converter=exact, validator=check.positive)
    threshold: int = field(converter=check.whole, validator=check.positive)
    groups: int = field(converter=check.whole, validator=check.non_negative)
    largest: int = field(converter=check.whole, validator=check.non_negative)
    distance: Fraction = field(converter=exact, validator=check.non_negative)


@frozen(kw_only=True, repr=False)
class ThresholdedGaussianEvent(Event):
    """As :class:`ThresholdedLaplaceEvent`, with discrete Gaussian noise and squared L2 distance."""

    kind = "thresholded_gaussian"
    sigma_squared: Fraction = field(converter=exact, validator=check.positive)
    threshold: int = field(converter=check.whole, validator=check.positive)
    groups: int = field(converter=check.whole, validator=check.non_negative)
    largest: int = field(converter=check.whole, validator=check.non_negative)
    distance_squared: Fraction = field(converter=exact, validator=check.non_negative)


@frozen(kw_only=True, repr=False)
class StabilityTestEvent(Event):
    """A margin plus discrete Laplace noise of ``scale`` decides whether something is released.

    Between neighbours, either the margin moves by at most ``distance`` and what follows is
    accounted for elsewhere; or the margins are both at most ``unstable``, and nothing is known
    about what follows. It follows if the noisy margin is at least ``threshold``.
    """

    kind = "stability_test"
    scale: Fraction = field(converter=exact, validator=check.positive)
    threshold: int = field(converter=check.whole, validator=check.positive)
    distance: int = field(converter=check.whole, validator=check.non_negative)
    unstable: int = field(converter=check.whole, validator=check.non_negative)


@frozen(kw_only=True, repr=False)
class SparseVectorEvent(Event):
    """Queries compared with noisy thresholds until ``above`` of them were above.

    ``threshold_noise`` is the noise of a threshold that moves by the sensitivity of one query, and
    ``query_noise`` that of a query that moves by twice as much. The threshold's noise is drawn
    ``draws`` times: once for all, or once for each query above. At most ``queries`` are asked;
    ``None`` means that there is no limit.
    """

    kind = "sparse_vector"
    threshold_noise: Event = field(converter=event_of)
    query_noise: Event = field(converter=event_of)
    above: int = field(default=1, converter=check.whole, validator=check.positive)
    draws: int = field(default=1, converter=check.whole, validator=check.positive)
    queries: int | None = field(default=None, converter=check.optional_whole)

    def __attrs_post_init__(self) -> None:
        """Refuse noises about other neighbours, and numbers that do not fit together."""
        if {self.threshold_noise.metric, self.query_noise.metric} != {self.metric}:
            raise InvalidArgument(
                "These noises are about other neighbours", must=f"be about {self.metric.value}"
            )
        if not 1 <= self.draws <= self.above or (self.queries is not None and self.queries < 1):
            raise InvalidArgument(
                "The numbers do not fit together",
                must="draw at least once, at most once for each query above, and ask one or more",
                got=f"draws = {self.draws}, above = {self.above} and queries = {self.queries}",
            )


@frozen(kw_only=True, repr=False)
class HaltingSparseVectorEvent(Event):
    """Queries that are never negative, compared until one is above, with discrete Gaussian noise.

    No threshold is above ``ceiling``; one unit moves a query by at most ``distance``. The number
    of queries has no limit: enough of them end the machine by noise alone.
    """

    kind = "halting_sparse_vector"
    threshold_variance: Fraction = field(converter=exact, validator=check.positive)
    query_variance: Fraction = field(converter=exact, validator=check.positive)
    distance: Fraction = field(converter=exact, validator=check.non_negative)
    ceiling: int = field(converter=check.whole, validator=check.non_negative)


@frozen(kw_only=True, repr=False)
class BetweenThresholdsEvent(Event):
    """Queries answered *below* or *above* two thresholds ``gap`` apart, until one is between.

    One unit moves a query by at most ``distance``. δ depends on the ε at which it is stated, so
    ``epsilon`` belongs to the event.
    """

    kind = "between_thresholds"
    threshold_scale: Fraction = field(converter=exact, validator=check.positive)
    query_scale: Fraction = field(converter=exact, validator=check.positive)
    distance: int = field(converter=check.whole, validator=check.non_negative)
    gap: int = field(converter=check.whole, validator=check.non_negative)
    epsilon: Fraction = field(converter=exact, validator=check.positive)


@frozen(kw_only=True, repr=False)
class AdaptiveThresholdsEvent(Event):
    """Sorted values cut at noisy ranks into ``2**depth`` chunks, each with a machine of its own.

    A cut's rank carries ``depth`` discrete Laplace variables of ``cut_scale``, one for each prefix
    of its number; each chunk is asked through the machine of ``chunk``.
    """

    kind = "adaptive_thresholds"
    depth: int = field(converter=check.whole, validator=check.positive)
    cut_scale: Fraction = field(converter=exact, validator=check.positive)
    chunk: Event = field(converter=event_of)
