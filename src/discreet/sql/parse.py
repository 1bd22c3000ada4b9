"""Parse: text to statement. The shape alone; names are looked up later."""

from functools import lru_cache
from typing import Any

from attrs import frozen

from discreet.core import optional
from discreet.core.errors import BadSyntax, RefusedQuery
from discreet.core.recursion import refusing_depth
from discreet.sql.named_arguments import with_clamps
from discreet.sql.syntax.nodes import Node, Token, is_set, token_kind, tokens_of
from discreet.sql.syntax.one_form import in_one_form
from discreet.sql.syntax.options import NO_OPTIONS, Options, read_options
from discreet.sql.syntax.place import not_closed, not_valid
from discreet.sql.syntax.spelling import keep_spelling


@frozen(kw_only=True)
class Statement:
    """One SELECT as the parser's syntax tree, and the privacy options that stood in it."""

    select: Node
    """The syntax tree of the outermost SELECT, WITH included."""
    options: Options


LONGEST_QUERY = 100_000

MOST_ITEMS = 1_000
"""How many items a list of the query may have: what is selected, grouped by or ordered by."""


MOST_PARSED = 4
"""How many statements are kept: the same text is asked for several times in the life of a query."""


@refusing_depth
def parse(sql: str) -> Statement:
    """Return the statement that ``sql`` says.

    Example:
        >>> sql = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.5) COUNT(*) FROM visits"
        >>> parse(sql).options.price()
        Pure(ε = 0.5)
        >>> parse(sql).select.sql()
        'SELECT COUNT(*) FROM visits'
    """
    _require_text(sql)
    found = _parsed(sql)
    # Whoever reads a tree may change it.
    return Statement(select=found.select.copy(), options=found.options)


@lru_cache(maxsize=MOST_PARSED)
def _parsed(sql: str) -> Statement:
    tokens = read_tokens(sql)
    if tokens and token_kind(tokens[0]) in _OTHERS:
        raise _not_a_select()
    plain, top = _take_top(sql, tokens)
    text, options = _take_options(plain, tokens)
    clamped = with_clamps(text)
    select = _select(clamped, shown=sql if clamped == text else "")
    if top:
        _set_limit(select, top)
    return Statement(select=in_one_form(select), options=options)


def read_tokens(sql: str) -> list[Token]:
    """Return the words and signs of a query, or refuse what cannot be one."""
    _require_text(sql)
    errors = optional.load("sqlglot.errors")
    try:
        return tokens_of(sql)
    except (errors.SqlglotError, ValueError):
        raise not_closed(sql) from None


def _require_text(sql: object) -> None:
    if not isinstance(sql, str):
        raise BadSyntax("The query is not text", must="be a string", got=type(sql).__name__)
    if len(sql) > LONGEST_QUERY:
        raise BadSyntax("The query is too long", must=f"be at most {LONGEST_QUERY:,} characters")
    try:
        sql.encode("utf-8")
    except UnicodeEncodeError:
        raise BadSyntax("The query is not valid Unicode", must="have no lone surrogates") from None


_OTHERS = {"ALTER", "ANALYZE", "ATTACH", "CACHE", "COMMAND", "COMMENT", "COPY", "CREATE", "DELETE"}
_OTHERS |= {"DESCRIBE", "DETACH", "DROP", "EXECUTE", "FETCH", "GRANT", "INSERT", "KILL", "LOAD"}
_OTHERS |= {"MERGE", "PRAGMA", "REFRESH", "RENAME", "REVOKE", "SET", "SHOW", "TRUNCATE", "UNCACHE"}
_OTHERS |= {"UPDATE", "USE"}
"""How statements begin that are refused before they are parsed: the parser guesses at some."""


def _not_a_select() -> RefusedQuery:
    return RefusedQuery(
        "This is not a SELECT",
        next="Supported: [WITH ...] SELECT keys, aggregates FROM ... To see the columns of a table,"
        " for nothing, write SELECT * FROM table LIMIT 0; 'discreet tables', or tables() in Python,"
        " lists all that may be asked about",
    )


def _take_top(sql: str, tokens: list[Token]) -> tuple[str, str]:
    """Return the text without the TOP 10 of the outermost SELECT, and its number if it has one.

    It is another word for LIMIT. Any other TOP is refused: the parser stumbles over it.
    """
    text, depth, found = sql, 0, ""
    for i, token in enumerate(tokens):
        depth += _turn(token)
        words = [] if token_kind(token) != "SELECT" else tokens[i + 1 : i + 6]
        if words and token_kind(words[0]) in ("DISTINCT", "ALL"):
            words = words[1:]
        top = _top(words)
        if top is None:
            continue
        number = top[-1 if len(top) == 2 else -2].text
        behind = words[len(top) :] and words[len(top)].text.upper()
        if depth or behind in ("PERCENT", "WITH"):
            raise RefusedQuery(
                "TOP is supported with a number alone, and in the outermost SELECT",
                next=f"Write LIMIT {number[:9]} at the end of that SELECT",
            )
        found, text = number, _blanked(text, top[0].start, top[-1].end)
    return text, found


def _set_limit(select: Node, number: str) -> None:
    """Put the number of TOP where that of LIMIT stands, which it says otherwise."""
    exp = optional.load("sqlglot.expressions")
    if is_set(select, "limit"):
        raise RefusedQuery("TOP and LIMIT stand in one SELECT", must="have one of the two")
    select.set("limit", exp.Limit(expression=exp.Literal.number(number)))


