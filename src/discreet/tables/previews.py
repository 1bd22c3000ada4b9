"""What a look at single rows is answered with, by the owner's choice."""

from enum import Enum


class Previews(Enum):
    """What somebody gets who wants to look at a few rows, as tools do."""

    REFUSED = "refused"
    NOTHING = "nothing"
    """The columns, and no rows."""
    REHEARSED = "rehearsed"
    """Rows that are made up, and say so."""
