"""Rows of two related tables: parents from their model, and children for each of them.

Guarantee:
    Post-processing: models of what was measured are all that is looked at.

Utility:
    Each parent has as many children as its number says, and each child one parent, by
    construction. The children of parents of one cluster follow the children's model given that
    cluster, as evenly as rows of any model do (:mod:`discreet.synthesis.marginals.draw_rows`).
    Beyond their cluster, children of one parent do not depend on each other.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import evolve, frozen

from discreet.core import optional
from discreet.core.errors import InvalidArgument
from discreet.core.protocols import Rng
from discreet.synthesis.counted.counted_rows import Integers
from discreet.synthesis.counted.value_cells import ValueCells
from discreet.synthesis.known_columns import KnownColumns
from discreet.synthesis.related.clusters import Cluster
from discreet.synthesis.synthetic_answer import model_again
from discreet.synthesis.synthetic_model import MOST_ROWS, SyntheticModel
from discreet.tables.column import Column, ColumnType

MADE_UP = "synthetic-"
"""What names of units that are made up begin with, where they are texts."""


@frozen
class UnitTable:
    """One of two tables that belong together: its name, and the column that says whose a row is."""

    name: str
    unit: Column

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {"name": self.name, "unit": self.unit.name, "type": self.unit.type.value}

    @staticmethod
    def from_json(data: dict[str, Any]) -> "UnitTable":
        """Read what :meth:`to_json` wrote."""
        return UnitTable(data["name"], Column(name=data["unit"], type=ColumnType(data["type"])))


@frozen(kw_only=True, eq=False)
class RelatedModel:
    """A distribution of parents, with their numbers of children, and one of children."""

    parents: SyntheticModel
    """The last of its columns is the number of children."""
    children: SyntheticModel
    """The last of its columns is the cluster, if there is more than one."""
    cluster: Cluster
    parent: UnitTable
    child: UnitTable

    @property
    def number(self) -> ValueCells:
        """The cells of how many children a parent has."""
        return self.parents.cells[-1]

    @property
    def own_cells(self) -> tuple[ValueCells, ...]:
        """The cells of the children's columns, without that of the cluster."""
        cells = self.children.cells
        return cells[:-1] if self.cluster.size > 1 else cells

    @property
    def known(self) -> KnownColumns:
        """What is known of the columns of both tables; a cluster is of columns of the parents."""
        parents, children = self.parents.known, self.children.known
        columns = [one.column.name for one in self.parents.cells]
        cluster = [columns[one] for one in self.cluster.columns]
        last = self.children.cells[-1].column.name if self.cluster.size > 1 else None
        linked = [
            [*(name for name in some if name != last), *(cluster if last in some else [])]
            for some in children.together
        ]
        return KnownColumns(
            cells=(*self.parents.cells[:-1], *self.own_cells),
            together=[*parents.together, *linked],
            grouped=[*parents.grouped, *children.grouped, *cluster],
            noisy=[*parents.noisy, *children.noisy],
        )

    def drawn_again(self, parents: int, rng: Rng) -> Mapping[str, Any]:
        """Return rows that would be there in the place of so many parents, with new noise.

        Which columns make clusters stays as it is.
        """
        first, second = (model_again(one, rng) for one in (self.parents, self.children))
        again = evolve(self, parents=first, children=second)
        count = round(parents * first.estimated.total / self.parents.estimated.total)
        return again.sample(count, rng)

    def to_json(self) -> dict[str, Any]:
        """Return all that it is made of as plain values."""
        return {
            "parents": self.parents.to_json(),
            "children": self.children.to_json(),
            "cluster": self.cluster.to_json(),
            "tables": [self.parent.to_json(), self.child.to_json()],
        }

    @staticmethod
    def from_json(data: dict[str, Any]) -> "RelatedModel":
        """Estimate the models again of what :meth:`to_json` wrote."""
        parent, child = map(UnitTable.from_json, data["tables"])
        return RelatedModel(
            parents=SyntheticModel.from_json(data["parents"]),
            children=SyntheticModel.from_json(data["children"]),
            cluster=Cluster.from_json(data["cluster"]),
            parent=parent,
            child=child,
        )

    def sample(self, count: int, rng: Rng) -> Mapping[str, Any]:
        """Return so many parents, and their children, as Arrow tables with made-up names."""
        codes = self.parents.sample(count, rng)
        numbers = np.asarray(self.number.draw(codes[:, -1], rng), dtype=np.int64)
        if numbers.sum() > MOST_ROWS:
            raise InvalidArgument(
                "There would be too many children",
                must=f"be at most {MOST_ROWS:,}",
                next="Draw fewer parents with sample(n)",
            )
        owners = np.repeat(np.arange(count, dtype=np.int64), numbers)
        clusters = self.cluster.numbers(codes)[owners]
        children = self._children(clusters, rng)
        parents = np.arange(count)
        return {
            self.parent.name: _table(
                self.parent.unit, parents, self.parents.cells[:-1], codes, rng
            ),
            self.child.name: _table(self.child.unit, owners, self.own_cells, children, rng),
        }

    def _children(self, clusters: Integers, rng: Rng) -> Integers:
        """Return the cells of a child for each cluster in a list."""
        if self.cluster.size == 1:
            return self.children.sample(len(clusters), rng)
        column = len(self.children.cells) - 1
        coarse = self.children.measured.coarse[column].numbers[clusters]
        found = np.zeros((len(clusters), column), dtype=np.int64)
        for number in np.unique(coarse):
            places = np.flatnonzero(coarse == number)
            model = self.given(int(number))
            found[places] = model.sample(len(places), rng)[:, :column]
        return found

    def given(self, number: int) -> SyntheticModel:
        """Return the children's model for a cluster; for one that has no children, that of all.

        It is the number of the cluster as children were counted by it.
        """
        column, estimated = len(self.children.cells) - 1, self.children.estimated
        if not estimated.model.marginal((column,))[number] > 0:
            return self.children
        given = evolve(estimated, model=estimated.model.given({column: number}))
        return evolve(self.children, estimated=given)


def _table(
    name: Column, owners: Integers, cells: tuple[ValueCells, ...], codes: Integers, rng: Rng
) -> Any:
    """Return rows as an Arrow table: whose they are, and then their values."""
    arrow = optional.load("pyarrow")
    values = [one.draw(codes[:, place], rng) for place, one in enumerate(cells)]
    names = [name.name, *(one.column.name for one in cells)]
    return arrow.table([made_up_names(name, owners), *values], names=names)


def made_up_names(column: Column, owners: Integers) -> Any:
    """Return names of units that nobody has: 1, 2, 3 or synthetic-1, by the type of the column."""
    arrow = optional.load("pyarrow")
    if column.type is ColumnType.INTEGER:
        return arrow.array(owners + 1, arrow.int64())
    pool = arrow.array([f"{MADE_UP}{i + 1}" for i in range(int(owners.max(initial=-1)) + 1)])
    return pool.cast(arrow.string()).take(arrow.array(owners, arrow.int64()))
