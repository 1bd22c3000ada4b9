"""The recorder: what a function under audit is given, so that its mechanisms are watched."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from attrs import evolve

from discreet.audit.inputs import Inputs
from discreet.audit.same import same
from discreet.audit.trace import Excused, Parted, RecordingRng, ReplayRng, Trace, WatchedCall
from discreet.audit.watched import (
    Use,
    WatchedMachine,
    WatchedMechanism,
    WatchedResponse,
    WatchedSelector,
    WatchedTest,
)
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.protocols import LocalRandomiser, Mechanism, Rng, Selector
from discreet.mechanisms.stability.propose_test_release import ProposeTestRelease
from discreet.randomness.rng import SystemRng


class Recorder:
    """What a function under audit is given: a generator, and a way to have mechanisms watched.

    With a ``transcript`` it replays: the words come from the recording, and every watched mechanism
    hands back the recorded *output*, so that the function sees exactly what it saw before and may
    differ only in what it read from the data.

    Example:
        >>> import numpy as np
        >>> from discreet import DiscreteLaplace
        >>> recorder = Recorder(SystemRng())
        >>> noisy = recorder.watch(DiscreteLaplace(scale=2), d_in=Contribution(l1=1))
        >>> noisy.release(np.array([3, 4]), recorder.rng).shape
        (2,)
        >>> [call.name for call in recorder.calls]
        ['DiscreteLaplace']
    """

    def __init__(self, rng: Rng, *, transcript: Trace | None = None) -> None:
        self.rng: RecordingRng | ReplayRng = (
            RecordingRng(rng) if transcript is None else ReplayRng(transcript.words)
        )
        self.calls: list[WatchedCall] = []
        self._transcript = transcript

    @property
    def used(self) -> int:
        """How many calls were kept so far."""
        return len(self.calls)

    def watch(
        self, mechanism: Mechanism | Any, *, d_in: Contribution, inputs: Inputs | None = None
    ) -> WatchedMechanism:
        """Return ``mechanism`` under observation, with what one unit may move its input by.

        Quantiles are known to take rows, whose number is private, and what is given a mapping
        takes keys. A mechanism of your own that takes rows needs ``inputs=Inputs.ROWS``. All that
        it is made with is public, and must agree between neighbours.
        """
        _require(mechanism, "release")
        if isinstance(mechanism, ProposeTestRelease):
            raise InvalidArgument(
                "This mechanism takes a number and its margin", next="Use watch_test"
            )
        return WatchedMechanism(inner=mechanism, d_in=d_in, inputs=inputs, recorder=self)

    def watch_selector(self, selector: Selector | Any, *, d_in: Contribution) -> WatchedSelector:
        """Return ``selector`` under observation, with what one unit may move its scores by."""
        _require(selector, "select")
        return WatchedSelector(inner=selector, d_in=d_in, recorder=self)

    def watch_response(
        self, response: LocalRandomiser | Any, *, reports: int = 1
    ) -> WatchedResponse:
        """Return ``response`` under observation; one person sends at most so many ``reports``."""
        _require(response, "randomise")
        d_in = Contribution(l0=reports, metric=response.event().metric)
        return WatchedResponse(inner=response, d_in=d_in, recorder=self)

    def watch_test(self, mechanism: ProposeTestRelease, *, d_in: Contribution) -> WatchedTest:
        """Return propose-test-release under observation; a unit is ``d_in.l1`` steps."""
        if not isinstance(mechanism, ProposeTestRelease):
            raise InvalidArgument(
                "This is no test of a margin",
                must="be a ProposeTestRelease",
                got=type(mechanism).__name__,
            )
        return WatchedTest(inner=mechanism, d_in=d_in, recorder=self)

    def watch_machine(
        self, machine: Any, *, d_in: Contribution, inputs: Inputs = Inputs.QUERIES
    ) -> WatchedMachine:
        """Return ``machine`` under observation, to be opened and asked.

        One unit may move each query by ``d_in.linf``. With ``inputs=Inputs.POINTS`` the machine is
        opened on rows, of which one unit has so many, and its queries are public; with
        ``inputs=Inputs.VECTOR`` it is opened on counts, one for each public cell.
        """
        _require(machine, "open")
        if inputs not in (Inputs.QUERIES, Inputs.POINTS, Inputs.VECTOR):
            raise InvalidArgument(
                "A machine has private queries, or is opened on private rows or counts",
                must="have inputs queries, points or vector",
                got=inputs.value,
            )
        return WatchedMachine(inner=machine, d_in=d_in, inputs=inputs, recorder=self)

    def observe(self, use: Use, rng: Rng) -> Any:
        """Run a use, keep the call, and return what its caller may see.

        In a replay that is the recorded output; a mechanism runs all the same, so that its words
        and errors can be compared. A machine does not: its answers are its state.
        """
        if rng is not self.rng:
            raise InvalidArgument(
                "The mechanism draws from another generator", must="be given the recorder's own rng"
            )
        call = _opened(use, self.rng.drawn)
        self.calls.append(call)
        if self._transcript is None:
            return self._recorded(call, use)
        if len(self.calls) > len(self._transcript.calls):
            raise Parted
        return self._replayed(self._transcript.calls[len(self.calls) - 1], call, use)

    def _recorded(self, call: WatchedCall, use: Use) -> Any:
        output, error = _outcome(use, self.rng)
        used = self.rng.drawn - call.words_before
        self.calls[-1] = evolve(call, words_used=used, output=deepcopy(output), error=error)
        if error is not None:
            raise error
        return output

    def _replayed(self, recorded: WatchedCall, call: WatchedCall, use: Use) -> Any:
        if not is_same_path(recorded, call):
            raise Parted
        used, error = recorded.words_used, recorded.error
        if use.machine is None:
            is_steady = use.inputs.has_public_size
            _, error = _outcome(use, self.rng if is_steady else SystemRng())
            used = self.rng.drawn - call.words_before if is_steady else used
        self.calls[-1] = evolve(call, words_used=used, error=error)
        if used != recorded.words_used or (error is None) != (recorded.error is None):
            raise Parted
        self.rng = _played_on(self.rng, recorded)
        if recorded.error is not None:
            raise recorded.error
        if shows_own_key(recorded, call):
            raise Excused
        return deepcopy(recorded.output)


def is_same_path(first: WatchedCall, second: WatchedCall) -> bool:
    """Tell whether two calls were reached in the same way, and ask for the same thing."""
    return all(agree(first, second, name) for name in (*PATH, "words_before"))


PATH = ("name", "event", "d_in", "inputs", "machine", "settings", "public", "shape", "dtype")
"""What must agree before a mechanism runs, and how many words were drawn."""


def agree(first: WatchedCall, second: WatchedCall, name: str) -> bool:
    """Tell whether two calls agree in what is called ``name``.

    Parts of a mechanism that cannot be looked into, such as a lock, are no reason to accuse it.
    """
    one, other = getattr(first, name), getattr(second, name)
    return same(one, other, unseen=name == "settings")


def shows_own_key(recorded: WatchedCall, call: WatchedCall) -> bool:
    """Tell whether the recording shows a key that the neighbour does not have."""
    output = recorded.output
    if recorded.inputs is not Inputs.KEYS or output is None:
        return False
    shown = set(output) if isinstance(output, Mapping | set | frozenset | list) else {output}
    return any(key in recorded.values and key not in call.values for key in shown)


def _require(watched: Any, method: str) -> None:
    if not callable(getattr(watched, method, None)):
        raise InvalidArgument(
            f"This cannot be watched here: it has no method {method}",
            must="be what the recorder's method is for",
            got=type(watched).__name__,
            next="Use watch, watch_selector, watch_response or watch_machine, by what it offers",
        )


def _opened(use: Use, before: int) -> WatchedCall:
    kept = use.inputs.kept(use.values)
    shape, dtype = use.inputs.form(kept)
    return WatchedCall(
        name=use.name,
        event=use.event,
        d_in=use.d_in,
        inputs=use.inputs,
        shape=shape,
        dtype=dtype,
        words_before=before,
        machine=use.machine,
        settings=use.settings,
        public=deepcopy(use.public),
        values=kept,
    )


def _outcome(use: Use, rng: Rng) -> tuple[Any, Exception | None]:
    try:
        return use.run(rng), None
    except Exception as error:  # part of what an onlooker sees
        return None, error


def _played_on(rng: RecordingRng | ReplayRng, recorded: WatchedCall) -> RecordingRng | ReplayRng:
    assert isinstance(rng, ReplayRng)
    rng.play_on(recorded.words_before + recorded.words_used)
    return rng
