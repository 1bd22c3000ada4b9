"""Functions of text, by characters. No regular expressions, and nothing that makes text grow fast.

Positions, and the texts to cut or to replace, are constants of the query. A character is a code
point, here as in an engine, so parts and joins of keys are exact in every alphabet. Capital and
small letters are worked out one by one, where there is one for one.
"""

from collections.abc import Callable
from functools import partial
from unicodedata import ucd_3_2_0

from discreet.core.errors import RefusedQuery
from discreet.tables.column import LONGEST_TEXT, ColumnType, Key
from discreet.tables.expression import Call, Expression, Literal
from discreet.tables.functions.cast import cast
from discreet.tables.functions.comparison import test_of
from discreet.tables.functions.function import (
    BINARY,
    BY_FORM,
    NOT_A_DATE,
    NOT_A_NUMBER,
    NOT_A_TEXT,
    OF_ROWS_ONLY,
    UNKNOWN,
    Alias,
    Arguments,
    Build,
    Function,
    KeyFunction,
    Keys,
    KeysRule,
    Listing,
    PlainNode,
    Result,
    Without,
    Written,
)
from discreet.tables.functions.rules import (
    call_of,
    constant_integer,
    constant_text,
    convert,
    each_keys,
    fixed,
    of_each,
)
from discreet.tables.functions.work import (
    COPIED,
    PLAIN,
    TEXT,
    Lengths,
    Steps,
    TextLength,
    WorkRule,
    guarded,
    written_number,
    written_text,
)

_TEXT, _INTEGER, _BOOLEAN = ColumnType.TEXT, ColumnType.INTEGER, ColumnType.BOOLEAN

FARTHEST = 1_000_000
"""The largest position in a text."""

MOST_GROWTH = 10
"""A replacement is at most this many times as long as what it replaces."""

_made = partial(
    Function, span=NOT_A_NUMBER, dates=NOT_A_DATE, guards=guarded(0), between=OF_ROWS_ONLY
)


def _exact(of: Callable[..., str]) -> KeyFunction:
    """Return a function that is of code points alone, so that engines have the same."""
    return lambda _, *keys: of(*keys)


def _each(rate: int) -> WorkRule:
    """Return so much work for each character of the first argument."""
    return lambda _, lengths: TEXT + Steps(rate * lengths[0])


_AS_LONG = TextLength.alike(lambda _, lengths: lengths[0])


# ---- Letters, and what is cut off at the ends.


_CAPITALS = {"ß": "ẞ"}
"""Letters that an engine has a capital for, where Python puts two letters."""


def _letter(of: Callable[[str], str], sign: str) -> str:
    """Return another form of a letter; nothing if an engine may have a different one.

    Two letters that belong together never change. What an old Unicode has both of is the same in
    every version that Python or an engine may know.
    """
    if of is str.upper and sign in _CAPITALS:
        return _CAPITALS[sign]
    found = of(sign)
    is_alone = sign.upper() == sign.lower()
    is_old = len(found) == 1 and all(ucd_3_2_0.category(one) != "Cn" for one in (sign, found))
    return found if is_alone or is_old else ""


def _letter_by_letter(of: Callable[[str], str]) -> KeyFunction:
    def function(_: Call, key: Key) -> Result:
        text = str(key)
        letters = {sign: _letter(of, sign) for sign in {*text}}
        return "".join(map(letters.__getitem__, text)) if all(letters.values()) else UNKNOWN

    return function


def _letters(name: str, node: str, of: Callable[[str], str]) -> Function:
    return _made(
        name=name,
        usage=f"{name}(text)",
        written=(PlainNode(node),),
        build=fixed(name, [[_TEXT]], _TEXT),
        keys=of_each,
        on_keys=_letter_by_letter(of),
        work=_each(20),
        length=_AS_LONG,
    )


def _trim(name: str, of: Callable[..., str]) -> Function:
    def build(arguments: Arguments) -> Expression | None:
        value = convert(arguments[0], _TEXT) if 1 <= len(arguments) <= 2 else None
        if value is None:
            return None
        characters = " "
        if len(arguments) == 2:
            characters = constant_text(arguments[1], f"set of characters of {name}")
        return Call(_TEXT, name, (value, Literal(_TEXT, characters)))

    return _made(
        name=name,
        usage=f"{name}(text) or {name}(text, 'characters')",
        written=BY_FORM,
        build=build,
        keys=of_each,
        on_keys=_exact(of),
        work=_trim_work,
        length=_AS_LONG,
    )


