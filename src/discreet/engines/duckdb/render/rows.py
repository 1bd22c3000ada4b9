"""Lowered plans in DuckDB's SQL, one rule for each kind of rows.

A rule writes down what its rows say, and adds nothing: who owns a row, what is clamped and who is
kept are in the plan already. Nothing here can raise on any data: casts are TRY_CAST, arithmetic is
total.

*Pairs.* An engine takes short cuts. Where no row is on the right, no row of the left has a partner:
so it stops, and what it would have computed for everybody's rows is never computed. A question can
leave the rows of one person alone on the right. Then whether that person is there would decide how
long everybody's rows take, and no limit on one person's work can help against that. So to a guarded
right a row is added that is nobody's: its owner is NULL, so it is no partner of anybody, and its
other columns are not NULL, so it is held. All rows of the right are held before one of the left is
looked at, and nothing stops that; the left is stopped only if nothing is held. That is so in an
engine that does what is written where it is written (:mod:`discreet.engines.duckdb.databases`).
"""

from collections.abc import Mapping, Sequence
from functools import singledispatch

from discreet.core.errors import Unsupported
from discreet.engines.duckdb.render.aggregates import inner_total, total, window_value
from discreet.engines.duckdb.render.expression import expression
from discreet.engines.duckdb.render.owner import owner_values
from discreet.engines.duckdb.render.values import NOBODYS, clamped
from discreet.engines.duckdb.sources.declared_values import IN_RANGE, column_value
from discreet.engines.duckdb.sources.opened import Opened
from discreet.tables.lowered.plan import Answered, LoweredPlan, every
from discreet.tables.lowered.rows import (
    Copied,
    Different,
    Grouped,
    GroupKey,
    InAnyGroup,
    InGroups,
    InSteps,
    Kept,
    Owned,
    Paired,
    Pairing,
    Projected,
    Read,
    Rows,
    RowsOf,
    Sampled,
    Step,
    Together,
    Totalled,
    Value,
    Windowed,
    Worked,
)
from discreet.tables.plans.aggregate import QuantileValues

Sources = Sequence[Opened]
"""The opened sources of a plan's scans, in the order in which the scans stand in it."""


def query(plan: LoweredPlan, sources: Sources) -> str:
    """Return the SQL that computes the plan, with ``$salt`` as its parameter.

    It reads a relation ``keys0``, ``keys1``, ... for the public keys of each grouping set (columns
    ``k0``, ``k1``, ... and the group's number ``g``) but that of all rows, or ``allowed0``, ... for
    the public values of single private keys (one column ``k``).
    """
    first, *others = (part.name for part in plan.parts)
    joined = "".join(
        f" LEFT JOIN {name} ON {_alike(plan.group, f'{first}.', f'{name}.')}" for name in others
    )
    shown = [
        name
        if aggregate is None or isinstance(aggregate, QuantileValues)
        # A group that a part lacks has nothing to count there.
        else f"coalesce({name}, 0) AS {name}"
        for name, aggregate in plan.shown
    ]
    group = [f"{first}.{name}" for name in plan.group]
    steps = ",\n".join([*_steps(plan, sources), *_parts(plan, sources)])
    return f"WITH {steps}\nSELECT {_list([*group, *shown])}\nFROM {first}{joined}"


def _parts(plan: LoweredPlan, sources: Sources) -> list[str]:
    return [f"{part.name} AS ({select(part, sources)})" for part in plan.parts]


def _steps(plan: LoweredPlan, sources: Sources) -> list[str]:
    """Return the steps, each after those that it reads; what is read twice is kept whole."""
    nodes = {id(node): node for part in plan.parts for node in every(part)}.values()
    read = [part.name for node in nodes for part in node.inputs() if isinstance(part, Step)]
    return [
        f"{node.name} AS {'MATERIALIZED ' if read.count(node.name) > 1 else ''}"
        f"({select(node.rows, sources)})"
        for node in nodes
        if isinstance(node, Step)
    ]


@singledispatch
def select(rows: Rows, sources: Sources) -> str:
    """Return the SELECT of some rows, with just their columns."""
    raise Unsupported("DuckDB cannot run this", got=type(rows).__name__)


