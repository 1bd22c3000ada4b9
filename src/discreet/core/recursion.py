"""Questions that are nested more deeply than the stack allows: a refusal, and never a failure."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from discreet.core.errors import RefusedQuery

P = ParamSpec("P")
T = TypeVar("T")

FRAMES_BEHIND_THE_GATE = 100
"""More calls than lie between a trial before the gate and the same work behind it."""


def refusing_depth(function: Callable[P, T]) -> Callable[P, T]:
    """Return the function with a refusal where the stack ends. For what runs before the gate."""

    @wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except RecursionError:
            raise RefusedQuery(
                "The query is nested too deeply",
                next="Nothing was charged. Write it flatter, or ask it from a function that fewer"
                " others have called",
            ) from None

    return guarded


@refusing_depth
def with_room(action: Callable[[], T]) -> T:
    """Do something with a hundred calls more on the stack than there are.

    If it is possible there, it is possible again behind the gate, where a stack that ends would be
    a failure of what is paid for.
    """
    return _deeper(action, FRAMES_BEHIND_THE_GATE)


def _deeper(action: Callable[[], T], frames: int) -> T:
    return action() if frames == 0 else _deeper(action, frames - 1)
