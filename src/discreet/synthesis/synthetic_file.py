"""A file of synthetic rows, opened again: it has the rows, and the noisy numbers behind them."""

import json
from pathlib import Path
from typing import Any

from attrs import field, frozen

from discreet.core import optional
from discreet.core.errors import InvalidArgument
from discreet.randomness.rng import SystemRng
from discreet.synthesis.counted.value_cells import ValueCells
from discreet.synthesis.marginals.measured import MeasuredMarginals
from discreet.synthesis.public_facts import PublicFacts
from discreet.synthesis.published_table import PublishedTable
from discreet.synthesis.synthetic_answer import REPEATS, SyntheticAnswer, answer_from_rows
from discreet.synthesis.synthetic_model import SyntheticModel
from discreet.synthesis.synthetic_release import MEASURED, METADATA


@frozen(kw_only=True, eq=False)
class SyntheticFile:
    """Rows that nobody has, from a file of Parquet or Arrow that says what it is."""

    table: str
    about: dict[str, Any]
    rows: Any = field(repr=False)
    model: SyntheticModel = field(repr=False)

    def sql(self, query: str, *, repeats: int = REPEATS) -> SyntheticAnswer:
        """Return the answer to a question from the rows of the file, for nothing."""
        return answer_from_rows(
            self.model, self.rows, self.table, query, repeats=repeats, rng=SystemRng()
        )


def open_synthetic(path: str | Path) -> SyntheticFile:
    """Open a file that :meth:`SyntheticRelease.write` has written, but no CSV."""
    place = Path(path)
    rows = _read(place)
    metadata = rows.schema.metadata or {}
    if METADATA in metadata and MEASURED not in metadata:
        raise InvalidArgument(
            f"{place} is one of two tables that belong together",
            must="be a file of one table that was synthesised by itself",
            next="Its rows are made up, so ask them with any tool; no error bars are known",
        )
    if METADATA not in metadata or MEASURED not in metadata:
        raise _no_synthetic(place)
    try:
        about, found = (json.loads(metadata[name]) for name in (METADATA, MEASURED))
        cells = tuple(map(ValueCells.from_json, found["cells"]))
        measured = MeasuredMarginals.from_json(found["measured"])
        published = [PublishedTable.from_json(one) for one in found.get("published", ())]
        facts = PublicFacts.from_json(found["facts"]) if "facts" in found else None
        table = str(about["table"])
    except (KeyError, TypeError, ValueError, AttributeError):
        raise _no_synthetic(place) from None
    model = SyntheticModel.of(cells, measured, published, facts)
    return SyntheticFile(table=table, about=about, rows=rows, model=model)


def _read(place: Path) -> Any:
    arrow = optional.load("pyarrow")
    try:
        if place.suffix == ".parquet":
            return optional.load("pyarrow.parquet").read_table(place)
        if place.suffix in (".arrow", ".feather"):
            return optional.load("pyarrow.feather").read_table(str(place))
    except (OSError, arrow.ArrowException) as cause:
        raise InvalidArgument(
            f"{place} cannot be read", got=type(cause).__name__, next="Look whether it is there"
        ) from None
    raise _no_synthetic(place)


def _no_synthetic(place: Path) -> InvalidArgument:
    return InvalidArgument(
        f"{place} does not say that its rows are synthetic",
        must="be a file of Parquet or Arrow that a synthesis wrote",
        next="Write one with release.write, or discreet synthesise -o",
    )
