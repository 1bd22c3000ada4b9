"""Functions of text, by characters. No regular expressions, and nothing that makes text grow fast.

Positions, and the texts to cut or to replace, are constants of the query.
"""

from discreet.core.errors import RefusedQuery
from discreet.tables.column import ColumnType
from discreet.tables.expression import Call, Expression, Literal
from discreet.tables.functions.constants import constant_integer, constant_text
from discreet.tables.functions.convert import convert
from discreet.tables.functions.function import Arguments, Function, call_of, fixed, table

_TEXT, _INTEGER, _BOOLEAN = ColumnType.TEXT, ColumnType.INTEGER, ColumnType.BOOLEAN

FARTHEST = 1_000_000
"""The largest position in a text."""

LONGEST_TEXT = 10_000
"""Joining and replacing give at most this many characters, so that no data exhausts the memory."""

MOST_GROWTH = 10
"""A replacement is at most this many times as long as what it replaces."""


def _trim(name: str) -> Function:
    def build(arguments: Arguments) -> Expression | None:
        value = convert(arguments[0], _TEXT) if 1 <= len(arguments) <= 2 else None
        if value is None:
            return None
        characters = " "
        if len(arguments) == 2:
            characters = constant_text(arguments[1], f"set of characters of {name}")
        return Call(_TEXT, name, (value, Literal(_TEXT, characters)))

    return Function(name=name, usage=f"{name}(text) or {name}(text, 'characters')", build=build)


def _part(name: str) -> Function:
    def build(arguments: Arguments) -> Expression | None:
        if len(arguments) != 2:
            return None
        constant_integer(arguments[1], f"length of {name}", least=-FARTHEST, most=FARTHEST)
        return call_of(name, _TEXT, [convert(arguments[0], _TEXT), arguments[1]])

    return Function(name=name, usage=f"{name}(text, length)", build=build)


def _substring(arguments: Arguments) -> Expression | None:
    if not 2 <= len(arguments) <= 3:
        return None
    constant_integer(arguments[1], "start of substring", least=-FARTHEST, most=FARTHEST)
    if len(arguments) == 3:
        constant_integer(arguments[2], "length of substring", least=0, most=FARTHEST)
    return call_of("substring", _TEXT, [convert(arguments[0], _TEXT), *arguments[1:]])


def _join(name: str, usage: str) -> Function:
    """Return a function that joins texts two by two.

    The first ``LONGEST_TEXT`` characters of a join do not depend on how the parts are paired, so a
    balanced tree has the same value as a chain, and is not deep.
    """

    def build(arguments: Arguments) -> Expression | None:
        level = [part for a in arguments for part in _parts(name, a)]
        if not level:
            return None
        texts = [convert(part, _TEXT) for part in level]
        while len(texts) > 1:
            pairs = [texts[i : i + 2] for i in range(0, len(texts), 2)]
            texts = [call_of(name, _TEXT, p) if len(p) == 2 else p[0] for p in pairs]
        alone = texts[0]
        if len(level) == 1 and name == "concat" and alone is not None:
            return Call(_TEXT, name, (alone, Literal(_TEXT, "")))
        return alone

    return Function(name=name, usage=usage, build=build)


def _parts(name: str, argument: Expression) -> Arguments:
    if not isinstance(argument, Call) or argument.function != name:
        return (argument,)
    return tuple(part for inner in argument.arguments for part in _parts(name, inner))


def _replace(arguments: Arguments) -> Expression | None:
    if len(arguments) != 3:
        return None
    found = constant_text(arguments[1], "text that replace looks for")
    put = constant_text(arguments[2], "text that replace puts in")
    if not found or len(put) > MOST_GROWTH * len(found):
        raise RefusedQuery(
            "replace would make the text too long",
            must=f"put in at most {MOST_GROWTH} times as many characters as it takes out",
        )
    return call_of("replace", _TEXT, [convert(arguments[0], _TEXT), *arguments[1:]])


def _test(name: str) -> Function:
    return fixed(name, f"{name}(text, text)", types=[[_TEXT], [_TEXT]], result=_BOOLEAN)


FUNCTIONS = table(
    fixed("lower", "lower(text)", types=[[_TEXT]], result=_TEXT),
    fixed("upper", "upper(text)", types=[[_TEXT]], result=_TEXT),
    fixed("length", "length(text)", types=[[_TEXT]], result=_INTEGER),
    _trim("trim"),
    _trim("ltrim"),
    _trim("rtrim"),
    Function(name="substring", usage="substring(text, start[, length])", build=_substring),
    _part("left"),
    _part("right"),
    _join("||", "text || text"),
    _join("concat", "concat(text, ...)"),
    Function(name="replace", usage="replace(text, 'this', 'by that')", build=_replace),
    _test("starts_with"),
    _test("ends_with"),
    _test("contains"),
)
