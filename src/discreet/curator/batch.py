"""A batch: several questions declared up front, accounted for together and paid for as one.

Nothing in it depends on an answer, so the accountant may use its best theorem for fixed losses, and
the gate sees one certified (ε, δ). That buys less noise than asking one by one.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from attrs import evolve, frozen

from discreet.accounting.calibration import calibrate
from discreet.core.canonical import digest
from discreet.core.errors import RefusedQuery, Unsupported
from discreet.core.event import ComposedEvent
from discreet.core.loss import Approximate, ApproximateZcdp, GaussianDp, PrivacyLoss, Zcdp
from discreet.core.recursion import refusing_depth
from discreet.curator.answer import bound, read_questions
from discreet.curator.batch_choices import read_batch, require_noise_only
from discreet.curator.cut.left_out import left_out
from discreet.curator.cut.rows_rounded import with_rows_rounded
from discreet.curator.dearer_answer import answered_by, question_of
from discreet.curator.price.price import Drawn, PricedPlan
from discreet.curator.profile.stored_profile import profiles_of
from discreet.curator.profile.unreadable import with_unreadable
from discreet.curator.publishing.largest_release import largest_release
from discreet.curator.publishing.publish import as_asked, leg_of
from discreet.ledger.releases import SMALL, ReleaseSize
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.project.charged import charged
from discreet.project.circumstances import circumstances_of
from discreet.project.noise import require_samplable, use
from discreet.project.passage import Passage, go_through
from discreet.project.project import Project
from discreet.project.worst_case import receipt_remarks
from discreet.releases.body import Body
from discreet.releases.release import Release
from discreet.releases.view import with_remarks
from discreet.sql.aggregates.clamps import nothing_chosen
from discreet.sql.question import Question
from discreet.tables.catalog import with_given
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.plans.tighten import leaves_out, tighten

SEPARATOR, BATCH_METHOD = "; ", "method"
"""How the ledger writes the questions of a batch, and what it says of batches alone."""

MOST_QUESTIONS = 1_000

NO_LIMITS: Mapping[str, int] = {}
"""No limits but those that are declared or in the query."""


@frozen(kw_only=True)
class PricedBatch:
    """Several priced plans on one id space, and what all of them cost together."""

    questions: tuple[Question, ...]
    plans: tuple[PricedPlan, ...]
    loss: PrivacyLoss
    method: str
    earlier: tuple[str, ...] = ()
    """Names under which earlier versions stored the answers to the same batch at this price."""

    def largest(self) -> ReleaseSize:
        """Return a bound on the size of what is released."""
        return sum(map(largest_release, self.plans), SMALL)

    def digest(self) -> str:
        """Return the name of the batch: equal for equal questions at an equal price."""
        return digest({"batch": [priced.digest() for priced in self.plans]})


@refusing_depth
def price_batch(
    project: Project,
    queries: Sequence[str],
    target: Approximate,
    *,
    limits: Mapping[str, int] = NO_LIMITS,
    is_auto: bool = False,
) -> PricedBatch:
    r"""Return the batch with the least Gaussian noise whose certified loss is within ``target``.

    If it ``is_auto``, the limits of each question are those that the profile of its table proposes.
    Bounds that nobody gives are chosen from that profile too, as for a single question.

    Guarantee:
        Each aggregate gets discrete Gaussian noise in proportion to what one unit can move of it
        (:math:`\sigma^2 = m^2 \ell_2^2`), with one multiplier :math:`m` for all. The loss of all
        events together is certified by the accountant, for losses fixed beforehand; the gate then
        adds it to what was spent before by plain sums, which is valid for adaptive choices
        *between* batches (:mod:`discreet.accounting.filters.rules`).
    """
    if not 1 <= len(queries) <= MOST_QUESTIONS:
        raise RefusedQuery(
            "A batch has no questions, or too many",
            must=f"have 1 to {MOST_QUESTIONS:,}",
            got=str(len(queries)),
        )
    questions = read_batch(project, queries, target, limits=limits, is_auto=is_auto)
    plans = tuple(bound(question, sharing=len(queries)) for question in questions)
    spaces = {plan.owner().unit.id_space for plan in plans}
    if len(spaces) > 1:
        raise RefusedQuery("A batch is about one id space", got=", ".join(sorted(spaces)))
    cap = project.catalog.id_space(spaces.pop()).cap
    tight = tuple(map(tighten, plans))
    earlier = () if tight == plans else _names(questions, plans, target, cap)
    return evolve(_priced(questions, tight, target, cap), earlier=earlier)


def _names(
    questions: tuple[Question, ...],
    plans: tuple[BoundedPlan, ...],
    target: Approximate,
    cap: PrivacyLoss,
) -> tuple[str, ...]:
    """Return the name that the batch had at its price before its limits were tightened."""
    try:
        return (_priced(questions, plans, target, cap).digest(),)
    except RefusedQuery:
        return ()


def _priced(
    questions: tuple[Question, ...],
    plans: tuple[BoundedPlan, ...],
    target: Approximate,
    cap: PrivacyLoss,
) -> PricedBatch:
    public = [require_noise_only(plan) for plan in plans]
    found = calibrate(lambda m: _event(plans, m), target=target)
    assert isinstance(found.result.loss, Approximate)
    loss = _charge(cap, found.result.loss, _event(plans, found.scale))
    for plan in plans:
        for noise in _noise(plan, found.scale):
            require_samplable(noise.spread)
    priced = tuple(
        PricedPlan(plan=plan, groups=keys, answers=_answers(plan, found.scale), loss=loss)
        for plan, keys in zip(plans, public, strict=True)
    )
    return PricedBatch(questions=questions, plans=priced, loss=loss, method=found.result.method)


def _noise(plan: BoundedPlan, multiplier: Fraction) -> tuple[DiscreteGaussian, ...]:
    return tuple(
        DiscreteGaussian(sigma_squared=multiplier**2 * d_in.bound("l2_squared"))
        for d_in in plan.contributions()
    )


def _answers(plan: BoundedPlan, multiplier: Fraction) -> tuple[Drawn, ...]:
    reach, noise = plan.reach(), _noise(plan, multiplier)
    pairs = zip(plan.aggregates, noise, strict=True)
    return tuple(Drawn(mechanism, use(asked, mechanism, reach)) for asked, mechanism in pairs)


def _event(plans: tuple[BoundedPlan, ...], multiplier: Fraction) -> ComposedEvent:
    answers = (answer for plan in plans for answer in _answers(plan, multiplier))
    return ComposedEvent.of([answer.event for answer in answers])


def _charge(cap: PrivacyLoss, certified: Approximate, event: ComposedEvent) -> PrivacyLoss:
    """Return what the budget is charged, in its own measure."""
    if isinstance(cap, Approximate):
        return certified
    if isinstance(cap, Zcdp | ApproximateZcdp | GaussianDp):
        return charged(event, cap)
    raise Unsupported(
        "A batch has a δ, and this budget has none",
        got=cap.measure.value,
        next="Ask one by one with epsilon=; or have the budget declared with delta, before"
        " anything is spent of it",
    )


def batch_plans(
    project: Project, queries: Sequence[str], bodies: Sequence[Body]
) -> list[tuple[Question, PricedPlan]]:
    """Return the questions of a stored batch and their plans, with the limits that it has.

    The noise in them is no noise of anything: the stored one takes its place.
    """
    found = []
    questions = read_questions(project, queries, [nothing_chosen] * len(queries))
    for question, body in zip(questions, bodies, strict=False):
        limits = with_given(question.limits, body.limits.given())
        plan = tighten(bound(evolve(question, limits=limits), sharing=len(queries)))
        keys, answers = require_noise_only(plan), _answers(plan, Fraction(1))
        priced = PricedPlan(plan=plan, groups=keys, answers=answers, loss=body.cost)
        found.append((question, priced))
    return found


def answer_batch(
    project: Project,
    queries: Sequence[str],
    *,
    target: Approximate,
    analyst: str,
    limits: Mapping[str, int] = NO_LIMITS,
    is_auto: bool = False,
    fresh: bool = False,
) -> tuple[Release, ...]:
    """Return private answers to all ``queries``, charged once, before any row is read."""
    batch = price_batch(project, queries, target, limits=limits, is_auto=is_auto)
    passage = Passage(
        name=batch.digest(),
        earlier=batch.earlier,
        question=question_of(batch.plans, is_batch=True),
        is_answered_by=answered_by(batch.plans, is_batch=True),
        loss=batch.loss,
        legs=tuple(map(leg_of, batch.plans)),
        size=batch.largest,
        description={"sql": SEPARATOR.join(queries), BATCH_METHOD: batch.method},
        is_batch=True,
    )
    passed = go_through(project, passage, analyst=analyst, fresh=fresh)
    pairs = zip(passed.bodies, batch.plans, strict=True)
    bodies = [as_asked(Body.from_json(stored), priced.plan) for stored, priced in pairs]
    find = profiles_of(project, passed.receipt.data_version)
    void = receipt_remarks(project.ledger, passed.receipt)
    return tuple(
        Release(
            view=with_rows_rounded(
                with_unreadable(with_remarks(question.view, void), priced.plan, find),
                priced.plan,
                find,
            ),
            body=body,
            receipt=passed.receipt,
            is_stored=passed.is_stored,
            offered=batch.loss if passed.is_dearer else None,
            called=project.catalog.called(priced.plan.owner().unit.id_space),
            circumstances=circumstances_of(
                project, SEPARATOR.join(queries), priced.plan, passed.receipt, event=None
            ),
            left_out=left_out(
                project,
                priced.plan,
                can_leave_out=body.limits.leave_out and leaves_out(priced.plan),
                find=find,
            ),
        )
        for question, priced, body in zip(batch.questions, batch.plans, bodies, strict=True)
    )
