"""A synthetic release: what was measured of a table, and rows that look like it. All is public."""

import json
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

import discreet.synthesis.report as reports
import discreet.synthesis.synthetic_answer as answers
from discreet.core import check, optional
from discreet.core.errors import InvalidArgument
from discreet.core.html_text import html_notes, html_page, html_table
from discreet.core.loss import PrivacyLoss
from discreet.core.terminal_text import text_table
from discreet.ledger.order import Receipt
from discreet.randomness.rng import SystemRng
from discreet.synthesis.counted.value_cells import ValueCells
from discreet.synthesis.judgement import Judgement
from discreet.synthesis.known_columns import REPEATS, noise_note
from discreet.synthesis.marginals.estimate import MOST_TOURS
from discreet.synthesis.marginals.measured import MeasuredMarginals
from discreet.synthesis.public_facts import PublicFacts
from discreet.synthesis.published_table import PublishedTable
from discreet.synthesis.read_facts import GIVEN, given_json, given_note, read_given
from discreet.synthesis.synthetic_card import CountedPart, FindCircumstances, synthetic_card
from discreet.synthesis.synthetic_model import SyntheticModel

METADATA = b"discreet"
"""Where a file says what it is."""

MEASURED = b"discreet.measured"
"""Where a file has the noisy numbers that its rows come from."""

MOST_TRIED = 100_000
"""How many tours a search may take, if more are asked for."""

_SHOWN = 5


