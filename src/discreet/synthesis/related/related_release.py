"""A release of two related tables: rows that nobody has, and whose they would be. All is public."""

import json
from collections.abc import Iterator, Mapping
from functools import cached_property, partial
from itertools import product
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument, UnknownTable
from discreet.core.html_text import html_notes, html_page, html_table
from discreet.core.loss import PrivacyLoss
from discreet.core.terminal_text import text_table
from discreet.ledger.order import Receipt
from discreet.mechanisms.noise_json import Noise
from discreet.randomness.rng import SystemRng
from discreet.synthesis.counted.value_cells import ValueCells
from discreet.synthesis.known_columns import REPEATS, noise_note
from discreet.synthesis.marginals.estimate import MOST_TOURS
from discreet.synthesis.marginals.measured import MeasuredMarginals
from discreet.synthesis.published_table import PublishedTable
from discreet.synthesis.related.clusters import MeasuredLinks
from discreet.synthesis.related.draw_related import RelatedModel, UnitTable
from discreet.synthesis.related.measure_children import MeasuredChildren
from discreet.synthesis.related.related_report import RelatedJudgement, RelatedReport
from discreet.synthesis.related.related_rows import ABOUT, ENDINGS, RelatedRows, related_files
from discreet.synthesis.report_picture import coarse_labels
from discreet.synthesis.synthetic_answer import SyntheticAnswer, answer_from_rows
from discreet.synthesis.synthetic_card import CountedPart, FindCircumstances, synthetic_card
from discreet.synthesis.synthetic_model import SyntheticModel
from discreet.synthesis.synthetic_release import (
    MEASURED,
    METADATA,
    agreement_notes,
    checked_tours,
    convergence_notes,
    disagreement_notes,
)
from discreet.tables.column import Column, ColumnType
from discreet.tables.unit_name import UnitName


