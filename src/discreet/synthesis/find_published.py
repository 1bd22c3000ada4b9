r"""Find what was published before about the same rows that a synthesis counts.

A stored release is one more measurement, for nothing, if and only if it counts *the same rows*:

*Table.* It counts rows of the table as they are, without a condition, in the same version of the
data, grouped by columns of the synthesis with declared keys.

*Limits.* Of a unit with more rows than count, a synthesis keeps a sample that a keyed hash of the
counted values draws. A question with other columns draws another one, and where keys leave rows
out, it does not even draw it from the same rows. So a grouped release counts the same rows only
where neither of both can leave anything out: by the declared number of rows of a unit, or because
each row is a unit. Two exceptions follow from what limits mean. A number of all rows is
:math:`\sum_u \min(n_u, m)` for the same limit :math:`m`, whichever rows are drawn. And an earlier
synthesis that ran the same plan has drawn the same sample.

*Values.* A key counts the rows that have it. In a cell at the end of a range also lie the rows
that are beyond it, and in that of NULL those without a declared value; these stay unknown. Where a
column that is declared to have no NULL leaves rows out, only tables with that column know of it.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np
from attrs import evolve, field, frozen

from discreet.core.canonical import digest
from discreet.core.errors import InvalidArgument
from discreet.ledger.chain import Kind
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.noise_json import Noise, read_noise
from discreet.project.passage import KIND, StoredBody
from discreet.project.project import Project
from discreet.releases.answered_plan import AnsweredPlan
from discreet.releases.body import FROM_TEXT
from discreet.synthesis.cell_groups import CellGroups, cell_groups
from discreet.synthesis.counted.counted_rows import Integers
from discreet.synthesis.counted.value_cells import ValueCells
from discreet.synthesis.marginals.measured import MeasuredMarginals, MeasuredTable
from discreet.synthesis.plan import PUBLISHED, CountingPlan
from discreet.synthesis.published_table import PublishedTable
from discreet.synthesis.stored_synthesis import counted_again, is_synthesis
from discreet.tables.catalog import Limits, Table
from discreet.tables.column import ColumnType, Key
from discreet.tables.expression import Call, Expression, FieldValue, fields_in
from discreet.tables.keyset import PublicKeys
from discreet.tables.plans.aggregate import CountRows
from discreet.tables.plans.contain import rows_let_through
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.relations.relation import Projection, Relation
from discreet.tables.relations.scan import Scan

MOST_ENTRIES = 10_000
"""In so many entries of the ledger, the newest ones, earlier syntheses are looked for."""


FindAnswers = Callable[[Project, Table], Iterable[AnsweredPlan]]
"""What finds the answers that were published about a table, as its data are now."""


@frozen
class EarlierReleases:
    """What was published before, and which of it may be used."""

    answers: FindAnswers
    tickets: frozenset[int] | None = None
    """Only these, each of which must be usable; None for all that are."""

    def tables(self, project: Project, plan: CountingPlan) -> tuple[PublishedTable, ...]:
        """Return what answers and earlier syntheses say about the rows of a plan, in order."""
        counting = _Counting.of(plan)
        answers = self.answers(project, plan.table)
        found = [table for answer in answers for table in _of_answer(counting, answer)]
        found += _of_syntheses(project, plan)
        found += _of_counts(project, plan)
        found.sort(key=lambda one: one.ticket)
        if self.tickets is None:
            return tuple(found)
        missing = self.tickets - {one.ticket for one in found}
        if missing:
            raise InvalidArgument(
                f"Ticket {min(missing)} says nothing about the rows that are counted here",
                must="count rows of the table as it is now, without a condition, by declared keys,"
                " and with limits that keep the same rows",
                next="Nothing was charged. Leave it out",
            )
        return tuple(one for one in found if one.ticket in self.tickets)


@frozen
class _Counting:
    """What a synthesis counts, of columns with declared values."""

    table: Table
    names: tuple[str, ...]
    """Of all columns."""
    cells: Mapping[str, ValueCells] = field(repr=False)
    """Of those with declared values, by their names."""
    most: int
    """How many rows of a unit count."""
    leaves_out: frozenset[str]
    """The columns for whose sake rows are left out: those with other values than the declared."""
    let_through: int | None
    """How many rows of a unit other limits leave, which contain work; None if there are none."""

    @staticmethod
    def of(plan: CountingPlan) -> "_Counting":
        return _Counting(
            table=plan.table,
            names=tuple(one.column.name for one in plan.cells),
            cells={one.column.name: one for one in plan.cells if not one.is_open},
            most=plan.rows_per_unit,
            leaves_out=_leaving_out(plan.cells),
            let_through=rows_let_through(plan.plan.relation),
        )

    def place(self, name: str) -> int:
        """Return the place of a column."""
        return self.names.index(name)

    @property
    def is_whole(self) -> bool:
        """Whether all rows of each unit count."""
        rows = _rows_of_a_unit(self.table)
        return rows is not None and rows <= self.most and _leaves(self.let_through, rows)

    def keeps_the_same(self, limits: Limits, groups: int, *, is_total: bool) -> bool:
        """Tell whether a question with so many groups counts the same rows."""
        if is_total and _leaves(self.let_through, self.most):
            least = min(limits.rows_per_group, limits.rows_per_unit or limits.rows_per_group)
            if least == self.most:
                return True
        rows = _rows_of_a_unit(self.table)
        if rows is None or not self.is_whole:
            return False
        return (
            limits.rows_per_group >= rows
            and limits.groups_per_unit >= min(rows, groups)
            and (limits.rows_per_unit is None or limits.rows_per_unit >= rows)
        )


def _rows_of_a_unit(table: Table) -> int | None:
    """Return how many rows a unit has at most, as far as the public knows."""
    return 1 if table.unit.column is None else table.most_rows_per_unit


def _leaves(let_through: int | None, rows: int) -> bool:
    return let_through is None or let_through >= rows


def _leaving_out(cells: Sequence[ValueCells]) -> frozenset[str]:
    return frozenset(
        one.column.name
        for one in cells
        if not one.column.nullable
        and one.keys is not None
        and one.column.type is not ColumnType.BOOLEAN
    )


# ---- Answers to questions.


def _of_answer(counting: _Counting, answer: AnsweredPlan) -> Iterator[PublishedTable]:
    """Yield a table for each grouping set of an answer and each number of rows in it."""
    plan, keys = answer.plan, answer.plan.keys
    scan = _scan(plan.relation)
    if not isinstance(keys, PublicKeys) or scan is None or scan.table.name != counting.table.name:
        return
    counts = [
        (stored.noise, stored.values)
        for asked, stored in zip(plan.aggregates, answer.body.aggregates, strict=True)
        if asked == CountRows() and isinstance(stored.noise, DiscreteLaplace | DiscreteGaussian)
    ]
    for number, part in enumerate(keys.sets):
        if not counting.keeps_the_same(plan.limits, len(part.rows), is_total=not part.places):
            continue
        rows = [row for row, one in enumerate(answer.body.keys.sets) if one == number]
        axes = _axes(counting, answer, part.places, scan)
        if axes is not None and counting.leaves_out <= {name for name, _, _ in axes}:
            for noise, values in counts:
                yield _table(counting, answer, axes, noise, np.array(values)[rows], rows)


_Axes = list[tuple[str, CellGroups, list[int]]]
"""For each column its name, its blocks, and the block of each row of an answer (-1 if in none)."""


def _axes(
    counting: _Counting, answer: AnsweredPlan, places: Sequence[int], scan: Scan
) -> _Axes | None:
    """Return how the groups of an answer lie over the cells of each column that it groups by."""
    found: _Axes = []
    keys = answer.plan.keys
    for place in places:
        expression = _worked_out(answer.plan.relation, keys.fields[place])
        fields = fields_in(expression)
        if len(fields) != 1:
            return None
        name = scan.columns[next(iter(fields))].name
        column = [_read(answer, row, place) for row in range(len(answer.body.keys.rows))]
        known = counting.cells.get(name)
        groups = None if known is None else cell_groups(known, expression, column)
        if groups is None or name in [one for one, _, _ in found]:
            return None
        blocks = [-1 if key is None else groups.keys.get(key, -1) for key in column]
        found.append((name, groups, blocks))
    return found


def _read(answer: AnsweredPlan, row: int, place: int) -> Key | None:
    key, kind = answer.body.keys.rows[row][place], answer.body.keys.types[place]
    return FROM_TEXT[kind](str(key)) if kind in FROM_TEXT and key is not None else key


def _table(
    counting: _Counting,
    answer: AnsweredPlan,
    axes: _Axes,
    noise: Noise,
    counts: Integers,
    rows: Sequence[int],
) -> PublishedTable:
    """Return the sums of an answer over blocks of cells; known are those that lack no group."""
    order = sorted(axes, key=lambda one: counting.place(one[0]))
    shape = tuple(groups.size for _, groups, _ in order)
    values, members = (np.zeros(shape, dtype=np.int64) for _ in range(2))
    for row, count in zip(rows, counts.tolist(), strict=True):
        block = tuple(blocks[row] for _, _, blocks in order)
        if -1 not in block:
            values[block] += count
            members[block] += 1
    wanted = np.ones((), dtype=np.int64)
    for _, groups, _ in order:
        wanted = wanted[..., None] * groups.keys_of_blocks()
    return PublishedTable(
        ticket=answer.ticket,
        what=answer.sql,
        columns=tuple(counting.place(name) for name, _, _ in order),
        groups=tuple(groups.numbers for _, groups, _ in order),
        noise=noise,
        values=values,
        members=np.where(members == wanted, members, 0),
    )


def _scan(relation: Relation) -> Scan | None:
    """Return the scan of a table whose rows these are, each just once."""
    while isinstance(relation, Projection):
        relation = relation.source
    return relation if isinstance(relation, Scan) else None


def _worked_out(relation: Relation, index: int) -> Expression:
    """Return a field as it is made of the columns of the scan below."""
    found: Expression = FieldValue(relation.fields()[index].type, index)
    while isinstance(relation, Projection):
        found = _put_in(found, relation.values)
        relation = relation.source
    return found


def _put_in(expression: Expression, values: Sequence[Expression]) -> Expression:
    if isinstance(expression, FieldValue):
        return values[expression.index]
    if isinstance(expression, Call):
        return evolve(
            expression, arguments=tuple(_put_in(one, values) for one in expression.arguments)
        )
    return expression


# ---- Earlier syntheses.


def _of_syntheses(project: Project, plan: CountingPlan) -> Iterator[PublishedTable]:
    """Yield what earlier syntheses measured of the same rows, of columns with declared values."""
    for ticket in _tickets(project, plan, is_synthesis):
        yield from _of_synthesis(project, plan, ticket)


def _tickets(
    project: Project, plan: CountingPlan, is_wanted: Callable[[StoredBody], bool]
) -> Iterator[int]:
    """Yield the tickets about these people as they are now, with a description that is wanted."""
    space = plan.table.unit.id_space
    version = project.ledger.known_version(space)
    orders = {}
    for entry in project.ledger.entries(last=MOST_ENTRIES):
        if entry.kind is Kind.RESERVE and is_wanted(entry.payload["order"]["description"]):
            orders[entry.sequence] = entry.payload["order"]
        order = orders.get(entry.payload["ticket"]) if entry.kind is Kind.COMMIT else None
        if order is None or version is None or order["data_version"] != version.number:
            continue
        if order["charges"][0]["id_space"] == space:
            yield entry.payload["ticket"]


def _of_synthesis(project: Project, plan: CountingPlan, ticket: int) -> Iterator[PublishedTable]:
    stored = project.ledger.release_of(ticket)
    if stored is None or stored[0].get("table") != plan.table.name:
        return
    body, counting = stored[0], _Counting.of(plan)
    counted = counted_again(project, body)
    if counted is None or not _are_the_same_rows(counting, plan, body, *counted):
        return
    cells, _ = counted
    measured = MeasuredMarginals.from_json(body["measured"])
    for table in (*measured.first, *measured.tables):
        names = [cells[column].column.name for column in table.columns]
        if all(counting.cells.get(cells[at].column.name) == cells[at] for at in table.columns):
            what = f"measured for synthetic rows of {plan.table.name}"
            yield _measured_before(counting, ticket, what, names, table, measured)


def _are_the_same_rows(
    counting: _Counting,
    plan: CountingPlan,
    body: StoredBody,
    cells: Sequence[ValueCells],
    counted: BoundedPlan,
) -> bool:
    if body["counted"] == digest(plan.plan.to_json()):
        return True
    rows = _rows_of_a_unit(counting.table) or 0
    is_whole = rows <= body["rows_per_unit"] and _leaves(rows_let_through(counted.relation), rows)
    return counting.is_whole and is_whole and _leaving_out(cells) == counting.leaves_out


def _measured_before(
    counting: _Counting,
    ticket: int,
    what: str,
    names: Sequence[str],
    table: MeasuredTable,
    measured: MeasuredMarginals,
) -> PublishedTable:
    """Return a measured table; of several columns it is of the coarse values of that synthesis."""
    is_fine = len(table.columns) == 1
    groups = [
        np.arange(measured.sizes[column]) if is_fine else measured.coarse[column].numbers
        for column in table.columns
    ]
    order = sorted(range(len(names)), key=lambda one: counting.place(names[one]))
    values = table.values.transpose(order)
    return PublishedTable(
        ticket=ticket,
        what=what,
        columns=tuple(counting.place(names[one]) for one in order),
        groups=tuple(groups[one] for one in order),
        noise=table.noise,
        values=values,
        members=np.ones(values.shape, dtype=np.int64),
    )


# ---- Published counts.


def _of_counts(project: Project, plan: CountingPlan) -> Iterator[PublishedTable]:
    """Yield the tables that were published as counts of the same rows, each with its own noise."""
    counting = _Counting.of(plan)
    for ticket in _tickets(project, plan, lambda order: order.get(KIND) == PUBLISHED):
        stored = project.ledger.release_of(ticket)
        linear = None if stored is None else stored[0].get("linear")
        if stored is None or not linear or linear["table"] != plan.table.name:
            continue
        counted = counted_again(project, linear)
        if counted is None or not _are_the_same_rows(counting, plan, linear, *counted):
            continue
        for table in linear["tables"]:
            cells = [counted[0][column] for column in table["columns"]]
            if all(counting.cells.get(one.column.name) == one for one in cells):
                numbers = stored[0]["measured"][table["part"]]["numbers"]
                yield _counts_before(counting, ticket, table, cells, numbers)


def _counts_before(
    counting: _Counting,
    ticket: int,
    table: StoredBody,
    cells: Sequence[ValueCells],
    numbers: Sequence[int],
) -> PublishedTable:
    shape, names = [one.size for one in cells], [one.column.name for one in cells]
    values = np.array(numbers[: math.prod(shape)], dtype=np.int64).reshape(shape)
    order = sorted(range(len(names)), key=lambda at: counting.place(names[at]))
    noise = read_noise(table["noise"])
    assert isinstance(noise, Noise)
    return PublishedTable(
        ticket=ticket,
        what=f"counts of {counting.table.name} by {', '.join(names)}",
        columns=tuple(counting.place(names[at]) for at in order),
        groups=tuple(np.arange(shape[at]) for at in order),
        noise=noise,
        values=values.transpose(order),
        members=np.ones([shape[at] for at in order], dtype=np.int64),
    )
