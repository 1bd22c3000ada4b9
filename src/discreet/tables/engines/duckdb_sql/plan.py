"""The bounded plan in DuckDB's SQL: keys, contribution limits, aggregates.

Read from the inside out: the relation; its rows in the groups of each grouping set; the limits of
each unit, chosen by keyed hashes; and the one GROUP BY that meets rows of different owners.
"""

from collections.abc import Sequence

from attrs import frozen

from discreet.core.errors import Unsupported
from discreet.tables.aggregate import Aggregate, CountDistinct, CountUnits
from discreet.tables.column import ColumnType
from discreet.tables.engines.duckdb_sql.expression import expression
from discreet.tables.engines.duckdb_sql.measures import looked_at, measured, total
from discreet.tables.engines.duckdb_sql.owner import HASH, unit_columns
from discreet.tables.engines.duckdb_sql.relations import Sources, fields, select
from discreet.tables.engines.duckdb_sql.values import plain_day
from discreet.tables.expression import Expression
from discreet.tables.keyset import KeySet, PrivateKeys, PublicKeys
from discreet.tables.plans.plan import BoundedPlan

UNITS = "units"
"""The column with the number of units of each private group."""

LONGEST_KEY = 1_000
"""How many characters of a private key count; two that differ only later are one group."""


def query(plan: BoundedPlan, sources: Sources) -> str:
    """Return the SQL that computes the plan, with ``$salt`` as its parameter.

    It reads a relation ``keys0``, ``keys1``, ... for the public keys of each grouping set (columns
    ``k0``, ``k1``, ... and the group's number ``g``), or ``allowed0``, ... for the public values of
    single private keys (one column ``k``).

    Guarantee:
        In each grouping set a unit keeps its first ``groups_per_unit`` groups in the order of a
        keyed hash, the group itself breaking ties. In each kept group an aggregate takes the first
        ``rows_per_group`` of the unit's rows that satisfy its condition, in the order of a keyed
        hash of their content; rows that tie in all their content are alike, and ``row_number``
        counts positions, so a tie never admits one too many. No other unit's rows matter, and no
        row's position does.
    """
    shape = _Shape.of(plan)
    return f"""
WITH owned AS {shape.stored()}({select(plan.relation, sources)}),
looked AS (SELECT {", ".join([*shape.owner, *shape.keys, *shape.inputs])} FROM owned),
measured AS (SELECT {", ".join([*shape.owner, *shape.measures()])} FROM looked),
keyed AS ({shape.keyed()}),
hashed AS (SELECT *, {shape.hashes()} FROM keyed),
ranked AS (SELECT *, {shape.ranks()} FROM hashed)
SELECT {", ".join([*shape.group, *shape.totals()])} FROM ranked
WHERE group_rank <= {plan.limits.groups_per_unit} GROUP BY {", ".join(shape.group)}"""


