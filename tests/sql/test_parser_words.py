"""Whatever is written, a refusal speaks SQL: no class of the parser is named, nothing breaks.

For each kind of node that the parser has, the text of a small one is put where it may stand and
where it may not.
"""

import inspect
import re
from collections.abc import Callable, Iterator

import pytest
from sqlglot import expressions
from sqlglot.errors import ErrorLevel

import discreet
from discreet.core.errors import DiscreetError, RefusedQuery
from discreet.sql.syntax.nodes import function_name
from tests.support.projects.clinic import visit, write_project

KINDS = [
    kind
    for kind in vars(expressions).values()
    if inspect.isclass(kind) and issubclass(kind, expressions.Expression)
]
SHAPES = [
    "SELECT COUNT(*) AS n FROM visits WHERE {} = 1",
    "SELECT {} AS n FROM visits",
    "{}",
    "SELECT COUNT(*) AS n FROM visits {}",
    "SELECT COUNT(*) AS n FROM {}",
    "SELECT COUNT(*) AS n FROM visits GROUP BY {}",
    "SELECT {} OVER (ORDER BY age) AS n FROM visits",
    "SELECT AVG(x) AS n FROM (SELECT person, {} AS x FROM visits GROUP BY person) AS t",
    "SELECT COUNT(*) + {} AS n FROM visits",
    "SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic HAVING {0} > 1 ORDER BY {0}",
]
ARGUMENTS = ["", "age", "age, 2", "note, 'a'", "day, 1, 2", "note, 'a', 'b', 3"]

HUMPED = [kind.__name__ for kind in KINDS if re.search(r"[a-z][A-Z]", kind.__name__)]
SQL_NAMES = {
    name.upper()
    for kind in KINDS
    if issubclass(kind, expressions.Func)
    for name in kind.sql_names()
}
PARSERS_WORDS = {*HUMPED, *({name.upper() for name in HUMPED} - SQL_NAMES)}
BROKEN = re.compile(
    r"Traceback|\w+(?:Error|Exception)\b|<class|object at 0x|sqlglot|NoneType|\b(this|expressions)="
)


def texts(kind: type[expressions.Expression]) -> list[str]:
    """What a node of this kind may look like."""
    called = kind.sql_names() if issubclass(kind, expressions.Func) else []
    found = [f"{name}({arguments})" for name in called for arguments in ARGUMENTS]
    column = expressions.column("age")
    needed = {name: column for name, is_needed in kind.arg_types.items() if is_needed}
    try:
        node = kind(**(needed | ({"expressions": [column]} if "expressions" in needed else {})))
        return [node.sql("duckdb", unsupported_level=ErrorLevel.IGNORE), *found]
    except Exception:  # the parser's writer stumbles over some of its own nodes
        return found


def every_statement() -> Iterator[str]:
    for kind in KINDS:
        yield from (shape.format(text) for text in texts(kind) for shape in SHAPES)


def some_statements() -> Iterator[str]:
    """One statement for each kind, in one shape after the other."""
    for number, kind in enumerate(KINDS):
        found = texts(kind)
        if found:
            yield SHAPES[number % len(SHAPES)].format(found[number // len(SHAPES) % len(found)])


def complaints(explain: Callable[[str], object], statements: Iterator[str]) -> list[str]:
    """Refusals that say what nobody wrote; what else goes wrong is raised."""
    found = []
    for sql in statements:
        try:
            explain(sql)
        except DiscreetError as error:
            told = " ".join(error.to_json()["error"][part] for part in ("what", "must", "next"))
            own = {word.upper() for word in re.findall(r"\w+", sql)}
            words = {word for word in re.findall(r"\w+", told) if word.upper() not in own}
            if BROKEN.search(told) or words & PARSERS_WORDS:
                found.append(f"{sql}: {told}")
    return found


def test_no_refusal_names_the_parsers_classes(tmp_path, soak, caplog):
    write_project(tmp_path, [visit("p1")])
    with discreet.connect(tmp_path, epsilon=1) as connection:
        statements = every_statement() if soak.active else some_statements()
        assert complaints(connection.explain, statements) == []
    assert not caplog.records  # nor does the parser write to a log


@pytest.mark.parametrize(
    ("node", "name"),
    [
        (expressions.ScopeResolution(this=expressions.column("a")), "SCOPE RESOLUTION"),
        (expressions.IgnoreNulls(this=expressions.AnyValue(this=expressions.column("a"))),
         "ANY_VALUE"),
        (expressions.Sum(this=expressions.column("a")), "SUM"),
    ],
)  # fmt: skip
def test_what_no_query_spells_has_words(node, name):
    assert function_name(node) == name


@pytest.mark.parametrize(
    "told", ["WindowSpec is not supported", "ATTIMEZONE cannot stand here", "KeyError: 'this'"]
)
def test_the_parsers_words_are_found(told):
    """Power: a refusal that names a class, or quotes what broke, is a complaint."""

    def refuse(_: str) -> None:
        raise RefusedQuery(told)

    assert complaints(refuse, iter(["SELECT 1"])) == [f"SELECT 1: {told}  "]


def test_a_window_by_name_is_told_so(tmp_path):
    folder = write_project(tmp_path, [visit("p1")])
    sql = "SELECT clinic, COUNT(*) AS n, SUM(COUNT(*)) OVER w AS s FROM visits GROUP BY clinic"
    with (
        discreet.connect(folder, epsilon=1) as connection,
        pytest.raises(RefusedQuery, match=r"has no name\. Write it out: OVER"),
    ):
        connection.explain(sql)
