"""Does an event pay for all that was released? What can be told from one trace alone."""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from attrs import frozen

from discreet.accounting.accountants.approximate import false_pass, own_keys_delta
from discreet.audit.inputs import Inputs
from discreet.audit.trace import Trace, WatchedCall
from discreet.core.event import ComposedEvent, Event
from discreet.core.mechanism_event import (
    BetweenThresholdsEvent,
    ExponentialSelectionEvent,
    HaltingSparseVectorEvent,
    LaplaceNoisyMaxEvent,
    PermuteAndFlipEvent,
    SparseVectorEvent,
    StabilityTestEvent,
    ThresholdedGaussianEvent,
    ThresholdedLaplaceEvent,
)
from discreet.mechanisms.query_release.guess_and_check import CheckedAnswer

_CHOICES = (ExponentialSelectionEvent, LaplaceNoisyMaxEvent, PermuteAndFlipEvent)
_SPARSE = (SparseVectorEvent, HaltingSparseVectorEvent)


@frozen
class Unpaid:
    """Something that a call released and its event does not pay for."""

    call: int
    message: str


def unpaid(trace: Trace) -> list[Unpaid]:
    """Return what was released beyond what the events of a trace describe.

    A choice is one candidate. A sparse vector tells truth values, as many above as it pays for,
    each with noise of its own, and with a new threshold where it pays for one. Events of other
    kinds say nothing about what may be released, and are not judged.
    """
    found: list[Unpaid] = []
    for index, call in enumerate(trace.calls):
        if call.inputs is Inputs.SCORES and not call.has_raised:
            found += _choices(index, call)
        elif call.machine == index:
            asks = [
                (i, ask) for i, ask in enumerate(trace.calls) if ask.machine == index and i > index
            ]
            found += _life(index, call, [(i, ask) for i, ask in asks if not ask.has_raised])
    return found


def stated_spread(event: Event) -> Fraction | None:
    """Return how far an event lets the difference of two scores move, if it is about scores."""
    spreads = [leaf.spread for leaf in parts(event) if isinstance(leaf, _CHOICES)]
    return min(spreads, default=None)


def own_key_chance(event: Event) -> Fraction | None:
    """Return how likely an event lets a key be shown that only one neighbour has."""
    leaves = list(parts(event))
    if len(leaves) != 1:
        return None
    if isinstance(leaves[0], ThresholdedLaplaceEvent | ThresholdedGaussianEvent):
        return own_keys_delta(leaves[0])
    return false_pass(leaves[0]) if isinstance(leaves[0], StabilityTestEvent) else None


def parts(event: Event) -> Counter[Event]:
    """Return the events that are not composed of others, and how often each is used."""
    if not isinstance(event, ComposedEvent):
        return Counter({event: 1})
    found: Counter[Event] = Counter()
    for part, count in event.parts:
        for leaf, times in parts(part).items():
            found[leaf] += times * count
    return found


def _choices(index: int, call: WatchedCall) -> Iterator[Unpaid]:
    chosen = call.output.size if isinstance(call.output, np.ndarray) else 1
    pays = sum(count for leaf, count in parts(call.event).items() if isinstance(leaf, _CHOICES))
    if pays and chosen > pays:
        message = f"makes {chosen} choices, and its event pays for {pays}"
        yield Unpaid(index, _said(index, call, message))


def _life(opening: int, call: WatchedCall, asks: list[tuple[int, WatchedCall]]) -> Iterator[Unpaid]:
    leaves = parts(call.event)
    if any(isinstance(leaf, _SPARSE) for leaf in leaves):
        if not call.words_used:
            yield Unpaid(opening, _said(opening, call, "draws no noise for its threshold"))
        yield from _sparse_life(_Sparse.of(leaves), asks)
    elif any(isinstance(leaf, BetweenThresholdsEvent) for leaf in leaves):
        yield from _between_life([(i, ask) for i, ask in asks if ask.inputs is Inputs.QUERIES])


@frozen
class _Sparse:
    """What the events of a sparse vector pay for, over its whole life."""

    above: int
    draws: int
    queries: int | None
    numbers: int

    @classmethod
    def of(cls, leaves: Counter[Event]) -> "_Sparse":
        above = draws = numbers = 0
        queries: int | None = 0
        for leaf, count in leaves.items():
            if isinstance(leaf, SparseVectorEvent):
                above, draws = above + count * leaf.above, draws + count * leaf.draws
                limited = None if queries is None or leaf.queries is None else leaf.queries
                queries = None if limited is None or queries is None else queries + count * limited
            elif isinstance(leaf, HaltingSparseVectorEvent):
                above, draws, queries = above + count, draws + count, None
            else:
                numbers += count
        return cls(above, draws, queries, numbers)


def _sparse_life(pays: _Sparse, asks: list[tuple[int, WatchedCall]]) -> Iterator[Unpaid]:
    above = asked = numbers = 0
    for index, ask in asks:
        flags, told = _answers(ask.output[0])
        redrawn = sum(1 for place in range(sum(flags)) if above + place + 1 < pays.above)
        above, asked, numbers = above + sum(flags), asked + len(flags), numbers + told
        least = bool(flags) + (redrawn if pays.draws == pays.above else 0)
        if numbers > pays.numbers:
            said = f"tells {numbers} numbers, and its event pays for {pays.numbers}"
        elif above > pays.above:
            said = f"tells of {above} queries above, and its event pays for {pays.above}"
        elif pays.queries is not None and asked > pays.queries:
            said = f"answers {asked} queries, and its event pays for {pays.queries}"
        elif ask.words_used < least:
            said = "draws too few words for the fresh noise that its event describes"
        else:
            continue
        yield Unpaid(index, _said(index, ask, said))
        return


def _answers(answer: Any) -> tuple[list[bool], int]:
    """Return which queries were said to be above, and how many numbers were told."""
    if answer is None:
        return [False], 0
    checked = answer if isinstance(answer, list) else [answer]
    if checked and all(isinstance(one, CheckedAnswer) for one in checked):
        flags = [one.is_measured for one in checked]  # a guess is public before it is told
        return flags, sum(flags)
    if isinstance(answer, tuple):
        flags, told = answer
        return [bool(flag) for flag in flags], int(np.size(told))
    array = np.atleast_1d(np.asarray(answer))
    if array.dtype == np.bool_:
        return array.tolist(), 0
    return [True] * array.size, array.size


def _between_life(asks: list[tuple[int, WatchedCall]]) -> Iterator[Unpaid]:
    between = 0
    for index, ask in asks:
        sides = np.atleast_1d(np.asarray(ask.output[0]))
        between += int(np.count_nonzero(sides == 0))
        if not np.isin(sides, (-1, 0, 1)).all():
            said = "tells more than a side, and its event pays for sides"
        elif between > 1:
            said = "goes on after a query between the thresholds, and its event pays for one"
        else:
            continue
        yield Unpaid(index, _said(index, ask, said))
        return


def _said(index: int, call: WatchedCall, what: str) -> str:
    return f"Call {index + 1} ({call.name}) {what}."