@frozen(kw_only=True, eq=False)
class SyntheticRelease:
    """Rows that nobody has, with the columns and types of a table, drawn from noisy tables of it.

    What was paid for is what was measured. The model and all rows follow from it, for nothing.
    """

    table: str
    cells: tuple[ValueCells, ...] = field(repr=False)
    measured: MeasuredMarginals = field(repr=False)
    rows_per_unit: int
    units: str
    """What units are called."""
    cost: PrivacyLoss
    receipt: Receipt = field(repr=False)
    is_stored: bool
    """Whether it was paid for before."""
    published: tuple[PublishedTable, ...] = field(default=(), repr=False)
    """What was published before and counts as well."""
    facts: PublicFacts | None = field(default=None, repr=False)
    """What is asserted to be public."""
    judged: Judgement | None = field(default=None, repr=False)
    """How far all pairs of columns are from the model, if the owner had that measured."""
    remarks: tuple[str, ...] = field(default=(), repr=False)
    """What must be known besides, such as that the data were replaced since."""

    tours: int = MOST_TOURS
    """How many tours the search for the model may take."""
    circumstances: FindCircumstances | None = field(default=None, repr=False)
    """What is known besides: the people and the budget, for a release card."""

    @cached_property
    def model(self) -> SyntheticModel:
        """The model that rows are drawn from."""
        return SyntheticModel.of(self.cells, self.measured, self.published, self.facts, self.tours)

    def with_tours(self, tours: int) -> "SyntheticRelease":
        """Return the release with a search for its model that may take so many tours.

        What was measured is kept, so a search that was stopped before its end is tried again for
        nothing. :attr:`has_converged` says whether it has come to an end. So is a judgement: what
        it says of this model is a little less, by how far this one is from the one before.
        """
        return evolve(self, tours=checked_tours(tours))

    @property
    def has_converged(self) -> bool:
        """Whether the search for the model has found it, and was not stopped before."""
        return self.model.estimated.is_found

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(one.column.name for one in self.cells)

    @property
    def tables(self) -> tuple[tuple[str, ...], ...]:
        """The tables of several columns that were measured."""
        return tuple(
            tuple(self.columns[column] for column in one) for one in self.measured.together
        )

    @property
    def agrees_with(self) -> dict[int, str]:
        """The tickets of earlier releases that the model agrees with, and what these are."""
        return {one.ticket: one.what for one in self.model.published}

    @cached_property
    def _rows(self) -> Any:
        return self.sample(self.model.rows)

    def sample(self, rows: int, *, given: Mapping[str, Any] | None = None) -> Any:
        """Return so many new rows as an Arrow table; as often as wanted, for nothing.

        With ``given`` they are rows in which some columns have given values, such as
        ``{"clinic": "north", "age": {"from": 60, "to": 79}}``: a value, a list, or a range.
        """
        rows = check.whole(rows)
        rng, allowed = SystemRng(), read_given(self.cells, given)
        drawn = self.model.to_arrow(self.model.sample(rows, rng, allowed), rng)
        about, measured = self.about(), self.model.to_json()
        if allowed:
            names = [self.columns[column] for column in allowed]
            about |= {"given": names, "notes": [*about["notes"], given_note(names)]}
            measured[GIVEN] = given_json(self.cells, allowed)
        texts = {METADATA: json.dumps(about), MEASURED: json.dumps(measured)}
        return drawn.replace_schema_metadata(texts)

    def to_arrow(self) -> Any:
        """Return as many rows as were counted, as an Arrow table: the same ones each time.

        The metadata of its schema say what it is, as JSON.
        """
        return self._rows

    def to_pandas(self) -> Any:
        """Return as many rows as were counted, as a pandas data frame."""
        frame = self._rows.to_pandas()
        frame.attrs["discreet"] = self.about()
        return frame

    def to_polars(self) -> Any:
        """Return as many rows as were counted, as a Polars data frame."""
        return optional.load("polars").from_arrow(self._rows)

    def write(self, path: str | Path) -> Path:
        """Write the rows to a file: Parquet, Arrow or CSV, by the ending of its name.

        A CSV file has no place for what it is; that stands in a file of JSON beside it.
        """
        place = Path(path)
        if not place.absolute().parent.is_dir():
            raise InvalidArgument(f"{place} cannot be written", must="be in a folder that is there")
        if place.suffix == ".parquet":
            optional.load("pyarrow.parquet").write_table(self._rows, place)
        elif place.suffix in (".arrow", ".feather"):
            optional.load("pyarrow.feather").write_feather(self._rows, str(place))
        elif place.suffix == ".csv":
            optional.load("pyarrow.csv").write_csv(self._rows, str(place))
            write_about(place, self.about())
        else:
            raise InvalidArgument(
                "The kind of the file is not known",
                must="end in .parquet, .arrow, .feather or .csv",
                got=place.suffix or "no ending",
            )
        return place

    def about(self) -> dict[str, Any]:
        """Return what the rows are, as plain values."""
        return {
            "synthetic": True,
            "table": self.table,
            "method": "marginals",
            "measured_tables": [list(one) for one in self.tables],
            "rows_per_unit": self.rows_per_unit,
            "cost": self.cost.to_json(),
            "data_version": self.receipt.data_version,
            "ticket": self.receipt.ticket.number,
            "converged": self.has_converged,
            "tours": self.model.estimated.tours,
            "published": [
                {"ticket": ticket, "what": what} for ticket, what in self.agrees_with.items()
            ],
            "notes": list(self.notes()),
        }

    def sql(self, query: str, *, repeats: int = REPEATS) -> "answers.SyntheticAnswer":
        """Return the answer to a question from these rows, for nothing.

        What the noise may have done to it is estimated by drawing it anew so many times.
        """
        found = answers.answer_from_rows(
            {self.table: self._rows},
            query,
            known=self.model.known,
            drawn_again=partial(answers.rows_again, self.model, self.table, len(self)),
            repeats=repeats,
            rng=SystemRng(),
        )
        return evolve(found, notes=(*found.notes, *self.remarks))

    def report(self) -> "reports.SyntheticReport":
        """Return how far the rows can be trusted, by what was measured. It costs nothing."""
        return reports.SyntheticReport(
            title=f"{self.model.rows:,} synthetic rows of {self.table}",
            model=self.model,
            notes=self.notes(),
            judged=self.judged,
        )

    def card(self) -> str:
        """Return a release card, as YAML: what was released, how, and what it cost."""
        part = CountedPart(
            table=self.table,
            cells=self.cells,
            measured=self.measured,
            rows_per_unit=self.rows_per_unit,
        )
        columns = {self.table: self.columns}
        return synthetic_card(
            [part], columns, self.about(), self.cost, self.receipt, self.circumstances
        )

    def notes(self) -> tuple[str, ...]:
        """Return what must be known about the rows."""
        found = [
            (
                f"these rows are made up: none is one of {self.table}, and an answer from them has"
                " errors that no error bar shows"
            ),
            (
                f"at most {_rows(self.rows_per_unit)} of each of the {self.units} counted, so there"
                " are fewer than in the table if some have more; rows of nobody did not count"
            ),
        ]
        if self.tables:
            pairs = ", ".join(" with ".join(one) for one in self.tables)
            found.append(f"measured together: {pairs}; any other dependence may be lost")
        else:
            found.append("no columns were measured together: each is independent of all others")
        found += agreement_notes(self.agrees_with)
        found += disagreement_notes(self.model)
        found += self._facts_notes()
        strict = [one.column.name for one in self.cells if not one.column.nullable]
        if strict:
            found.append(
                f"rows with no value, or none of the declared ones, in {', '.join(strict)} are left"
                " out; in other columns such a value is NULL"
            )
        binned = [one.column.name for one in self.cells if one.fine is not None]
        if binned:
            found.append(
                f"{', '.join(binned)} {'is' if len(binned) == 1 else 'are'} divided where noisy"
                " counts say that the rows are; within a cell all values are equally likely"
            )
        if any(one.keys is None for one in self.cells):
            found.append("what lies beyond a declared range counts as its nearer end")
        if noisy := self.model.known.noisy:
            found.append(noise_note(noisy))
        return (*found, *convergence_notes([self.model]), *self.remarks)

    def _facts_notes(self) -> list[str]:
        facts, found = self.model.facts, []
        if not facts.is_empty:
            found.append(
                f"that {facts.in_words(self.columns)} was asserted to be public, and neither"
                " measured nor protected"
            )
        if self.model.left_out:
            pairs = (
                " with ".join(self.columns[one] for one in table) for table in self.model.left_out
            )
            found.append(
                f"measured, but left out for the sake of what cannot be: {', '.join(pairs)}"
            )
        return found

    def to_json(self) -> dict[str, Any]:
        """Return everything that is public about the release, but the rows."""
        return self.about() | {"columns": list(self.columns), "rows": self.model.rows}

    def __len__(self) -> int:
        """Return how many rows there are."""
        return int(self._rows.num_rows)

    def __str__(self) -> str:
        """Show the first rows, and what must be known about them."""
        cost = "stored, no cost" if self.is_stored else f"cost: {self.cost}"
        title = f"{self.model.rows:,} synthetic rows of {self.table} ({cost})"
        shown = text_table(self.columns, self._first())
        return "\n".join([title, "", shown, "", *(f"- {note}" for note in self.notes())])

    def _repr_html_(self) -> str:
        title = f"{self.model.rows:,} synthetic rows of {self.table}"
        return html_page(
            f"<p><strong>{title}</strong></p>",
            html_table(self.columns, self._first()),
            html_notes(self.notes()),
        )

    def _first(self) -> list[list[str]]:
        rows = self._rows.slice(0, _SHOWN).to_pylist()
        return [["" if value is None else str(value) for value in row.values()] for row in rows]


