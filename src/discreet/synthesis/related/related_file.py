"""Files of synthetic rows, opened again: of one table, or of two that belong together."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from attrs import field, frozen

from discreet.core.errors import InvalidArgument
from discreet.randomness.rng import SystemRng
from discreet.synthesis.known_columns import REPEATS
from discreet.synthesis.related.draw_related import RelatedModel
from discreet.synthesis.synthetic_answer import SyntheticAnswer, answer_from_rows
from discreet.synthesis.synthetic_file import (
    ENDINGS,
    FoundRows,
    SyntheticFile,
    no_synthetic,
    read_synthetic,
    synthetic_file,
)


@frozen(kw_only=True, eq=False)
class RelatedFiles:
    """Rows that nobody has, from one or both files of two tables that belong together."""

    about: dict[str, Any]
    rows: Mapping[str, Any] = field(repr=False)
    """Arrow tables, by their names."""
    model: RelatedModel = field(repr=False)

    def sql(self, query: str, *, repeats: int = REPEATS) -> SyntheticAnswer:
        """Return the answer to a question from the rows of the files, for nothing."""
        parents = self.about["rows"][self.model.parent.name]
        return answer_from_rows(
            self.rows,
            query,
            known=self.model.known,
            drawn_again=partial(self.model.drawn_again, parents),
            repeats=repeats,
            rng=SystemRng(),
        )


def open_synthetic(path: str | Path) -> SyntheticFile | RelatedFiles:
    """Open a file that a release has written, or the folder of two related tables; but no CSV."""
    place = Path(path)
    if not place.is_dir():
        found = read_synthetic(place)
        return _related([found]) if "tables" in found.about else synthetic_file(found)
    files = sorted(one for one in place.iterdir() if one.suffix in ENDINGS)
    if not files:
        raise no_synthetic(place)
    return _related([read_synthetic(one) for one in files])


def _related(files: Sequence[FoundRows]) -> RelatedFiles:
    """Return the tables of some files, which must have been written together."""
    first = files[0]
    names = [str(one.about["table"]) for one in files]
    whole = [{**one.about, "table": None} for one in files]
    if len(set(names)) < len(names) or any(one != whole[0] for one in whole):
        raise InvalidArgument(
            f"The files of {first.place.parent} do not belong together",
            must="be those of one release, each table once",
            next="Name one of the files",
        )
    try:
        model = RelatedModel.from_json(first.measured)
        known = first.about["rows"][model.parent.name]
    except (KeyError, TypeError, ValueError, AttributeError):
        raise no_synthetic(first.place) from None
    if not isinstance(known, int):
        raise no_synthetic(first.place)
    rows = {name: one.rows for name, one in zip(names, files, strict=True)}
    return RelatedFiles(about=first.about, rows=rows, model=model)
