"""Free answers: statements for which no private row is read, and nothing is charged.

Guarantee:
    Nothing here has a way to a private row. What is worked out is a function of the statement, the
    declarations, public tables and fresh randomness: private tables are stood in for by their
    declared keys, by their declared columns, or by rows that are made up. The engine is asked for
    rows of public tables alone, which it refuses to read from private files; no permit is made and
    the ledger is neither read nor written.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import count, product
from typing import Any, Never

from attrs import frozen

from discreet.core import optional
from discreet.core.errors import RefusedQuery
from discreet.core.html_text import html_page, html_steps
from discreet.core.loss import PrivacyLoss, Pure
from discreet.core.terminal_text import text_steps
from discreet.engines.duckdb.public_room import MOST_ROWS, select_in_room
from discreet.project.fabricate import fabricate
from discreet.project.project import Project
from discreet.releases.answer_frame import AnswerFrame, end_names
from discreet.releases.cells import arrow_table
from discreet.releases.free_answer import FreeAnswer, frame_of, nothing_released, typed
from discreet.sql.blocks.trees import changed
from discreet.sql.expressions.refusals import require_unique, two_outputs
from discreet.sql.free.columns import StatementColumn, columns_of
from discreet.sql.free.free_statement import FreeKind, FreeStatement, FreeTable, read_free
from discreet.sql.parse import Statement, parse
from discreet.sql.rows.items import is_star, item_name
from discreet.sql.syntax.nodes import Node, is_set
from discreet.tables.catalog import PublicTable, Table
from discreet.tables.column import ColumnType
from discreet.tables.keyset import LARGEST_KEYSET
from discreet.tables.relations.scan import PublicScan

MADE_UP = "made_up"
"""The column that says of each row of a preview that it is none."""

_SAYS = "this row is made up"
_ROWS = 1_000

_WHY = {
    FreeKind.CONSTANTS: "it names no table",
    FreeKind.PUBLIC_TABLES: "it reads public tables alone, which everybody may know",
    FreeKind.DECLARED_KEYS: "it asks which keys are declared, and of no row whether it has them",
    FreeKind.COLUMNS: "it asks for columns and no rows, and columns are declared",
    FreeKind.NO_ROWS: "no row is shown, as the owner declared for looks at rows",
    FreeKind.MADE_UP_ROWS: "every row is made up, as the owner declared for looks at rows",
}
_REMARKS = {
    FreeKind.DECLARED_KEYS: "A key is shown whether or not a row has it, and NULL is no key.",
    FreeKind.NO_ROWS: "That there are no rows here says nothing about the table.",
    FreeKind.MADE_UP_ROWS: "These are no rows of the table: values are drawn anew each time, from"
    " what is declared alone.",
}


def free_answer(project: Project, sql: str) -> FreeAnswer | None:
    """Return the answer of a statement that needs no private row, or None if it needs some."""
    statement = parse(sql)
    free = read_free(statement, project.catalog, project.engine.public_rows)
    if free is None:
        return None
    return FreeAnswer(
        content=_content(project, statement, free, is_empty=False),
        why=_WHY[free.kind],
        remarks=tuple(text for kind, text in _REMARKS.items() if kind is free.kind),
    )


def free_explanation(project: Project, sql: str) -> "FreeExplanation | None":
    """Return why a statement is free and which columns it has, or None if it is not free."""
    statement = parse(sql)
    free = read_free(statement, project.catalog, project.engine.public_rows)
    if free is None:
        return None
    shape = _content(project, statement, free, is_empty=True).without_ends()
    return FreeExplanation(
        why=_WHY[free.kind],
        tables=tuple(dict.fromkeys(_named(one) for one in free.tables)),
        outputs=tuple(zip(shape.names, shape.kinds, strict=True)),
        plan=free.select.sql("duckdb", comments=False),
    )


@frozen(kw_only=True)
class FreeExplanation:
    """Why a statement costs nothing, and which columns its answer has."""

    why: str
    tables: tuple[str, ...]
    """What is read, or stood in for."""
    outputs: tuple[tuple[str, ColumnType], ...]
    """What is shown, by names and types."""
    plan: str
    """The statement as it is run on public rows."""
    is_stored: bool = False

    @property
    def cost(self) -> PrivacyLoss:
        """Nothing."""
        return Pure(0)

    def is_affordable(self) -> bool:
        """Tell that it can be asked: it costs nothing."""
        return True

    def steps(self) -> list[tuple[str, str]]:
        """Return a heading and a sentence for each step."""
        shown = ", ".join(f"{name} ({kind.value})" for name, kind in self.outputs)
        reads = [("Reads", ", ".join(self.tables))] if self.tables else []
        return [("Free", self.why), *reads, ("Shows", shown), ("Costs", "nothing")]

    def to_json(self) -> dict[str, Any]:
        """Return the explanation as plain values."""
        return {
            "free": self.why,
            "tables": list(self.tables),
            "columns": [{"name": name, "type": kind.value} for name, kind in self.outputs],
            "cost": self.cost.to_json(),
            "affordable": True,
            "stored": False,
        }

    def _repr_html_(self) -> str:
        return html_page(html_steps(self.steps()))

    def __getattr__(self, name: str) -> Never:
        """Refuse what only the explanation of a private answer has."""
        raise nothing_released("The explanation of a free answer", name)

    def __str__(self) -> str:
        """Show the steps, one below the other."""
        return text_steps(self.steps())


def _named(one: FreeTable) -> str:
    is_public = isinstance(one.table, PublicTable)
    return f"{one.table.name} ({'public' if is_public else 'declarations of it alone'})"


def _content(
    project: Project, statement: Statement, free: FreeStatement, *, is_empty: bool
) -> AnswerFrame:
    """Return the columns of a free answer, or of one without rows."""
    if free.kind in (FreeKind.COLUMNS, FreeKind.NO_ROWS):
        return _without_rows(columns_of(statement, project.catalog, project.engine.public_rows))
    select = free.select
    if free.kind is FreeKind.MADE_UP_ROWS:
        select = _saying_so(select, free.tables)
    tables = {one.name: _stand_in(project, one, is_empty=is_empty) for one in free.tables}
    found = select_in_room(_bounded(select), tables)
    require_unique(found.schema.names, two_outputs)
    if free.kind is not FreeKind.DECLARED_KEYS:
        return frame_of(found)
    # Keys have the names and types that they have as groups of an answer.
    columns = columns_of(statement, project.catalog, project.engine.public_rows)
    return typed(frame_of(found), [(column.name, column.type) for column in columns])


def _without_rows(columns: Sequence[StatementColumn]) -> AnswerFrame:
    """Return no rows, in all the columns that the answer would have: ends of intervals too."""
    noisy = {column.name for column in columns if column.is_noisy}
    ends = end_names([column.name for column in columns], noisy)
    shown = [
        (name, column.type)
        for column in columns
        for name in (column.name, *ends.get(column.name, ()))
    ]
    names, kinds = zip(*shown, strict=True)
    return AnswerFrame(names=names, kinds=kinds, columns=tuple([] for _ in names), ends=ends)


def _stand_in(project: Project, one: FreeTable, *, is_empty: bool) -> Any:
    """Return what is in the room for a table: its rows if it is public, and else none of them."""
    names = [column.name for column in one.columns]
    kinds = [column.type for column in one.columns]
    if is_empty:
        return arrow_table(names, kinds, [[] for _ in names])
    if isinstance(one.table, PublicTable):
        rows = project.engine.public_rows(PublicScan(table=one.table, columns=one.columns))
        columns = [list(map(_finite, column)) for column in zip(*rows, strict=True)]
        return arrow_table(names, kinds, columns or [[] for _ in names])
    if one.keys:
        return arrow_table(names, kinds, _combinations(one))
    return _made_up(project, one.table)


def _finite(value: Any) -> Any:
    """Return a value as an answer shows it: what is infinite or no number is NULL."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _combinations(one: FreeTable) -> list[list[Any]]:
    size = math.prod(map(len, one.keys))
    if size > LARGEST_KEYSET:
        raise RefusedQuery(
            "The declared keys have too many combinations",
            must=f"be at most {LARGEST_KEYSET:,}",
            got=f"{size:,}",
            next="Name fewer columns",
        )
    return [list(column) for column in zip(*product(*one.keys), strict=True)]


