"""Discreet: learn from data about people without learning about any one of them.

Names are loaded when they are first used, so that ``import discreet`` is quick. The root has what
most programs need. More is in its rooms: :mod:`discreet.mechanisms`, :mod:`discreet.events`,
:mod:`discreet.accounting`, :mod:`discreet.adaptive`, :mod:`discreet.audit`,
:mod:`discreet.synthesis`, :mod:`discreet.local`, :mod:`discreet.noiseless` and
:mod:`discreet.dbapi`.
"""

import importlib
from typing import Any

from discreet.core.lazy_names import lazy_names

_HOMES = {
    "Accuracy": "discreet.releases.accuracy",
    "Approximate": "discreet.core.loss",
    "ApproximateZcdp": "discreet.core.loss",
    "Certificate": "discreet.noiseless.certificate",
    "Connection": "discreet.roles.connection",
    "Contribution": "discreet.core.contribution",
    "DiscreetError": "discreet.core.errors",
    "DiscreteGaussian": "discreet.mechanisms.noise.discrete_gaussian",
    "DiscreteLaplace": "discreet.mechanisms.noise.discrete_laplace",
    "Explanation": "discreet.curator.explanation.explanation",
    "FreeAnswer": "discreet.releases.free_answer",
    "Meaning": "discreet.accounting.meaning",
    "Measure": "discreet.core.loss",
    "Metric": "discreet.core.contribution",
    "Owner": "discreet.roles.owner",
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
    "certify": "discreet.noiseless.advisor.certify",
    "connect": "discreet.roles.connection",
    "convert": "discreet.accounting.conversions.convert",
    "exact": "discreet.core.numbers",
    "most_uses": "discreet.accounting.calibration",
    "own": "discreet.roles.owner",
    "plan": "discreet.planner.plan",
    "plan_question": "discreet.planner.question_plan",
    "read_events": "discreet.accounting.notation",
}

__all__ = [
    "Accuracy",
    "Approximate",
    "ApproximateZcdp",
    "Certificate",
    "Connection",
    "Contribution",
    "DiscreetError",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Explanation",
    "FreeAnswer",
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
    "certify",
    "connect",
    "convert",
    "exact",
    "most_uses",
    "own",
    "plan",
    "plan_question",
    "read_events",
]

_ROOMS = (
    "accounting",
    "adaptive",
    "audit",
    "dbapi",
    "events",
    "local",
    "mechanisms",
    "noiseless",
    "synthesis",
)
"""Where the names are that are too many for the root: ``discreet.events.GaussianEvent``."""

_lent, _names = lazy_names(__name__, _HOMES, rooms=_ROOMS)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("discreet")
    return _lent(name)


def __dir__() -> list[str]:
    return [*_names(), "__version__"]
