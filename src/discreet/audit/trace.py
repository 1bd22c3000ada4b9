"""A trace: what a function did with its mechanisms and its randomness, in order."""

from enum import Enum
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.audit.inputs import Inputs
from discreet.core.contribution import Contribution
from discreet.core.event import Event


@frozen(kw_only=True, eq=False)
class Call:
    """One use of a watched mechanism. Exact values and output are private, and not shown.

    ``public`` is what else the call was given, which must agree between neighbours. A machine has
    one call for its opening and one for each time it is asked; ``machine`` is the number of the
    call that opened it.
    """

    name: str
    event: Event
    d_in: Contribution
    inputs: Inputs
    shape: tuple[int, ...]
    dtype: str
    words_before: int
    words_used: int = 0
    machine: int | None = None
    public: Any = field(default=(), repr=False)
    values: Any = field(repr=False)
    output: Any = field(default=None, repr=False)
    error: Exception | None = field(default=None, repr=False)

    @property
    def has_raised(self) -> bool:
        """Whether the mechanism raised an error."""
        return self.error is not None


class Ending(Enum):
    """How a run ended."""

    RETURNED = "returned"
    RAISED = "raised"
    PARTED = "parted"
    EXCUSED = "excused"


@frozen(kw_only=True, eq=False)
class Trace:
    """All that was observed of one run. What it computed from data is private, and not shown."""

    calls: tuple[Call, ...]
    words_drawn: int
    ending: Ending
    words: NDArray[np.uint64] = field(repr=False)
    result: Any = field(repr=False)
