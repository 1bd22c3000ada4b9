"""Where the clamp below an aggregate came from: an explanation must be able to say it."""

from enum import Enum


class ClampSource(Enum):
    """Who chose the range and the grid of a value. Privacy is the same for all of them."""

    DECLARED = "declared"
    WRITTEN = "written in the query"
    PROPOSED = "proposed from the declared ranges"
