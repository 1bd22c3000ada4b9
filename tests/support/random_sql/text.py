"""Random text that looks like SQL, or nearly, or not at all."""

import re

from discreet.tables.catalog import Catalog
from tests.support.projects.dice import Dice
from tests.support.random_sql.query import random_query

TOKEN = re.compile(r"'(?:[^']|'')*'|\w+(?:\.\w+)*|<>|<=|>=|\|\||\S", re.UNICODE)

WORDS = (
    *("SELECT", "FROM", "WHERE", "GROUP", "BY", "HAVING", "ORDER", "LIMIT", "OFFSET", "WITH", "AS"),
    *("JOIN", "LEFT", "RIGHT", "FULL", "OUTER", "CROSS", "NATURAL", "ON", "USING", "UNION", "ALL"),
    *("EXCEPT", "INTERSECT", "DISTINCT", "EXISTS", "NOT", "IN", "IS", "NULL", "AND", "OR", "LIKE"),
    *("BETWEEN", "CASE", "WHEN", "THEN", "ELSE", "END", "OVER", "PARTITION", "FILTER", "WITHIN"),
    *("ROLLUP", "CUBE", "GROUPING", "SETS", "LATERAL", "RECURSIVE", "VALUES", "QUALIFY", "ANY"),
    *("DIFFERENTIAL_PRIVACY", "OPTIONS", "epsilon", "delta", "max_groups_contributed", "PIVOT"),
    *("COUNT", "SUM", "AVG", "MEDIAN", "VAR_POP", "MIN", "MAX", "QUANTILE", "ROW_NUMBER", "LAG"),
    *("clamp", "width_bucket", "date_trunc", "EXTRACT", "CAST", "TRY_CAST", "COALESCE", "NULLIF"),
    *("read_csv", "regexp_matches", "random", "now", "getenv", "list", "unnest", "struct_pack"),
    *("patients", "visits", "districts", "prices", "person", "age", "clinic", "cost", "day", "t1"),
    *("(", ")", ",", ".", "*", "=", "<", ">=", "<>", "+", "-", "/", "%", "||", "::", ";", "[", "]"),
    *("1", "0", "-1", "0.5", "1e308", "1e999", "99999999999999999999", "0x10", "'a'", "''", '"a"'),
    *(
        "DATE '2025-01-01'",
        "DATE '2025-99-99'",
        "INTERVAL 1 DAY",
        "TRUE",
        "$1",
        "?",
        "@x",
        "--",
        "/*",
    ),
    *(
        "INTEGER",
        "DOUBLE",
        "VARCHAR",
        "DECIMAL(38,10)",
        "BLOB",
        "E'\\n'",
        "\u0000",
        "é",
        "🙂",
        "{",
        "}",
    ),
)


def random_text(dice: Dice, catalog: Catalog) -> str:
    """Return some text: a query that was tampered with, a soup of tokens, or bytes."""
    make = dice.weighted(
        ((8, _replaced), (4, _tampered), (1, _soup), (2, _with_bytes), (1, _noise))
    )
    return make(dice, catalog)


def tokens_of(sql: str) -> list[str]:
    """Return the tokens of a query, roughly."""
    return TOKEN.findall(sql)


FUNCTIONS = (
    *(
        "COUNT",
        "SUM",
        "AVG",
        "MIN",
        "MAX",
        "MEDIAN",
        "QUANTILE",
        "VAR_POP",
        "STDDEV",
        "abs",
        "floor",
    ),
    *(
        "sqrt",
        "ln",
        "exp",
        "power",
        "round",
        "length",
        "lower",
        "upper",
        "trim",
        "substr",
        "concat",
    ),
    *("least", "greatest", "COALESCE", "NULLIF", "clamp", "width_bucket", "date_trunc", "year"),
    *("month", "dayofweek", "replace", "ROW_NUMBER", "RANK", "LAG", "LEAD", "FIRST_VALUE", "CUBE"),
    *("mode", "list", "string_agg", "random", "now", "hash", "typeof", "EXISTS", "IN", "IF", "IIF"),
)
OPERATORS = (
    "=",
    "<>",
    "<",
    "<=",
    ">",
    ">=",
    "+",
    "-",
    "*",
    "/",
    "%",
    "||",
    "IS",
    "LIKE",
    "AND",
    "OR",
)
LITERALS = (
    *("0", "1", "-1", "2.5", "1e10", "1e308", "9223372036854775807", "9223372036854775808", "NULL"),
    *("'a'", "''", "'2025-01-31'", "'%'", "TRUE", "DATE '2025-02-15'", "(1)", "CAST(NULL AS DATE)"),
)
COLUMNS = (
    "person",
    "age",
    "clinic",
    "cost",
    "day",
    "urgent",
    "sex",
    "district",
    "t1.day",
    "n0",
    "*",
)


