"""Discreet: learn from data about people without learning about any one of them.

Names are loaded when they are first used, so that ``import discreet`` is quick.
"""

import importlib
from typing import Any

_HOMES = {
    "Accuracy": "discreet.releases.accuracy",
    "Approximate": "discreet.core.loss",
    "ApproximateZcdp": "discreet.core.loss",
    "Connection": "discreet.curator.connection",
    "Contribution": "discreet.core.contribution",
    "DiscreetError": "discreet.core.errors",
    "DiscreteGaussian": "discreet.mechanisms.noise.discrete_gaussian",
    "DiscreteLaplace": "discreet.mechanisms.noise.discrete_laplace",
    "Explanation": "discreet.curator.explanation",
    "Meaning": "discreet.accounting.meaning",
    "Measure": "discreet.core.loss",
    "Metric": "discreet.core.contribution",
    "Owner": "discreet.curator.owner",
    "PrivacyLoss": "discreet.core.loss",
    "Pure": "discreet.core.loss",
    "Rehearsal": "discreet.curator.rehearse",
    "Release": "discreet.releases.release",
    "SystemRng": "discreet.randomness.rng",
    "Zcdp": "discreet.core.loss",
    "account": "discreet.accounting.accounting_question",
    "assert_private": "discreet.audit.assertions",
    "assert_replays": "discreet.audit.assertions",
    "calibrate": "discreet.accounting.calibration",
    "connect": "discreet.curator.connection",
    "convert": "discreet.accounting.conversions.convert",
    "exact": "discreet.core.numbers",
    "most_uses": "discreet.accounting.calibration",
    "own": "discreet.curator.owner",
    "read_events": "discreet.accounting.notation",
}

__all__ = [
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

_DOORS = ("events",)
"""Modules of names that are too many for the root: ``discreet.events.GaussianEvent``."""


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("discreet")
    if name in _DOORS:
        return importlib.import_module(f"discreet.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'discreet' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, *_DOORS, "__version__"]
