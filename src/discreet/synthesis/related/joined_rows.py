r"""The rows that are counted of two tables: parents with a number of children, and children.

Both plans are owner-local: rows are put together by the unit and by nothing else. Of the parent's
table one row of a unit is kept, by a keyed hash of its values, and of the child's table as many as
``rows_per_unit`` says; they are the same ones in both plans. Rows of the child's table of a unit
that is not in the parent's do not count.

Guarantee:
    Adding a unit adds at most one row to the parents, and at most :math:`m` rows to the children.
    All rows of other units stay as they are. What the plans say about that is proved again from
    their lowered form, as for any question (:mod:`discreet.tables.lowered.prove`).
"""

from collections.abc import Sequence

import numpy as np
from attrs import frozen

from discreet.core.errors import InvalidArgument, RefusedQuery, Unsupported
from discreet.sql.rows.fields import field_values, projected
from discreet.synthesis.counted.value_cells import ValueCells
from discreet.synthesis.marginals.coarse_values import Counts
from discreet.synthesis.plan import CountedTable
from discreet.tables.catalog import Limits, Table
from discreet.tables.column import Column, ColumnType
from discreet.tables.expression import Expression, FieldValue, Literal
from discreet.tables.functions.call import call
from discreet.tables.functions.comparison import MOST_VALUES
from discreet.tables.keyset import PrivateKeys
from discreet.tables.plans.aggregate import CountRows
from discreet.tables.plans.contain import contain
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.relations.join import Join
from discreet.tables.relations.relation import Field, Filter, Relation, RowLimit, common_owner
from discreet.tables.relations.scan import Scan
from discreet.tables.relations.totals import InnerAggregate, InnerTotal, Total

MOST_CHILDREN = 500
"""How many children of a unit may count: more rows of one unit are never paired."""

_INTEGER = ColumnType.INTEGER
_SINGLE = 16
"""Up to so many children each number has a cell of its own."""


def require_related(parent: Table, child: Table) -> None:
    """Refuse tables that are not about the same units, named by one column in each."""
    if parent.name == child.name:
        raise InvalidArgument(
            f"{parent.name} is named twice", must="be two tables: parents, and their children"
        )
    for table in (parent, child):
        unit = table.unit
        if unit.column is None:
            raise RefusedQuery(
                f"Each row of {table.name} is a unit of its own",
                must="have a column that says whose row it is, in both tables",
            )
        if unit.period is not None or unit.others:
            raise Unsupported(
                f"The unit of {table.name} is named by more than one column",
                must="be named by one column, without a period",
                next="Synthesise each table by itself, with synthesise",
            )
    if child.most_rows_per_unit == 1 and parent.most_rows_per_unit != 1:
        raise InvalidArgument(
            f"{child.name} has one row of each unit, as declared, so it is the first of the two",
            must="be the table with one row of each unit, and then the one with several",
            got=f"{parent.name}, {child.name}",
            next="Nothing was charged. Name them the other way round",
        )
    common_owner(Scan(table=parent, columns=()), Scan(table=child, columns=()))


