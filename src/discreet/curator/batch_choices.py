"""What a batch chooses from profiles before it is priced: limits and bounds of each question.

Guarantee:
    The choices look at profiles, which are public, at declarations and at the price, as for a
    single question. So they cost nothing; the plans have them as they have any others.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial

from attrs import evolve

from discreet.accounting.filters.filter import largest_mu_squared
from discreet.core.errors import RefusedQuery
from discreet.core.loss import Approximate, Zcdp
from discreet.curator.answer import bound, read_questions
from discreet.curator.limits.choose_bounds import are_chosen, choose_bounds, widest
from discreet.curator.limits.choose_limits import require_proposal
from discreet.curator.limits.limits_error import Allocation
from discreet.curator.price.allocate import allocate
from discreet.project.project import Project
from discreet.sql.question import Question
from discreet.tables.catalog import with_given
from discreet.tables.keyset import PublicKeys
from discreet.tables.plans.aggregate import Tally
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.plans.tighten import tighten


def read_batch(
    project: Project,
    queries: Sequence[str],
    target: Approximate,
    *,
    limits: Mapping[str, int],
    is_auto: bool,
) -> tuple[Question, ...]:
    """Return the questions of a batch, with limits and bounds that are given or chosen.

    Each choice is made for an equal part of the price.
    """
    whole = Zcdp(largest_mu_squared(target.epsilon, target.delta) / 2)
    part = whole * Fraction(1, len(queries))
    questions = tuple(
        evolve(question, limits=with_given(question.limits, limits))
        for question in read_questions(
            project, queries, [widest] * len(queries), takes_private=False
        )
    )
    _require_no_price(questions)
    is_open = any(map(are_chosen, questions))
    questions = _with_bounds(project, queries, questions, part) if is_open else questions
    if is_auto:
        questions = tuple(_with_limits(project, questions, part))
        questions = _with_bounds(project, queries, questions, part) if is_open else questions
    return questions


def _require_no_price(questions: Sequence[Question]) -> None:
    if any(question.price is not None for question in questions):
        raise RefusedQuery(
            "A question of the batch gives a price of its own",
            must="be paid for by the batch alone",
            next="Leave epsilon and delta out of its OPTIONS, or ask it by itself",
        )


def _with_bounds(
    project: Project, queries: Sequence[str], questions: Sequence[Question], part: Zcdp
) -> tuple[Question, ...]:
    """Return each question with the bounds that the profile of its table proposes."""
    chosen = [
        choose_bounds(
            project,
            question,
            tighten(bound(question, sharing=len(questions))),
            _shares(question, part),
        )
        for question in questions
    ]
    again = read_questions(project, queries, chosen, takes_private=False)
    return tuple(
        evolve(
            new,
            limits=old.limits,
            view=evolve(new.view, has_chosen_limits=old.view.has_chosen_limits),
        )
        for new, old in zip(again, questions, strict=True)
    )


def _with_limits(project: Project, questions: Sequence[Question], part: Zcdp) -> Iterator[Question]:
    """Yield each question with the limits that a profile proposes.

    A choice behind the gate would have to be paid for by each question: without a profile, limits
    have to be given.
    """
    for question in questions:
        plan = bound(question, sharing=len(questions))
        require_noise_only(plan)
        limits = require_proposal(project, plan, _shares(question, part))
        yield evolve(question, limits=limits, view=evolve(question.view, has_chosen_limits=True))


def _shares(question: Question, part: Zcdp) -> Allocation:
    return partial(allocate, weights=question.weights, price=part)


def require_noise_only(plan: BoundedPlan) -> PublicKeys:
    """Return the keys, or refuse what has no Gaussian noise to share a multiplier with."""
    if not isinstance(plan.keys, PublicKeys):
        raise RefusedQuery(
            "A batch takes public keys only: private ones have a threshold of their own",
            next="Declare the keys, or ask this question by itself",
        )
    if not all(isinstance(aggregate, Tally) for aggregate in plan.aggregates):
        raise RefusedQuery(
            "A batch adds Gaussian noise, and a quantile is a choice, not a number with noise",
            must="have counts and sums (and what is made of them) only",
            next="Ask for the quantile by itself",
        )
    return plan.keys
