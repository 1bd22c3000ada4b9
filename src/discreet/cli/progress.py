"""A bar for what takes long: on the standard error, and only where somebody watches."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from attrs import define, field

_WIDTH = 30
_PAUSE = 0.1
"""How many seconds pass between two drawings, at least."""


def progress_bar(what: str) -> Callable[[int, int], None] | None:
    """Return what draws a bar when it is told how much is done, or ``None`` without a terminal."""
    stream = sys.stderr
    if stream is None or not stream.isatty():
        return None
    last = 0.0

    def draw(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if done >= total:
            stream.write("\r\x1b[K")
        elif now - last >= _PAUSE:
            filled = _WIDTH * done // total
            stream.write(f"\r{what} [{'#' * filled}{'.' * (_WIDTH - filled)}] {done:,}/{total:,}")
            last = now
        stream.flush()

    return draw


@contextmanager
def said_meanwhile(what: str) -> Iterator[None]:
    """Say what takes a while, where somebody watches and nobody knows how long; then take it away.

    Example:
        >>> with said_meanwhile("a certificate is worked out"):
        ...     pass
    """
    stream = sys.stderr
    if stream is None or not stream.isatty():
        yield
        return
    stream.write(f"{what} ...")
    stream.flush()
    try:
        yield
    finally:
        stream.write("\r\x1b[K")
        stream.flush()


@define(eq=False)
class CountedSteps:
    """How many steps of so many are done, for whoever makes one step after another."""

    total: int
    draw: Callable[[int, int], None] | None
    done: int = field(default=0, init=False)

    def step(self) -> None:
        """Count one step; steps beyond the last draw nothing."""
        self.done += 1
        if self.draw is not None and self.done < self.total:
            self.draw(self.done, self.total)


@contextmanager
def counted_steps(what: str, total: int) -> Iterator[CountedSteps]:
    """Give a bar that counts steps, and take it away at the end."""
    steps = CountedSteps(total, progress_bar(what))
    try:
        yield steps
    finally:
        if steps.draw is not None:
            steps.draw(total, total)
