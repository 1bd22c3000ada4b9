"""A timer: what time it is, and how to wait."""

import time
from collections.abc import Callable

from attrs import frozen


@frozen
class Timer:
    """A clock that never goes back, and a way to let it go on. Tests bring their own."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    def wait_until(self, moment: float) -> None:
        """Return when the clock shows ``moment``, and not before."""
        while (rest := moment - self.clock()) > 0:
            self.sleep(rest)


SYSTEM_TIMER = Timer()
"""The clock of the machine."""
