"""Events of the threshold mechanisms: the whole life of one machine, charged when it is opened."""

from fractions import Fraction

from attrs import field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.event import Event, event_of
from discreet.core.numbers import exact


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