@frozen(kw_only=True, eq=False)
class RelatedRelease:
    """Parents and children that nobody has, with the columns and types of two tables.

    Every child has a parent that is there. What was paid for is what was measured; the models and
    all rows follow from it, for nothing.
    """

    parent: UnitTable
    child: UnitTable
    parent_cells: tuple[ValueCells, ...] = field(repr=False)
    """The last is the number of children."""
    child_cells: tuple[ValueCells, ...] = field(repr=False)
    of_parents: MeasuredMarginals = field(repr=False)
    of_children: MeasuredChildren = field(repr=False)
    rows_per_unit: int
    """How many children of a unit counted."""
    counted: tuple[str, str] = field(repr=False)
    """Digests of the plans that counted parents and children."""
    unit: UnitName = field(repr=False)
    cost: PrivacyLoss
    receipt: Receipt = field(repr=False)
    is_stored: bool
    """Whether it was paid for before."""
    links: MeasuredLinks | None = field(default=None, repr=False)
    """How much children depend on each of their parents' columns, if that was measured."""
    published: tuple[PublishedTable, ...] = field(default=(), repr=False)
    """What was published before about parents, and counts as well."""
    judged: RelatedJudgement | None = field(default=None, repr=False)
    """How far all pairs of columns are from the models, if the owner had that measured."""
    remarks: tuple[str, ...] = field(default=(), repr=False)
    """What must be known besides, such as that the data were replaced since."""
    tours: int = MOST_TOURS
    """How many tours the search for each model may take."""
    circumstances: FindCircumstances | None = field(default=None, repr=False)
    """What is known besides: the people and the budget, for a release card."""

    @cached_property
    def model(self) -> RelatedModel:
        """The models that rows are drawn from."""
        cluster = self.of_children.cluster
        extra = (self._cluster_cells(),) if cluster.size > 1 else ()
        return RelatedModel(
            parents=SyntheticModel.of(
                self.parent_cells, self.of_parents, self.published, tours=self.tours
            ),
            children=SyntheticModel.of(
                (*self.child_cells, *extra), self.of_children.measured, tours=self.tours
            ),
            cluster=cluster,
            parent=self.parent,
            child=self.child,
        )

    def _cluster_cells(self) -> ValueCells:
        """Return the clusters as a column of texts, which say what parents have in each."""
        cluster = self.of_children.cluster
        labels = [
            coarse_labels(self.parent_cells[column], coarse)
            for column, coarse in zip(cluster.columns, cluster.coarse, strict=True)
        ]
        name = f"cluster of {self.parent.name}"
        column = Column(name=name, type=ColumnType.TEXT, nullable=False)
        return ValueCells(column, tuple(map(", ".join, product(*labels))))

    def with_tours(self, tours: int) -> "RelatedRelease":
        """Return the release with searches for its models that may take so many tours.

        What was measured is kept, so that costs nothing. So is a judgement: what it says of these
        models is a little less, by how far they are from those before.
        """
        return evolve(self, tours=checked_tours(tours))

    @property
    def has_converged(self) -> bool:
        """Whether the searches for both models have found them, and were not stopped before."""
        models = (self.model.parents, self.model.children)
        return all(one.estimated.is_found for one in models)

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
        whole = self.about() | {"rows": {name: rows.num_rows for name, rows in drawn.items()}}
        measured, found = json.dumps(self.model.to_json()), {}
        for name, rows in drawn.items():
            about = whole | {"table": name}
            texts = {METADATA: json.dumps(about), MEASURED: measured}
            found[name] = RelatedRows(name, rows.replace_schema_metadata(texts), about)
        return found

    def sql(self, query: str, *, repeats: int = REPEATS) -> SyntheticAnswer:
        """Return the answer to a question about one of the tables, or both, for nothing.

        What the noise may have done to it is estimated by drawing it anew so many times.
        """
        found = answer_from_rows(
            {name: rows.arrow for name, rows in self.tables.items()},
            query,
            known=self.model.known,
            drawn_again=partial(self.model.drawn_again, len(self[self.parent.name])),
            repeats=repeats,
            rng=SystemRng(),
        )
        return evolve(found, notes=(*found.notes, *self.remarks))

    def report(self) -> RelatedReport:
        """Return how far the rows can be trusted, by what was measured. It costs nothing."""
        return RelatedReport(
            title=self._title(),
            model=self.model,
            links=self.links,
            notes=self.notes(),
            judged=self.judged,
        )

    def card(self) -> str:
        """Return a release card, as YAML: what was released, how, and what it cost."""
        parts = [
            CountedPart(
                table=self.parent.name,
                cells=self.parent_cells,
                measured=self.of_parents,
                rows_per_unit=1,
            ),
            CountedPart(
                table=self.child.name,
                cells=self.model.children.cells,
                measured=self.of_children.measured,
                rows_per_unit=self.rows_per_unit,
                more=() if self.links is None else tuple(self._measured_links(self.links)),
            ),
        ]
        columns = {name: rows.columns for name, rows in self.tables.items()}
        return synthetic_card(
            parts, columns, self.about(), self.cost, self.receipt, self.circumstances
        )

    def _measured_links(self, links: MeasuredLinks) -> Iterator[tuple[str, Noise, int]]:
        """Yield what was measured to find out what children depend on, for the card."""
        for cells, one in zip(self.parent_cells, links.parents, strict=True):
            yield f"by {self.parent.name}.{cells.column.name}", one.noise, one.values.size
        what = f"scores of all columns with those of {self.parent.name}"
        yield what, links.scores.noise, links.scores.values.size

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
                rows.write(files[name])
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
                self.parent.name: self.parent.unit.name,
                self.child.name: self.child.unit.name,
            },
            "rows_per_unit": self.rows_per_unit,
            "cost": self.cost.to_json(),
            "data_version": self.receipt.data_version,
            "ticket": self.receipt.ticket.number,
            "converged": self.has_converged,
            "tours": max(one.estimated.tours for one in (self.model.parents, self.model.children)),
            "published": [
                {"ticket": ticket, "what": what} for ticket, what in self.agrees_with.items()
            ],
            "notes": list(self.notes()),
        }

    @property
    def agrees_with(self) -> dict[int, str]:
        """The tickets of earlier releases that the parents agree with, and what these are."""
        return {one.ticket: one.what for one in self.model.parents.published}

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
        first, second = self.parent.unit.name, self.child.unit.name
        found = [
            (
                f"these rows are made up: none is one of {parent} or {child}, and an answer from"
                " them has errors that no error bar shows"
            ),
            (
                f"each {second} of {child} stands as {first} in {parent}; all of them are made up,"
                f" and one that is also that of {called.a} is so by chance"
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
        found += agreement_notes(self.agrees_with)
        found += disagreement_notes(self.model.parents)
        known = self.model.known
        noisy = [one.column.name for one in known.cells if one.column.name in known.noisy]
        found += [noise_note(list(dict.fromkeys(noisy)))] if noisy else []
        stopped = convergence_notes([self.model.parents, self.model.children])
        return (*found, *stopped, *self.remarks)

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
