"""The life of a query, read downwards.

.. code-block:: text

    parse → resolve → bound → tighten → allocate → price   public: text, declarations
       gate: engine.execute → randomise                    the only two lines with private numbers
    publish                                                public again

``explain`` is the same life, stopped at the gate.
"""

from collections.abc import Callable, Sequence
from functools import partial

from attrs import evolve

from discreet.core.errors import InvalidArgument, RefusedQuery
from discreet.core.loss import ApproximateZcdp, GaussianDp, PrivacyLoss, Pure, Zcdp
from discreet.core.recursion import refusing_depth, with_room
from discreet.curator.cut.clampings import has_clamps
from discreet.curator.cut.left_out import left_out
from discreet.curator.cut.rows_rounded import with_rows_rounded
from discreet.curator.dearer_answer import answered_by, question_of
from discreet.curator.explanation.explanation import Explanation
from discreet.curator.limits.choose_bounds import are_chosen, choose_bounds, propose_bounds, widest
from discreet.curator.limits.choose_limits import propose
from discreet.curator.limits.limits_error import Allocation, Proposal
from discreet.curator.limits.other_limits import other_limits
from discreet.curator.limits.private_limits import SHARING, as_explained, choose_privately
from discreet.curator.limits.whole_sums import compare_sums
from discreet.curator.price.allocate import Shares, allocate
from discreet.curator.price.fit import fit
from discreet.curator.price.offered_delta import best_for, propose_delta
from discreet.curator.price.price import PricedPlan, price, require_delta_budget
from discreet.curator.profile.one_table import only_table
from discreet.curator.profile.stored_profile import profiles_of
from discreet.curator.profile.unreadable import with_unreadable
from discreet.curator.publishing.largest_release import largest_release, within
from discreet.curator.publishing.publish import as_asked, leg_of
from discreet.ledger.releases import require_time
from discreet.project.circumstances import circumstances_of
from discreet.project.passage import Passage, Passed, find_stored, go_through
from discreet.project.project import Project
from discreet.project.terms import Terms, terms_that_hold
from discreet.project.unit_effect import allows_private_keys
from discreet.project.worst_case import receipt_remarks, void_remarks
from discreet.releases.body import Body
from discreet.releases.release import Release
from discreet.releases.view import with_remarks
from discreet.sql.aggregates.clamps import ChooseBounds, nothing_chosen
from discreet.sql.parse import parse
from discreet.sql.question import Question, Size
from discreet.sql.resolve import resolve
from discreet.tables.catalog import with_given
from discreet.tables.functions.public_values import Enumeration
from discreet.tables.keyset import PrivateKeys
from discreet.tables.plans.contain import contain
from discreet.tables.plans.plan import BoundedPlan, scans_of
from discreet.tables.plans.prune import prune
from discreet.tables.plans.sums import SumTotals
from discreet.tables.plans.take_sides import take_sides
from discreet.tables.plans.tighten import leaves_out, tighten
from discreet.tables.relations.scan import Scan


def answer(
    project: Project,
    sql: str,
    *,
    terms: Terms | PrivacyLoss | None = None,
    default: Terms | None = None,
    analyst: str,
    fresh: bool = False,
    choose: ChooseBounds | None = None,
) -> Release:
    """Return a private answer to ``sql`` on these ``terms``, or an earlier one again for nothing.

    A loss alone is terms too. The ``default`` is the connection's, for a question that names no
    price. A ``fresh`` answer is paid for again, and is the one that is given again from then on. A
    stored release costs nobody anything: neither the cap nor the analyst's share. One at a higher
    price will do too, if nothing in it is noisier (:mod:`discreet.curator.dearer_answer`).

    Guarantee:
        As for :func:`~discreet.project.passage.go_through`.
    """
    question, priced, _ = prepare(project, sql, terms, default, choose=choose)
    passed = go_through(project, _passage(sql, priced), analyst=analyst, fresh=fresh)
    return release_of(project, sql, question, priced, passed)


