"""The work before the gate is bounded, whatever stands in whatever; and texts at the edge of it."""

from fractions import Fraction

import pytest

from discreet.cli.main import main
from discreet.core.errors import BadSyntax, DiscreetError, RefusedQuery
from discreet.curator import rehearse as rehearse_module
from discreet.engines.duckdb.engine import DuckDbEngine
from discreet.roles.connection import connect
from discreet.sql.named_arguments import with_clamps
from discreet.sql.parse import parse
from discreet.sql.resolve import resolve
from discreet.sql.rows import sources
from discreet.sql.rows.scope import MOST_TABLES, MOST_WORK, ResolvingWork
from discreet.tables.declarations.declaration import read_catalog
from discreet.tables.gate_settings import GateSettings
from tests.support.projects.clinic import visit, write_project
from tests.support.projects.meaning import write_meaning

BOUNDS = "contribution_bounds_per_row"


class Counting:
    """Read public tables, and count how often."""

    def __init__(self, folder) -> None:
        self.catalog = read_catalog(folder)
        self.engine = DuckDbEngine()
        self.calls = 0

    def rows(self, relation):
        self.calls += 1
        return self.engine.public_rows(relation)

    def resolve(self, sql):
        return resolve(parse(sql), self.catalog, self.rows)


@pytest.fixture
def reader(tmp_path):
    return Counting(write_meaning(tmp_path))


def nested(depth: int) -> str:
    query = "SELECT * FROM visits"
    for _ in range(depth):
        query = f"WITH a AS ({query}) SELECT * FROM a"
    return f"SELECT COUNT(*) FROM ({query})"


def scalars(depth: int, *, each: int, vary: bool) -> str:
    """Return a chain of queries, each of which reads the one before in several expressions."""
    steps = ["c0 AS (SELECT MAX(people) AS n FROM districts)"]
    for i in range(1, depth):
        values = (f"(SELECT n + {j if vary else 0} FROM c{i - 1})" for j in range(each))
        steps.append(f"c{i} AS (SELECT MAX(people) + {' + '.join(values)} AS n FROM districts)")
    return (
        f"WITH {', '.join(steps)}"
        f" SELECT COUNT(*) FROM visits WHERE age < (SELECT n FROM c{depth - 1})"
    )


def test_nested_names_are_refused_before_they_double_too_often(reader):
    reader.resolve(nested(5))
    with pytest.raises(RefusedQuery, match="too large") as refusal:
        reader.resolve(nested(20))
    assert "fewer nested queries" in refusal.value.next


@pytest.mark.parametrize("vary", [False, True])
def test_values_in_a_chain_are_not_read_again_and_again(reader, vary):
    with pytest.raises(RefusedQuery, match="too large"):
        reader.resolve(scalars(12, each=5, vary=vary))
    assert reader.calls <= MOST_TABLES


def test_the_same_value_is_read_once(reader):
    reader.resolve(scalars(3, each=2, vary=False))
    # The first value, that of the query after it, and the one that is compared with.
    assert reader.calls == 3


def test_a_long_query_may_be_read_less_often(reader, monkeypatch):
    monkeypatch.setattr(sources, "_NODES_OF_A_STEP", 20)
    union = " UNION ALL ".join(["(SELECT n FROM a)"] * 60)

    def asked(columns: int) -> str:
        more = "".join(f", age AS n{i}" for i in range(columns))
        return f"WITH a AS (SELECT age AS n{more} FROM visits) SELECT COUNT(*) FROM ({union})"

    reader.resolve(asked(5))
    with pytest.raises(RefusedQuery, match="too large"):
        reader.resolve(asked(100))


def test_a_chain_as_deep_as_a_query_may_be_is_not_too_large(reader):
    steps = ["c0 AS (SELECT * FROM visits)"]
    steps += [f"c{i} AS (SELECT * FROM c{i - 1})" for i in range(1, 35)]
    reader.resolve(f"WITH {', '.join(steps)} SELECT COUNT(*) FROM c34")


def test_work_is_refused_beyond_its_sum():
    work = ResolvingWork()
    for _ in range(MOST_WORK):
        work.spend()
    with pytest.raises(RefusedQuery):
        work.spend()


# ---- Texts.


@pytest.mark.parametrize(
    "sql", ["{}; -- done", "{};; /* done */ ;", "-- first\n; {}", "{} -- ; SELECT 2"]
)
def test_comments_are_no_statements(sql):
    assert parse(sql.format("SELECT COUNT(*) FROM t")).select.sql(comments=False) == (
        "SELECT COUNT(*) FROM t"
    )


@pytest.mark.parametrize("sql", ["SELECT 1; SELECT 2", "-- nothing", "; -- nothing", ""])
def test_there_must_be_one_statement(sql):
    with pytest.raises(BadSyntax, match="one statement"):
        parse(sql)


@pytest.mark.parametrize(
    "bounds",
    [f"(0, SUM(y, {BOUNDS} => (0, 1)))", f"(SUM(y, {BOUNDS} => (0, 1)), 1)", "[0, 1]", "(0, 1]"],
)
def test_bounds_are_two_plain_numbers(bounds):
    with pytest.raises(BadSyntax):
        with_clamps(f"SELECT SUM(x, {BOUNDS} => {bounds}) FROM t")


@pytest.mark.parametrize("value", ["[x, y][1]", "{'a': x, 'b': y}.a", "f([x, (1)], {'a': 2})"])
def test_commas_in_any_bracket_do_not_part_arguments(value):
    assert with_clamps(f"SELECT SUM({value}, {BOUNDS} => (0, 9)) FROM t") == (
        f"SELECT SUM(CLAMP({value}, 0, 9)) FROM t"
    )


def test_an_arrow_in_a_list_is_no_named_argument():
    with pytest.raises(BadSyntax, match="outside of a function"):
        with_clamps(f"SELECT SUM([x, {BOUNDS} => (0, 9)]) FROM t")


# ---- A folder that is none, and a deadline that nobody needs.


@pytest.mark.parametrize("below", ["", "clinic"])
def test_the_demo_is_not_kept_in_a_file(tmp_path, capsys, below):
    file = tmp_path / "file"
    file.write_text("mine")
    assert main(["demo", "--keep", str(file / below)]) != 0
    assert "is not a folder" in capsys.readouterr().err
    assert file.read_text() == "mine"


def test_a_rehearsal_waits_for_no_deadline(tmp_path, monkeypatch):
    folder = write_project(tmp_path, [visit("p"), visit("q", "b")], epsilon="10, delta = 1e-6")
    with (folder / "discreet.toml").open("a") as file:
        file.write("\n[gate]\ndeadline = 3600\n")
    staged = []

    def refuse(curator, *_, **__):
        staged.append(curator)
        raise DiscreetError("enough is seen")

    monkeypatch.setattr(rehearse_module, "answer", refuse)
    with connect(folder, epsilon=1) as connection, pytest.raises(DiscreetError, match="enough"):
        connection.rehearse("SELECT COUNT(*) AS n FROM visits")
    assert read_catalog(folder).gate.deadline == Fraction(3600)
    assert [curator.catalog.gate for curator in staged] == [GateSettings()]
