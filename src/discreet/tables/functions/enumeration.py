"""An enumeration: how many public keys one question has had worked out, and how many it may."""

from collections.abc import Callable

from attrs import define, field

from discreet.tables.column import Key

Keys = tuple[Key, ...]

MOST_WORKED_OUT = 250_000
"""How many values of functions are worked out for the keys of one question."""

MOST_CHARACTERS = 10_000_000
"""How many characters of text those values may have together."""


@define(eq=False)
class Enumeration:
    """What working out the keys of one question has cost; all that it groups by shares it.

    Guarantee:
        However expressions stand in each other, at most ``MOST_WORKED_OUT`` values are worked out
        and ``MOST_CHARACTERS`` characters are kept, before anything is charged. How a field is made
        is followed once, though many expressions use it.

    Example:
        >>> enumeration = Enumeration()
        >>> enumeration.allows(200_000), enumeration.allows(200_000), enumeration.is_cut
        (True, False, True)
    """

    _values: int = MOST_WORKED_OUT
    _characters: int = MOST_CHARACTERS
    is_cut: bool = field(default=False, init=False)
    """Whether some keys were not worked out because they are too many."""
    _known: dict[int, tuple[object, Keys | None]] = field(factory=dict, init=False)

    def allows(self, values: int) -> bool:
        """Count so many values, and tell whether they may be worked out."""
        if values > self._values:
            self.is_cut = True
            return False
        self._values -= values
        return True

    def holds(self, text: str) -> bool:
        """Count the characters of a value, and tell whether it may be kept."""
        self._characters -= len(text)
        if self._characters >= 0:
            return True
        self.is_cut = True
        return False

    def once(self, made: object, work_out: Callable[[], Keys | None]) -> Keys | None:
        """Return the keys of something, worked out the first time that it is asked for."""
        # The object stays in the table, so that no other one gets its identity.
        if id(made) not in self._known:
            self._known[id(made)] = (made, work_out())
        return self._known[id(made)][1]