def release_of(
    project: Project, sql: str, question: Question, priced: PricedPlan, passed: Passed
) -> Release:
    """Return what came out of the gate, or is stored, as the answer to its question."""
    body = as_asked(Body.from_json(passed.bodies[0]), priced.plan)
    plan, chosen = priced.plan, body.limits.chosen
    if chosen is not None:
        plan = evolve(plan, limits=body.limits.limits())
    can_leave_out = body.limits.leave_out and leaves_out(plan)
    find = profiles_of(project, passed.receipt.data_version)
    view = with_remarks(question.view, receipt_remarks(project.ledger, passed.receipt))
    return Release(
        view=with_rows_rounded(with_unreadable(view, plan, find), plan, find),
        body=body,
        receipt=passed.receipt,
        is_stored=passed.is_stored,
        offered=priced.loss if passed.is_dearer else None,
        called=project.catalog.called(plan.owner().unit.id_space),
        circumstances=circumstances_of(
            project,
            sql,
            plan,
            passed.receipt,
            event=None if passed.is_dearer or chosen is not None else priced.event,
        ),
        left_out=left_out(project, plan, can_leave_out=can_leave_out, chosen=chosen, find=find),
    )


@refusing_depth
def _passage(sql: str, priced: PricedPlan) -> Passage:
    return Passage(
        name=priced.digest(),
        earlier=priced.earlier,
        question=question_of([priced], is_batch=False),
        is_answered_by=answered_by([priced], is_batch=False),
        loss=priced.loss,
        legs=(leg_of(priced),),
        size=partial(largest_release, priced),
        description={"sql": sql, "event": priced.event.to_json()},
    )


def explain(
    project: Project,
    sql: str,
    *,
    terms: Terms | PrivacyLoss | None = None,
    default: Terms | None = None,
    analyst: str,
) -> Explanation:
    """Return what :func:`answer` would do and cost. Nothing is read and nothing is spent."""
    question, priced, holding = prepare(project, sql, terms, default)
    passage = _passage(sql, priced)
    for plan in (priced.plan,) if priced.choice is None else (priced.plan, priced.choice.plan):
        with_room(partial(project.engine.require_runnable, plan))
    deadline = project.catalog.gate.deadline
    if deadline is not None:
        require_time(deadline, largest_release(priced))
    space = project.catalog.id_space(priced.plan.owner().unit.id_space)
    version = project.data_version(space.name)
    remaining = project.ledger.remaining(space.name, analyst)
    shown = as_explained(priced, question.limits, space.cap)
    can_leave_out = leaves_out(shown.plan)
    shares = partial(_shares, question, terms=holding, cap=space.cap)
    stored = find_stored(project, passage, version.number)
    is_given = holding.accuracy is None and priced.choice is None
    explained = Explanation(
        question=question,
        priced=shown,
        left_out=left_out(project, shown.plan, can_leave_out=can_leave_out),
        bounds=tuple(
            propose_bounds(project, question, priced.plan, shares(priced.plan))
            if is_given and has_clamps(priced.plan)
            else ()
        ),
        terms=holding,
        id_space=space,
        remaining=remaining,
        with_delta=propose_delta(priced, question.weights, holding, space.cap, remaining)
        if is_given
        else None,
        is_stored=stored is not None,
        stored_at=_paid_more(stored),
        void=void_remarks(project.ledger, space.name),
    )
    return _with_alternatives(project, explained, priced.plan, shares) if is_given else explained


def _with_alternatives(
    project: Project, explained: Explanation, plan: BoundedPlan, shares: Allocation
) -> Explanation:
    """Return the explanation with what other limits, or no limits on rows, would give."""
    known, can_leave_out = explained.left_out, leaves_out(plan)
    is_cut = can_leave_out and known is not None and known.by_limits and not known.is_nothing
    has_totals = any(isinstance(aggregate, SumTotals) for aggregate in plan.aggregates)
    sums = compare_sums(project, explained.question, plan, shares)
    return evolve(
        explained,
        proposal=propose(project, plan, shares) if can_leave_out else None,
        other_limits=other_limits(project, plan, shares) if is_cut else (),
        sums=tuple(sums) if can_leave_out or has_totals else (),
    )


