"""The declared name that an unknown one is nearest to. Declarations alone are looked at."""

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a question with the nearest of the known names, and a space; nothing if none is near.

    Example:
        >>> did_you_mean("Visit", ["patients", "visits"]), did_you_mean("x", ["visits"])
        ('Did you mean visits? ', '')
    """
    by_case = {one.lower(): one for one in known}
    near = get_close_matches(name.lower(), by_case, n=1)
    return f"Did you mean {by_case[near[0]]}? " if near else ""