def _from(rows: Rows, sources: Sources) -> str:
    """Return what stands after FROM."""
    return rows.name if isinstance(rows, Step) else f"({select(rows, sources)})"


@select.register
def _(node: Step, sources: Sources) -> str:
    return f"SELECT * FROM {node.name}"


def value_of(value: Value) -> str:
    """Return a value of one row, closed: it needs no parentheses around it."""
    match value:
        case Copied():
            return value.column
        case Worked():
            return expression(value.expression, value.columns)
        case InSteps():
            return clamped(value.column, value.bounds, value.type)
        case GroupKey():
            return _key(value)
    raise Unsupported("DuckDB cannot run this value", got=type(value).__name__)


def _key(key: GroupKey) -> str:
    if key.longest is not None:
        return f"left({key.column}, {key.longest})"
    guard = IN_RANGE.get(key.type)
    return key.column if guard is None else guard(key.column)


@select.register
def _(node: Read, sources: Sources) -> str:
    opened = sources[node.place]
    cut = zip(node.scan.columns, node.scan.lengths(), strict=True)
    values = [column_value(column, opened.cells, longest) for column, longest in cut]
    named = zip(node.columns(), [*owner_values(node.scan, opened, values), *values], strict=True)
    return f"SELECT {_list([f'{value} AS {name}' for name, value in named])} FROM {opened.relation}"


@select.register
def _(node: Owned, sources: Sources) -> str:
    present = " AND ".join(f"{name} IS NOT NULL" for name in node.unit)
    return f"SELECT * FROM {_from(node.source, sources)} WHERE {present}"


@select.register
def _(node: Kept, sources: Sources) -> str:
    return f"SELECT * FROM {_from(node.source, sources)} WHERE {value_of(node.where)}"


@select.register
def _(node: Projected, sources: Sources) -> str:
    values = [(name, value_of(value)) for name, value in node.values]
    shown = [name if name == value else f"{value} AS {name}" for name, value in values]
    return f"SELECT {_list(shown)} FROM {_from(node.source, sources)}"


@select.register
def _(node: Different, sources: Sources) -> str:
    on = "" if node.by == node.columns() else f"ON ({_list(node.by)}) "
    return f"SELECT DISTINCT {on}* FROM {_from(node.source, sources)}"


@select.register
def _(node: Together, sources: Sources) -> str:
    return " UNION ALL ".join(f"SELECT * FROM {_from(part, sources)}" for part in node.parts)


@select.register
def _(node: Totalled, sources: Sources) -> str:
    keys = [name if name == key else f"{key} AS {name}" for name, key in node.keys]
    totals = [f"{inner_total(inner, node.cells)} AS {name}" for name, inner in node.totals]
    grouped = f" GROUP BY {', '.join(node.by)}" if node.by else ""
    return f"SELECT {_list([*keys, *totals])} FROM {_from(node.source, sources)}{grouped}"


@select.register
def _(node: Windowed, sources: Sources) -> str:
    value = window_value(node, [value_of(value) for value in node.within])
    return f"SELECT *, {value} AS {node.name} FROM {_from(node.source, sources)}"


# ---- Pairs.

_JOINS = {
    Pairing.BOTH: "JOIN",
    Pairing.BOTH_OR_LEFT: "LEFT JOIN",
    Pairing.LEFT_WITH: "SEMI JOIN",
    Pairing.LEFT_WITHOUT: "ANTI JOIN",
}


@select.register
def _(node: Paired, sources: Sources) -> str:
    theirs = dict(node.shown)
    shown = [f"r.{theirs[n]} AS {n}" if n in theirs else f"l.{n}" for n in node.columns()]
    left, right = select(node.left, sources), select(node.right, sources)
    if node.is_guarded:
        right = never_empty(node, right)
    joined = f"({left}) AS l {_JOINS[node.pairing]} ({right}) AS r ON {_pair_test(node)}"
    return f"SELECT {_list(shown)} FROM {joined}"


def never_empty(node: Paired, rows: str) -> str:
    """Return the rows of a right side, and one that is nobody's."""
    values = [NOBODYS[kind] for kind in node.types]
    owner = ["NULL"] * (len(node.right.columns()) - len(values))
    return f"{rows} UNION ALL SELECT {', '.join([*owner, *values])}"


