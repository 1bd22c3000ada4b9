"""Patterns of LIKE: how often a search for one looks at each character of a text."""


def looks(pattern: str) -> int:
    """Return how often each character of a text is looked at, at most, if a pattern is sought.

    Without ``_`` the parts between the ``%`` are found by a search that never goes back. With
    ``_``, each part after the first ``%`` is tried at one place after the other, up to the
    character that does not fit: at most so often as the part has characters. Where a part ends in
    ``_`` those always fit, unless it is the last one: it must also reach the end of the text.

    Example:
        >>> looks("%flu%"), looks("A___"), looks("%_@__%.__%"), looks("%_____b")
        (1, 1, 3, 7)
    """
    if "_" not in pattern:
        return 1
    *middle, last = ["", *pattern.split("%")[1:]]
    return 1 + max(len(last), *(len(part.rstrip("_")) for part in middle), 0)
