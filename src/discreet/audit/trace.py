"""A trace: what a function did with its mechanisms and its randomness, in order."""

from enum import Enum
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.audit.inputs import Inputs
from discreet.core.contribution import Contribution
from discreet.core.event import Event
from discreet.core.protocols import Rng


class Parted(BaseException):  # not an Exception, so that the function under audit cannot catch it
    """On the neighbour the function took another path, and the recording has nothing to give it."""


class Excused(BaseException):
    """The recording shows what only one data set can: the case that δ is there for."""


class RecordingRng:
    """Passes words on from a generator, and keeps them.

    Example:
        >>> from discreet import SystemRng
        >>> recording = RecordingRng(SystemRng())
        >>> words = recording.words(3)
        >>> bool((ReplayRng(recording.tape()).words(3) == words).all()), recording.drawn
        (True, 3)
    """

    def __init__(self, source: Rng) -> None:
        self._source = source
        self._pieces: list[NDArray[np.uint64]] = []
        self.drawn = 0

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return ``count`` words of the source."""
        words = self._source.words(count)
        self._pieces.append(words.copy())
        self.drawn += len(words)
        return words

    def tape(self) -> NDArray[np.uint64]:
        """Return all words drawn so far, in order."""
        return np.concatenate([np.empty(0, dtype=np.uint64), *self._pieces])


class ReplayRng:
    """Hands out the words of a tape, and stops the run when the tape ends."""

    def __init__(self, tape: NDArray[np.uint64]) -> None:
        self._tape = tape
        self.drawn = 0

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return the next ``count`` words of the tape."""
        if self.drawn + count > len(self._tape):
            raise Parted
        self.drawn += count
        return self._tape[self.drawn - count : self.drawn].copy()

    def tape(self) -> NDArray[np.uint64]:
        """Return the tape as far as it was played."""
        return self._tape[: self.drawn].copy()

    def play_on(self, drawn: int) -> None:
        """Go on where the recording had drawn so many words, whatever was played before."""
        self.drawn = drawn


@frozen(kw_only=True, eq=False)
class WatchedCall:
    """One use of a watched mechanism. Exact values and output are private, and not shown.

    ``settings`` is what was used, with all that it was made with, and ``public`` what else the call
    was given; both must agree between neighbours. A machine has one call for its opening and one
    for each time it is asked; ``machine`` is the number of the call that opened it.
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
    settings: Any = field(default=None, repr=False)
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

    calls: tuple[WatchedCall, ...]
    words_drawn: int
    ending: Ending
    words: NDArray[np.uint64] = field(repr=False)
    result: Any = field(repr=False)
