r"""Record and replay: does data steer a function other than through its mechanisms?

The function runs on a data set and is recorded. Then it runs on a neighbour with the same random
words, and every mechanism hands back the *recorded output*. Now the function sees nothing new, so
whatever it does differently it read directly from the data.
"""

from collections.abc import Callable, Iterator
from enum import Enum
from fractions import Fraction
from itertools import zip_longest
from typing import Any

import numpy as np
from attrs import field, frozen

from discreet.audit.inputs import Inputs
from discreet.audit.paid import own_key_chance, stated_spread, unpaid
from discreet.audit.recorder import PATH, Recorder, agree
from discreet.audit.same import same
from discreet.audit.trace import Ending, Excused, Parted, Trace, WatchedCall
from discreet.core.errors import InvalidArgument
from discreet.core.protocols import Rng

AuditedFunction = Callable[[Any, Recorder], Any]
"""A function under audit: it takes the data and a recorder, and uses watched mechanisms only."""

RARE = Fraction(1, 10**5)
"""An own key that is shown is a finding if the event lets that happen at most so often."""


class FindingKind(Enum):
    """What a replay can find."""

    CONTROL_FLOW = "control_flow"
    WORDS = "words"
    CONTRIBUTION = "contribution"
    RESULT = "result"
    OWN_KEY = "own_key"
    UNPAID = "unpaid"


@frozen(kw_only=True)
class Finding:
    """One difference that the data made. The message quotes declarations, never values."""

    kind: FindingKind
    message: str
    call: int | None = None
    measured: Fraction | float | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return self.message


def record(function: AuditedFunction, data: Any, rng: Rng) -> Trace:
    """Run ``function`` on ``data``, and return what it did."""
    return _run(function, data, Recorder(rng))


def replay(function: AuditedFunction, neighbour: Any, trace: Trace) -> Trace:
    """Run ``function`` on a neighbour with the words and the noisy outputs of ``trace``."""
    recorder = Recorder(_NO_OTHER_WORDS, transcript=trace)
    return _run(function, neighbour, recorder)


def compare(trace: Trace, neighbour: Trace) -> tuple[Finding, ...]:
    r"""Return every difference between a trace and its replay on a neighbour.

    Guarantee:
        If no pair of neighbours, at any recorded outputs, gives a finding, then the function is as
        private as the composition of its events. By induction over the calls: given equal outputs
        so far, the next mechanism is the same, its settings included, and its inputs are within
        its declared contribution, so its output costs no more than its event; and the result is a
        function of the outputs and of words that do not depend on the data
        [DR14, Theorem 3.16 and Proposition 2.1]. One replay checks one pair at one transcript: it
        can find faults, and proves nothing alone.

        What must agree depends on what a mechanism takes (:class:`~discreet.audit.inputs.Inputs`).
        Where the *number* of rows or the *set* of keys is private, it may differ within the
        declared contribution, and so may the words that the mechanism draws for it; the words that
        the function draws itself must agree as before. A key that only one neighbour has may be
        shown with the δ of the event. A transcript that shows one is not compared any further,
        and it is a finding if that δ is at most ``RARE``: so often is a sound mechanism accused,
        and no oftener.

        Some faults need no neighbour: more choices, answers above or numbers than an event pays
        for (:func:`~discreet.audit.paid.unpaid`).

    Assumes:
        The function uses watched mechanisms and the recorder's generator only, and keeps no state
        between runs.

    Example:
        >>> from discreet import SystemRng
        >>> def leaky(data, recorder):
        ...     return len(data)
        >>> trace = record(leaky, [1, 2], SystemRng())
        >>> [str(finding) for finding in compare(trace, replay(leaky, [1], trace))]
        ['The results differ although every mechanism gave the same output.']
    """
    findings = [
        Finding(kind=FindingKind.UNPAID, message=one.message, call=one.call)
        for one in unpaid(trace)
    ]
    for index, (first, second) in enumerate(zip_longest(trace.calls, neighbour.calls)):
        if first is not None and second is None and neighbour.ending is Ending.EXCUSED:
            return (*findings, *_own_key(index - 1, trace.calls[index - 1]))
        if first is not None and second is None and neighbour.ending is Ending.PARTED:
            message = f"Before call {index + 1} ({first.name}) other numbers of words are drawn."
            return (*findings, Finding(kind=FindingKind.WORDS, message=message, call=index))
        parted = _parted(index, first, second)
        if parted is not None:
            return (*findings, parted)
        findings += _contributions(index, first, second)
    if neighbour.ending is Ending.EXCUSED:
        return (*findings, *_own_key(len(trace.calls) - 1, trace.calls[-1]))
    return (*findings, *_ending(trace, neighbour))


def replay_audit(
    function: AuditedFunction, data: Any, neighbour: Any, rng: Rng
) -> tuple[Finding, ...]:
    """Record on one data set, replay on the other, and the other way round; return findings.

    A function that does nothing but raise would pass for no reason, so it is refused.
    """
    findings: list[Finding] = []
    traces: list[Trace] = []
    for here, there in ((data, neighbour), (neighbour, data)):
        trace = record(function, here, rng)
        again = replay(function, there, trace)
        findings += compare(trace, again)
        traces += (trace, again)
    if not findings and all(trace.ending is Ending.RAISED for trace in traces):
        raise InvalidArgument(
            "The function under audit always raises, so nothing was audited",
            must="run on both data sets",
            got=traces[0].result[0].__name__,
        )
    return tuple(dict.fromkeys(findings))


