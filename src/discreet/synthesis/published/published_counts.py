"""Published counts: noisy numbers of a table by one method, paid for once. All is public."""

import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from discreet.accounting.picture import ACCENT, INK, require_kind, save
from discreet.core import optional
from discreet.core.errors import InvalidArgument
from discreet.core.html_text import html_notes, html_page, html_table
from discreet.core.loss import PrivacyLoss
from discreet.core.terminal_text import text_table
from discreet.ledger.order import Receipt
from discreet.releases.card import CardFacts, card
from discreet.releases.yaml_text import yaml_text
from discreet.synthesis.published.publishing_method import AboutCount, Measured, PublishedLines
from discreet.synthesis.published.publishing_plan import PublishingPlan, stored_numbers
from discreet.synthesis.published.runs_of_cells import runs_of_columns, stretched_runs
from discreet.synthesis.synthetic_card import FindCircumstances

METADATA = b"discreet"
"""Where a file says what it is."""

MOST_DRAWN = 5_000

_SHOWN = 20


@frozen(kw_only=True, eq=False, slots=False)
class PublishedCounts:
    """Noisy counts of a table, measured by one method and stored.

    What was paid for is what was measured. Whatever is made of it is free.
    """

    plan: PublishingPlan = field(repr=False)
    measured: Measured = field(repr=False)
    """The whole numbers that became public."""
    units: str
    """What units are called."""
    cost: PrivacyLoss
    receipt: Receipt = field(repr=False)
    is_stored: bool
    """Whether it was paid for before."""
    remarks: tuple[str, ...] = field(default=(), repr=False)
    """What must be known besides, such as that the data were replaced since."""
    circumstances: FindCircumstances | None = field(default=None, repr=False)
    """What is known besides: the people and the budget, for a release card."""

    @property
    def table(self) -> str:
        """The name of the table."""
        return self.plan.table.name

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that rows were counted by."""
        return self.plan.offered.names

    @property
    def method(self) -> str:
        """The name of the method."""
        return self.plan.method.name

    @cached_property
    def estimate(self) -> Any:
        """What the method makes of the measured numbers, of which more may be asked.

        Intervals have ``count(first, last)`` by cells, tables ``table(["clinic", "age"])``.
        """
        return self.plan.ready.estimate(self.measured)

    @cached_property
    def lines(self) -> PublishedLines:
        """The counts as a table, and how far noise may have moved them."""
        return self.plan.ready.lines(self.measured)

    def count(self, between: Mapping[str, Any] | None = None) -> AboutCount:
        """Return how many rows have a value, or one between two with both, of some columns.

        Such as ``count({"age": (20, 29)})``. A column that is not named may have any value. It
        costs nothing, as often as it is asked. Where cells are wider than what is asked for, all of
        them is counted, and ``counted`` of the answer says which values these are.
        """
        offered, asked = self.plan.offered, {} if between is None else between
        runs = runs_of_columns(offered.cells, offered.sizes, asked)
        about = self.plan.ready.count(self.measured, runs)
        return evolve(about, counted=stretched_runs(offered.cells, runs, asked))

    def to_arrow(self) -> Any:
        """Return the counts as an Arrow table, whose metadata say what it is, as JSON.

        A label that is missing stands for all values; ``deviation`` is that of the noise.
        """
        arrow, lines = optional.load("pyarrow"), self.lines
        parts: dict[str, Any] = {
            name: arrow.array([label[place] for label in lines.labels], arrow.string())
            for place, name in enumerate(lines.headings)
        }
        parts[lines.called] = arrow.array(lines.values)
        if lines.deviations is not None:
            parts["deviation"] = arrow.array(lines.deviations)
        about = {METADATA: json.dumps(self.about())}
        return arrow.table(parts).replace_schema_metadata(about)

    def to_pandas(self) -> Any:
        """Return the counts as a pandas data frame."""
        frame = self.to_arrow().to_pandas()
        frame.attrs["discreet"] = self.about()
        return frame

    def to_polars(self) -> Any:
        """Return the counts as a Polars data frame."""
        return optional.load("polars").from_arrow(self.to_arrow())

    def plot(self, path: str | Path | None = None) -> Any:
        """Draw the counts with two deviations of noise; return the figure, or write it there."""
        if path is not None and not isinstance(path, str | Path):
            raise InvalidArgument(
                "That is no name of a file",
                must='be a text, such as "counts.svg", or a path',
                got=type(path).__name__,
            )
        return picture_of(self, None if path is None else Path(path))

    def about(self) -> dict[str, Any]:
        """Return what the counts are, as plain values."""
        return {
            "published": self.method,
            "options": self.plan.method.options(),
            "table": self.table,
            "columns": list(self.columns),
            "rows_per_unit": self.plan.rows_per_unit,
            "cost": self.cost.to_json(),
            "data_version": self.receipt.data_version,
            "ticket": self.receipt.ticket.number,
            "notes": list(self.notes()),
        }

    def to_json(self) -> dict[str, Any]:
        """Return everything that is public, the measured numbers too."""
        lines = self.lines
        return self.about() | {
            "stored": self.is_stored,
            "headings": [*lines.headings, lines.called],
            "lines": [
                [*label, value]
                for label, value in zip(lines.labels, lines.values.tolist(), strict=True)
            ],
            "deviations": None if lines.deviations is None else lines.deviations.tolist(),
            "measured": [stored_numbers(part) for part in self.measured],
            "receipt": self.receipt.to_json(),
        }

    def notes(self) -> tuple[str, ...]:
        """Return what must be known about the counts."""
        rows = self.plan.rows_per_unit
        told = "1 row" if rows == 1 else f"{rows} rows"
        limit = (
            f"at most {told} of each of the {self.units} counted, so counts are too small if some "
            "have more; rows of nobody did not count"
        )
        return (limit, *self.plan.notes(), *self.remarks)

    def card(self) -> str:
        """Return a release card, as YAML: what was released, how, and what it cost."""
        deviations = self.lines.deviations
        widest = None if deviations is None else float(deviations.max(initial=0.0))
        facts = CardFacts(
            what="Counts",
            product="Summary statistics",
            columns=list(self.columns),
            cost=self.cost,
            receipt=self.receipt,
            known=self.circumstances and self.circumstances(),
            groups={"columns": list(self.columns), "chosen": "by declared values; all are shown"},
            post_processing="What the method makes of its noisy numbers; it costs nothing",
            implementation={
                "limits": {
                    "rows_per_unit": self.plan.rows_per_unit,
                    "chosen": "by a keyed hash; what is beyond is left out",
                },
                "method": self.method,
                "options": json.dumps(self.plan.method.options()),
                "event": json.dumps(self.plan.ready.event().to_json()),
                "measured": [
                    {"what": what, "how": how} for what, how in self.plan.ready.expected()
                ],
            },
            accuracy={
                "largest_deviation": widest,
                "notes": list(self.notes()),
            },
            bias="Limits make counts those of what counts, not of all rows; a method that keeps"
            " counts from being negative moves small ones upwards",
        )
        return yaml_text(card(facts))

    def __len__(self) -> int:
        """Return how many counts there are."""
        return len(self.lines.labels)

    def __str__(self) -> str:
        """Show the first counts, and what must be known about them."""
        shown = text_table(self._headings(), self._first())
        more = [f"... and {len(self) - _SHOWN:,} more"] if len(self) > _SHOWN else []
        notes = [f"- {note}" for note in self.notes()]
        return "\n".join([self._title(), "", shown, *more, "", *notes])

    def _repr_html_(self) -> str:
        return html_page(
            f"<p><strong>{self._title()}</strong></p>",
            html_table(self._headings(), self._first()),
            html_notes(self.notes()),
        )

    def _title(self) -> str:
        cost = "stored, no cost" if self.is_stored else f"cost: {self.cost}"
        return f"{len(self):,} counts of {self.table} by {', '.join(self.columns)} ({cost})"

    def _headings(self) -> tuple[str, ...]:
        lines = self.lines
        more = () if lines.deviations is None else ("deviation",)
        return (*lines.headings, lines.called, *more)

    def _first(self) -> list[list[str]]:
        lines = self.lines
        found = []
        for place, label in enumerate(lines.labels[:_SHOWN]):
            more = [] if lines.deviations is None else [f"{lines.deviations[place]:,.3g}"]
            texts = ["all" if text is None else text for text in label]
            found.append([*texts, _number(float(lines.values[place])), *more])
        return found


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def picture_of(counts: PublishedCounts, path: Path | None) -> Any:
    """Draw counts, each with a line of two deviations up and down."""
    lines = counts.lines
    if len(counts) > MOST_DRAWN:
        raise InvalidArgument(
            "There are too many counts to draw", must=f"be at most {MOST_DRAWN:,}"
        )
    if path is not None:
        require_kind(path)
    figure = optional.load("matplotlib.figure").Figure(figsize=(8, 4.2))
    figure.set_layout_engine("constrained")
    axes = figure.subplots()
    places = range(len(counts))
    axes.bar(places, lines.values, color=ACCENT, width=0.9)
    if lines.deviations is not None:
        axes.errorbar(
            places, lines.values, yerr=2 * lines.deviations, fmt="none", ecolor=INK, elinewidth=0.8
        )
    step = max(1, len(counts) // 12)
    named = [", ".join("all" if one is None else one for one in label) for label in lines.labels]
    axes.set_xticks(list(places)[::step], named[::step], rotation=45, ha="right", fontsize=8)
    axes.set_title(counts._title(), loc="left", color=INK, fontsize=11)
    axes.set_ylabel(f"{lines.called}, ± 2 deviations of noise", color=INK)
    axes.spines[["top", "right"]].set_visible(False)
    if path is not None:
        save(figure, path)
    return figure
