"""The life of a synthesis, read downwards.

.. code-block:: text

    columns → cells → plan → price           public: declarations
       gate: engine.execute → measure        the only two lines with private numbers
    estimate → sample                        public again, and free

``explain`` is the same life, stopped at the gate.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve, frozen

import discreet.synthesis.judge as judging
import discreet.synthesis.synthesis_explanation as explanations
from discreet.core.errors import InvalidArgument
from discreet.ledger.order import Receipt
from discreet.project.circumstances import circumstances_of
from discreet.project.passage import Passed, foresee, go_through
from discreet.project.project import Project
from discreet.project.terms import Terms, terms_that_hold
from discreet.project.worst_case import receipt_remarks
from discreet.synthesis.counted.value_cells import MOST_CELLS, MOST_KEYS
from discreet.synthesis.find_published import EarlierReleases
from discreet.synthesis.found_cells import as_if_found
from discreet.synthesis.marginals.measured import MeasuredMarginals
from discreet.synthesis.plan import SynthesisPlan, bounded_plan, private_table, synthesis_plan
from discreet.synthesis.price import synthesis_price
from discreet.synthesis.public_facts import PublicFacts
from discreet.synthesis.read_facts import read_facts, require_possible, require_room
from discreet.synthesis.synthetic_release import SyntheticRelease


@frozen(kw_only=True)
class Asserted:
    """What somebody asserts to be public, as it is said."""

    impossible: Sequence[Mapping[str, Any]] = ()
    totals: Mapping[str, Mapping[Any, int]] | None = None
    rows: int | None = None

    def of(self, plan: SynthesisPlan) -> PublicFacts:
        """Return it for the columns of a plan; refuse what cannot be, before anything is spent."""
        facts = read_facts(
            plan.cells, impossible=self.impossible, totals=self.totals, rows=self.rows
        )
        found = [one if one.fine is None else as_if_found(one, MOST_CELLS) for one in plan.cells]
        facts = facts.with_sizes(one.size for one in found)
        # Values that are still to be found may turn out to be many.
        most = plan.mechanism([as_if_found(one, MOST_KEYS) for one in found])
        require_room(facts, most.columns, plan.tables or (), most.most_values)
        require_possible(facts)
        return facts


def synthesise(
    project: Project,
    name: str,
    *,
    terms: Terms,
    default: Terms,
    analyst: str,
    columns: Sequence[str] | None = None,
    method: str = "auto",
    tables: Sequence[Sequence[str]] | None = None,
    quantiles: Sequence[str] | None = None,
    published: EarlierReleases | None = None,
    asserted: Asserted | None = None,
    fresh: bool = False,
) -> SyntheticRelease:
    """Return a synthetic release of a table: the stored one, or a new one that is charged.

    What was ``published`` before about the same rows counts as well, for nothing, and so does what
    is ``asserted`` to be public.
    """
    plan = plan_of(project, name, terms, default, columns, method, tables, quantiles)
    facts = None if asserted is None else asserted.of(plan)
    known = () if published is None else published.tables(project, plan.counting())
    passed = go_through(project, plan.passage(), analyst=analyst, fresh=fresh)
    own = passed.receipt.ticket.number
    others = tuple(one for one in known if one.ticket != own)
    release = _release(project, plan, passed)
    held = None if facts is None else facts.with_sizes(one.size for one in release.cells)
    return evolve(release, published=others, facts=held)


def explain_synthesis(
    project: Project,
    name: str,
    *,
    terms: Terms,
    default: Terms,
    analyst: str,
    columns: Sequence[str] | None = None,
    method: str = "auto",
    tables: Sequence[Sequence[str]] | None = None,
    quantiles: Sequence[str] | None = None,
    published: EarlierReleases | None = None,
    asserted: Asserted | None = None,
) -> "explanations.SynthesisExplanation":
    """Return what :func:`synthesise` would measure and cost; nothing is read or spent."""
    plan = plan_of(project, name, terms, default, columns, method, tables, quantiles)
    foreseen = foresee(project, plan.passage(), analyst=analyst)
    known = () if published is None else published.tables(project, plan.counting())
    own = None if foreseen.stored is None else foreseen.stored.receipt.ticket.number
    return explanations.SynthesisExplanation(
        plan=plan,
        foreseen=foreseen,
        published=tuple(one for one in known if one.ticket != own),
        facts=None if asserted is None else asserted.of(plan),
    )


def judge(
    project: Project,
    release: SyntheticRelease,
    *,
    terms: Terms,
    default: Terms,
    analyst: str,
    fresh: bool = False,
) -> SyntheticRelease:
    """Return the release with noisy distances of its model from the table, which are charged."""
    if not isinstance(release, SyntheticRelease) or len(release.cells) < 2:
        raise InvalidArgument(
            "There is nothing to judge", must="be a synthetic release of at least two columns"
        )
    table = private_table(project, release.table)
    cap = project.catalog.id_space(table.unit.id_space).cap
    require_same_rows(project, release.receipt, table.unit.id_space)
    holding = terms_that_hold(terms, Terms(), (default,))
    price = synthesis_price(holding, cap, ())
    found = judging.Judge.of_model(release.model, release.rows_per_unit, price.of_noise)
    plan = bounded_plan(table, release.cells, release.rows_per_unit)
    passage = judging.judging_passage(found, release.cells, plan, judged_release(release), price)
    (body,) = go_through(project, passage, analyst=analyst, fresh=fresh).bodies
    return evolve(release, judged=found.read(body["distances"], body.get("expected")))


def plan_of(
    project: Project,
    name: str,
    terms: Terms,
    default: Terms,
    columns: Sequence[str] | None,
    method: str,
    tables: Sequence[Sequence[str]] | None,
    quantiles: Sequence[str] | None = None,
) -> SynthesisPlan:
    """Return what would be measured, for which price; nothing private is looked at."""
    chosen = chosen_tables(method, tables)
    table = private_table(project, name)
    cap = project.catalog.id_space(table.unit.id_space).cap
    holding = terms_that_hold(terms, Terms(), (default,))
    return synthesis_plan(
        table,
        cap,
        holding,
        columns=columns,
        tables=chosen,
        is_tree=method == "tree",
        has_residuals=None if method == METHODS[0] else method == "residuals",
        rows_per_unit=terms.rows_per_unit,
        quantiles=quantiles,
    )


def judged_release(release: SyntheticRelease) -> "judging.JudgedRelease":
    """Return what the ledger keeps of a release that is judged, so that it can be made again."""
    made_of = release.model.to_json()
    return judging.JudgedRelease(
        ticket=release.receipt.ticket.number,
        digest=release.receipt.release_digest,
        what=release.table,
        is_final=release.model.is_final,
        model={name: made_of[name] for name in ("published", "facts", "tours")},
    )


def require_same_rows(project: Project, receipt: Receipt, id_space: str) -> None:
    """Refuse to judge a release by other rows than those that it was made of."""
    now, then = project.ledger.known_version(id_space), receipt.data_version
    if now is not None and now.number != then:
        raise InvalidArgument(
            "The data have changed since the release was made",
            must="be of the same rows",
            got=f"a release of version {then}, and version {now.number} of the data",
            next="Nothing was charged. Synthesise again, and judge that",
        )


METHODS = ("auto", "tree", "residuals", "independent")


def chosen_tables(
    method: str, tables: Sequence[Sequence[str]] | None
) -> Sequence[Sequence[str]] | None:
    """Return the tables that are named, none for independent columns, or None: chosen privately."""
    if not isinstance(method, str) or method not in METHODS:
        raise InvalidArgument(
            "There is no such method",
            must=f"be one of {', '.join(METHODS)}",
            got=repr(method)[:40],
        )
    is_list = isinstance(tables, Sequence) and not isinstance(tables, str | bytes)
    if tables is not None and (not is_list or method != "auto"):
        raise InvalidArgument(
            "Which columns are measured together is said twice, or not as a list of lists",
            must="be named, or be chosen by a method",
        )
    return () if method == "independent" else tables


def _release(project: Project, plan: SynthesisPlan, passed: Passed) -> SyntheticRelease:
    (body,) = passed.bodies
    space = project.catalog.id_space(plan.table.unit.id_space)
    return SyntheticRelease(
        table=plan.table.name,
        cells=plan.with_keys(body["keys"]),
        measured=MeasuredMarginals.from_json(body["measured"]),
        rows_per_unit=plan.rows_per_unit,
        units=space.called.plural,
        cost=passed.receipt.charges[0].loss,
        receipt=passed.receipt,
        is_stored=passed.is_stored,
        remarks=receipt_remarks(project.ledger, passed.receipt),
        circumstances=circumstances_of(
            project, plan.in_words(), plan.plan, passed.receipt, event=plan.price.event
        ),
    )