def _made_up(project: Project, table: Table) -> Any:
    """Return made-up rows, in which nobody could take an identifier for a person's."""
    found = fabricate(table, rows=_ROWS, pools={}, rng=project.rng)
    owners = {name.lower() for name in table.unit.owner_columns()}
    columns = []
    for column in table.columns:
        cells = found.column(column.name).to_pylist()
        if column.codes is not None:
            meanings: dict[Any, Any] = dict(column.codes.meanings)
            cells = [meanings.get(cell, None if column.codes.is_all else cell) for cell in cells]
        is_owner = column.name.lower() in owners
        columns.append(list(map(_visible, cells)) if is_owner else cells)
    names, kinds = ([getattr(one, part) for one in table.columns] for part in ("name", "type"))
    return arrow_table(names, kinds, columns)


def _visible(identifier: str | int | None) -> str | int | None:
    """Return an identifier that nobody has: a number below zero, or a text that says so."""
    if identifier is None:
        return None
    return f"made up: {identifier}" if isinstance(identifier, str) else -abs(identifier)


def _saying_so(select: Node, tables: Iterable[FreeTable]) -> Node:
    """Return a SELECT with one more column, which says of each row that it is made up."""
    exp = optional.load("sqlglot.expressions")
    taken = {item_name(item).lower() for item in select.expressions if not is_star(item)}
    taken |= {column.name.lower() for one in tables for column in one.table.columns}
    name = next(one for one in _names() if one not in taken)
    return changed(select, expressions=[*select.expressions, exp.alias_(f"'{_SAYS}'", name)])


def _names() -> Iterator[str]:
    yield MADE_UP
    yield from (f"{MADE_UP}_{number}" for number in count(2))


def _bounded(select: Node) -> str:
    """Return the text of a SELECT, held to as many rows as an answer may have."""
    exp = optional.load("sqlglot.expressions")
    if not is_set(select, "limit"):
        limit = exp.Limit(expression=exp.Literal.number(MOST_ROWS + 1))
        select = changed(select, limit=limit)
    return select.sql("duckdb", comments=False)
