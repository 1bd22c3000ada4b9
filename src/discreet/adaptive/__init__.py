"""Adaptive: findings that hold up, although questions depend on earlier answers.

Example:
    >>> from discreet.adaptive import least_rows
    >>> print(least_rows(alpha="0.1", questions=100, beta="0.05"))
    100 adaptive answers from ... rows are within 0.09992 of the population, but for a chance ...
"""

from discreet.core.lazy_names import lazy_names

_HOMES = {
    "DeclaredRange": "discreet.adaptive.row_values",
    "ExpectationTransfer": "discreet.adaptive.transfer",
    "GaussianAnswers": "discreet.adaptive.guarantee",
    "Holdout": "discreet.adaptive.holdout",
    "MonitorTransfer": "discreet.adaptive.transfer",
    "OverfittingTransfer": "discreet.adaptive.transfer",
    "PopulationAnswer": "discreet.adaptive.holdout",
    "PopulationGuarantee": "discreet.adaptive.guarantee",
    "PosteriorTransfer": "discreet.adaptive.transfer",
    "SampleAccuracy": "discreet.adaptive.transfer",
    "expected_guarantee": "discreet.adaptive.guarantee",
    "fixed_guarantee": "discreet.adaptive.guarantee",
    "gaussian_guarantee": "discreet.adaptive.guarantee",
    "guarantees": "discreet.adaptive.guarantee",
    "least_rows": "discreet.adaptive.rows_needed",
    "splitting_guarantee": "discreet.adaptive.guarantee",
}

__all__ = [
    "DeclaredRange",
    "ExpectationTransfer",
    "GaussianAnswers",
    "Holdout",
    "MonitorTransfer",
    "OverfittingTransfer",
    "PopulationAnswer",
    "PopulationGuarantee",
    "PosteriorTransfer",
    "SampleAccuracy",
    "expected_guarantee",
    "fixed_guarantee",
    "gaussian_guarantee",
    "guarantees",
    "least_rows",
    "splitting_guarantee",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
