"""Events: all that an accountant must know about one use of a mechanism, and nothing else.

An event is frozen and its meaning never changes: discrete and continuous noise are different
events, and a corrected theorem is a new accountant, not a new meaning of an old event.
"""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, ClassVar

from attrs import field, fields, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.metric import Metric, metric_of
from discreet.core.numbers import exact
from discreet.core.written import written


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
class ComposedEvent(Event):
    """Several events, each a number of times, chosen adaptively or not.

    Example:
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
