"""Patterns of LIKE: how often a search for one looks at each character of a text."""


def looks(pattern: str) -> int:
    """Return how often each character of a text is looked at, at most, if a pattern is sought.

    Without ``_`` the parts between the ``%`` are found by a search that never goes back. With
    ``_``, the parts after the first ``%`` are tried at each place, so that a part of 100
    characters is 100 looks.

    Example:
        >>> looks("%flu%"), looks("A___"), looks("%_@__%.__%")
        (1, 1, 5)
    """
    if "_" not in pattern:
        return 1
    return 1 + max((len(part) for part in pattern.split("%")[1:]), default=0)