def _trim_work(_: Call, lengths: Lengths) -> Steps:
    return TEXT * 3 + Steps(25 * lengths[0] + 80 * lengths[1])


# ---- Parts by their place.


def _cut(name: str, usage: str, node: PlainNode, build: Build, on_keys: KeyFunction) -> Function:
    return _made(
        name=name,
        usage=usage,
        written=(node,),
        build=build,
        keys=of_each,
        on_keys=on_keys,
        work=_each(COPIED),
        length=TextLength.alike(_cut_length),
    )


def _cut_length(node: Call, lengths: Lengths) -> int:
    size = written_number(node.arguments[-1])
    is_open = size < 0 or (node.function == "substring" and len(node.arguments) == 2)
    return lengths[0] if is_open else min(lengths[0], size)


def _side(name: str) -> Build:
    def build(arguments: Arguments) -> Expression | None:
        if len(arguments) != 2:
            return None
        constant_integer(arguments[1], f"length of {name}", least=-FARTHEST, most=FARTHEST)
        return call_of(name, _TEXT, [convert(arguments[0], _TEXT), arguments[1]])

    return build


def _substring(arguments: Arguments) -> Expression | None:
    if not 2 <= len(arguments) <= 3:
        return None
    constant_integer(arguments[1], "start of substring", least=-FARTHEST, most=FARTHEST)
    if len(arguments) == 3:
        constant_integer(arguments[2], "length of substring", least=0, most=FARTHEST)
    return call_of("substring", _TEXT, [convert(arguments[0], _TEXT), *arguments[1:]])


def _substring_on_keys(node: Call, *keys: Key) -> Result:
    start = keys[1]
    return _exact(_sliced)(node, *keys) if isinstance(start, int) and start >= 1 else UNKNOWN


def _sliced(value: str, start: int, length: int | None = None) -> str:
    return value[start - 1 :] if length is None else value[start - 1 : start - 1 + length]


def _right(value: str, length: int) -> str:
    return value[-length:] if length else ""


# ---- Joins and replacements.


def _join(name: str) -> Build:
    """Return a function that joins texts two by two, and other values beside a text as texts.

    The first ``LONGEST_TEXT`` characters of a join do not depend on how the parts are paired, so a
    balanced tree has the same value as a chain, and is not deep.
    """

    def build(arguments: Arguments) -> Expression | None:
        level = [part for a in arguments for part in _parts(name, a)]
        if not level:
            return None
        if all(part.type is not _TEXT for part in level):
            return None  # 1 || 2 is a mistake rather than a text
        texts: list[Expression | None] = [_as_text(part) for part in level]
        while len(texts) > 1:
            pairs = [texts[i : i + 2] for i in range(0, len(texts), 2)]
            texts = [call_of(name, _TEXT, p) if len(p) == 2 else p[0] for p in pairs]
        alone = texts[0]
        if len(level) == 1 and name == "concat" and alone is not None:
            return Call(_TEXT, name, (alone, Literal(_TEXT, "")))
        return alone

    return build


def _as_text(part: Expression) -> Expression:
    if isinstance(part, Literal) and part.type is _INTEGER and part.value is not None:
        return Literal(_TEXT, str(part.value))
    return cast(part, _TEXT)


def _parts(name: str, argument: Expression) -> Arguments:
    if not isinstance(argument, Call) or argument.function != name:
        return (argument,)
    return tuple(part for inner in argument.arguments for part in _parts(name, inner))


def _joined(name: str, usage: str, written: Written, keys: KeysRule) -> Function:
    return _made(
        name=name,
        usage=usage,
        written=written,
        build=_join(name),
        keys=keys,
        on_keys=_exact(lambda first, second: (first + second)[:LONGEST_TEXT]),
        work=_join_work,
        length=TextLength.alike(_join_length),
    )