def _pair_test(node: Paired) -> str:
    """Return when two rows are a pair.

    No row is without an owner but the one that is nobody's, and it must be held like the others: so
    NULL is compared like a value. What remains of a guarded one is one expression over both sides,
    of which the engine computes no part on a side.
    """
    cells = {name: f"r.{there}" for name, there in node.shown}
    owner = [f"l.{name} IS NOT DISTINCT FROM r.{name}" for name in node.same]
    equal = [f"l.{mine} = r.{theirs}" for mine, theirs in node.equal]
    compared = [f"({_asked([part], cells)})" for part in node.compared]
    rest = _asked(node.asked, cells)
    if rest and node.is_guarded:
        rest = f"coalesce({rest}, FALSE)"
    return " AND ".join([*owner, *equal, *compared, *([rest] if rest else [])]) or "TRUE"


def _asked(parts: Sequence[Worked], cells: Mapping[str, str]) -> str:
    """Return that all parts of a condition hold; nothing if there are none."""
    found = [
        f"({expression(part.expression, [cells.get(n, f'l.{n}') for n in part.columns])})"
        for part in parts
    ]
    return f"({' AND '.join(found)})" if found else ""


# ---- Groups, and pairs of a unit and a group.


@select.register
def _(node: InGroups, sources: Sources) -> str:
    rows, group, keys = _from(node.source, sources), "g", f", keys{node.number}"
    if node.on:
        keys = f" JOIN keys{node.number} USING ({_list(node.on)})"
    elif node.size == 1:
        group, keys = f"{node.first}::BIGINT AS g", ""
    return f"SELECT {_list([*node.kept, f'{node.number} AS s', group])} FROM {rows}{keys}"


@select.register
def _(node: InAnyGroup, sources: Sources) -> str:
    tests = [f"{column} IN (SELECT k FROM allowed{number})" for number, column in node.allowed]
    where = f" WHERE {' AND '.join(tests)}" if tests else ""
    columns = _list([*node.kept, *node.group, "0 AS s"])
    return f"SELECT {columns} FROM {_from(node.source, sources)}{where}"


@select.register
def _(node: Grouped, sources: Sources) -> str:
    some = [f"coalesce(bool_or({name}), FALSE) AS {name}" for name in node.some]
    sums = [f"sum({what}) FILTER (WHERE {where or 'TRUE'}) AS {n}" for n, what, where in node.sums]
    columns = _list([*node.by, "count(*) AS n", *some, *sums])
    return f"SELECT {columns} FROM {_from(node.source, sources)} GROUP BY {_list(node.by)}"


@select.register
def _(node: RowsOf, sources: Sources) -> str:
    return _rows_of(node, node.shown, "TRUE", sources)


def _rows_of(node: RowsOf, shown: Sequence[str], which: str, sources: Sources) -> str:
    """Return columns of the rows whose pair is chosen, of the pairs for which ``which`` is true.

    Whether there are such pairs must not decide whether everybody's rows are looked up: so a pair
    is added that is nobody's.
    """
    pairs = f"SELECT {_list(node.pair)} FROM {_from(node.pairs, sources)} WHERE {which}"
    chosen = f"({pairs} UNION ALL SELECT {_nobody(node.pair)}) AS chosen"
    tests = [f"{node.present} IS NOT NULL"] if node.present else []
    wanted = " AND ".join([*tests, *node.where]) or "TRUE"
    columns = _list([f"keyed.{name}" for name in shown])
    rows = f"{_from(node.rows, sources)} AS keyed JOIN {chosen}"
    return (
        f"SELECT {columns} FROM {rows} ON {_alike(node.pair, 'keyed.', 'chosen.')} WHERE {wanted}"
    )


_PLACES = ("s", "g")
"""Columns that are never NULL: the numbers of a grouping set and of a public group."""


def _nobody(columns: Sequence[str]) -> str:
    """Return what stands in these columns of a row that is nobody's."""
    return ", ".join("0" if name in _PLACES else "NULL" for name in columns)


def _alike(columns: Sequence[str], left: str, right: str) -> str:
    """Return the condition that two rows are alike in ``columns``.

    A private key can be NULL, and so is the unit of a row that is nobody's.
    """
    tests = [(name, "=" if name in _PLACES else "IS NOT DISTINCT FROM") for name in columns]
    return " AND ".join(f"{left}{name} {equals} {right}{name}" for name, equals in tests)


