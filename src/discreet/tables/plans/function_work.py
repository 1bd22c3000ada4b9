"""The work of one function for one row, and the most characters that its text can have.

The numbers were measured on DuckDB with what is slowest for each function: 10,000 characters of
four bytes, or of two where those are slower; needles that nearly occur everywhere; rows alone among
2,048 of others. ``benchmarks/programs/work_of_texts.py`` measures them again, and
``benchmarks/programs/work_of_one.py`` whole questions.

A text that is copied takes room as well: an engine keeps the results of all nested functions for
the rows that it works on. So a character costs at least 2 steps for each byte that is kept of it.
"""

from collections.abc import Callable, Mapping, Sequence

from discreet.core.errors import Unsupported
from discreet.tables.column import ColumnType
from discreet.tables.expression import Call, Expression, Literal
from discreet.tables.functions.pattern import looks
from discreet.tables.functions.text import LONGEST_TEXT
from discreet.tables.plans.steps import NOTHING, Steps

Lengths = Sequence[int]
"""The most characters of each argument; 0 for what is no text."""

PLAIN = Steps(5, 1_000)
"""A comparison, an addition, a branch."""

GUARD = Steps(60, 12_000)
"""A value that is looked at before it is passed on: is it finite, a divisor, a usual date?"""

TEXT = Steps(100, 3_000)
"""Making a text, however short."""

READ = Steps(400, 3_000)
"""Reading a text as a number or a date, or writing one."""

LONGEST_NUMBER = 40
"""The most characters of a number, a boolean or a date as text."""

COPIED = 8
"""The steps of a character that is copied once: it has up to four bytes, and takes room."""

_REAL, _DATE = ColumnType.REAL, ColumnType.DATE
Rule = Callable[[Call, Lengths], Steps]


def function_work(node: Call, lengths: Lengths) -> Steps:
    """Return the work of a call by itself, without that of its arguments.

    Example:
        >>> from discreet.tables.expression import FieldValue
        >>> note = FieldValue(ColumnType.TEXT, 0)
        >>> function_work(Call(ColumnType.TEXT, "lower", (note,)), [1_000])
        Steps(each=20100, alone=3000, kept=0)
    """
    rule = _WORK.get(node.function)
    if rule is None:
        raise Unsupported("Nobody has measured this function", got=node.function)
    return rule(node, lengths)


def guards(node: Call) -> int:
    """Return how many values a call looks at before it passes them on."""
    rule = _GUARDS.get(node.function)
    return 0 if rule is None else rule(node)


def longest_result(node: Call, lengths: Lengths) -> int:
    """Return the most characters of a call's result; 0 if it is no text.

    Example:
        >>> from discreet.tables.expression import FieldValue
        >>> note, ten = FieldValue(ColumnType.TEXT, 0), Literal(ColumnType.INTEGER, 10)
        >>> longest_result(Call(ColumnType.TEXT, "left", (note, ten)), [1_000, 0])
        10
    """
    if node.type is not ColumnType.TEXT:
        return 0
    rule = _LENGTHS.get(node.function)
    if rule is None:
        raise Unsupported("Nobody knows how long this text can be", got=node.function)
    return rule(node, lengths)


def usual_result(node: Call, lengths: Lengths) -> int:
    """Return the most characters of a call's result on an average, from those of its arguments.

    Of several texts the longest is, on an average, as long as all of them together at most.
    """
    if node.function in _CHOICES and node.type is ColumnType.TEXT:
        return sum(lengths)
    return longest_result(node, lengths)


# ---- Lengths.


def _first(_: Call, lengths: Lengths) -> int:
    return lengths[0]


def _part(node: Call, lengths: Lengths) -> int:
    size = _number(node.arguments[-1])
    is_open = size < 0 or (node.function == "substring" and len(node.arguments) == 2)
    return lengths[0] if is_open else min(lengths[0], size)


def _joined(_: Call, lengths: Lengths) -> int:
    return min(LONGEST_TEXT, sum(lengths))


def _replaced(node: Call, lengths: Lengths) -> int:
    return min(LONGEST_TEXT, _grown(node, lengths))