def write_about(path: Path, about: Mapping[str, Any]) -> None:
    """Write what rows or counts are into a file of JSON, beside a file that has no place for it."""
    beside = path.with_name(f"{path.name}.json")
    beside.write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")


def checked_tours(tours: int) -> int:
    """Return a number of tours that a search may take."""
    found = check.whole(tours)
    if not 1 <= found <= MOST_TRIED:
        raise InvalidArgument(
            "tours is out of range", must=f"lie between 1 and {MOST_TRIED:,}", got=str(tours)
        )
    return found


def agreement_notes(agrees_with: Mapping[int, str]) -> list[str]:
    """Return what must be said of rows that agree with earlier releases, by their tickets."""
    if not agrees_with:
        return []
    tickets = ", ".join(f"{ticket} ({what})" for ticket, what in agrees_with.items())
    return [
        (
            "the rows agree with what was published before, as far as noise lets them, and so"
            f" reveal it: ticket {tickets}"
        )
    ]


def disagreement_notes(model: SyntheticModel) -> list[str]:
    """Return what must be said of a model that is farther from what was published than noise is."""
    found = []
    for one in model.published:
        away, usual = model.farthest(one)
        if away > usual:
            found.append(
                f"the rows are about {away:,.3g} off a number that ticket {one.ticket} published"
                f" ({one.what}), where its noise explains no more than {usual:,.3g}: trust that"
                " ticket, and not the rows"
            )
    return found


def convergence_notes(models: Sequence[SyntheticModel]) -> list[str]:
    """Return what must be said of models whose search was stopped before its end."""
    stopped = [one for one in models if not one.estimated.is_found]
    if not stopped:
        return []
    tours = max(one.estimated.tours for one in stopped)
    return [
        (
            f"the model was still changing a little when its search was stopped after {tours:,}"
            " tours: some tables of the rows are farther from what was measured than they need be."
            f" What was measured is kept, so with_tours({10 * tours}), or --tours {10 * tours},"
            " searches longer for nothing"
        )
    ]


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"