@frozen(kw_only=True)
class _Shape:
    """The columns of the query, stage by stage."""

    plan: BoundedPlan
    owner: tuple[str, ...]
    """The unit's columns, and the hash that stands for it."""
    keys: tuple[str, ...]
    """The grouped fields, each with its name ``k0``, ``k1``, ..."""
    inputs: tuple[str, ...]
    """Conditions ``w0``, ... (each different one once) and values ``v0``, ..., with their names."""
    conditions: tuple[Expression, ...]
    content: tuple[str, ...]
    """The names of the inputs: all that a row can be told by from here on."""
    group: tuple[str, ...]
    """The columns that say which group a row is in."""

    @staticmethod
    def of(plan: BoundedPlan) -> "_Shape":
        cells = fields(len(plan.relation.fields()))
        conditions = _conditions(plan.aggregates)
        tests = {f"w{i}": expression(where, cells) for i, where in enumerate(conditions)}
        values = {
            f"v{i}": value
            for i, aggregate in enumerate(plan.aggregates)
            if (value := looked_at(aggregate, cells)) is not None
        }
        inputs = tests | values
        is_public = isinstance(plan.keys, PublicKeys)
        return _Shape(
            plan=plan,
            owner=(*unit_columns(plan.owner()), HASH),
            keys=tuple(f"{_key(plan, i)} AS k{n}" for n, i in enumerate(plan.keys.fields)),
            inputs=tuple(f"{value} AS {name}" for name, value in inputs.items()),
            conditions=conditions,
            content=tuple(inputs),
            group=("g",) if is_public else tuple(f"k{n}" for n in range(len(plan.keys.fields))),
        )

    def measures(self) -> list[str]:
        """Return the keys, the conditions, and what each row adds to each aggregate."""
        keys = [f"k{n}" for n in range(len(self.keys))]
        tests = [name for name in self.content if name.startswith("w")]
        values = [
            f"{measured(aggregate, f'v{i}')} AS v{i}"
            for i, aggregate in enumerate(self.plan.aggregates)
            if f"v{i}" in self.content
        ]
        return [*keys, *tests, *values]

    def stored(self) -> str:
        """Return that the relation is kept if several sets read it: batches come only once."""
        keys = self.plan.keys
        return "MATERIALIZED " if isinstance(keys, PublicKeys) and len(keys.sets) > 1 else ""

    def keyed(self) -> str:
        """Return the rows in their groups; with grouping sets a row is in one group of each."""
        keys = self.plan.keys
        shown = [*self.owner, *self.content]
        if isinstance(keys, PrivateKeys):
            columns = ", ".join([*shown, *self.group])
            return f"SELECT {columns}, 0 AS s FROM measured{_allowed(keys)}"
        parts = [_in_set(number, keyset, shown) for number, keyset in enumerate(keys.sets)]
        return " UNION ALL ".join(parts)

    def hashes(self) -> str:
        """Return the keyed hashes that choose groups (``hg``) and rows (``hr``)."""
        group = ", ".join([HASH, *self.group, "$salt"])
        row = ", ".join([HASH, *self.group, *self.content, "$salt"])
        return f"hash(hash({group})) AS hg, hash(hash({row})) AS hr"

    def ranks(self) -> str:
        """Return the places of groups, of rows for each condition, and of distinct values."""
        unit, group = ", ".join(self.owner[:-1]), ", ".join(self.group)
        within = f"PARTITION BY {unit}, s, {group}"
        content = ", ".join(["hr", *self.content])
        place = f"dense_rank() OVER (PARTITION BY {unit}, s ORDER BY hg, {group})"
        ranks = [f"{place if self.is_limited() else '1'} AS group_rank"]
        for name in sorted({self.test(a) for a in self.plan.aggregates if _is_by_row(a)}):
            order = content if name == "all" else f"{name} IS NOT TRUE, {content}"
            ranks.append(f"row_number() OVER ({within} ORDER BY {order}) AS r_{name}")
        for i, aggregate in enumerate(self.plan.aggregates):
            if isinstance(aggregate, CountDistinct):
                value = self.distinct_value(i)
                order = f"{value} IS NULL, hash(hash({HASH}, {group}, {value}, $salt)), {value}"
                ranks.append(f"dense_rank() OVER ({within} ORDER BY {order}) AS d{i}")
        return ", ".join(ranks)

    def is_limited(self) -> bool:
        """Tell whether a unit could be in more groups than it may; keys are public, so this is."""
        keys, most = self.plan.keys, self.plan.limits.groups_per_unit
        return isinstance(keys, PrivateKeys) or any(len(part.rows) > most for part in keys.sets)

    def totals(self) -> list[str]:
        """Return the exact integers of each group, one for each aggregate."""
        rows = self.plan.limits.rows_per_group
        everybody = f"count(DISTINCT {self.unit()})"
        found = [] if self.group == ("g",) else [f"{everybody} AS {UNITS}"]
        for i, aggregate in enumerate(self.plan.aggregates):
            name = self.test(aggregate)
            passed = "TRUE" if name == "all" else name
            if isinstance(aggregate, CountUnits):
                value = f"{everybody} FILTER (WHERE {passed})"
            elif isinstance(aggregate, CountDistinct):
                value = f"count(DISTINCT {self.distinct_value(i)}) FILTER (WHERE d{i} <= {rows})"
            else:
                value = total(aggregate, f"v{i}", kept=f"{passed} AND r_{name} <= {rows}")
            found.append(f"{value} AS a{i}")
        return found

    def test(self, aggregate: Aggregate) -> str:
        """Return the name of the aggregate's condition, or ``all``."""
        if aggregate.where is None:
            return "all"
        return f"w{self.conditions.index(aggregate.where)}"

    def distinct_value(self, index: int) -> str:
        """Return the value to count once, NULL in rows that do not satisfy the condition."""
        name = self.test(self.plan.aggregates[index])
        return f"v{index}" if name == "all" else f"CASE WHEN {name} THEN v{index} END"

    def unit(self) -> str:
        """Return who a row belongs to, as one value."""
        return self.owner[0] if len(self.owner) == 2 else f"({', '.join(self.owner[:-1])})"


def _conditions(aggregates: Sequence[Aggregate]) -> tuple[Expression, ...]:
    return tuple(dict.fromkeys(a.where for a in aggregates if a.where is not None))


def _is_by_row(aggregate: Aggregate) -> bool:
    return not isinstance(aggregate, CountUnits | CountDistinct)


def _key(plan: BoundedPlan, index: int) -> str:
    """Return a grouped field; a group has no floating-point number, and no day beyond all years.

    A private text is cut: how much room all keys that were found take must not decide anything.
    """
    kind = plan.relation.fields()[index].type
    if kind is ColumnType.REAL:
        raise Unsupported("A real number cannot be a key", next="Group by whole numbers")
    if kind is ColumnType.TEXT and isinstance(plan.keys, PrivateKeys):
        return f"left(f{index}, {LONGEST_KEY})"
    return plain_day(f"f{index}") if kind is ColumnType.DATE else f"f{index}"


def _in_set(number: int, keyset: KeySet, shown: Sequence[str]) -> str:
    """Return the rows that are in a group of one grouping set."""
    rows = f"SELECT {', '.join(shown)}, {number} AS s, g FROM measured"
    if not keyset.places:
        return f"{rows}, keys{number}"
    return f"{rows} JOIN keys{number} USING ({', '.join(f'k{place}' for place in keyset.places)})"


def _allowed(keys: PrivateKeys) -> str:
    """Return the condition that private keys with public values have one of them."""
    tests = [
        f"k{n} IN (SELECT k FROM allowed{n})"
        for n, values in enumerate(keys.allowed)
        if values is not None
    ]
    return f" WHERE {' AND '.join(tests)}" if tests else ""
