"""Roles: what an analyst holds, and what an owner holds. Each has its own way to every model.

Who asks one thing does not load the models of all others: the ways to them wait.
"""

from discreet.core.waiting_modules import let_wait

WAITING = (
    "discreet.adaptive.gated.first_questions",
    "discreet.adaptive.gated.holdout_explanation",
    "discreet.adaptive.gated.holdout_plan",
    "discreet.adaptive.gated.table_holdout",
    "discreet.adaptive.question_mix",
    "discreet.curator.answer",
    "discreet.curator.batch",
    "discreet.curator.budget.budget_status",
    "discreet.curator.budget.project_page",
    "discreet.curator.explanation.explanation",
    "discreet.curator.free_answer",
    "discreet.curator.profile.profile",
    "discreet.curator.profile.stored_profile",
    "discreet.curator.rehearse",
    "discreet.curator.stored_answers",
    "discreet.releases.free_answer",
    "discreet.releases.profile",
    "discreet.releases.release",
    "discreet.roles.stored_releases",
    "discreet.synthesis.find_published",
    "discreet.synthesis.judge",
    "discreet.synthesis.plan",
    "discreet.synthesis.published.dialogue_explanation",
    "discreet.synthesis.published.given_keys",
    "discreet.synthesis.published.open_queries",
    "discreet.synthesis.published.publish",
    "discreet.synthesis.published.published_counts",
    "discreet.synthesis.published.publishing_explanation",
    "discreet.synthesis.published.publishing_method",
    "discreet.synthesis.published.publishing_methods",
    "discreet.synthesis.published.query_machines",
    "discreet.synthesis.rehearse_synthesis",
    "discreet.synthesis.related.judge_related",
    "discreet.synthesis.related.rehearse_related",
    "discreet.synthesis.related.related_explanation",
    "discreet.synthesis.related.related_release",
    "discreet.synthesis.related.synthesise_related",
    "discreet.synthesis.report",
    "discreet.synthesis.synthesis_explanation",
    "discreet.synthesis.synthesise",
    "discreet.synthesis.synthetic_answer",
    "discreet.synthesis.synthetic_release",
)
"""What the methods of a connection need, each of them something else."""

let_wait(*WAITING)
