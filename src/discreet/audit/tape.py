"""Randomness on tape: words as they are drawn, and the same words again."""

import numpy as np
from numpy.typing import NDArray

from discreet.core.protocols import Rng


class Parted(BaseException):  # not an Exception, so that the function under audit cannot catch it
    """On the neighbour the function took another path, and the recording has nothing to give it."""


class Excused(BaseException):
    """The recording shows what only one data set can: the case that δ is there for."""


class RecordingRng:
    """Passes words on from a generator, and keeps them.

    Example:
        >>> from discreet.randomness.rng import SystemRng
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
