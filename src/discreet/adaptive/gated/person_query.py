"""What is asked of each person of a declared table, in SQL, as a plan for the gate."""

from collections.abc import Mapping, Sequence

from discreet.adaptive.guarantee import STEPS
from discreet.adaptive.row_values import DeclaredRange
from discreet.core.errors import InvalidArgument, RefusedQuery, UnknownTable, Unsupported
from discreet.core.recursion import refusing_depth
from discreet.core.unit_words import A_UNIT, UNITS
from discreet.project.project import Project
from discreet.releases.estimates.estimate import TotalOf
from discreet.sql.aggregates.functions import has_aggregate
from discreet.sql.parse import parse, read_tokens
from discreet.sql.question import Question
from discreet.sql.resolve import resolve
from discreet.sql.syntax.nodes import token_kind
from discreet.tables.catalog import Limits, Table
from discreet.tables.column import ColumnType
from discreet.tables.plans.contain import contain
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.plans.prune import prune
from discreet.tables.plans.take_sides import take_sides

VALUE = "value"
"""What the number of each person is called inside."""

_NUMBERS = (ColumnType.BOOLEAN, ColumnType.INTEGER, ColumnType.REAL)

ONE_VALUE = Limits(rows_per_group=1, groups_per_unit=1)
"""Each person counts once."""

_STEP = f"{1 / STEPS:.20f}"


def people_table(project: Project, name: str) -> Table:
    """Return a private table whose units are people; refuse others, of which none can be drawn."""
    table = project.catalog.table(name) if isinstance(name, str) else None
    if not isinstance(table, Table):
        raise UnknownTable(f"'{name}' is no private table", must="be one that is declared")
    if table.unit.period is not None:
        raise Unsupported(
            f"A holdout is about independent {UNITS}, and the unit of this table has a period",
            must="have a unit without one: two periods of the same owner are not independent",
            next="Nothing was charged. Ask the owner to declare the table with another unit",
        )
    return table


def count_plan(project: Project, table: Table) -> BoundedPlan:
    """Return the plan that counts the people of a table."""
    sql = f"SELECT COUNT(*) FROM ({_each_person(table, {VALUE: '1'})}) AS asked"
    return _bounded(_resolved(project, sql, [VALUE]))


@refusing_depth
def sum_plan(project: Project, table: Table, text: str, within: DeclaredRange) -> BoundedPlan:
    r"""Return the plan that adds up what an SQL expression says of each person, in steps.

    Guarantee:
        A person counts once, with a value of 0 to ``STEPS``: the share of the declared range, cut
        to it. It depends on that person's rows and on public tables alone, as all that stands below
        an aggregate. So one person moves the sum by ``STEPS`` at most, whether the person is added,
        removed or replaced.

    Args:
        project: The opened project.
        table: Whose people are asked.
        text: An expression of a row, if a person has one; else an aggregate of the person's rows.
            A condition counts as 1 where it is true. What is NULL counts as the middle.
        within: The declared range of the values.
    """
    return _bounded(_sums(project, table, [text], within))


@refusing_depth
def choice_plan(
    project: Project, table: Table, texts: Sequence[str], within: DeclaredRange
) -> tuple[BoundedPlan, tuple[int, ...]]:
    """Return the plan that adds up what several SQL expressions say of each person, in steps.

    With it come the places that the sums of the expressions have among its aggregates: these are
    in an order of their own.

    Guarantee:
        Each sum is that of :func:`sum_plan`, over the same people. A person who is added raises
        each of them by 0 to ``STEPS``, and one who is removed lowers each: none of them moves
        against another one.
    """
    question = _sums(project, table, texts, within)
    totals = [output.estimate for output in question.view.outputs]
    return _bounded(question), tuple(one.index for one in totals if isinstance(one, TotalOf))


def _sums(project: Project, table: Table, texts: Sequence[str], within: DeclaredRange) -> Question:
    for text in texts:
        require_expression(text)
        if not _is_grouped(table):
            _require_one_row(text)
    names = [VALUE, *(f"{VALUE}_{place}" for place in range(2, len(texts) + 1))]
    sums = ", ".join(_sum(name, within) for name in names)
    values = dict(zip(names, texts, strict=True))
    return _resolved(project, f"SELECT {sums} FROM ({_each_person(table, values)}) AS asked", names)


def _sum(name: str, within: DeclaredRange) -> str:
    share = f"CAST(asked.{name} AS DOUBLE)"
    if within.low != 0 or within.high != 1:
        share = f"({share} - {_written(within.low)}) / {_written(within.width)}"
    return f"SUM(CLAMP(COALESCE({share}, 0.5), 0, 1, {_STEP}))"


def require_expression(text: str) -> None:
    """Refuse what would not stay inside of the brackets that it is put into.

    Example:
        >>> require_expression("max(cost) > 100")
        >>> require_expression("1) AS {VALUE} FROM visits WHERE (true")
        Traceback (most recent call last):
        ...
        discreet.core.errors.InvalidArgument: A question is one SQL expression...
    """
    depth = 0
    tokens = read_tokens(text)
    for token in tokens:
        kind = token_kind(token)
        depth += {"L_PAREN": 1, "R_PAREN": -1}.get(kind, 0)
        if depth < 0 or kind == "SEMICOLON":
            break
    else:
        if tokens and depth == 0:
            return
    raise InvalidArgument(
        "A question is one SQL expression",
        must=f"say a value for {A_UNIT}, such as max(cost) > 100",
        next="Nothing was charged",
    )


def _require_one_row(text: str) -> None:
    """Refuse an aggregate where each unit has one row: it would be of all of them."""
    select = parse(f"SELECT (\n{text}\n) AS {VALUE}").select
    if any(has_aggregate(one) for one in select.expressions):
        raise RefusedQuery(
            f"Each of these {UNITS} has one row, of which there is no aggregate",
            must="be an expression of that row, such as cost > 100",
            next="Nothing was charged",
        )


def _is_grouped(table: Table) -> bool:
    """Tell whether a unit may have several rows."""
    return bool(table.unit.owner_columns()) and table.most_rows_per_unit != 1


def _each_person(table: Table, texts: Mapping[str, str]) -> str:
    """Return the SELECT with one row for each person, and a number by each name."""
    source = _quoted(table.name)
    owner = ", ".join(_quoted(name) for name in table.unit.owner_columns())
    values = ", ".join(f"(\n{text}\n) AS {name}" for name, text in texts.items())
    if not _is_grouped(table):
        return f"SELECT {values} FROM {source}"
    return f"SELECT {owner}, {values} FROM {source} GROUP BY {owner}"


def _resolved(project: Project, sql: str, names: Sequence[str]) -> Question:
    question = resolve(parse(sql), project.catalog, project.engine.public_rows)
    for one in question.relation.fields():
        if one.name in names and one.type not in _NUMBERS:
            raise RefusedQuery(
                "A question has a value that is no number",
                must="be a number or a condition",
                got=one.type.value,
                next="Nothing was charged. Compare it: max(note) = 'word'",
            )
    return question


def _bounded(question: Question) -> BoundedPlan:
    plan = BoundedPlan(
        relation=question.relation,
        keys=question.keys,
        limits=ONE_VALUE,
        aggregates=question.aggregates,
    )
    return contain(prune(take_sides(plan)), sharing=1)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _written(number: object) -> str:
    return f"({number})"
