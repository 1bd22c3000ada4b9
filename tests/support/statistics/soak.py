"""How long a run should look for trouble."""

from dataclasses import dataclass

FACTOR = 50


@dataclass(frozen=True)
class Soak:
    """Counts of cases: as written in a usual run, ``FACTOR`` times as many with ``--soak``."""

    active: bool

    def cases(self, usual: int) -> int:
        """Return how many cases to try where a usual run tries ``usual``.

        Example:
            >>> Soak(active=False).cases(10), Soak(active=True).cases(10)
            (10, 500)
        """
        return usual * FACTOR if self.active else usual
