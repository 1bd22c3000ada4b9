"""The rows of two tables that belong together, and the files that they are written into."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import field, frozen

from discreet.core import optional
from discreet.core.errors import InvalidArgument

ABOUT = "synthetic.json"
"""The file of a folder that says what the others are."""

ENDINGS = (".parquet", ".arrow", ".csv")

_SHOWN = 5


@frozen(eq=False)
class RelatedRows:
    """The rows of one of the tables."""

    name: str
    arrow: Any = field(repr=False)
    about: Mapping[str, Any] = field(repr=False)

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
        frame.attrs["discreet"] = dict(self.about)
        return frame

    def to_polars(self) -> Any:
        """Return the rows as a Polars data frame."""
        return optional.load("polars").from_arrow(self.arrow)

    def first(self) -> list[list[str]]:
        """Return the first rows as text."""
        rows = self.arrow.slice(0, _SHOWN).to_pylist()
        return [["" if value is None else str(value) for value in row.values()] for row in rows]

    def write(self, place: Path) -> None:
        """Write the rows to a file, by the ending of its name."""
        if place.suffix == ".parquet":
            optional.load("pyarrow.parquet").write_table(self.arrow, place)
        elif place.suffix == ".arrow":
            optional.load("pyarrow.feather").write_feather(self.arrow, str(place))
        else:
            optional.load("pyarrow.csv").write_csv(self.arrow, str(place))

    def __len__(self) -> int:
        """Return how many rows there are."""
        return int(self.arrow.num_rows)


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