# ---- Choices by a keyed hash.


def keyed(*parts: str) -> str:
    """Return a secret number for ``parts``: their hash under the salt of the data version.

    The salt is mixed in last and in one step, so the hash is hashed again.

    Example:
        >>> keyed("h", "g")
        'hash(hash(h, g, $salt))'
    """
    return f"hash(hash({', '.join([*parts, '$salt'])}))"


@select.register
def _(node: Sampled, sources: Sources) -> str:
    if node.counted is not None:
        return _sampled_of_few(node, node.counted, sources)
    if node.is_different:
        return _first(node, _from(node.source, sources))
    return _sampled_of_owners(node, sources)


def _sampled_of_few(node: Sampled, counted: str, sources: Sources) -> str:
    """Return the rows of all pairs that have few, and a choice of those of the others."""
    rows = node.source.source if isinstance(node.source, Different) else node.source
    if not isinstance(rows, RowsOf):
        raise Unsupported("DuckDB cannot run this", got=f"a sample of {type(rows).__name__}")
    shown = node.columns()
    all_of = _rows_of(rows, shown, f"{counted} <= {node.most}", sources)
    crowded = _rows_of(rows, shown, f"{counted} > {node.most}", sources)
    if isinstance(node.source, Different):
        crowded = crowded.replace("SELECT", "SELECT DISTINCT", 1)
    return f"{all_of} UNION ALL SELECT {_list(shown)} FROM ({_first(node, f'({crowded})')})"


def _sampled_of_owners(node: Sampled, sources: Sources) -> str:
    """Return so many rows of each owner. Few have more: the others' need not be put in order."""
    unit, shown, nobody = _list(node.within), _list(node.columns()), _nobody(node.within)
    many = f"count(*) > {node.most}"
    if node.size is not None:
        many += f" OR sum({_characters(node.size[0])}) > {node.size[1]}"
    same = _alike(node.within, "l.", "r.")
    # That there is a crowded one must not decide whether everybody's rows are looked up.
    kept = _first(node, f"(SELECT l.* FROM limited AS l SEMI JOIN crowded AS r ON {same})")
    return f"""SELECT {shown} FROM (WITH limited AS MATERIALIZED ({select(node.source, sources)}),
crowded AS (SELECT {unit} FROM limited GROUP BY {unit} HAVING {many} UNION ALL SELECT {nobody})
SELECT {shown} FROM limited AS l ANTI JOIN crowded AS r ON {same}
UNION ALL SELECT {shown} FROM ({kept}))"""


def _first(node: Sampled, rows: str) -> str:
    """Return the first of the rows in the secret order, with more columns than they have."""
    number = _list([*node.within, *node.content])
    if node.is_different:
        cells = [*node.content]
    else:
        cells = [*node.content, "occurrence"]
        rows = f"(SELECT *, row_number() OVER (PARTITION BY {number}) AS occurrence FROM {rows})"
    order = ", ".join([keyed(*node.key, *cells), *cells])
    over = f"OVER (PARTITION BY {_list(node.within)} ORDER BY {order})"
    places, kept = [f"row_number() {over} AS {node.rank}"], [f"{node.rank} <= {node.most}"]
    if node.size is not None:
        places.append(f"sum({_characters(node.size[0])}) {over} AS reached")
        kept.append(f"reached <= {node.size[1]}")
    return f"SELECT * FROM (SELECT *, {_list(places)} FROM {rows}) WHERE {' AND '.join(kept)}"


def _characters(columns: Sequence[str]) -> str:
    return " + ".join(f"coalesce(length({name}), 0)" for name in columns)


# ---- Totals over all owners.


@select.register
def _(node: Answered, sources: Sources) -> str:
    totals = [f"{total(part)} AS {name}" for name, part in node.totals]
    columns, group = _list([*node.by, *totals]), _list(node.by)
    return f"SELECT {columns} FROM {_from(node.source, sources)} GROUP BY {group}"


def _list(items: Sequence[str]) -> str:
    return ", ".join(items) or "1 AS nothing"
