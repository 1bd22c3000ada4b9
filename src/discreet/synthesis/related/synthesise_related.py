"""The life of a synthesis of two related tables, read downwards.

.. code-block:: text

    tables → cells → plans → price                            public: declarations
       gate: find values → measure parents → measure children the only lines with private numbers
    estimate → sample                                         public again, and free
"""

from collections.abc import Mapping, Sequence

from attrs import evolve

from discreet.core.errors import InvalidArgument
from discreet.project.circumstances import circumstances_of
from discreet.project.passage import Passed, foresee, go_through
from discreet.project.project import Project
from discreet.project.terms import Terms, terms_that_hold
from discreet.project.worst_case import receipt_remarks
from discreet.synthesis.find_published import EarlierReleases
from discreet.synthesis.marginals.measured import MeasuredMarginals
from discreet.synthesis.plan import counted_table, list_of_names, private_table
from discreet.synthesis.price import synthesis_price
from discreet.synthesis.related.clusters import MOST_COLUMNS, read_links
from discreet.synthesis.related.joined_rows import JoinedRows, joined_rows, require_related
from discreet.synthesis.related.measure_children import MeasuredChildren
from discreet.synthesis.related.related_explanation import RelatedExplanation
from discreet.synthesis.related.related_plan import RelatedPlan
from discreet.synthesis.related.related_release import RelatedRelease
from discreet.tables.catalog import Table

ColumnsOf = Mapping[str, Sequence[str]]
"""The columns to publish of each table, by its name."""


def synthesise_related(
    project: Project,
    parent: str,
    child: str,
    *,
    terms: Terms,
    default: Terms,
    analyst: str,
    columns: ColumnsOf | None = None,
    by: Sequence[str] | None = None,
    published: EarlierReleases | None = None,
    fresh: bool = False,
) -> RelatedRelease:
    """Return a synthetic release of two tables: the stored one, or a new one that is charged.

    What was ``published`` before about the rows of the parents counts as well, for nothing. What
    was published about children does not: a question counts all of them, and here only those count
    that have a parent.
    """
    plan = related_plan(project, parent, child, terms, default, columns, by)
    known = () if published is None else published.tables(project, plan.counting_parents())
    passed = go_through(project, plan.passage(), analyst=analyst, fresh=fresh)
    return evolve(_release(project, plan, passed), published=known)


def explain_related(
    project: Project,
    parent: str,
    child: str,
    *,
    terms: Terms,
    default: Terms,
    analyst: str,
    columns: ColumnsOf | None = None,
    by: Sequence[str] | None = None,
    published: EarlierReleases | None = None,
) -> RelatedExplanation:
    """Return what :func:`synthesise_related` would measure and cost; nothing is read or spent."""
    plan = related_plan(project, parent, child, terms, default, columns, by)
    known = () if published is None else published.tables(project, plan.counting_parents())
    foreseen = foresee(project, plan.passage(), analyst=analyst)
    return RelatedExplanation(plan=plan, foreseen=foreseen, published=known)


def related_plan(
    project: Project,
    parent: str,
    child: str,
    terms: Terms,
    default: Terms,
    columns: ColumnsOf | None,
    by: Sequence[str] | None,
) -> RelatedPlan:
    """Return what would be measured, for which price; nothing private is looked at."""
    first, second = (private_table(project, name) for name in (parent, child))
    require_related(first, second)
    cap = project.catalog.id_space(first.unit.id_space).cap
    holding = terms_that_hold(terms, Terms(), (default,))
    named = _columns_of((first, second), columns)
    parents = counted_table(first, named[0], 1)
    children = counted_table(second, named[1], terms.rows_per_unit)
    keys_plans = (*parents.keys_plans, *children.keys_plans)
    rows = joined_rows(first, second, parents, children)
    return RelatedPlan(
        rows=rows,
        parents_plan=rows.parents_plan(),
        children_plan=rows.children_plan(),
        keys_plans=keys_plans,
        price=synthesis_price(holding, cap, [plan.limits for plan in keys_plans]),
        by=None if by is None else _places(rows, by),
    )


def _columns_of(tables: tuple[Table, Table], given: ColumnsOf | None) -> list[Sequence[str] | None]:
    """Return the columns that are named for each table; None if there are none."""
    if given is None:
        return [None, None]
    if not isinstance(given, Mapping) or not all(isinstance(one, str) for one in given):
        raise InvalidArgument(
            "columns does not say which table has which",
            must='be a dictionary, as {"patients": ["age"], "visits": ["cost"]}',
            got=type(given).__name__,
        )
    found = {name.lower(): columns for name, columns in given.items()}
    known = [table.name for table in tables]
    others = set(found) - {name.lower() for name in known}
    if others:
        raise InvalidArgument(
            f"'{min(others)}' is none of the two tables", must=f"be {' or '.join(known)}"
        )
    return [found.get(name.lower()) for name in known]


def _places(rows: JoinedRows, by: Sequence[str]) -> tuple[int, ...]:
    """Return the places of the parents' columns that make clusters."""
    known = [one.column.name.lower() for one in rows.parent_cells]
    names = [name.lower() for name in list_of_names("by", by)]
    if len(names) > MOST_COLUMNS or len(set(names)) < len(names):
        raise InvalidArgument(
            "by has too many columns, or one twice",
            must=f"name at most {MOST_COLUMNS} different columns of {rows.parent.name}",
            got=f"{len(names)}",
        )
    missing = [name for name in names if name not in known]
    if missing:
        raise InvalidArgument(
            f"'{missing[0]}' is not one of the columns of {rows.parent.name}",
            must=f"be among {', '.join(known)}",
        )
    return tuple(sorted(known.index(name) for name in names))


def _release(project: Project, plan: RelatedPlan, passed: Passed) -> RelatedRelease:
    (body,) = passed.bodies
    parents, children = plan.with_values(body["keys"])
    space = project.catalog.id_space(plan.rows.parent.unit.id_space)
    parent, child = plan.tables()
    return RelatedRelease(
        parent=parent,
        child=child,
        parent_cells=(*parents, plan.rows.number),
        child_cells=children,
        of_parents=MeasuredMarginals.from_json(body["parents"]),
        of_children=MeasuredChildren.from_json(body["children"]),
        links=read_links(body["children"]["links"]),
        counted=plan.counted(),
        rows_per_unit=plan.rows.rows_per_unit,
        unit=space.called,
        cost=passed.receipt.charges[0].loss,
        receipt=passed.receipt,
        is_stored=passed.is_stored,
        remarks=receipt_remarks(project.ledger, passed.receipt),
        circumstances=circumstances_of(
            project, plan.in_words(), plan.children_plan, passed.receipt, event=plan.price.event
        ),
    )
