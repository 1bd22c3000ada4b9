"""The names that users import are pinned: adding or removing one is a decision."""

import discreet
from tests.support.source import modules

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


def test_only_the_root_has_a_surface():
    """``__all__`` stands in the root alone."""
    elsewhere = [m.place for m in modules() if "\n__all__" in m.text and m.place != "__init__.py"]
    assert not elsewhere
