"""The rows of an answer, as programs and notebooks like to reach them."""

from collections.abc import Iterator

from discreet.core.errors import InvalidArgument
from discreet.releases.cells import Cell


class AnswerRows:
    """Something with columns and rows: it has a length, can be gone over, and knows its columns."""

    __slots__ = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the outputs, in order."""
        raise NotImplementedError

    @property
    def rows(self) -> tuple[tuple[Cell, ...], ...]:
        """The answer, one row for each group that is shown."""
        raise NotImplementedError

    def to_dicts(self) -> list[dict[str, Cell]]:
        """Return the rows as dictionaries."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def __len__(self) -> int:
        """Return how many rows there are."""
        return len(self.rows)

    def __bool__(self) -> bool:
        """Tell that there is an answer, even if it has no rows."""
        return True

    def __iter__(self) -> Iterator[tuple[Cell, ...]]:
        """Go over the rows."""
        return iter(self.rows)

    def __getitem__(self, name: str) -> tuple[Cell, ...]:
        """Return the values of an output, one for each row: ``release["n"]``."""
        if name not in self.columns:
            raise InvalidArgument(
                "No output has this name",
                must=f"be one of {', '.join(self.columns)}",
                got=repr(name),
            )
        place = self.columns.index(name)
        return tuple(row[place] for row in self.rows)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.columns)
