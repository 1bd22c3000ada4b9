"""How a query spells its functions: messages quote what was written, never the parser's names."""

import re
from typing import Any

from discreet.core import optional

_WRITTEN = "written"
"""Under which name the text of a call is kept with its node."""

_CALL = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\s*\(")
_HUMPS = re.compile(r"(?<=[a-z])(?=[A-Z])")
_LETTERS = re.compile(r"(?:(?<=_)|^)([A-Z])_(?=[A-Z][0-9]*(?:_|$))")
"""Single letters that the parser takes apart: J_S_O_N_ARRAY is JSON_ARRAY."""


def keep_spelling(tree: Any, sql: str) -> None:
    """Keep with each function of a tree how the query writes it, from its name to its bracket.

    Example:
        >>> tree = optional.load("sqlglot").parse_one("bool_or(x > 1)", dialect="duckdb")
        >>> keep_spelling(tree, "bool_or(x > 1)")
        >>> spelled_call(tree), spelled_name(tree)
        ('bool_or(x > 1)', 'BOOL_OR')
    """
    ends = _ends_of_calls(sql)
    functions = [node for node in tree.walk() if _is_function(node)]
    for node in functions:
        begin = node.meta.get("start")
        if begin in ends:
            node.meta[_WRITTEN] = sql[begin : ends.pop(begin) + 1]
    # Of some functions the parser forgets where they stand. Their names are looked for.
    calls = [sql[begin : end + 1] for begin, end in ends.items()]
    for node in functions:
        if not spelled_call(node) and (found := [call for call in calls if _names(call, node)]):
            name = found[0].partition("(")[0]
            node.meta[_WRITTEN] = found[0] if len(found) == 1 else f"{name}(...)"


def _names(call: str, node: Any) -> bool:
    """Tell whether a call could be the one that became this node."""
    name = call.partition("(")[0].strip().upper()
    return name in {*node.sql_names(), *_OTHERS.get(type(node).__name__, ())}


_OTHERS = {"GroupConcat": ("STRING_AGG", "LISTAGG")}
"""Further names of functions of which the parser forgets where they stand."""


def _ends_of_calls(sql: str) -> dict[int, int]:
    """Return where each word that is followed by a bracket begins, and where that is closed."""
    found: dict[int, int] = {}
    opened: list[int | None] = []
    before = None
    for token in optional.load("sqlglot").tokenize(sql, dialect="duckdb"):
        kind = token.token_type.name
        if kind == "L_PAREN":
            opened.append(before)
        elif kind == "R_PAREN" and opened:
            begin = opened.pop()
            found |= {} if begin is None else {begin: token.end}
        before = token.start
    return found


def _is_function(node: Any) -> bool:
    return isinstance(node, optional.load("sqlglot.expressions").Func)


def spelled_call(node: Any) -> str:
    """Return a function as the query writes it; nothing of what is no function of the query."""
    return str(node.meta.get(_WRITTEN, ""))


def spelled_name(node: Any) -> str:
    """Return the name of a function in capitals: the query's, or else the one that SQL has.

    What is no function has no name in SQL, but words: a scope resolution.
    """
    if not _is_function(node):
        return _HUMPS.sub(" ", type(node).__name__).upper()
    call = _CALL.match(spelled_call(node))
    if call is not None:
        return call[1].upper()
    made = _CALL.match(generated(node))
    names = [str(name).upper() for name in node.sql_names()]
    if made is not None and made[1].upper() in {*names, *_also_called(type(node))}:
        return made[1].upper()
    return _LETTERS.sub(r"\1", names[0])


def one_name(node: Any) -> str:
    """Return one name for all spellings of a function, in small letters: an output has it."""
    if isinstance(node, optional.load("sqlglot.expressions").Anonymous):
        return str(node.name).lower()
    return str(node.sql_name()).lower()


def _also_called(kind: type) -> set[str]:
    """Return the names that the parser takes for a kind of function, beside its own."""
    parser = optional.load("sqlglot.dialects.duckdb").DuckDB.Parser
    made_by = parser.FUNCTIONS.items()
    return {str(name) for name, make in made_by if getattr(make, "__self__", None) is kind}


def generated(node: Any) -> str:
    """Return a node as the parser writes it, without comments; nothing where it fails."""
    level = optional.load("sqlglot.errors").ErrorLevel.IGNORE
    try:
        return str(node.sql("duckdb", comments=False, unsupported_level=level))
    except Exception:
        # The query is refused in any case. What is wrong with the parser's writer is not its fault.
        return ""
