"""Random events of every kind, made from the fields of their classes.

A new kind is drawn as soon as it exists, or fails here: its fields are of a type with no recipe.
"""

from collections.abc import Iterable
from fractions import Fraction
from functools import cache
from typing import Any

from attrs import Attribute, fields
from hypothesis import strategies as st

from discreet import events
from discreet.accounting.notation_names import ON_INTEGERS
from discreet.core.contribution import Metric
from discreet.core.event import ComposedEvent, Event
from discreet.events import (
    FixedSizeSampledEvent,
    GaussianEvent,
    MixtureEvent,
    PoissonSampledEvent,
    PureEvent,
    RenyiEvent,
    SparseVectorEvent,
)

EVENTS: tuple[type[Event], ...] = tuple(
    getattr(events, name) for name in events.__all__ if name != "Event"
)

SHARES = st.fractions(0, Fraction(99, 100), max_denominator=10**6) | st.just(Fraction(1, 10**30))
POSITIVE = st.one_of(
    st.fractions(Fraction(1, 1000), 10**6),
    st.integers(1, 10**20).map(Fraction),
    st.decimals("0.001", "1000", places=3).map(Fraction),
)
WHOLE = st.integers(1, 10**12)
ABOVE_ONE = POSITIVE.map(lambda value: 1 + value)


def every_event(kinds: Iterable[Any] = EVENTS) -> st.SearchStrategy[Event]:
    """Return events of these kinds, under either neighbour relation."""
    pairs = [(kind, metric) for kind in kinds for metric in Metric]
    return st.one_of(*(_of(kind, metric) for kind, metric in pairs))


@cache
def _leaf(metric: Metric) -> st.SearchStrategy[Event]:
    noise = POSITIVE.map(lambda scale: GaussianEvent(scale, metric=metric))
    return noise | SHARES.map(lambda epsilon: PureEvent(epsilon, metric=metric))


@cache
def _of(kind: Any, metric: Metric) -> st.SearchStrategy[Event]:
    leaf = _leaf(metric)
    if kind is ComposedEvent:
        parts = st.lists(st.tuples(leaf, st.integers(1, 50)), min_size=1, max_size=4)
        return parts.map(lambda found: ComposedEvent.of([e * count for e, count in found]))
    if kind is MixtureEvent:
        return st.tuples(leaf, _of(ComposedEvent, metric), SHARES).map(
            lambda t: MixtureEvent([(t[0], t[2]), (t[1], 1 - t[2])], metric=metric)
        )
    if kind is RenyiEvent:
        table = st.dictionaries(ABOVE_ONE, POSITIVE, min_size=1, max_size=4)
        return table.map(lambda found: RenyiEvent(found.items(), metric=metric))
    if kind is PoissonSampledEvent:
        inner = leaf | _of(ComposedEvent, metric) | _leaf(Metric.ADD_REMOVE)
        return st.builds(PoissonSampledEvent, SHARES, inner, metric=st.just(metric))
    if kind is FixedSizeSampledEvent:
        return st.builds(
            lambda sample, more, inner: FixedSizeSampledEvent(
                sample + more, sample, inner, metric=metric
            ),
            WHOLE,
            WHOLE,
            _leaf(Metric.CHANGE_ONE),
        )
    named = {a.name: _field(kind, a, leaf) for a in fields(kind) if a.name != "metric"}
    return st.builds(kind, **named, metric=st.just(metric))


def _field(
    kind: type[Event], attribute: "Attribute[Any]", leaf: st.SearchStrategy[Event]
) -> st.SearchStrategy[Any]:
    if kind is SparseVectorEvent and attribute.name == "draws":
        return st.just(1)
    if kind in ON_INTEGERS and attribute.name in ("distance", "distance_squared"):
        return WHOLE.map(Fraction)
    if attribute.name in _NAMED:
        return _NAMED[attribute.name]
    recipes: dict[Any, st.SearchStrategy[Any]] = {
        Fraction: POSITIVE,
        int: WHOLE,
        int | None: st.none() | WHOLE,
        Fraction | None: st.none() | POSITIVE,
        Event: leaf,
    }
    return recipes[attribute.type]


_NAMED = {
    "delta": SHARES,
    "truth": SHARES,
    "yes": SHARES | st.just(Fraction(1, 2)),
    "order": ABOVE_ONE,
}
