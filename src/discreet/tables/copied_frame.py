"""A held frame: rows in memory, copied when they were opened. It names them and holds none."""

from typing import Never, Self

from attrs import frozen

from discreet.core.errors import Unsupported


@frozen(eq=False)
class CopiedFrame:
    """The name of rows that an engine holds in memory. Whoever has it has no way to the rows.

    The rows are there as long as somebody has this very object: a copy of it is itself, and it
    cannot be stored.

    Example:
        >>> first, second = CopiedFrame(origin=7), CopiedFrame(origin=7)
        >>> first == second, first.is_of_same_frame(second)
        (False, True)
    """

    origin: int
    """Which frame of the caller's it was copied from, among those of one declaration."""

    def is_of_same_frame(self, other: "CopiedFrame") -> bool:
        """Tell whether both were copied from one and the same frame."""
        return self.origin == other.origin

    def __copy__(self) -> Self:
        """Return the same name: the rows are kept once."""
        return self

    def __deepcopy__(self, _: object) -> Self:
        """Return the same name: the rows are kept once."""
        return self

    def __reduce__(self) -> Never:
        """Refuse to be stored: rows in memory are those of one process."""
        raise Unsupported("A frame in memory is not stored", next="Open it again with discreet.own")
