"""Events of mechanisms that see a random sample, or of one mechanism drawn by lot."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from attrs import field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.event import Event, event_of
from discreet.core.metric import Metric, metric_of
from discreet.core.numbers import exact


def _weighted(values: Iterable[Any]) -> tuple[tuple[Event, Fraction], ...]:
    return tuple((event_of(event), exact(weight)) for event, weight in values)


def _require_same_neighbours(outer: Event, inner: Event) -> None:
    if inner.metric is not outer.metric:
        raise Unsupported(
            "These events are about different neighbours",
            must=f"all be about {outer.metric.value}",
            got=inner.metric.value,
        )


@frozen(repr=False)
class PoissonSampledEvent(Event):
    """``inner`` on a sample into which each unit comes by itself with probability ``rate``.

    The sample, and its size, stay secret. Where units are changed, ``inner`` says either what a
    change in its sample does, or what an added or removed unit does. The second is what clipped
    contributions give, and far better: a mechanism that protects changes alone may tell how many
    units were sampled, and with it that the changed one is there.

    Example:
        >>> from discreet.core.stated_event import GaussianEvent
        >>> from discreet.core.event_json import event_from_json
        >>> step = PoissonSampledEvent("256/60000", GaussianEvent("1.1"))
        >>> step
        PoissonSampledEvent(rate='8/1875', inner=GaussianEvent(scale=1.1))
        >>> event_from_json(step.to_json()) == step
        True
    """

    kind = "poisson_sampled"
    rate: Fraction = field(converter=exact, validator=check.probability)
    inner: Event = field(converter=event_of)

    def __attrs_post_init__(self) -> None:
        """Refuse an inner event about other neighbours, unless it says more than is needed."""
        if self.inner.metric is not Metric.ADD_REMOVE:
            _require_same_neighbours(self, self.inner)


@frozen(repr=False)
class FixedSizeSampledEvent(Event):
    """``inner`` on ``sample`` of the ``population`` units, drawn without replacement.

    Samples have the same size, so ``inner`` says what a change of one unit does. Neighbours differ
    by a change of one, and the number of units is public; or by a unit added or removed, and then
    ``population`` is a number that the larger data set certainly has.
    """

    kind = "fixed_size_sampled"
    population: int = field(converter=check.whole, validator=check.positive)
    sample: int = field(converter=check.whole, validator=check.non_negative)
    inner: Event = field(converter=event_of)
    metric: Metric = field(default=Metric.CHANGE_ONE, converter=metric_of, kw_only=True)

    def __attrs_post_init__(self) -> None:
        """Refuse other neighbours, and a sample that is larger than the smaller data set."""
        if self.inner.metric is not Metric.CHANGE_ONE:
            raise Unsupported(
                "Samples of fixed size differ by a change of one unit",
                must=f"have an inner event about {Metric.CHANGE_ONE.value}",
                got=self.inner.metric.value,
            )
        smaller = self.population - (self.metric is Metric.ADD_REMOVE)
        if self.sample > smaller:
            raise InvalidArgument(
                "sample is out of range", must=f"be at most {smaller}", got=str(self.sample)
            )

    @property
    def rate(self) -> Fraction:
        """The chance that a unit is in the sample."""
        return Fraction(self.sample, self.population)


@frozen(repr=False)
class MixtureEvent(Event):
    """One of several events, drawn by public weights that add up to 1; which one is told.

    Example:
        >>> from discreet.core.stated_event import PureEvent
        >>> from discreet.core.event_json import event_from_json
        >>> event = MixtureEvent([(PureEvent(1), "1/4"), (PureEvent(0), "3/4")])
        >>> event_from_json(event.to_json()) == event
        True
    """

    kind = "mixture"
    parts: tuple[tuple[Event, Fraction], ...] = field(
        converter=_weighted, validator=check.non_empty
    )

    def __attrs_post_init__(self) -> None:
        """Refuse other neighbours, and weights that are not probabilities."""
        for event, weight in self.parts:
            _require_same_neighbours(self, event)
            if weight < 0:
                raise InvalidArgument("A weight is below 0", must="be at least 0", got=str(weight))
        total = sum(weight for _, weight in self.parts)
        if total != 1:
            raise InvalidArgument("The weights are wrong", must="add up to 1", got=str(total))
