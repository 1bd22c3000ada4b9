"""A query that is nested too deeply for the stack is refused before it is charged."""

import sys
from collections.abc import Callable
from typing import Any

import pytest

from discreet.core.errors import RefusedQuery
from discreet.core.recursion import FRAMES_BEHIND_THE_GATE, refusing_depth, with_room


def at_depth(frames: int, action: Callable[[], Any]) -> Any:
    return action() if frames == 0 else at_depth(frames - 1, action)


def depth() -> int:
    frame, found = sys._getframe(), 0
    while frame.f_back is not None:
        frame, found = frame.f_back, found + 1
    return found


def test_what_fits_is_done() -> None:
    assert with_room(lambda: 7) == 7


def test_a_trial_is_made_with_more_calls_on_the_stack() -> None:
    assert with_room(depth) >= depth() + FRAMES_BEHIND_THE_GATE


def test_the_end_of_the_stack_is_a_refusal() -> None:
    def endless() -> None:
        endless()

    with pytest.raises(RefusedQuery, match="nested too deeply"):
        refusing_depth(endless)()


def test_a_trial_that_fits_without_room_to_spare_is_refused() -> None:
    free = sys.getrecursionlimit() - depth()
    needed = free - FRAMES_BEHIND_THE_GATE // 2
    assert at_depth(needed - 20, lambda: True)
    with pytest.raises(RefusedQuery, match="nested too deeply"):
        with_room(lambda: at_depth(needed - 20, lambda: True))
