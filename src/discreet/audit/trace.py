"""A trace: what a function did with its mechanisms and its randomness, in order."""

from enum import Enum
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core.contribution import Contribution
from discreet.core.event import Event


@frozen(kw_only=True, eq=False)
class Call:
    """One use of a watched mechanism. Exact values and output are private, and not shown."""

    name: str
    event: Event
    d_in: Contribution
    shape: tuple[int, ...]
    dtype: str
    words_before: int
    words_used: int
    values: NDArray[Any] = field(repr=False)
    output: Any = field(repr=False)


class Ending(Enum):
    """How a run ended."""

    RETURNED = "returned"
    RAISED = "raised"
    PARTED = "parted"


@frozen(kw_only=True, eq=False)
class Trace:
    """All that was observed of one run. What it computed from data is private, and not shown."""

    calls: tuple[Call, ...]
    words_drawn: int
    ending: Ending
    words: NDArray[np.uint64] = field(repr=False)
    result: Any = field(repr=False)
