"""The recorder: mechanisms that are watched while a function uses them."""

from fractions import Fraction
from typing import Any

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from discreet.audit.tape import Parted, RecordingRng, ReplayRng
from discreet.audit.trace import Call, Trace
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.event import Event
from discreet.core.protocols import IntArray, Mechanism, Rng, Selector


class Recorder:
    """What a function under audit is given: a generator, and a way to have mechanisms watched.

    With a ``transcript`` it replays: the words come from the recording, and every watched mechanism
    hands back the recorded *output*, so that the function sees exactly what it saw before and may
    differ only in what it read from the data.

    Example:
        >>> from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
        >>> from discreet.randomness.rng import SystemRng
        >>> recorder = Recorder(SystemRng())
        >>> noisy = recorder.watch(DiscreteLaplace(scale=2), d_in=Contribution(l1=1))
        >>> noisy.release(np.array([3, 4]), recorder.rng).shape
        (2,)
        >>> [call.name for call in recorder.calls]
        ['DiscreteLaplace']
    """

    def __init__(self, rng: Rng, *, transcript: Trace | None = None) -> None:
        self.rng = RecordingRng(rng if transcript is None else ReplayRng(transcript.words))
        self.calls: list[Call] = []
        self._transcript = transcript

    def watch(self, mechanism: Mechanism, *, d_in: Contribution) -> "WatchedMechanism":
        """Return ``mechanism`` under observation, with what one unit may move its input by."""
        return WatchedMechanism(inner=mechanism, d_in=d_in, recorder=self)

    def watch_selector(self, selector: Selector, *, d_in: Contribution) -> "WatchedSelector":
        """Return ``selector`` under observation, with what one unit may move its scores by."""
        return WatchedSelector(inner=selector, d_in=d_in, recorder=self)

    def observe(
        self, watched: "WatchedMechanism | WatchedSelector", values: NDArray[Any], rng: Rng
    ) -> Any:
        """Run a watched mechanism, keep the call, and return what its caller may see.

        In a replay that is the recorded output; the mechanism runs all the same, so that the words
        it draws can be compared.
        """
        if rng is not self.rng:
            raise InvalidArgument(
                "The mechanism draws from another generator", must="be given the recorder's own rng"
            )
        index, before = len(self.calls), self.rng.drawn
        call = _opened(watched, values, before)
        self.calls.append(call)
        recorded = self._recorded(index)
        if recorded is not None and not is_same_path(recorded, call):
            raise Parted
        output = _kept(watched.run(values, rng))
        self.calls[index] = evolve(call, words_used=self.rng.drawn - before, output=output)
        if recorded is None:
            return _kept(output)
        if recorded.words_used != self.rng.drawn - before:
            raise Parted
        return _kept(recorded.output)

    def _recorded(self, index: int) -> Call | None:
        if self._transcript is None:
            return None
        if index >= len(self._transcript.calls):
            raise Parted
        return self._transcript.calls[index]


def is_same_path(first: Call, second: Call) -> bool:
    """Tell whether two calls were reached in the same way, and ask for the same thing."""
    return all(getattr(first, name) == getattr(second, name) for name in PATH)


PATH = ("name", "event", "d_in", "shape", "dtype", "words_before")
"""What must agree before a mechanism runs."""


def _opened(
    watched: "WatchedMechanism | WatchedSelector", values: NDArray[Any], before: int
) -> Call:
    kept = np.array(values)
    return Call(
        name=type(watched.inner).__name__,
        event=watched.event(watched.d_in),
        d_in=watched.d_in,
        shape=kept.shape,
        dtype=str(kept.dtype),
        words_before=before,
        words_used=0,
        values=kept,
        output=None,
    )


def _kept(output: Any) -> Any:
    return output.copy() if isinstance(output, np.ndarray) else output


@frozen(kw_only=True)
class WatchedMechanism:
    """A mechanism whose every release is recorded. It is a mechanism itself."""

    inner: Mechanism
    d_in: Contribution
    recorder: Recorder = field(repr=False)

    def event(self, d_in: Contribution) -> Event:
        """Describe one use, as the mechanism does."""
        return self.inner.event(d_in)

    def error_quantile(self, beta: Fraction) -> Fraction:
        """Return the mechanism's own quantile."""
        return self.inner.error_quantile(beta)

    def release(self, exact_values: IntArray, rng: Rng) -> IntArray:
        """Release through the mechanism, and record it."""
        released: IntArray = self.recorder.observe(self, exact_values, rng)
        return released

    def run(self, exact_values: IntArray, rng: Rng) -> IntArray:
        """Release through the mechanism, unseen; for the recorder."""
        return self.inner.release(exact_values, rng)


@frozen(kw_only=True)
class WatchedSelector:
    """A selector whose every choice is recorded. It is a selector itself."""

    inner: Selector
    d_in: Contribution
    recorder: Recorder = field(repr=False)

    def event(self, d_in: Contribution) -> Event:
        """Describe one use, as the selector does."""
        return self.inner.event(d_in)

    def select(self, scores: IntArray, rng: Rng) -> int:
        """Choose through the selector, and record it."""
        return int(self.recorder.observe(self, scores, rng))

    def run(self, scores: IntArray, rng: Rng) -> int:
        """Choose through the selector, unseen; for the recorder."""
        return self.inner.select(scores, rng)