def _paid_more(stored: Passed | None) -> PrivacyLoss | None:
    """Return what a stored answer cost, if it was more than what is offered."""
    return stored.receipt.charges[0].loss if stored is not None and stored.is_dearer else None


def read_questions(
    project: Project,
    queries: Sequence[str],
    choices: Sequence[ChooseBounds],
    *,
    takes_private: bool = True,
) -> tuple[Question, ...]:
    """Return the questions that ``queries`` ask; for each a choice of bounds that nobody gives.

    Without private keys, whole numbers are grouped by their declared range.

    Guarantee:
        They share what may be worked out for public keys, and the numbers that they ask for are
        counted together, one question after another: so many small ones are no more work before
        the gate than a large one.
    """
    enumeration, together, public_rows = Enumeration(), Size(), project.engine.public_rows
    found = []
    for sql, choose in zip(queries, choices, strict=True):
        question = resolve(
            parse(sql),
            project.catalog,
            public_rows,
            enumeration,
            choose,
            takes_private=takes_private,
        )
        together = (together + Size.of(question)).require_small()
        found.append(question)
    return tuple(found)


@refusing_depth
def prepare(
    project: Project,
    sql: str,
    terms: Terms | PrivacyLoss | None,
    default: Terms | None = None,
    *,
    choose: ChooseBounds | None = None,
) -> tuple[Question, PricedPlan, Terms]:
    """Return the question, its priced plan and the terms that hold: all before the gate.

    Where nobody gives bounds, ``choose`` does; by default the profile of the table.
    """
    given, (question,) = Terms.of(terms), read_questions(project, [sql], [choose or widest])
    defaults = (Terms.of(default), Terms.of(project.catalog.default))
    holding = terms_that_hold(given, Terms.of(question.price), defaults)
    owner = question.relation.owner()
    assert owner is not None  # or it would have been refused
    cap = project.catalog.id_space(owner.unit.id_space).cap
    if isinstance(question.keys, PrivateKeys) and not (holding.delta and allows_private_keys(cap)):
        (question,) = read_questions(project, [sql], [choose or widest], takes_private=False)
    question = evolve(question, limits=with_given(question.limits, given.limits()))
    with_bounds = partial(_with_chosen_bounds, project, sql, terms=holding, cap=cap)
    is_open = choose is None and are_chosen(question)
    question = with_bounds(question) if is_open else question
    if holding.chosen_limits is not None or _are_declared_auto(question, holding):
        proposal = _proposal(project, question, holding, cap)
        if proposal is None and holding.chosen_limits is not None:
            chosen = _chosen_privately(project, question, holding, cap)
            if chosen is not None:
                return question, chosen, holding
        if proposal is not None:
            question = evolve(question, limits=proposal.limits)
            question = with_bounds(question) if is_open else question  # others for other limits
            question = evolve(question, view=evolve(question.view, has_chosen_limits=True))
    return question, _with_price(project, question, holding, cap), holding


def _chosen_privately(
    project: Project, question: Question, terms: Terms, cap: PrivacyLoss
) -> PricedPlan | None:
    """Return the plan whose limits are chosen behind the gate, if there is a choice."""
    return choose_privately(
        question.limits,
        terms,
        cap,
        lambda limits: bound(evolve(question, limits=limits), sharing=SHARING),
        partial(_priced, project, question, cap),
    )


def _priced(
    project: Project,
    question: Question,
    cap: PrivacyLoss,
    plan: BoundedPlan,
    terms: Terms,
    *,
    has_ends: bool = True,
) -> PricedPlan:
    gate = project.catalog.gate
    shares = _shares(question, plan, terms=terms, cap=cap)
    found = price(plan, shares, cap, has_ends=has_ends)
    return within(found, gate.deadline, gate.most_groups)


