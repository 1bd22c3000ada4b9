"""A file of synthetic rows, opened again: it has the rows, and the noisy numbers behind them."""

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from discreet.core import optional
from discreet.core.errors import InvalidArgument
from discreet.randomness.rng import SystemRng
from discreet.synthesis.known_columns import REPEATS
from discreet.synthesis.read_facts import GIVEN, given_from_json, given_note
from discreet.synthesis.synthetic_answer import (
    SyntheticAnswer,
    answer_from_rows,
    rows_again,
)
from discreet.synthesis.synthetic_model import Allowed, SyntheticModel
from discreet.synthesis.synthetic_release import MEASURED, METADATA

ENDINGS = (".parquet", ".arrow", ".feather")
"""How the names of files end that say what they are."""


@frozen(kw_only=True, eq=False)
class SyntheticFile:
    """Rows that nobody has, from a file of Parquet or Arrow that says what it is."""

    table: str
    about: dict[str, Any]
    rows: Any = field(repr=False)
    model: SyntheticModel = field(repr=False)
    allowed: Mapping[int, Allowed] = field(factory=dict, repr=False)
    """The cells that some columns have in all rows, if they were drawn with given values."""

    def sql(self, query: str, *, repeats: int = REPEATS) -> SyntheticAnswer:
        """Return the answer to a question from the rows of the file, for nothing."""
        again = partial(
            rows_again, self.model, self.table, self.rows.num_rows, allowed=self.allowed
        )
        found = answer_from_rows(
            {self.table: self.rows},
            query,
            known=self.model.known,
            drawn_again=again,
            repeats=repeats,
            rng=SystemRng(),
        )
        names = [self.model.cells[column].column.name for column in self.allowed]
        return evolve(found, notes=(*found.notes, given_note(names))) if names else found


@frozen(kw_only=True, eq=False)
class FoundRows:
    """The rows of a file with what it says of them."""

    place: Path
    rows: Any = field(repr=False)
    about: dict[str, Any]
    measured: dict[str, Any] = field(repr=False)
    """What their model is made of."""


def read_synthetic(place: Path) -> FoundRows:
    """Read a file of synthetic rows; refuse one that does not say that it is one."""
    rows = _read(place)
    metadata = rows.schema.metadata or {}
    try:
        about, measured = (json.loads(metadata[name]) for name in (METADATA, MEASURED))
    except (KeyError, ValueError):
        raise no_synthetic(place) from None
    if not isinstance(about, dict) or not isinstance(measured, dict) or "table" not in about:
        raise no_synthetic(place)
    return FoundRows(place=place, rows=rows, about=about, measured=measured)


def synthetic_file(found: FoundRows) -> SyntheticFile:
    """Return the rows of one table that was synthesised by itself, with their model."""
    try:
        model = SyntheticModel.from_json(found.measured)
        allowed = given_from_json(model.cells, found.measured.get(GIVEN, {}))
    except (KeyError, TypeError, ValueError, AttributeError):
        raise no_synthetic(found.place) from None
    return SyntheticFile(
        table=str(found.about["table"]),
        about=found.about,
        rows=found.rows,
        model=model,
        allowed=allowed,
    )


def _read(place: Path) -> Any:
    arrow = optional.load("pyarrow")
    try:
        if place.suffix == ".parquet":
            return optional.load("pyarrow.parquet").read_table(place)
        if place.suffix in ENDINGS:
            return optional.load("pyarrow.feather").read_table(str(place))
    except (OSError, arrow.ArrowException) as cause:
        raise InvalidArgument(
            f"{place} cannot be read", got=type(cause).__name__, next="Look whether it is there"
        ) from None
    raise no_synthetic(place)


def no_synthetic(place: Path) -> InvalidArgument:
    """Return the refusal of a file that is none of ours."""
    return InvalidArgument(
        f"{place} does not say that its rows are synthetic",
        must="be a file of Parquet or Arrow that a synthesis wrote, or a folder of them",
        next="Write one with release.write, or discreet synthesise -o; CSV has no place for it",
    )
