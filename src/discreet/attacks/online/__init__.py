"""Attacks on whoever answers queries one by one: prefixes, vectors, thresholds, code words.

All of them attack anything that has ``answers``. Their people are made up, so their reports hold
nobody's data. All that a user takes is importable from here.

Example:
    >>> from discreet.attacks.online import ExactMeans, search_value
    >>> search_value(ExactMeans(rows=[0, 0, 613, 1000, 1000]), lower=0, upper=1000).value
    613
"""

from discreet.core.lazy_names import lazy_names

_HOMES = {
    "AskedMachine": "discreet.attacks.online.sample_answers",
    "CiphertextKind": "discreet.attacks.online.codeword_attack",
    "CodewordAttack": "discreet.attacks.online.codeword_attack",
    "CodewordPlan": "discreet.attacks.online.codeword_attack",
    "EncryptedQuery": "discreet.attacks.online.code_keys",
    "ExactMeans": "discreet.attacks.online.sample_answers",
    "FailureCurve": "discreet.attacks.online.queries_until_failure",
    "FoundValue": "discreet.attacks.online.value_search",
    "FreshVectors": "discreet.attacks.online.vector_attack",
    "KeptVector": "discreet.attacks.online.vector_attack",
    "KeyKind": "discreet.attacks.online.code_keys",
    "KeyedRow": "discreet.attacks.online.code_keys",
    "NoisyMeans": "discreet.attacks.online.sample_answers",
    "PrefixQuery": "discreet.attacks.online.prefix_attack",
    "PrefixTracing": "discreet.attacks.online.prefix_attack",
    "RecoveredVector": "discreet.attacks.online.vector_attack",
    "ThresholdQuery": "discreet.attacks.online.value_search",
    "attack_codewords": "discreet.attacks.online.codeword_attack",
    "curve_of_failures": "discreet.attacks.online.queries_until_failure",
    "failure_curve": "discreet.attacks.online.queries_until_failure",
    "is_valid": "discreet.attacks.online.vector_attack",
    "least_agreement": "discreet.attacks.online.vector_attack",
    "play_codewords": "discreet.attacks.online.codeword_attack",
    "play_prefixes": "discreet.attacks.online.prefix_attack",
    "play_search": "discreet.attacks.online.value_search",
    "recover_vector": "discreet.attacks.online.vector_attack",
    "response_epsilon": "discreet.attacks.online.vector_attack",
    "search_value": "discreet.attacks.online.value_search",
    "trace_prefixes": "discreet.attacks.online.prefix_attack",
    "value_ceiling": "discreet.attacks.online.value_search",
}

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
