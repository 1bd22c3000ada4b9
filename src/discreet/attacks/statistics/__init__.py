"""Attacks on published statistics: who is in them, how they are overfitted, who leaked them.

Reports of these attacks are private. Who is traced *is* the data: keep a report as safe as the rows
themselves, and publish none of it. All that a user takes is importable from here.

Example:
    >>> from discreet.attacks.statistics import UniformMean, expected_attributes
    >>> expected_attributes(40, UniformMean(), references=400)
    5729
"""

from discreet.core.lazy_names import lazy_names

_HOMES = {
    "Accusation": "discreet.attacks.statistics.fingerprint_code",
    "BetaMean": "discreet.attacks.statistics.strong_priors",
    "CodeBook": "discreet.attacks.statistics.fingerprint_code",
    "CodeGame": "discreet.attacks.statistics.interactive_code",
    "DiscoveryControl": "discreet.attacks.statistics.false_discovery",
    "FingerprintCode": "discreet.attacks.statistics.fingerprint_code",
    "LeastAttributes": "discreet.attacks.statistics.attribute_counts",
    "MembershipGame": "discreet.attacks.statistics.membership_game",
    "MembershipRecord": "discreet.attacks.statistics.membership_record",
    "OverfittedQuery": "discreet.attacks.statistics.overfitting",
    "PIRATES": "discreet.attacks.statistics.pirates",
    "RocCurve": "discreet.attacks.statistics.attribute_counts",
    "Tracing": "discreet.attacks.statistics.tracing",
    "TracingNull": "discreet.attacks.statistics.score_test",
    "TracingStatistic": "discreet.attacks.statistics.tracing_weights",
    "TracingVerdict": "discreet.attacks.statistics.tracing",
    "UniformMean": "discreet.attacks.statistics.strong_priors",
    "as_means": "discreet.attacks.statistics.sign_data",
    "as_signs": "discreet.attacks.statistics.sign_data",
    "discoveries": "discreet.attacks.statistics.false_discovery",
    "distortion_from_population": "discreet.attacks.statistics.attribute_counts",
    "draw_people": "discreet.attacks.statistics.sign_data",
    "excess_ceiling": "discreet.attacks.statistics.overfitting",
    "expected_attributes": "discreet.attacks.statistics.attribute_counts",
    "expected_excess": "discreet.attacks.statistics.overfitting",
    "expected_with_pool": "discreet.attacks.statistics.attribute_counts",
    "largest_mean_score": "discreet.attacks.statistics.membership_game",
    "least_attributes": "discreet.attacks.statistics.attribute_counts",
    "least_attributes_with_pool": "discreet.attacks.statistics.attribute_counts",
    "mechanism_pirate": "discreet.attacks.statistics.pirates",
    "noisy": "discreet.attacks.statistics.pirates",
    "overfit": "discreet.attacks.statistics.overfitting",
    "play_code": "discreet.attacks.statistics.interactive_code",
    "play_copies": "discreet.attacks.statistics.copy_game",
    "play_membership": "discreet.attacks.statistics.membership_game",
    "play_overfitting": "discreet.attacks.statistics.overfitting",
    "roc_curve": "discreet.attacks.statistics.attribute_counts",
    "strength_for": "discreet.attacks.statistics.strong_priors",
    "trace_people": "discreet.attacks.statistics.tracing",
    "uniforms": "discreet.attacks.statistics.sign_data",
}

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