def _grown(node: Call, lengths: Lengths) -> int:
    """Return how long a text is before it is cut, if all of it is replaced."""
    found, put = (len(_text(argument)) for argument in node.arguments[1:])
    return lengths[0] if put <= found else -(-lengths[0] * put // found)


def _longest(_: Call, lengths: Lengths) -> int:
    return max(lengths)


_CHOICES = ("case", "coalesce", "nullif", "greatest", "least")

_LENGTHS: Mapping[str, Callable[[Call, Lengths], int]] = {
    **dict.fromkeys(("lower", "upper", "trim", "ltrim", "rtrim"), _first),
    **dict.fromkeys(("substring", "left", "right"), _part),
    **dict.fromkeys(("||", "concat"), _joined),
    **dict.fromkeys(_CHOICES, _longest),
    "replace": _replaced,
    "cast": lambda _, __: LONGEST_NUMBER,
}


# ---- Work.


def _plain(node: Call, lengths: Lengths) -> Steps:
    """Return the work of looking at every argument: of comparing them, if they are texts."""
    return PLAIN * len(node.arguments) + Steps(sum(lengths) // 8) + GUARD * guards(node)


def _in(node: Call, lengths: Lengths) -> Steps:
    compared = sum(min(lengths[0], length) // 8 for length in lengths[1:])
    return PLAIN + Steps(2, 20) * len(lengths) + Steps(compared)


def _extreme(node: Call, lengths: Lengths) -> Steps:
    """Return the work of comparing arguments; of two texts a copy of one is the result."""
    return _plain(node, lengths) + Steps(COPIED * sum(lengths))


def _nullif(node: Call, lengths: Lengths) -> Steps:
    """Return the work of a guard that holds both arguments, and copies the first again."""
    return _plain(node, lengths) + Steps(COPIED * (2 * lengths[0] + lengths[1]))


def _each(rate: int) -> Rule:
    """Return so much work for each character of the first argument."""
    return lambda _, lengths: TEXT + Steps(rate * lengths[0])


def _trim(_: Call, lengths: Lengths) -> Steps:
    return TEXT * 3 + Steps(25 * lengths[0] + 80 * lengths[1])


def _join(node: Call, lengths: Lengths) -> Steps:
    return TEXT * 2 + Steps(COPIED * (sum(lengths) + _joined(node, lengths)))


def _replace(node: Call, lengths: Lengths) -> Steps:
    return TEXT * 2 + Steps(20 * (lengths[0] + lengths[1]) + 4 * _grown(node, lengths))


def _ends(_: Call, lengths: Lengths) -> Steps:
    return PLAIN + Steps(min(lengths) // 8)


def _contains(_: Call, lengths: Lengths) -> Steps:
    return PLAIN + Steps(10 * sum(lengths))


def _like(node: Call, lengths: Lengths) -> Steps:
    pattern = _text(node.arguments[1])
    rate = 20 if "_" in pattern else 10
    found = Steps(rate * (lengths[0] * looks(pattern) + len(pattern)))
    return PLAIN + found + (Steps(20 * lengths[0]) if node.function == "ilike" else NOTHING)


def _width_bucket(node: Call, _: Lengths) -> Steps:
    return GUARD + Steps(15, 15_000) * (_number(node.arguments[3]) + 1)


def _cast(node: Call, lengths: Lengths) -> Steps:
    is_text = ColumnType.TEXT in (node.type, node.arguments[0].type)
    return (READ if is_text else PLAIN) + Steps(2 * lengths[0]) + GUARD * guards(node)


_WORK: Mapping[str, Rule] = {
    **dict.fromkeys(("and", "or", "not", "is_null", "is_distinct"), _plain),
    **dict.fromkeys(("=", "<>", "<", "<=", ">", ">="), _plain),
    **dict.fromkeys(("case", "coalesce"), _plain),
    **dict.fromkeys(("greatest", "least"), _extreme),
    **dict.fromkeys(("+", "-", "*", "/", "//", "%", "neg", "abs", "sign"), _plain),
    **dict.fromkeys(("round", "floor", "ceil", "trunc", "sqrt", "ln", "log10", "log2"), _plain),
    **dict.fromkeys(("exp", "power", "clamp", "date_trunc", "date_diff", "add_months"), _plain),
    **dict.fromkeys(("year", "quarter", "month", "week", "day"), _plain),
    **dict.fromkeys(("day_of_week", "iso_day_of_week", "day_of_year"), _plain),
    **dict.fromkeys(("lower", "upper"), _each(20)),
    **dict.fromkeys(("substring", "left", "right"), _each(COPIED)),
    **dict.fromkeys(("trim", "ltrim", "rtrim"), _trim),
    **dict.fromkeys(("||", "concat"), _join),
    **dict.fromkeys(("starts_with", "ends_with"), _ends),
    **dict.fromkeys(("like", "ilike"), _like),
    "nullif": _nullif,
    "length": _each(1),
    "replace": _replace,
    "contains": _contains,
    "in": _in,
    "cast": _cast,
    "width_bucket": _width_bucket,
}


def _is_dated(node: Call) -> bool:
    return node.arguments[0].type is _DATE


def _if_made(node: Call) -> int:
    """Return 1 if the result itself has to be looked at: a real number or a date, else 0."""
    return int(node.type in (_REAL, _DATE))


_GUARDS: Mapping[str, Callable[[Call], int]] = {
    **dict.fromkeys(("+", "-"), lambda node: _if_made(node) + 2 * _is_dated(node)),
    **dict.fromkeys(("*", "round", "cast"), _if_made),
    **dict.fromkeys(("/", "//", "%"), lambda node: 1 + _if_made(node)),
    **dict.fromkeys(("sqrt", "ln", "log10", "log2", "date_diff", "add_months"), lambda _: 2),
    **dict.fromkeys(("exp", "power", "nullif", "date_trunc", "year", "quarter"), lambda _: 1),
    **dict.fromkeys(("month", "week", "day", "day_of_week", "iso_day_of_week"), lambda _: 1),
    "day_of_year": lambda _: 1,
    "clamp": lambda node: 1 if len(node.arguments) == 3 else 2,
    "width_bucket": lambda _: 1,
}


def _number(argument: Expression) -> int:
    assert isinstance(argument, Literal)
    return int(str(argument.value))


def _text(argument: Expression) -> str:
    assert isinstance(argument, Literal)
    return str(argument.value)
