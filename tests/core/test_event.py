"""Events: stable text, exact composition, refusals."""

import json

import pytest

from discreet.core.contribution import Metric
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.event import ComposedEvent
from discreet.core.event_json import event_from_json
from discreet.core.mechanism_event import DiscreteLaplaceEvent

NOISE = DiscreteLaplaceEvent(scale="7/2", distance=3)


def test_round_trip_through_text():
    event = NOISE * 3 + DiscreteLaplaceEvent(scale=1, distance=1)
    assert event_from_json(json.loads(json.dumps(event.to_json()))) == event


def test_the_text_of_an_event_never_changes():
    assert NOISE.to_json() == {
        "kind": "discrete_laplace",
        "metric": "add_remove",
        "scale": "7/2",
        "distance": "3",
    }


def test_equal_events_are_counted_together():
    assert ComposedEvent.of([NOISE, NOISE * 2, NOISE]).parts == ((NOISE, 4),)


def test_mixed_neighbours_are_refused():
    other = DiscreteLaplaceEvent(scale=1, distance=1, metric=Metric.CHANGE_ONE)
    with pytest.raises(Unsupported, match="different neighbours"):
        _ = NOISE + other


@pytest.mark.parametrize("count", [-1, "1/2"])
def test_bad_counts(count):
    with pytest.raises(InvalidArgument):
        _ = NOISE * count


def test_unknown_kinds_are_refused():
    with pytest.raises(Unsupported, match="not an event"):
        event_from_json({"kind": "telepathy", "metric": "add_remove"})
    with pytest.raises(InvalidArgument):
        ComposedEvent.of([])


@pytest.mark.parametrize("other", [3, "gaussian(1)", None])
def test_what_is_no_event_does_not_compose(other):
    with pytest.raises(InvalidArgument, match="not an event"):
        _ = NOISE + other
    with pytest.raises(InvalidArgument, match="not an event"):
        ComposedEvent.of([other])
