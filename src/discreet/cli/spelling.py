"""The command line's spelling: what messages call an argument in Python is an option here.

Messages are written for Python, where an argument that is meant has its ``=``. So here every such
name is an option, and a test sees to it that there is one.
"""

import re

_LIMITS = "rows_per_group|groups_per_unit|rows_per_unit"
_PRICES = "epsilon|rho|delta|accuracy|group_size"

Spellings = tuple[tuple[re.Pattern[str], str], ...]


def _named(names: str) -> Spellings:
    """Return the spellings of names that have their ``=``, with a value behind it or none."""
    return (
        (re.compile(rf"(?<![\w.])({names})=(?!=|\.\.\.)(?=[\w'\"±])"), r"--\1 "),
        (re.compile(rf"(?<![\w.])({names})=(?!=|\.\.\.)"), r"--\1"),
    )


_IN_BOTH: Spellings = (
    (re.compile(r"connection\.releases\(\) lists them, and so does ('.*?')"), r"\1 lists them"),
    (re.compile(r"\b(ask in|one as) a batch\b"), r"\1 a batch (from Python)"),
    (re.compile(r"\b(fresh)=True\b"), r"--\1"),
    *_named(_PRICES),
    (re.compile(rf"\b({_PRICES}|within|rows)(?= is (?:out of range|not a number))"), r"--\1"),
    (re.compile(r"(?<=\bwith )(delta) = (?=\d)"), r"--\1 "),
)
_WITH_A_QUESTION: Spellings = (
    (re.compile(r"On the command line add (.*?); in Python give .*?\bconnect\(\)"), r"Add \1"),
    *_named(f"limits|{_LIMITS}"),
    (re.compile(r"\b(limits) = (?=auto\b)"), r"--\1 "),
    (re.compile(rf"\b({_LIMITS}) = (?=\d)"), r"--\1 "),
    (re.compile(rf"(?<![-'\"(.\w])({_LIMITS})\b(?![' ]?[(\"']| outside )"), r"--\1"),
)
_PRICED = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.5) ..."
_IN_A_SHELL: Spellings = (
    (
        re.compile(r"Ask them one after the other, or together in a batch"),
        "End each with ; and begin the next on a line of its own",
    ),
    (
        re.compile(r"On the command line add (.*?); in Python give .*?\bconnect\(\)"),
        rf"Begin the shell with \1; or write {_PRICED}",
    ),
    (
        re.compile(rf"give other limits with ((?:{_LIMITS}|and| )+)(?:, or limits = auto)?"),
        r"give other limits in the OPTIONS of a query, as \1",
    ),
    (re.compile(r" \(limits = auto\)"), ""),
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
    return _respelled(text, (*_WITH_A_QUESTION, *_IN_BOTH))


def spelled_without_accuracy(text: str) -> str:
    """Return a message about what is published: a price is all that such a command can be given.

    Example:
        >>> told = "On the command line add --epsilon 0.5 (or --rho, or --accuracy); in Python give"
        >>> spelled_without_accuracy(f"{told} epsilon=0.5 to the question or to connect()")
        'Add --epsilon 0.5 (or --rho)'
    """
    return spelled(text).replace(" (or --rho, or --accuracy)", " (or --rho)")


def spelled_in_shell(text: str) -> str:
    """Return a message for a shell: its options are given when it begins, limits in the query.

    Example:
        >>> spelled_in_shell("2 rows (give other limits with rows_per_unit, or limits = auto)")
        '2 rows (give other limits in the OPTIONS of a query, as rows_per_unit)'
    """
    return _respelled(text, (*_IN_A_SHELL, *_IN_BOTH))


def _respelled(text: str, spellings: Spellings) -> str:
    for pattern, option in spellings:
        text = pattern.sub(option, text)
    return _OPTION.sub(lambda found: found.group().replace("_", "-"), text)
