"""Events: all that an accountant must know about one use of a mechanism, and nothing else.

An event is frozen and its meaning never changes: discrete and continuous noise are different
events, and a corrected theorem is a new accountant, not a new meaning of an old event.
"""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, ClassVar

from attrs import field, fields, frozen

from discreet.core import check
from discreet.core.contribution import Metric, metric_of
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.numbers import exact, written


@frozen(repr=False)
class Event:
    """One use of a mechanism on data whose neighbours are given by ``metric``."""

    kind: ClassVar[str]
    metric: Metric = field(default=Metric.ADD_REMOVE, converter=metric_of, kw_only=True)

    def to_json(self) -> dict[str, Any]:
        """Return the event as plain JSON values, numbers as exact text."""
        values = {a.name: _plain(getattr(self, a.name)) for a in fields(type(self))}
        return {"kind": self.kind} | values

    def __repr__(self) -> str:
        """Show how the event is made, in decimals where they are exact, without the defaults."""
        given = [a.name for a in fields(type(self)) if getattr(self, a.name) != a.default]
        given.sort(key=lambda name: name == "metric")
        named = (f"{name}={_brief(getattr(self, name))}" for name in given)
        return f"{type(self).__name__}({', '.join(named)})"

    def __add__(self, other: "Event") -> "ComposedEvent":
        """Compose two events on the same neighbours."""
        return ComposedEvent.of([self, other])

    def __mul__(self, count: int) -> "ComposedEvent":
        """Compose this event with itself, ``count`` times in all."""
        return ComposedEvent(parts=((self, check.whole(count)),), metric=self.metric)

    __rmul__ = __mul__


@frozen(repr=False)
class ComposedEvent(Event):
    """Several events, each a number of times, chosen adaptively or not.

    Example:
        >>> from discreet.events import DiscreteLaplaceEvent
        >>> noise = DiscreteLaplaceEvent(scale=2, distance=1)
        >>> (noise + noise).parts == (noise * 2).parts
        True
    """

    kind = "composed"
    parts: tuple[tuple[Event, int], ...]

    def __attrs_post_init__(self) -> None:
        """Refuse mixed neighbour relations and counts below zero."""
        for event, count in self.parts:
            if event.metric is not self.metric:
                raise Unsupported(
                    "These events are about different neighbours",
                    must=f"all be about {self.metric.value}",
                    got=event.metric.value,
                    next="Convert them to one relation first",
                )
            if count < 0:
                raise InvalidArgument("count is out of range", must="be at least 0", got=str(count))

    def __repr__(self) -> str:
        """Show the sum as it is written."""
        shown = [_counted(event, count) for event, count in self.parts[:_MOST_SHOWN]]
        if len(self.parts) > _MOST_SHOWN:
            shown.append(f"... ({len(self.parts) - _MOST_SHOWN} kinds more)")
        is_one = len(self.parts) == 1 and self.parts[0][1] == 1
        return f"{shown[0]} * 1" if is_one else " + ".join(shown) or "ComposedEvent(parts=())"

    @staticmethod
    def of(events: "list[Event] | tuple[Event, ...]") -> "ComposedEvent":
        """Compose ``events``, counting equal ones together."""
        if not events:
            raise InvalidArgument("There is nothing to compose", must="give at least one event")
        counts: dict[Event, int] = {}
        found = [event_of(event) for event in events]
        for event in found:
            parts = event.parts if isinstance(event, ComposedEvent) else ((event, 1),)
            for part, count in parts:
                counts[part] = counts.get(part, 0) + count
        return ComposedEvent(parts=tuple(counts.items()), metric=found[0].metric)


def require_one_metric(events: Iterable[Event]) -> list[Event]:
    """Return ``events`` as a list, or refuse if they are about different neighbours."""
    found = list(events)
    metrics = {event.metric for event in found}
    if len(metrics) > 1:
        raise Unsupported(
            "These events are about different neighbours",
            must="all be about the same relation",
            got=", ".join(sorted(metric.value for metric in metrics)),
            next="Convert them to one relation first",
        )
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, Event):
        return value.to_json()
    if isinstance(value, Metric):
        return value.value
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value


_MOST_SHOWN = 6
_LONGEST_QUOTIENT = 24


def _counted(event: Event, count: int) -> str:
    shown = f"({event!r})" if isinstance(event, ComposedEvent) else repr(event)
    return shown if count == 1 else f"{shown} * {count}"


def _brief(value: Any) -> str:
    """Return a value as one would write it; "≈" says that an exact number was too long to show."""
    if isinstance(value, Metric):
        return repr(value.value)
    if isinstance(value, tuple):
        return f"({', '.join(map(_brief, value))}{',' if len(value) == 1 else ''})"
    if not isinstance(value, Fraction):
        return repr(value)
    text = written(value)
    if "/" not in text:
        return text
    return repr(text) if len(text) <= _LONGEST_QUOTIENT else f"≈{float(value):.6g}"


def event_of(value: Any) -> Event:
    """Return an event; refuse anything else."""
    if isinstance(value, Event):
        return value
    raise InvalidArgument(
        "That is not an event",
        must="be an Event of discreet.events",
        got=type(value).__name__,
        next="Read text with read_events",
    )


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
        >>> from discreet.accounting import event_from_json
        >>> from discreet.events import GaussianEvent
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
        if self.inner.metric is self.metric or self.inner.metric is Metric.ADD_REMOVE:
            return
        raise Unsupported(
            "What the sample is about does not follow from what is inside",
            must="be about a changed unit, as the event inside is",
            got=self.metric.value,
            next="Say metric='change_one' of the sample, or put one about an added unit inside",
        )


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
        >>> from discreet.accounting import event_from_json
        >>> from discreet.events import PureEvent
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