def _top(words: list[Token]) -> list[Token] | None:
    """Return TOP 10 or TOP (10), if that is how words begin."""
    kinds = [token_kind(one) for one in words]
    if kinds[:2] == ["VAR", "NUMBER"]:
        found = words[:2]
    elif kinds[:4] == ["VAR", "L_PAREN", "NUMBER", "R_PAREN"]:
        found = words[:4]
    else:
        return None
    return found if found[0].text.upper() == "TOP" else None


def _blanked(sql: str, start: int, end: int) -> str:
    """Return a text with blanks for a part of it: lines and columns stay what they are."""
    kept = "".join(sign if sign.isspace() else " " for sign in sql[start : end + 1])
    return sql[:start] + kept + sql[end + 1 :]


def _take_options(sql: str, tokens: list[Token]) -> tuple[str, Options]:
    """Return the text without the privacy clause, and what the clause says."""
    start = _clause_start(tokens)
    if start is None:
        return sql, NO_OPTIONS
    end, options = start + 1, NO_OPTIONS
    if [token.text.upper() for token in tokens[end + 1 : end + 3]] == ["OPTIONS", "("]:
        first = end + 3
        brackets = (i for i in range(first, len(tokens)) if _turn(tokens[i]) < 0)
        end = next(brackets, -1)
        if end < 0:
            raise BadSyntax("The OPTIONS have no end", must="be in brackets")
        options = read_options(tokens[first:end])
    return _blanked(sql, tokens[start].start, tokens[end].end), options


def _turn(token: Token) -> int:
    """Return 1 for an opening bracket and -1 for a closing one; a text of one is none."""
    return {"L_PAREN": 1, "R_PAREN": -1}.get(token_kind(token), 0)


_CLAUSES = ("DIFFERENTIAL_PRIVACY", "ANONYMIZATION")


def _clause_start(tokens: list[Token]) -> int | None:
    """Return where WITH DIFFERENTIAL_PRIVACY stands, directly after the outermost SELECT."""
    depth, outermost, found = 0, None, []
    for i, token in enumerate(tokens):
        depth += _turn(token)
        if token_kind(token) != "SELECT":
            continue
        if depth == 0 and outermost is None:
            outermost = i
        words = [later.text.upper() for later in tokens[i + 1 : i + 3]]
        if len(words) == 2 and words[0] == "WITH" and words[1] in _CLAUSES:
            found.append(i)
    if any(place != outermost for place in found):
        raise RefusedQuery(
            "WITH DIFFERENTIAL_PRIVACY stands in a sub-query",
            must="stand directly after the outermost SELECT",
        )
    return found[0] + 1 if found else None


def _select(sql: str, *, shown: str) -> Node:
    sqlglot, errors = optional.load("sqlglot"), optional.load("sqlglot.errors")
    exp = optional.load("sqlglot.expressions")
    try:
        trees = sqlglot.parse(sql, dialect="duckdb")
    except errors.ParseError as cause:
        raise _bad_syntax(sql, cause, shown) from None
    except (errors.SqlglotError, ValueError):
        raise not_closed(sql) from None
    except (LookupError, AttributeError, TypeError):
        # The parser stumbles over some functions, instead of refusing their arguments.
        raise BadSyntax(
            "The query cannot be read", next="See whether a function has too few or too many values"
        ) from None
    # What is only a comment after a semicolon is parsed as a statement too.
    statements = [tree for tree in trees if not isinstance(tree, exp.Semicolon | None)]
    if len(statements) != 1:
        raise BadSyntax(
            "There must be one statement",
            got=str(len(statements)),
            next="Ask them one after the other, or together in a batch"
            if statements
            else "Write, for example, SELECT COUNT(*) FROM table",
        )
    if isinstance(statements[0], exp.SetOperation):
        raise RefusedQuery(
            f"The query is a {type(statements[0]).__name__.upper()} of answers, not a SELECT",
            must="be one SELECT",
            next="Ask twice, or put the UNION ALL into FROM: SELECT ... FROM (a UNION ALL b) AS t",
        )
    if not isinstance(statements[0], exp.Select):
        raise _not_a_select()
    if not statements[0].expressions and not statements[0].args.get("from_"):
        raise BadSyntax("SELECT names nothing", must="have a column or an expression after it")
    for group in statements[0].find_all(exp.Group):
        if not any(group.args.values()):
            raise BadSyntax(
                "GROUP BY names nothing", must="have a column or an expression after BY"
            )
    for part in statements[0].find_all(exp.Select, exp.Group, exp.Order):
        if len(part.expressions) > MOST_ITEMS:
            raise RefusedQuery(
                f"The query has too long a list after {part.key.upper()}",
                must=f"have at most {MOST_ITEMS:,} items",
                got=f"{len(part.expressions):,}",
            )
    select: Node = statements[0]
    keep_spelling(select, sql)
    return select


def _bad_syntax(sql: str, cause: Any, shown: str) -> BadSyntax:
    first = cause.errors[0] if cause.errors else {}
    if not first.get("line"):
        return BadSyntax("The query is not valid SQL")
    what = str(first.get("description", ""))
    return not_valid(sql, what, first["line"], first["col"], shown=shown)
