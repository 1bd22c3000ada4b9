"""Readable: a number as people write it."""


def readable(number: float) -> str:
    """Return a number with twelve digits at most: what a float adds beyond them is no news.

    Example:
        >>> readable(479317.16000000003), readable(54)
        ('479317.16', '54')
    """
    return str(number) if isinstance(number, int) else f"{number:.12g}"
