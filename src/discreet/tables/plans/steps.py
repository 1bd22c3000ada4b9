"""Steps: how much work something is for an engine. A step takes about a nanosecond, at worst."""

from attrs import frozen


@frozen
class Steps:
    """The work for one row of a unit."""

    each: int = 0
    """In a crowd of rows of the same unit."""
    alone: int = 0
    """What it is more for a row among rows of others: an engine works on many rows at a time, and
    what only one of them needs, because of a CASE or a WHERE, has a price for being looked at."""
    kept: int = 0
    """Copying texts that are stored as they are: it is as much as the unit has stored."""

    def __add__(self, other: "Steps") -> "Steps":
        """Return the work of both."""
        return Steps(self.each + other.each, self.alone + other.alone, self.kept + other.kept)

    def __mul__(self, times: int) -> "Steps":
        """Return the work of doing it several times."""
        return Steps(self.each * times, self.alone * times, self.kept * times)


NOTHING = Steps()
