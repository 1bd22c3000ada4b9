"""How DB-API 2.0 spells what a question is asked with: by a connection, and by its own OPTIONS."""

import re

_LIMITS = "rows_per_group|groups_per_unit|rows_per_unit"
_PRICE = re.compile(r"(?<![\w.?])(epsilon|rho|delta|accuracy)=")
_OTHER_LIMITS = re.compile(rf"give other limits with ((?:{_LIMITS}|and| )+)(?:, or limits = auto)?")
_EXAMPLES = {"epsilon": "0.1", "rho": "0.01", "delta": "1e-9", "accuracy": "50"}


def spelled(text: str) -> str:
    """Return a message for whoever asks through a connection, and gives nothing with a question.

    Example:
        >>> spelled("Give delta= (such as 1e-9).")
        'Give delta= (such as 1e-9). That is connect(..., delta=1e-9), or ?delta=1e-9 in a URL.'
    """
    text = _OTHER_LIMITS.sub(r"give other limits in the OPTIONS of a query, as \1", text)
    named = _PRICE.search(text)
    if named is None:
        return text
    given = f"{named[1]}={_EXAMPLES[named[1]]}"
    return f"{text} That is connect(..., {given}), or ?{given} in a URL."