def number_cells(child: Table, most: int) -> ValueCells:
    """Return the cells of how many children a unit has: single numbers, and wider ones above.

    Example:
        The ends above 16 grow by an eighth: 18, 20, 22, and so on, to ``most``.
    """
    if not 1 <= most <= MOST_CHILDREN:
        raise InvalidArgument(
            "rows_per_unit is out of range",
            must=f"lie between 1 and {MOST_CHILDREN}, for children that are put to their parents",
            got=str(most),
        )
    ends = list(range(min(most, _SINGLE) + 1))
    while ends[-1] < most:
        ends.append(min(most, ends[-1] + max(1, ends[-1] // 8)))
    column = Column(name=f"number of {child.name}", type=_INTEGER, nullable=False)
    return ValueCells(column, None, 0, tuple(ends))


def middles(number: ValueCells) -> Counts:
    """Return about how many children a unit of each cell of their number has."""
    ends = np.array(number.ends, dtype=np.float64)
    starts = np.array([number.first, *ends[:-1] + 1])
    return (starts + ends) / 2


@frozen(kw_only=True)
class JoinedRows:
    """The cells of both tables, and the plans that count rows by them. All of it is public."""

    parent: Table
    child: Table
    parent_cells: tuple[ValueCells, ...]
    """Without that of the number of children."""
    child_cells: tuple[ValueCells, ...]
    number: ValueCells
    rows_per_unit: int

    def parents_plan(self) -> BoundedPlan:
        """Return the plan that counts units by the cells of their row and their children."""
        return _counting(self._parents(), 1)

    def children_plan(self) -> BoundedPlan:
        """Return the plan that counts children by their cells, and then by those of the parent."""
        children, parents = _in_cells(self._children(), self.child_cells), self._parents()
        joined = Join(left=children, right=parents, condition=None)
        return _counting(joined, self.rows_per_unit)

    def _parents(self) -> Relation:
        """Return one row for each unit of the parent's table: its cells, and that of the number."""
        scan = Scan(table=self.parent, columns=tuple(one.column for one in self.parent_cells))
        parents = _in_cells(RowLimit(source=scan, rows=1), self.parent_cells)
        joined = Join(left=parents, right=self._numbers(), condition=None, keep_left=True)
        *values, number = field_values(joined)
        none = Literal(_INTEGER, 0)
        counted = call("case", [call("is_null", [number]), none, number])
        names = [*(one.column.name for one in self.parent_cells), self.number.column.name]
        relation = projected(joined, [*values, counted], names)
        cell = self.number.expression(FieldValue(_INTEGER, len(values)))
        return projected(relation, [*values, cell], names)

    def _numbers(self) -> Relation:
        """Return how many children each unit has that has any."""
        shape = (Field(name=self.number.column.name, type=_INTEGER, nullable=False),)
        total = InnerTotal(total=Total.COUNT_ROWS, value=None)
        return InnerAggregate(source=self._children(), keys=(), totals=(total,), shape=shape)

    def _children(self) -> Relation:
        """Return the rows of the child's table that count.

        Those with a value that cannot be are left out; of the others, so many of a unit stay as
        may count, and the same ones for its number of children and for the children themselves.
        """
        scan = Scan(table=self.child, columns=tuple(one.column for one in self.child_cells))
        values = field_values(scan)
        strict = [
            _is_possible(value, one)
            for value, one in zip(values, self.child_cells, strict=True)
            if not one.column.nullable
        ]
        source: Relation = scan
        if strict:
            condition = strict[0] if len(strict) == 1 else call("and", strict)
            source = Filter(source=scan, condition=condition)
        return RowLimit(source=source, rows=self.rows_per_unit)


def joined_rows(
    parent: Table, child: Table, parents: CountedTable, children: CountedTable
) -> JoinedRows:
    """Return what counts the rows of two tables together, of what is counted of each."""
    return JoinedRows(
        parent=parent,
        child=child,
        parent_cells=parents.cells,
        child_cells=children.cells,
        number=number_cells(child, children.rows_per_unit),
        rows_per_unit=children.rows_per_unit,
    )


def _is_possible(value: FieldValue, cells: ValueCells) -> Expression:
    """Return the condition that a value is one of those that a column without NULL may have."""
    keys, is_there = cells.keys, call("not", [call("is_null", [value])])
    if keys is None or len(keys) > MOST_VALUES or value.type is ColumnType.BOOLEAN:
        return is_there
    return call("in", [value, *(Literal(value.type, key) for key in keys)])


def _in_cells(source: Relation, cells: Sequence[ValueCells]) -> Relation:
    """Return the rows of a table, with the cell of each of its columns."""
    values = [one.expression(value) for value, one in zip(field_values(source), cells, strict=True)]
    return projected(source, values, [one.column.name for one in cells])


def _counting(relation: Relation, most: int) -> BoundedPlan:
    width = len(relation.fields())
    plan = BoundedPlan(
        relation=relation,
        keys=PrivateKeys(fields=tuple(range(width)), allowed=(None,) * width),
        limits=Limits(rows_per_group=most, groups_per_unit=most, rows_per_unit=most),
        aggregates=(CountRows(),),
    )
    return contain(plan)