def _with_price(project: Project, question: Question, terms: Terms, cap: PrivacyLoss) -> PricedPlan:
    """Return the plan of a question with its noise, and the names that it had in earlier versions.

    These did not tighten limits, and drew no ends of quantiles.
    """
    plan = bound(question)
    tight = tighten(plan)
    priced = partial(_priced, project, question, cap, terms=terms)
    best = partial(best_for, weights=question.weights, terms=terms, cap=cap)
    found = priced(tight)
    others = () if tight is plan else (lambda: priced(plan, has_ends=False),)
    if found.ends:
        others = (lambda: best(priced(tight, has_ends=False)), *others)
    earlier = tuple(name for other in others for name in _names(other))
    return best(evolve(found, earlier=earlier))


def _names(priced: Callable[[], PricedPlan]) -> tuple[str, ...]:
    """Return the name that the question had at its price in an earlier version."""
    try:
        return (priced().digest(),)
    except RefusedQuery:
        return ()


def bound(question: Question, *, sharing: int = 1) -> BoundedPlan:
    """Return the plan in which each unit is held to the question's limits.

    The limits are the tables' declared ones, or those that the query gives. Any limits keep the
    guarantee: wider ones count more of each unit, and cost more noise. Fields that nothing uses are
    left out of the plan, conditions stand on the side of a join that they are about, and what one
    unit can make an engine do is contained; ``sharing`` questions that are answered together share
    it.
    """
    plan = BoundedPlan(
        relation=question.relation,
        keys=question.keys,
        limits=question.limits,
        aggregates=question.aggregates,
    )
    return contain(prune(take_sides(plan)), sharing=sharing)


def _are_declared_auto(question: Question, terms: Terms) -> bool:
    """Tell whether the owner lets limits be chosen, and nobody gave others."""
    tables = [scan.table for scan in scans_of(question.relation) if isinstance(scan, Scan)]
    is_given = bool(terms.limits()) or terms.accuracy is not None
    if is_given or not any(table.auto_limits for table in tables):
        return False
    table = only_table(bound(question).relation)
    return table is not None and table.auto_limits and question.limits == table.limits


def _proposal(
    project: Project, question: Question, terms: Terms, cap: PrivacyLoss
) -> Proposal | None:
    """Return the limits that the profile proposes for a price, if there is one."""
    if terms.accuracy is not None:
        raise InvalidArgument(
            "Limits are chosen for a price, and here the price follows from them",
            must="be asked with epsilon= or rho=, or with limits of your own",
        )
    return propose(project, bound(question), partial(_shares, question, terms=terms, cap=cap))


def _with_chosen_bounds(
    project: Project, sql: str, question: Question, *, terms: Terms, cap: PrivacyLoss
) -> Question:
    """Return the question with the bounds that are chosen, from the profile and for the price."""
    found: ChooseBounds = nothing_chosen
    if terms.accuracy is None:
        shares = partial(_shares, question, terms=terms, cap=cap)
        found = choose_bounds(project, question, tighten(bound(question)), shares)
    takes_private = isinstance(question.keys, PrivateKeys)
    (again,) = read_questions(project, [sql], [found], takes_private=takes_private)
    return evolve(again, limits=question.limits)


def _shares(question: Question, plan: BoundedPlan, *, terms: Terms, cap: PrivacyLoss) -> Shares:
    if isinstance(plan.keys, PrivateKeys):
        require_delta_budget(plan, cap)
    if terms.accuracy is None:
        return allocate(plan, question.weights, terms.price())
    measure = Zcdp if isinstance(cap, Zcdp | ApproximateZcdp | GaussianDp) else Pure
    outputs = [output.estimate for output in question.view.outputs]
    return fit(plan, question.weights, outputs, terms.accuracy, measure=measure, delta=terms.delta)
