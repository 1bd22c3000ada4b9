"""A release of two related tables: rows that nobody has, and whose they would be. All is public."""

import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from attrs import field, frozen

from discreet.core import check, optional
from discreet.core.errors import InvalidArgument, UnknownTable
from discreet.core.html_text import html_notes, html_page, html_table
from discreet.core.loss import PrivacyLoss
from discreet.core.terminal_text import text_table
from discreet.ledger.order import Receipt
from discreet.randomness.rng import SystemRng
from discreet.synthesis.counted.value_cells import ValueCells
from discreet.synthesis.marginals.measured import MeasuredMarginals
from discreet.synthesis.related.draw_related import RelatedModel
from discreet.synthesis.related.measure_children import MeasuredChildren
from discreet.synthesis.synthetic_model import SyntheticModel
from discreet.synthesis.synthetic_release import METADATA
from discreet.tables.catalog import Table
from discreet.tables.column import Column, ColumnType
from discreet.tables.unit_name import UnitName

ABOUT = "synthetic.json"
"""The file of a folder that says what the others are."""

ENDINGS = (".parquet", ".arrow", ".csv")

_SHOWN = 5


@frozen(eq=False)
class RelatedRows:
    """The rows of one of the tables."""

    name: str
    arrow: Any = field(repr=False)
    about: dict[str, Any] = field(repr=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns; the first says whose row it is."""
        return tuple(self.arrow.column_names)

    def to_arrow(self) -> Any:
        """Return the rows as an Arrow table, which says what it is in the metadata."""
        return self.arrow

    def to_pandas(self) -> Any:
        """Return the rows as a pandas data frame."""
        frame = self.arrow.to_pandas()
        frame.attrs["discreet"] = self.about
        return frame

    def to_polars(self) -> Any:
        """Return the rows as a Polars data frame."""
        return optional.load("polars").from_arrow(self.arrow)

    def first(self) -> list[list[str]]:
        """Return the first rows as text."""
        rows = self.arrow.slice(0, _SHOWN).to_pylist()
        return [["" if value is None else str(value) for value in row.values()] for row in rows]

    def __len__(self) -> int:
        """Return how many rows there are."""
        return int(self.arrow.num_rows)


@frozen(kw_only=True, eq=False)
class RelatedRelease:
    """Parents and children that nobody has, with the columns and types of two tables.

    Every child has a parent that is there. What was paid for is what was measured; the models and
    all rows follow from it, for nothing.
    """

    parent: Table = field(repr=False)
    child: Table = field(repr=False)
    parent_cells: tuple[ValueCells, ...] = field(repr=False)
    """The last is the number of children."""
    child_cells: tuple[ValueCells, ...] = field(repr=False)
    of_parents: MeasuredMarginals = field(repr=False)
    of_children: MeasuredChildren = field(repr=False)
    rows_per_unit: int
    """How many children of a unit counted."""
    unit: UnitName = field(repr=False)
    cost: PrivacyLoss
    receipt: Receipt = field(repr=False)
    is_stored: bool
    """Whether it was paid for before."""

    @cached_property
    def model(self) -> RelatedModel:
        """The models that rows are drawn from."""
        cluster = self.of_children.cluster
        numbered = Column(name="cluster", type=ColumnType.INTEGER, nullable=False)
        extra = (ValueCells(numbered, tuple(range(cluster.size))),) if cluster.size > 1 else ()
        return RelatedModel(
            parents=SyntheticModel.of(self.parent_cells, self.of_parents),
            children=SyntheticModel.of((*self.child_cells, *extra), self.of_children.measured),
            cluster=cluster,
            parent_id=_named_by(self.parent),
            child_id=_named_by(self.child),
        )

    @cached_property
    def tables(self) -> Mapping[str, RelatedRows]:
        """The rows of both tables, by name: as many parents as were counted. Always the same."""
        return self.sample(self.model.parents.rows)

    def __getitem__(self, name: str) -> RelatedRows:
        """Return the rows of a table."""
        if name not in self.tables:
            raise UnknownTable(
                "This release has no such table", must=f"be {' or '.join(self.tables)}"
            )
        return self.tables[name]

    def sample(self, parents: int) -> Mapping[str, RelatedRows]:
        """Return so many new parents with their children; as often as wanted, for nothing."""
        drawn = self.model.sample(check.whole(parents), SystemRng())
        found = {}
        for table, rows in zip((self.parent, self.child), drawn, strict=True):
            about = self.about() | {"table": table.name}
            texts = {METADATA: json.dumps(about)}
            found[table.name] = RelatedRows(table.name, rows.replace_schema_metadata(texts), about)
        return found

    def write(self, folder: str | Path, *, ending: str = ENDINGS[0], replace: bool = False) -> Path:
        """Write a file for each table into a folder, and one of JSON that says what they are.

        The folder is made if it is not there. ``ending`` is .parquet, .arrow or .csv. A file that
        is there is only written over with ``replace``: tables of a project may have these names.
        """
        place = Path(folder)
        files = self.files(place, ending=ending)
        taken = [file for file in files.values() if file.exists()]
        if taken and not replace:
            raise InvalidArgument(
                f"{taken[0]} exists already",
                must="be in another folder",
                next="Give replace=True if it is to be written over, and is no table of a project",
            )
        try:
            place.mkdir(exist_ok=True)
            for name, rows in self.tables.items():
                _write(rows.arrow, files[name])
            told = json.dumps(self.to_json(), indent=2) + "\n"
            (place / ABOUT).write_text(told, encoding="utf-8")
        except OSError as cause:
            raise InvalidArgument(
                f"{place} cannot be written",
                must="be a folder, in one that is there",
                got=type(cause).__name__,
            ) from None
        return place

    def files(self, folder: Path, *, ending: str = ENDINGS[0]) -> dict[str, Path]:
        """Return where the rows of each table would be written."""
        return related_files(folder, (self.parent.name, self.child.name), ending=ending)

    def about(self) -> dict[str, Any]:
        """Return what the rows are, as plain values."""
        return {
            "synthetic": True,
            "tables": [self.parent.name, self.child.name],
            "method": "related marginals",
            "measured_tables": {
                table: [list(one) for one in tables]
                for table, tables in self.measured_together().items()
            },
            "clusters": {"columns": list(self.cluster_columns), "count": self._clusters},
            "keys": {
                self.parent.name: self.parent.unit.column,
                self.child.name: self.child.unit.column,
            },
            "rows_per_unit": self.rows_per_unit,
            "cost": self.cost.to_json(),
            "data_version": self.receipt.data_version,
            "ticket": self.receipt.ticket.number,
            "notes": list(self.notes()),
        }

    @property
    def cluster_columns(self) -> tuple[str, ...]:
        """The columns of the parent that children depend on, and perhaps their own number."""
        cluster = self.of_children.cluster
        return tuple(self.parent_cells[column].column.name for column in cluster.columns)

    @property
    def _clusters(self) -> int:
        return self.of_children.cluster.size

    def measured_together(self) -> dict[str, list[tuple[str, ...]]]:
        """Return the columns of each table that were measured together."""
        parents = [one.column.name for one in self.parent_cells]
        own = [one.column.name for one in self.child_cells]
        children = [*own, f"cluster of {self.parent.name}"]
        return {
            table: [tuple(names[column] for column in one) for one in measured.together]
            for table, names, measured in (
                (self.parent.name, parents, self.of_parents),
                (self.child.name, children, self.of_children.measured),
            )
        }

    def notes(self) -> tuple[str, ...]:
        """Return what must be known about the rows."""
        parent, child, called = self.parent.name, self.child.name, self.unit
        first, second = self.parent.unit.column, self.child.unit.column
        found = [
            (
                f"these rows are made up: none is one of {parent} or {child}, and an answer from"
                " them has errors that no error bar shows"
            ),
            (
                f"each {second} of {child} is a {first} of {parent}; all of them are made up, and"
                f" one that is also that of {called.a} is so by chance"
            ),
            (
                f"of each of the {called.plural} 1 row of {parent} counted, and at most"
                f" {self.rows_per_unit} of {child}; rows of {child} of somebody who is not in"
                f" {parent} did not count"
            ),
        ]
        if self.cluster_columns:
            found.append(
                f"rows of {child} depend on {parent} by {' and '.join(self.cluster_columns)}"
                f" alone, in {self._clusters} clusters"
            )
        else:
            found.append(
                f"no values of {child} depend on {parent}: nothing was clearly more than noise"
            )
        for table, tables in self.measured_together().items():
            pairs = ", ".join(" with ".join(one) for one in tables) or "nothing"
            found.append(f"measured together in {table}: {pairs}; other dependence may be lost")
        found.append(
            f"rows of {child} of one {first} depend on each other by their cluster alone: their"
            " order in time, and what does not change from one to the next, are lost"
        )
        models = (self.model.parents, self.model.children)
        if not all(one.estimated.is_found for one in models):
            found.append(
                "a model was still changing a little when its search was stopped: some tables of"
                " the rows are farther from what was measured than they need be"
            )
        return tuple(found)

    def to_json(self) -> dict[str, Any]:
        """Return everything that is public about the release, but the rows."""
        rows = {name: len(rows) for name, rows in self.tables.items()}
        columns = {name: list(rows.columns) for name, rows in self.tables.items()}
        return self.about() | {"columns": columns, "rows": rows}

    def __str__(self) -> str:
        """Show the first rows of both tables, and what must be known about them."""
        cost = "stored, no cost" if self.is_stored else f"cost: {self.cost}"
        found = [f"{self._title()} ({cost})", ""]
        for name, rows in self.tables.items():
            found += [name, text_table(rows.columns, rows.first()), ""]
        return "\n".join([*found, *(f"- {note}" for note in self.notes())])

    def _repr_html_(self) -> str:
        shown = [html_table(rows.columns, rows.first()) for rows in self.tables.values()]
        return html_page(
            f"<p><strong>{self._title()}</strong></p>", *shown, html_notes(self.notes())
        )

    def _title(self) -> str:
        counts = [f"{len(rows):,} of {name}" for name, rows in self.tables.items()]
        return f"Synthetic rows: {', and '.join(counts)}"


def related_files(
    folder: Path, tables: tuple[str, str], *, ending: str = ENDINGS[0]
) -> dict[str, Path]:
    """Return where the rows of each table would be written."""
    if ending not in ENDINGS:
        raise InvalidArgument(
            "The kind of the files is not known",
            must=f"be one of {', '.join(ENDINGS)}",
            got=repr(ending)[:20],
        )
    return {name: folder / f"{name}{ending}" for name in tables}


def _named_by(table: Table) -> Column:
    assert table.unit.column is not None
    return table.column(table.unit.column)


def _write(rows: Any, place: Path) -> None:
    if place.suffix == ".parquet":
        optional.load("pyarrow.parquet").write_table(rows, place)
    elif place.suffix == ".arrow":
        optional.load("pyarrow.feather").write_feather(rows, str(place))
    else:
        optional.load("pyarrow.csv").write_csv(rows, str(place))
