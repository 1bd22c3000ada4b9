"""A scheme that is small enough for its laws to be enumerated."""

from dataclasses import dataclass
from typing import Any

from discreet.local.scheme import Scheme


@dataclass(frozen=True)
class Case:
    """A scheme and the values of a person for which its laws are compared, two by two."""

    name: str
    scheme: Scheme
    values: tuple[Any, ...]

    def __str__(self) -> str:
        return self.name
