"""Attacks on each model of privacy: questions, synthetic files, surveys and exact releases.

Reports are private where they are on real rows. All that a user takes is importable from here.

Example:
    >>> from discreet.attacks.models import read_totals, solve_rows
    >>> both = [{"of": [0, 1], "total": 9}, {"of": [0], "total": 4}]
    >>> print(solve_rows(read_totals({"rows": 2, "totals": both})))
    2 of 2 rows follow exactly from the totals.
"""

from discreet.core.lazy_names import lazy_names

_HOMES = {
    "AskedQuestions": "discreet.attacks.models.asked_questions",
    "AttackReport": "discreet.attacks.models.attempt",
    "Attempt": "discreet.attacks.models.attempt",
    "BatchedQuestions": "discreet.attacks.models.asked_questions",
    "QuestionAttack": "discreet.attacks.models.question_attack",
    "SurveyAttack": "discreet.attacks.models.survey_attack",
    "SyntheticAttack": "discreet.attacks.models.synthetic_attack",
    "TotalAttack": "discreet.attacks.models.exact_attack",
    "attack_file": "discreet.attacks.models.file_attack",
    "attack_questions": "discreet.attacks.models.question_attack",
    "attack_total": "discreet.attacks.models.exact_attack",
    "average_reports": "discreet.attacks.models.survey_attack",
    "crossing_share": "discreet.attacks.models.survey_attack",
    "difference": "discreet.attacks.differencing",
    "find_crossing": "discreet.attacks.models.survey_attack",
    "infer_membership": "discreet.attacks.models.synthetic_attack",
    "infer_secrets": "discreet.attacks.models.synthetic_attack",
    "judge_by_distance": "discreet.attacks.models.nearest_record",
    "link_devices": "discreet.attacks.models.survey_attack",
    "nearest_record_test": "discreet.attacks.models.nearest_record",
    "read_totals": "discreet.attacks.models.exact_attack",
    "solve_rows": "discreet.attacks.models.exact_attack",
}

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
