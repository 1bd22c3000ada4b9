"""So many of something, in words: one has no plural."""


def counted(number: float | str, noun: str) -> str:
    """Return a number with its noun; a number that is written already is taken as it is.

    Example:
        >>> counted(1, "row"), counted(2_000, "row"), counted("0.5", "group"), counted("1", "place")
        ('1 row', '2,000 rows', '0.5 groups', '1 place')
    """
    written = number if isinstance(number, str) else f"{number:,.0f}"
    return f"{written} {noun}" if written == "1" else f"{written} {noun}s"
