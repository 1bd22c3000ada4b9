"""What is closed at the end of a ``with`` block."""

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class ClosedAtEnd(ABC):
    """Something that can be closed, and closes itself at the end of a ``with`` block."""

    @abstractmethod
    def close(self) -> None:
        """Close it; nothing is lost."""

    def __enter__(self) -> Self:
        """Use it in a ``with`` block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close at the end of the block."""
        self.close()
