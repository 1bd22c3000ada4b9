"""The names that users import are pinned: adding or removing one is a decision."""

import importlib

import discreet
from discreet.core.event import Event
from tests.support.house.source import modules

PUBLIC = [
    "Accuracy",
    "Approximate",
    "ApproximateZcdp",
    "Connection",
    "Contribution",
    "DiscreetError",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Explanation",
    "Meaning",
    "Measure",
    "Metric",
    "Owner",
    "PrivacyLoss",
    "Pure",
    "Rehearsal",
    "Release",
    "SystemRng",
    "Zcdp",
    "account",
    "assert_private",
    "assert_replays",
    "calibrate",
    "connect",
    "convert",
    "exact",
    "most_uses",
    "own",
    "read_events",
]
"""What ``discreet.__all__`` holds, sorted. At most forty names."""


def test_surface_is_pinned():
    assert sorted(getattr(discreet, "__all__", [])) == PUBLIC


def test_surface_is_small():
    assert len(PUBLIC) <= 40


def test_every_name_exists_and_is_documented():
    undocumented = [name for name in PUBLIC if not getattr(discreet, name).__doc__]
    assert not undocumented


def test_names_are_listed_when_asked():
    assert set(PUBLIC) <= set(dir(discreet))


DOORS = ("__init__.py", "events.py")
"""The root, and the one module of names that are too many for it."""


def test_only_the_doors_have_a_surface():
    """``__all__`` stands in the root, and where all events are."""
    elsewhere = [m.place for m in modules() if "\n__all__" in m.text and m.place not in DOORS]
    assert not elsewhere


def test_every_event_is_behind_one_door():
    """A new event that is not importable from ``discreet.events`` fails here."""
    for module in modules():
        if module.place.startswith("core/"):
            importlib.import_module(module.name)
    made = {"Event"} | {kind.__name__ for kind in subclasses(Event) if in_package(kind)}
    assert set(discreet.events.__all__) == made
    assert sorted(made) == discreet.events.__all__


def subclasses(kind: type[Event]) -> list[type[Event]]:
    return [deep for sub in kind.__subclasses__() for deep in (sub, *subclasses(sub))]


def in_package(kind: type[Event]) -> bool:
    return kind.__module__.startswith("discreet.")
