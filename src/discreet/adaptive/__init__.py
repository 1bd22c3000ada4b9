"""Adaptive: findings that hold up, although questions depend on earlier answers.

Example:
    >>> from discreet.adaptive import least_rows
    >>> print(least_rows(alpha="0.1", questions=100, beta="0.05"))
    100 adaptive answers from ... rows are within 0.09992 of the population, but for a chance ...
"""

from discreet.core.lazy_names import lazy_names

_HOMES = {
    "DeclaredRange": "discreet.adaptive.row_values",
    "ExactMechanism": "discreet.adaptive.games",
    "ExpectationTransfer": "discreet.adaptive.transfer",
    "FinitePopulation": "discreet.adaptive.games",
    "FixedAnalyst": "discreet.adaptive.games",
    "GameKind": "discreet.adaptive.games",
    "GaussianAnswers": "discreet.adaptive.guarantee",
    "GreedyAnalyst": "discreet.adaptive.games",
    "Holdout": "discreet.adaptive.holdout",
    "MonitorTransfer": "discreet.adaptive.transfer",
    "NoisyMechanism": "discreet.adaptive.games",
    "OverfittingAudit": "discreet.adaptive.monitors",
    "OverfittingTransfer": "discreet.adaptive.transfer",
    "PlayedGame": "discreet.adaptive.games",
    "PopulationAnswer": "discreet.adaptive.holdout",
    "PopulationGuarantee": "discreet.adaptive.guarantee",
    "PosteriorTransfer": "discreet.adaptive.transfer",
    "SampleAccuracy": "discreet.adaptive.transfer",
    "SignAnalyst": "discreet.adaptive.games",
    "SparseAnswers": "discreet.adaptive.sparse_answers",
    "SparseGuarantee": "discreet.adaptive.sparse_answers",
    "WorstQuestion": "discreet.adaptive.monitors",
    "audit_overfitting": "discreet.adaptive.monitors",
    "compared_guarantees": "discreet.adaptive.compared_modes",
    "expected_guarantee": "discreet.adaptive.guarantee",
    "failure_rate": "discreet.adaptive.monitors",
    "fixed_guarantee": "discreet.adaptive.guarantee",
    "gaussian_guarantee": "discreet.adaptive.guarantee",
    "guarantees": "discreet.adaptive.guarantee",
    "least_rows": "discreet.adaptive.rows_needed",
    "play": "discreet.adaptive.games",
    "play_on": "discreet.adaptive.games",
    "sparse_crossover": "discreet.adaptive.compared_modes",
    "sparse_guarantee": "discreet.adaptive.sparse_answers",
    "splitting_guarantee": "discreet.adaptive.guarantee",
    "watch": "discreet.adaptive.monitors",
}

__all__ = [
    "DeclaredRange",
    "ExactMechanism",
    "ExpectationTransfer",
    "FinitePopulation",
    "FixedAnalyst",
    "GameKind",
    "GaussianAnswers",
    "GreedyAnalyst",
    "Holdout",
    "MonitorTransfer",
    "NoisyMechanism",
    "OverfittingAudit",
    "OverfittingTransfer",
    "PlayedGame",
    "PopulationAnswer",
    "PopulationGuarantee",
    "PosteriorTransfer",
    "SampleAccuracy",
    "SignAnalyst",
    "SparseAnswers",
    "SparseGuarantee",
    "WorstQuestion",
    "audit_overfitting",
    "compared_guarantees",
    "expected_guarantee",
    "failure_rate",
    "fixed_guarantee",
    "gaussian_guarantee",
    "guarantees",
    "least_rows",
    "play",
    "play_on",
    "sparse_crossover",
    "sparse_guarantee",
    "splitting_guarantee",
    "watch",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