def _join_length(_: Call, lengths: Lengths) -> int:
    return min(LONGEST_TEXT, sum(lengths))


def _join_work(node: Call, lengths: Lengths) -> Steps:
    return TEXT * 2 + Steps(COPIED * (sum(lengths) + _join_length(node, lengths)))


def _concat_keys(node: Call, known: Listing) -> Keys | None:
    """Return the joins of the arguments' keys; concat takes NULL for no text."""
    found = each_keys(node.arguments, known)
    if found is None:
        return None
    with_nothing = [
        tuple(dict.fromkeys((*keys, ""))) if known.may_be_null(argument) else keys
        for argument, keys in zip(node.arguments, found, strict=True)
    ]
    return known.mapped(node, with_nothing)


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


def _replaced(value: str, found: str, put: str) -> str:
    return value[:LONGEST_TEXT].replace(found, put)[:LONGEST_TEXT]


def _grown(node: Call, lengths: Lengths) -> int:
    """Return how long a text is before it is cut, if all of it is replaced."""
    found, put = (len(written_text(argument)) for argument in node.arguments[1:])
    return lengths[0] if put <= found else -(-lengths[0] * put // found)


def _replace_work(node: Call, lengths: Lengths) -> Steps:
    return TEXT * 2 + Steps(20 * (lengths[0] + lengths[1]) + 4 * _grown(node, lengths))


# ---- Searches.


def _search(
    name: str, written: Written, work: WorkRule, of: Callable[[str, str], bool]
) -> Function:
    return test_of(
        name=name,
        usage=f"{name}(text, text)",
        written=written,
        build=fixed(name, [[_TEXT], [_TEXT]], _BOOLEAN),
        on_keys=lambda _, value, part: of(value, part),
        work=work,
        between=OF_ROWS_ONLY,
    )


def _ends_work(_: Call, lengths: Lengths) -> Steps:
    return PLAIN + Steps(min(lengths) // 8)


def _contains_work(_: Call, lengths: Lengths) -> Steps:
    return PLAIN + Steps(10 * sum(lengths))


FUNCTIONS = (
    _letters("lower", "Lower", str.lower),
    _letters("upper", "Upper", str.upper),
    _made(
        name="length",
        usage="length(text)",
        written=(PlainNode("Length"),),
        build=fixed("length", [[_TEXT]], _INTEGER),
        span=Without("no range follows from how long a text may be"),
        keys=of_each,
        on_keys=lambda _, key: len(key),
        work=_each(1),
        length=NOT_A_TEXT,
    ),
    _trim("trim", str.strip),
    _trim("ltrim", str.lstrip),
    _trim("rtrim", str.rstrip),
    _cut(
        "substring",
        "substring(text, start[, length])",
        PlainNode("Substring", ("this", "start", "length")),
        _substring,
        _substring_on_keys,
    ),
    _cut(
        "left",
        "left(text, length)",
        PlainNode("Left", BINARY),
        _side("left"),
        _exact(lambda value, length: value[:length]),
    ),
    _cut(
        "right", "right(text, length)", PlainNode("Right", BINARY), _side("right"), _exact(_right)
    ),
    _joined("||", "text || text", BY_FORM, of_each),
    _joined(
        "concat",
        "concat(text, ...)",
        (PlainNode("Concat", ("expressions",), {"safe": True, "coalesce": True}),),
        _concat_keys,
    ),
    _made(
        name="replace",
        usage="replace(text, 'this', 'by that')",
        written=(PlainNode("Replace", ("this", "expression", "replacement")),),
        build=_replace,
        keys=of_each,
        on_keys=_exact(_replaced),
        work=_replace_work,
        length=TextLength.alike(lambda node, lengths: min(LONGEST_TEXT, _grown(node, lengths))),
    ),
    _search(
        "starts_with",
        (PlainNode("StartsWith", BINARY), Alias("prefix")),
        _ends_work,
        str.startswith,
    ),
    _search(
        "ends_with", (PlainNode("EndsWith", BINARY), Alias("suffix")), _ends_work, str.endswith
    ),
    _search("contains", (PlainNode("Contains", BINARY),), _contains_work, str.__contains__),
)
