"""Parse: text to statement. Everything that is not on the list is refused, with a reason."""

from typing import Any

from discreet.core import optional
from discreet.core.errors import BadSyntax, RefusedQuery
from discreet.curator.statement import CountOutput, KeyOutput, Output, Statement, SumOutput

LONGEST_QUERY = 100_000


def parse(sql: str) -> Statement:
    """Return the statement that ``sql`` says.

    Example:
        >>> parse("SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic").outputs
        (KeyOutput(name='clinic', column='clinic'), CountOutput(name='n'))
    """
    select = _select(sql)
    _refuse_other_clauses(select)
    outputs = tuple(_output(item, i) for i, item in enumerate(select.expressions))
    _refuse_repeated_names(outputs)
    if all(isinstance(output, KeyOutput) for output in outputs):
        raise RefusedQuery(
            "The query asks for no aggregate",
            must="ask for COUNT(*) or SUM(column)",
            next="Single rows are never shown",
        )
    where = select.args.get("where")
    return Statement(
        table=_table_name(select),
        outputs=outputs,
        where=where.this if where else None,
        group_by=_group_by(select, outputs),
    )


def _select(sql: str) -> Any:
    sqlglot = optional.load("sqlglot")
    errors = optional.load("sqlglot.errors")
    _require_text(sql)
    try:
        statements = [tree for tree in sqlglot.parse(sql, dialect="duckdb") if tree is not None]
    except errors.ParseError as cause:
        raise _bad_syntax(cause) from None
    except (errors.SqlglotError, RecursionError, ValueError):
        raise BadSyntax("The query cannot be read", next="Check its quotes and brackets") from None
    if len(statements) != 1:
        raise BadSyntax("There must be one statement", got=str(len(statements)))
    if not isinstance(statements[0], optional.load("sqlglot.expressions").Select):
        raise RefusedQuery("This is not a SELECT", must="be one SELECT over one table", next=_SHAPE)
    return statements[0]


def _require_text(sql: object) -> None:
    if not isinstance(sql, str):
        raise BadSyntax("The query is not text", must="be a string", got=type(sql).__name__)
    if len(sql) > LONGEST_QUERY:
        raise BadSyntax("The query is too long", must=f"be at most {LONGEST_QUERY:,} characters")
    try:
        sql.encode("utf-8")
    except UnicodeEncodeError:
        raise BadSyntax("The query is not valid Unicode", must="have no lone surrogates") from None


def _bad_syntax(cause: Any) -> BadSyntax:
    first = cause.errors[0] if cause.errors else {}
    place = f"line {first['line']}, column {first['col']}" if first.get("line") else ""
    return BadSyntax("The query is not valid SQL", got=f"an error at {place}" if place else "")


_MOST_DIGITS = 10
_SHAPE = "Supported: SELECT keys, COUNT(*), SUM(column) FROM table [WHERE ...] [GROUP BY keys]"
_CLAUSES = {"expressions", "from_", "where", "group"}
_CLAUSE_NAMES = {"joins": "JOIN", "order": "ORDER BY", "with_": "WITH", "limit": "LIMIT"}


def _refuse_other_clauses(select: Any) -> None:
    for name, value in select.args.items():
        if value and name not in _CLAUSES:
            shown = _CLAUSE_NAMES.get(name, name.strip("_").upper())
            raise RefusedQuery(f"{shown} is not supported", next=_SHAPE)


def _table_name(select: Any) -> str:
    expressions = optional.load("sqlglot.expressions")
    source = select.args.get("from_")
    table = source.this if source else None
    if not isinstance(table, expressions.Table) or not isinstance(
        table.this, expressions.Identifier
    ):
        raise RefusedQuery("The query names no table", must="read FROM one table", next=_SHAPE)
    if any(value for name, value in table.args.items() if name != "this"):
        raise RefusedQuery("The table must be named plainly", next="Write FROM table, no alias")
    return str(table.name)


def _output(item: Any, index: int) -> Output:
    expressions = optional.load("sqlglot.expressions")
    inner = item.this if isinstance(item, expressions.Alias) else item
    alias = item.alias if isinstance(item, expressions.Alias) else ""
    if isinstance(inner, expressions.Column):
        column = column_name(inner)
        return KeyOutput(alias or column, column)
    if isinstance(inner, expressions.Count) and _is_plain(inner, {"this", "big_int"}):
        if isinstance(inner.this, expressions.Star) and _is_plain(inner.this, set()):
            return CountOutput(alias or "count")
        raise RefusedQuery("Only COUNT(*) is supported", next=_SHAPE)
    if isinstance(inner, expressions.Sum) and _is_plain(inner, {"this"}):
        if isinstance(inner.this, expressions.Column):
            column = column_name(inner.this)
            return SumOutput(alias or f"sum_{column}", column)
        raise RefusedQuery("SUM takes one column", next=_SHAPE)
    raise RefusedQuery(f"Output {index + 1} is not supported", next=_SHAPE)


def _is_plain(node: Any, allowed: set[str]) -> bool:
    return not any(value for name, value in node.args.items() if name not in allowed)


def column_name(node: Any) -> str:
    """Return the name of a column node that carries no table in front."""
    if any(value for name, value in node.args.items() if name != "this"):
        raise RefusedQuery("A column must be named plainly", next="Write column, not table.column")
    return str(node.name)


def _group_by(select: Any, outputs: tuple[Output, ...]) -> tuple[str, ...]:
    expressions = optional.load("sqlglot.expressions")
    group = select.args.get("group")
    if group is None:
        return ()
    if not _is_plain(group, {"expressions"}):
        raise RefusedQuery("GROUP BY takes plain columns", next=_SHAPE)
    names = []
    for item in group.expressions:
        if isinstance(item, expressions.Literal) and not item.is_string:
            names.append(_by_position(str(item.this), outputs))
        elif isinstance(item, expressions.Column):
            names.append(column_name(item))
        else:
            raise RefusedQuery("GROUP BY takes plain columns", next=_SHAPE)
    return tuple(names)


def _by_position(number: str, outputs: tuple[Output, ...]) -> str:
    is_short = number.isascii() and number.isdigit() and len(number) < _MOST_DIGITS
    place = int(number) - 1 if is_short else -1
    output = outputs[place] if 0 <= place < len(outputs) else None
    if not isinstance(output, KeyOutput):
        raise RefusedQuery("GROUP BY names no key", got=number[:20], next="Write the column's name")
    return output.column


def _refuse_repeated_names(outputs: tuple[Output, ...]) -> None:
    names = [output.name.lower() for output in outputs]
    for name in names:
        if names.count(name) > 1:
            raise RefusedQuery(f"Two outputs are called '{name}'", next="Give one another name")
