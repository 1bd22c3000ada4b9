"""The bounded plan in DuckDB's SQL: keys, contribution limits, aggregates.

Read from the inside out: the relation; its rows in the groups of each grouping set; the *pairs* of
a unit and a group, of which so many are kept; the *sample* of rows of each kept pair; and the GROUP
BYs that meet rows of different owners. What can be told from the pairs alone (how many rows, how
many units) is, because there are far fewer of them than rows.
"""

from collections.abc import Mapping, Sequence

from attrs import frozen

from discreet.core.errors import Unsupported
from discreet.engines.duckdb.render.expression import expression
from discreet.engines.duckdb.render.measures import looked_at, measured, total
from discreet.engines.duckdb.render.owner import HASH, unit_columns
from discreet.engines.duckdb.render.pairs import fields
from discreet.engines.duckdb.render.relations import Sources, select
from discreet.engines.duckdb.render.sample import keyed, sample
from discreet.engines.duckdb.render.values import plain_day
from discreet.tables.aggregate import (
    Aggregate,
    CountDistinct,
    CountRows,
    CountUnits,
    QuantileValues,
)
from discreet.tables.column import ColumnType
from discreet.tables.expression import Expression
from discreet.tables.keyset import LONGEST_KEY, KeySet, PrivateKeys, PublicKeys
from discreet.tables.plans.plan import BoundedPlan

UNITS = "units"
"""The column with the number of units of each private group."""