class _NoOtherWords:
    def words(self, count: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
        raise Parted


_NO_OTHER_WORDS = _NoOtherWords()


def _run(function: AuditedFunction, data: Any, recorder: Recorder) -> Trace:
    ending, result = Ending.RETURNED, None
    try:
        result = function(data, recorder)
        if isinstance(result, Iterator):  # it is the function that goes on while it is read
            result = list(result)
    except Parted:
        ending = Ending.PARTED
    except Excused:
        ending = Ending.EXCUSED
    except Exception as error:  # the error is part of what an onlooker sees
        ending, result = Ending.RAISED, (type(error), str(error))
    return Trace(
        calls=tuple(recorder.calls),
        words_drawn=recorder.rng.drawn,
        ending=ending,
        words=recorder.rng.tape(),
        result=result,
    )


_DIFFERS = {
    "name": "another mechanism",
    "event": "another event",
    "d_in": "another declared contribution",
    "inputs": "another kind of input",
    "machine": "another machine",
    "settings": "other settings",
    "public": "other public arguments",
    "shape": "another shape",
    "dtype": "another type of number",
}


def _parted(index: int, first: WatchedCall | None, second: WatchedCall | None) -> Finding | None:
    """Say how the runs took different paths at this call, if they did."""
    kind = FindingKind.CONTROL_FLOW
    if first is None or second is None:
        message = f"Call {index + 1} is made on one of the data sets only."
        return Finding(kind=kind, message=message, call=index)
    for name in PATH:
        if not agree(first, second, name):
            message = f"Call {index + 1} ({first.name}) has {_DIFFERS[name]} on the neighbour."
            return Finding(kind=kind, message=message, call=index)
    if first.words_before != second.words_before:
        message = f"Before call {index + 1} ({first.name}) other numbers of words are drawn."
        return Finding(kind=FindingKind.WORDS, message=message, call=index)
    if first.words_used != second.words_used:
        message = f"Call {index + 1} ({first.name}) draws another number of words."
        return Finding(kind=FindingKind.WORDS, message=message, call=index)
    if first.has_raised != second.has_raised:
        message = f"Call {index + 1} ({first.name}) raises an error on one of the data sets only."
        return Finding(kind=FindingKind.RESULT, message=message, call=index)
    return None


def _contributions(index: int, first: WatchedCall, second: WatchedCall) -> list[Finding]:
    measured = first.inputs.exceeded(first.values, second.values, first.d_in)
    findings = [
        Finding(
            kind=FindingKind.CONTRIBUTION,
            message=f"The inputs of call {index + 1} ({first.name}) differ by more than the "
            f"declared {norm} = {getattr(first.d_in, norm)}.",
            call=index,
            measured=far,
        )
        for norm, far in measured.items()
    ]
    return findings + _spread(index, first, second)


def _spread(index: int, first: WatchedCall, second: WatchedCall) -> list[Finding]:
    """Check how far scores move *apart*: a price for monotone scores needs them to go together."""
    spread = stated_spread(first.event) if first.inputs is Inputs.SCORES else None
    if spread is None or not first.values.size:
        return []
    pairs = zip(first.values.ravel().tolist(), second.values.ravel().tolist(), strict=True)
    changes = [Fraction(other) - Fraction(one) for one, other in pairs]
    apart = max(changes) - min(changes)
    if apart <= spread:
        return []
    message = (
        f"The scores of call {index + 1} ({first.name}) move apart by more than the spread "
        f"{spread} that its event pays for."
    )
    return [Finding(kind=FindingKind.CONTRIBUTION, message=message, call=index, measured=apart)]


def _own_key(index: int, call: WatchedCall) -> list[Finding]:
    chance = own_key_chance(call.event)
    if chance is None or chance > RARE:
        return []
    message = (
        f"Call {index + 1} ({call.name}) shows a key that only one of the data sets has; its "
        f"event allows that with a probability of {float(chance):.2g}."
    )
    return [Finding(kind=FindingKind.OWN_KEY, message=message, call=index)]


def _ending(trace: Trace, neighbour: Trace) -> list[Finding]:
    if neighbour.ending is Ending.PARTED or trace.words_drawn != neighbour.words_drawn:
        message = "After the last call other numbers of words are drawn."
        return [Finding(kind=FindingKind.WORDS, message=message)]
    if trace.ending is not neighbour.ending:
        message = "The function raises an error on one of the data sets only."
        return [Finding(kind=FindingKind.RESULT, message=message)]
    if not same(trace.result, neighbour.result):
        message = "The results differ although every mechanism gave the same output."
        if trace.ending is Ending.RAISED:
            message = "The function raises different errors."
        return [Finding(kind=FindingKind.RESULT, message=message)]
    return []
