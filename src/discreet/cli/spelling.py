"""The command line's spelling: what messages call an argument in Python is an option here."""

import re

_LIMITS = "rows_per_group|groups_per_unit|rows_per_unit"
_NAMES = f"epsilon|rho|delta|accuracy|limits|{_LIMITS}"

_SPELLINGS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"On the command line add (.*?); in Python give .*?\bconnect\(\)"), r"Add \1"),
    (re.compile(rf"\b({_NAMES})=(?!=|\.\.\.)(?=[\w'\"±])"), r"--\1 "),
    (re.compile(rf"\b({_NAMES})=(?!=|\.\.\.)"), r"--\1"),
    (re.compile(r"\b(limits) = (?=auto\b)"), r"--\1 "),
    (re.compile(rf"\b({_LIMITS}) = (?=\d)"), r"--\1 "),
    (re.compile(r"(?<=\bwith )(delta) = (?=\d)"), r"--\1 "),
    (re.compile(rf"(?<![-'\"(.\w])({_LIMITS})\b(?![' ]?[(\"'])"), r"--\1"),
)
_OPTION = re.compile(r"--[a-z]+(?:_[a-z]+)+")


def spelled(text: str) -> str:
    """Return a message about a question with the options of the command line in it.

    Example:
        >>> spelled("Add them to SELECT, or give epsilon= instead")
        'Add them to SELECT, or give --epsilon instead'
        >>> spelled("be 'auto', or rows_per_group and groups_per_unit")
        "be 'auto', or --rows-per-group and --groups-per-unit"
        >>> spelled("No column 'rows_per_group' in visits")
        "No column 'rows_per_group' in visits"
        >>> spelled("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) COUNT(*) FROM visits")
        'SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) COUNT(*) FROM visits'
    """
    for pattern, option in _SPELLINGS:
        text = pattern.sub(option, text)
    return _OPTION.sub(lambda found: found.group().replace("_", "-"), text)