def query(plan: BoundedPlan, sources: Sources) -> str:
    """Return the SQL that computes the plan, with ``$salt`` as its parameter.

    It reads a relation ``keys0``, ``keys1``, ... for the public keys of each grouping set (columns
    ``k0``, ``k1``, ... and the group's number ``g``), or ``allowed0``, ... for the public values of
    single private keys (one column ``k``).

    Guarantee:
        In each grouping set a unit keeps its first ``groups_per_unit`` groups in the order of a
        keyed hash, the group itself breaking ties. Of each kept group *one* fair sample of at most
        ``rows_per_group`` of the unit's rows (:mod:`discreet.engines.duckdb.render.sample`)
        serves all aggregates, which look at their conditions afterwards: so whatever is compared
        was counted on the same rows. Units are counted on the kept pairs, and distinct
        values are chosen among all rows of a pair. No other unit's rows matter, and no row's
        position does.
    """
    shape = _Shape.of(plan)
    parts = shape.parts()
    joined = "".join(
        f" LEFT JOIN {name} ON {_alike(shape.group, f'{parts[0]}.', f'{name}.')}"
        for name in parts[1:]
    )
    return f"""
WITH owned AS {shape.stored()}({select(plan.relation, sources)}),
looked AS (SELECT {_list([*shape.owner, *shape.keys, *shape.inputs])} FROM owned),
measured AS (SELECT {_list([*shape.owner, *shape.measures()])} FROM looked),
keyed AS {shape.read_again()}({shape.keyed()}),
pairs AS ({shape.pairs()}),
kept AS MATERIALIZED ({shape.kept()}),
{shape.defined()}
SELECT {_list([*(f"{parts[0]}.{name}" for name in shape.group), *shape.shown()])}
FROM {parts[0]}{joined}"""


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
    conditions: Mapping[Expression, int]
    """The number of each different condition."""
    names: tuple[str, ...]
    """The names of the inputs: all that a row can be told by from here on."""
    group: tuple[str, ...]
    """The columns that say which group a row is in."""

    @staticmethod
    def of(plan: BoundedPlan) -> "_Shape":
        cells = fields(len(plan.relation.fields()))
        wheres = dict.fromkeys(a.where for a in plan.aggregates if a.where is not None)
        conditions = {where: i for i, where in enumerate(wheres)}
        tests = {f"w{i}": expression(where, cells) for where, i in conditions.items()}
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
            names=tuple(inputs),
            group=("g",) if is_public else tuple(f"k{n}" for n in range(len(plan.keys.fields))),
        )

    # ---- Rows in their groups.

    def stored(self) -> str:
        """Return that the relation is kept if several sets read it: batches come only once."""
        keys = self.plan.keys
        return "MATERIALIZED " if isinstance(keys, PublicKeys) and len(keys.sets) > 1 else ""

    def measures(self) -> list[str]:
        """Return the keys, the conditions, and what each row adds to each aggregate."""
        keys = [f"k{n}" for n in range(len(self.keys))]
        tests = [name for name in self.names if name.startswith("w")]
        values = [
            f"{measured(aggregate, f'v{i}')} AS v{i}"
            for i, aggregate in enumerate(self.plan.aggregates)
            if f"v{i}" in self.names
        ]
        return [*keys, *tests, *values]

    def read_again(self) -> str:
        """Return that the rows are kept if they are looked at again after their pairs."""
        is_by_pair = all(_is_by_pair(aggregate) for aggregate in self.plan.aggregates)
        return "" if is_by_pair else "MATERIALIZED "

    def keyed(self) -> str:
        """Return the rows in their groups; with grouping sets a row is in one group of each."""
        keys = self.plan.keys
        shown = [*self.owner, *self.names]
        if isinstance(keys, PrivateKeys):
            return f"SELECT {_list([*shown, *self.group])}, 0 AS s FROM measured{_allowed(keys)}"
        parts = [_in_set(number, keyset, shown) for number, keyset in enumerate(keys.sets)]
        return " UNION ALL ".join(parts)

    # ---- Pairs of a unit and a group.

    def pair(self) -> list[str]:
        """Return the columns that tell one pair of a unit and a group from another."""
        return [*self.owner[:-1], "s", *self.group]

    def pairs(self) -> str:
        """Return each pair with the number of its rows, and which conditions some row satisfies."""
        tests = sorted({self.test(a) for a in self.plan.aggregates if isinstance(a, CountUnits)})
        columns = [*self.owner, "s", *self.group]
        some = [f"coalesce(bool_or({name}), FALSE) AS {name}" for name in tests if name != "TRUE"]
        grouped = ", ".join(columns)
        return f"SELECT {_list([*columns, 'count(*) AS n', *some])} FROM keyed GROUP BY {grouped}"

    def kept(self) -> str:
        """Return the pairs that count: the first groups of each unit, by a keyed hash."""
        keys, limits = self.plan.keys, self.plan.limits
        # With fewer groups than a unit may be in, there is nothing to choose.
        if isinstance(keys, PublicKeys) and all(
            len(part.rows) <= limits.groups_per_unit for part in keys.sets
        ):
            return "SELECT * FROM pairs"
        within = ", ".join([*self.owner[:-1], "s"])
        order = ", ".join([keyed(HASH, *self.group), *self.group])
        rank = f"row_number() OVER (PARTITION BY {within} ORDER BY {order}) AS group_rank"
        most = limits.groups_per_unit
        return f"SELECT * FROM (SELECT *, {rank} FROM pairs) WHERE group_rank <= {most}"

    # ---- Totals of each group.

    def parts(self) -> list[str]:
        """Return the relations, one row a group, in which the totals are; the first has them all.

        A kept pair has at least one row in the sample, so the totals of rows lack no group; only
        the distinct values can.
        """
        aggregates = list(enumerate(self.plan.aggregates))
        distinct = [f"of_v{i}" for i, a in aggregates if isinstance(a, CountDistinct)]
        by_pair = self.group != ("g",) or distinct or any(_is_by_pair(a) for _, a in aggregates)
        by_row = any(_is_by_row(a) for _, a in aggregates)
        return [*(["of_pairs"] if by_pair else []), *(["of_rows"] if by_row else []), *distinct]

    def defined(self) -> str:
        """Return the definitions of the parts."""
        parts, group = self.parts(), _list(self.group)
        found = []
        if "of_pairs" in parts:
            counts = [f"{value} AS a{i}" for i, value in self.pair_totals().items()]
            columns = _list([*self.group, f"count(*) AS {UNITS}", *counts])
            found.append(f"of_pairs AS (SELECT {columns} FROM kept GROUP BY {group})")
        if "of_rows" in parts:
            sums = [f"{value} AS a{i}" for i, value in self.row_totals().items()]
            found.append(f"sampled AS ({self.sampled()})")
            columns = _list([*self.group, *sums])
            found.append(f"of_rows AS (SELECT {columns} FROM sampled GROUP BY {group})")
        for i, aggregate in enumerate(self.plan.aggregates):
            if isinstance(aggregate, CountDistinct):
                found.append(f"of_v{i} AS ({self.distinct_values(i)})")
        return ",\n".join(found)

    def pair_totals(self) -> dict[int, str]:
        """Return what is counted by pairs: units, and rows without a condition."""
        most = self.plan.limits.rows_per_group
        return {
            i: f"count(*) FILTER (WHERE {self.test(aggregate)})"
            if isinstance(aggregate, CountUnits)
            else f"sum(least(n, {most}))::BIGINT"
            for i, aggregate in enumerate(self.plan.aggregates)
            if _is_by_pair(aggregate)
        }

    def row_totals(self) -> dict[int, str]:
        """Return what is added up over the sample of rows."""
        return {
            i: total(aggregate, f"v{i}", kept=self.test(aggregate))
            for i, aggregate in enumerate(self.plan.aggregates)
            if _is_by_row(aggregate)
        }

    def sampled(self) -> str:
        """Return the rows that count; only where a pair has too many is there a choice to make."""
        most, shown = self.plan.limits.rows_per_group, [*self.group, *self.content()]
        crowded = f"({self.rows([*self.pair(), HASH, *self.content()], f'n > {most}')})"
        key = [HASH, *self.group]
        some = sample(crowded, within=self.pair(), key=key, content=self.content(), most=most)
        all_of = self.rows(shown, f"n <= {most}")
        return f"{all_of} UNION ALL SELECT {_list(shown)} FROM ({some})"

    def content(self) -> list[str]:
        """Return all that the totals of rows look at."""
        names = [
            name
            for i, aggregate in enumerate(self.plan.aggregates)
            if _is_by_row(aggregate)
            for name in (self.test(aggregate), f"v{i}")
        ]
        known = set(self.names)
        return [name for name in dict.fromkeys(names) if name in known]

    def distinct_values(self, index: int) -> str:
        """Return how many values a group has, of each unit the first ones by a keyed hash."""
        most, value = self.plan.limits.rows_per_group, f"v{index}"
        test = self.test(self.plan.aggregates[index])
        wanted = f"{value} IS NOT NULL AND {test}"
        all_of = self.rows([*self.group, value], f"n <= {most}", wanted)
        different = self.rows([*self.pair(), HASH, value], f"n > {most}", wanted, "DISTINCT ")
        order = ", ".join([keyed(HASH, *self.group, value), value])
        rank = f"row_number() OVER (PARTITION BY {_list(self.pair())} ORDER BY {order}) AS d"
        shown = _list([*self.group, value])
        some = f"SELECT {shown} FROM (SELECT *, {rank} FROM ({different})) WHERE d <= {most}"
        columns = _list([*self.group, f"count(DISTINCT {value}) AS a{index}"])
        return f"SELECT {columns} FROM ({all_of} UNION ALL {some}) GROUP BY {_list(self.group)}"

    def rows(
        self, columns: Sequence[str], which: str, wanted: str = "TRUE", different: str = ""
    ) -> str:
        """Return columns of the ``wanted`` rows of the kept pairs for which ``which`` is true.

        ``n`` is how many rows a pair has. Whether there are such pairs must not decide whether
        everybody's rows are looked up: so a pair is added that is nobody's.
        """
        pair = self.pair()
        nobodys = ", ".join("0" if name in ("s", "g") else "NULL" for name in pair)
        some = f"SELECT {_list(pair)} FROM kept WHERE {which} UNION ALL SELECT {nobodys}"
        on = _alike(pair, "keyed.", "chosen.")
        shown = _list([f"keyed.{name}" for name in columns])
        rows = f"keyed JOIN ({some}) AS chosen ON {on} WHERE {wanted}"
        return f"SELECT {different}{shown} FROM {rows}"

    def shown(self) -> list[str]:
        """Return the totals in order, after the number of units where that is wanted."""
        units = [] if self.group == ("g",) else [UNITS]
        totals = [
            f"a{i}" if isinstance(aggregate, QuantileValues) else f"coalesce(a{i}, 0) AS a{i}"
            for i, aggregate in enumerate(self.plan.aggregates)
        ]
        return [*units, *totals]

    def test(self, aggregate: Aggregate) -> str:
        """Return the name of the aggregate's condition, or TRUE if it has none."""
        if aggregate.where is None:
            return "TRUE"
        return f"w{self.conditions[aggregate.where]}"


def _is_by_pair(aggregate: Aggregate) -> bool:
    """Tell whether the kept pairs alone say what an aggregate is."""
    is_plain = isinstance(aggregate, CountRows) and aggregate.where is None
    return is_plain or isinstance(aggregate, CountUnits)


def _is_by_row(aggregate: Aggregate) -> bool:
    """Tell whether an aggregate is added up over the sample of rows."""
    return not _is_by_pair(aggregate) and not isinstance(aggregate, CountDistinct)


def _alike(columns: Sequence[str], left: str, right: str) -> str:
    """Return the condition that two rows are alike in ``columns``.

    A private key can be NULL, and so is the unit of a row that is nobody's.
    """
    tests = [(name, "=" if name in ("s", "g") else "IS NOT DISTINCT FROM") for name in columns]
    return " AND ".join(f"{left}{name} {equals} {right}{name}" for name, equals in tests)


def _list(items: Sequence[str]) -> str:
    return ", ".join(items)


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