def _replaced(dice: Dice, catalog: Catalog) -> str:
    """Return a query in which words stand for others of their kind: most of it still parses."""
    tokens = tokens_of(random_query(dice, catalog).sql)
    for _ in range(dice.between(1, 4)):
        place = dice.below(len(tokens))
        token = tokens[place]
        following = tokens[place + 1] if place + 1 < len(tokens) else ""
        if "." in token and not token[0].isdigit():
            own = [other for other in tokens if "." in other and not other[0].isdigit()]
            tokens[place] = dice.pick((*own, *COLUMNS, *LITERALS))
        elif following == "(" and token.isidentifier():
            tokens[place] = dice.pick(FUNCTIONS)
        elif token in OPERATORS:
            tokens[place] = dice.pick(OPERATORS)
        elif token[0].isdigit() or token[0] == "'":
            tokens[place] = dice.pick((*LITERALS, *COLUMNS))
        elif token == "(":
            _swap_parts(dice, tokens, place)
    return " ".join(tokens)


def _swap_parts(dice: Dice, tokens: list[str], place: int) -> None:
    """Put another part of the query that is in brackets where this one is."""
    starts = [i for i, token in enumerate(tokens) if token == "("]
    other = dice.pick(starts)
    mine, theirs = _part(tokens, place), _part(tokens, other)
    if len(theirs) < 60:
        tokens[place : place + len(mine)] = theirs


def _part(tokens: list[str], start: int) -> list[str]:
    depth = 0
    for end in range(start, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[end], 0)
        if depth == 0:
            return tokens[start : end + 1]
    return tokens[start:]


def _tampered(dice: Dice, catalog: Catalog) -> str:
    tokens = tokens_of(random_query(dice, catalog).sql)
    other = tokens_of(random_query(dice, catalog).sql)
    for _ in range(dice.weighted(((5, 1), (3, 2), (1, 6)))):
        here, there = dice.below(len(tokens)), dice.below(len(tokens))
        span = dice.between(1, 4)
        kind = dice.below(6)
        if kind == 0 and len(tokens) > span + 1:
            del tokens[here : here + span]
        elif kind == 1:
            tokens[here:here] = tokens[there : there + span]
        elif kind == 2:
            tokens[here], tokens[there] = tokens[there], tokens[here]
        elif kind == 3:
            tokens[here] = dice.pick(WORDS)
        elif kind == 4:
            start = dice.below(len(other))
            tokens[here : here + span] = other[start : start + dice.between(1, 12)]
        else:
            tokens.insert(here, dice.pick(WORDS))
        tokens = tokens or ["SELECT"]
    return " ".join(tokens)


def _soup(dice: Dice, _: Catalog) -> str:
    words = [dice.pick(WORDS) for _ in range(dice.between(1, 25))]
    return " ".join(["SELECT", *words] if dice.chance(70) else words)


def _with_bytes(dice: Dice, catalog: Catalog) -> str:
    data = bytearray(random_query(dice, catalog).sql.encode())
    for _ in range(dice.between(1, 4)):
        place = dice.below(len(data))
        if dice.chance(50):
            data[place] = dice.below(256)
        else:
            data.insert(place, dice.below(256))
    if dice.chance(20):
        del data[dice.below(len(data)) :]
    return data.decode("utf-8", errors=dice.pick(("replace", "surrogateescape")))


def _noise(dice: Dice, _: Catalog) -> str:
    data = bytes(dice.below(256) for _ in range(dice.between(0, 80)))
    return data.decode("latin-1")
