"""The dialect of SQLAlchemy: what it emits, what of it is answered, and what that costs."""

import datetime
import tomllib
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import sqlalchemy as sa
from sqlalchemy import case, cast, extract, func, select
from sqlalchemy.orm import Session

import discreet
from discreet import dbapi
from discreet.core.loss import Pure
from discreet.dbapi.dialect import TYPES, DiscreetDialect
from discreet.dbapi.types import TYPE_CODES
from discreet.tables.column import ColumnType
from tests.support.house.paths import ROOT
from tests.support.projects.clinic import visit, write_project

PUBLIC = """
[public_tables.towns]
source = "towns.csv"

[public_tables.towns.columns]
Clinic = { type = "text" }
town = { type = "text" }
"""


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dialect") / "clinic"
    write_project(folder, [visit(f"p{i}", "abcd"[i % 4]) for i in range(80)], epsilon="1000")
    with (folder / "discreet.toml").open("a", encoding="utf-8") as file:
        file.write(PUBLIC)
    (folder / "towns.csv").write_text("Clinic,town\na,Ulm\nb,Ulm\n", encoding="utf-8")
    return folder


@pytest.fixture
def url(clinic: Path) -> str:
    return f"discreet:///{clinic}?epsilon=1"


@pytest.fixture
def engine(url: str):
    engine = sa.create_engine(url)
    yield engine
    engine.dispose()


def spent(folder: Path):
    with discreet.connect(folder) as connection:
        return connection.budget()[0].spent


def test_the_entry_point_is_the_dialect():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    text = declared["sqlalchemy.dialects"]["discreet"]
    group = "sqlalchemy.dialects"
    assert EntryPoint("discreet", text, group).load() is DiscreetDialect
    assert {found.value for found in entry_points(group=group, name="discreet")} == {text}


# ---------------------------------------------------------------- what is free


def test_nothing_is_charged_but_a_question_that_is_asked(clinic, url):
    before = spent(clinic)
    engine = sa.create_engine(url, pool_pre_ping=True)
    for _ in range(2):  # from the second time on the pool tests the connection first
        with engine.begin() as connection:
            assert connection.get_isolation_level() == "AUTOCOMMIT"
    inspector = sa.inspect(engine)
    assert inspector.get_table_names() == ["visits", "towns"]
    assert inspector.get_table_names(schema="main") == ["visits", "towns"]
    assert inspector.get_table_names(schema="other") == inspector.get_view_names() == []
    assert inspector.get_schema_names() == [inspector.default_schema_name] == ["main"]
    assert inspector.has_table("VISITS")
    assert not inspector.has_table("nobody")
    assert inspector.has_table("visits", schema="main")
    assert not inspector.has_table("visits", schema="other")
    assert inspector.get_pk_constraint("visits")["constrained_columns"] == []
    for looked_for in ("foreign_keys", "indexes", "unique_constraints", "check_constraints"):
        assert getattr(inspector, f"get_{looked_for}")("visits") == []
    assert inspector.get_table_comment("visits") == {"text": None}
    table = sa.Table("visits", sa.MetaData(), autoload_with=engine)
    assert {column.name: type(column.type) for column in table.c} == {
        "person": sa.String,
        "clinic": sa.String,
        "urgent": sa.Boolean,
        "age": sa.BigInteger,
        "change": sa.BigInteger,
        "cost": sa.Double,
        "day": sa.Date,
        "note": sa.String,
    }
    with pytest.raises(sa.exc.NoSuchTableError):
        inspector.get_columns("nobody")
    with pytest.raises(sa.exc.NoSuchTableError):
        inspector.get_columns("visits", schema="other")
    assert spent(clinic) == before


def test_a_connection_that_was_closed_is_opened_again(url):
    engine = sa.create_engine(url, pool_pre_ping=True)
    opened: list[Any] = []
    for _ in range(2):
        with engine.connect() as connection:
            opened.append(connection.connection.dbapi_connection)
        opened[-1].close()
    assert opened[0] is not opened[1]


def test_a_refresh_is_free(clinic, url):
    question = sa.text("SELECT clinic, COUNT(*) AS n FROM visits WHERE age > :age GROUP BY clinic")
    answers = []
    for _ in range(3):
        with sa.create_engine(url).connect() as connection:
            answers.append(connection.execute(question, {"age": 7}).all())
        if len(answers) == 1:
            before = spent(clinic)
    assert answers[0] == answers[1] == answers[2]
    assert spent(clinic) == before


# ---------------------------------------------------------------- what SQLAlchemy emits

VISITS = sa.table(
    "visits",
    sa.column("person", sa.String),
    sa.column("clinic", sa.String),
    sa.column("urgent", sa.Boolean),
    sa.column("age", sa.BigInteger),
    sa.column("cost", sa.Double),
    sa.column("day", sa.Date),
    sa.column("note", sa.String),
)
TOWNS = sa.table("towns", sa.column("Clinic", sa.String), sa.column("town", sa.String))
C = VISITS.c
N = func.count()
COUNT = select(N).select_from(VISITS)
BY_CLINIC = select(C.clinic, N.label("n")).group_by(C.clinic)
OLD = case((C.age > 50, "old"), else_="young")
SUB = select(C.clinic, C.age).where(C.age > 3)
TEMPORARY, TOTALS = SUB.cte("t"), BY_CLINIC.cte("t")

ANSWERED = {
    "count": COUNT,
    "of a sub-query": select(N).select_from(SUB.subquery()),
    "distinct": select(func.count(C.person.distinct())),
    "in": COUNT.where(C.clinic.in_(["a", "it's"])),
    "in nothing": COUNT.where(C.clinic.in_([])),
    "not in": COUNT.where(C.clinic.not_in(["a", "b"])),
    "truth": COUNT.where(C.urgent),
    "no truth": COUNT.where(~C.urgent),
    "is true": COUNT.where(C.urgent.is_(True)),
    "null": COUNT.where(C.note.is_(None)),
    "like": COUNT.where(C.note.like("x%")),
    "not like": COUNT.where(C.note.not_like("x%")),
    "ilike": COUNT.where(C.note.ilike("x%")),
    "not ilike": COUNT.where(C.note.not_ilike("x%")),
    "contains": COUNT.where(C.note.contains("x'")),
    "icontains": COUNT.where(C.note.icontains("x")),
    "starts with": COUNT.where(C.note.startswith("x")),
    "ends with": COUNT.where(C.note.endswith("x")),
    "between": COUNT.where(C.age.between(-1, 5)),
    "date": COUNT.where(C.day >= datetime.date(2025, 1, 1)),
    "division": COUNT.where(C.age / 2 > 3),
    "floor division": COUNT.where(C.age // 10 == 2),
    "remainder": COUNT.where(C.age % 2 == 0),
    "joined text": COUNT.where(C.clinic + "x" == "ax"),
    "is distinct": COUNT.where(C.clinic.is_distinct_from("a")),
    "cast to whole": COUNT.where(cast(C.cost, sa.Integer) > 3),
    "cast to text": COUNT.where(cast(C.age, sa.String) == "3"),
    "cast result": select(cast(func.sum(C.age), sa.Float)),
    "sum of a case": select(func.sum(case((C.age > 50, 1), else_=0))),
    "filter": select(N.filter(C.age > 3).label("x")).select_from(VISITS),
    "coalesce": select(func.sum(func.coalesce(C.age, 0))),
    "rounded": select(func.round(func.avg(C.cost), 2)),
    "group": BY_CLINIC,
    "group by a case": select(OLD.label("k"), N).group_by(OLD),
    "group by its label": select(OLD.label("k"), N).group_by("k"),
    "having": BY_CLINIC.having(N > 10),
    "order by a label": BY_CLINIC.order_by(sa.desc("n")),
    "order by a count": BY_CLINIC.order_by(N.desc()),
    "order by a key": BY_CLINIC.order_by(C.clinic),
    "limit": BY_CLINIC.limit(2),
    "offset": BY_CLINIC.offset(1),
    "limit and offset": BY_CLINIC.limit(2).offset(1),
    "fetch": BY_CLINIC.fetch(2),
    "window": BY_CLINIC.add_columns(func.rank().over(order_by=N.desc()).label("r")),
    "alias": select(N).select_from(VISITS.alias("other")),
    "union": select(N).select_from(sa.union_all(SUB, SUB).subquery()),
    "with": select(TEMPORARY.c.clinic, N).group_by(TEMPORARY.c.clinic),
    "answers in a with": select(TOTALS.c.clinic, TOTALS.c.n).where(TOTALS.c.n > 3),
    "schema": select(N).select_from(sa.table("visits", schema="main")),
    "nulls first": BY_CLINIC.order_by(sa.desc("n").nulls_first()),
    "nulls last": BY_CLINIC.order_by(sa.desc("n").nulls_last()),
    "public join": select(TOWNS.c.town, N)
    .select_from(VISITS.join(TOWNS, C.clinic == TOWNS.c.Clinic))
    .group_by(TOWNS.c.town),
    "decimal": select(cast(func.avg(C.age), sa.Numeric(9, 2))),
}
"""Statements as SQLAlchemy's expression language writes them."""


def test_what_is_answered(engine):
    """One connection for all of them: what is the same question costs nothing again."""
    with engine.connect() as connection:
        for name, statement in ANSWERED.items():
            assert connection.execute(statement).all(), name


REFUSED = {
    "rows": (select(VISITS).limit(5), "would show single rows"),
    "a schema": (select(N).select_from(sa.table("visits", schema="other")), "schema"),
    "a type": (select(cast(func.sum(C.age), sa.LargeBinary)), "DECIMAL"),
    "private keys": (select(extract("year", C.day), N).group_by(extract("year", C.day)), "keys of"),
    "for update": (COUNT.with_for_update(), "FOR UPDATE"),
}
"""What SQLAlchemy also writes, and is refused: each with a word of the refusal."""


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(engine, name):
    statement, word = REFUSED[name]
    with engine.connect() as connection, pytest.raises(sa.exc.DBAPIError, match=word):
        connection.execute(statement)


WRITING = [
    sa.insert(VISITS).values(age=3),
    sa.update(VISITS).values(age=3),
    sa.delete(VISITS),
    sa.schema.CreateTable(sa.Table("new", sa.MetaData(), sa.Column("a", sa.Integer))),
    sa.schema.DropTable(sa.Table("visits", sa.MetaData())),
    sa.schema.CreateIndex(
        sa.Index("i", sa.Table("new", sa.MetaData(), sa.Column("a", sa.Integer)).c.a)
    ),
    BY_CLINIC.fetch(2, percent=True),
    COUNT.where(C.note.contains("5%", autoescape=True)),
    COUNT.where(C.note.ilike("5%", escape="/")),
]


@pytest.mark.parametrize("statement", WRITING, ids=lambda statement: statement.__visit_name__)
def test_what_is_not_even_written_down(engine, statement):
    with engine.connect() as connection, pytest.raises(sa.exc.CompileError):
        connection.execute(statement)


def test_writing_as_text_is_refused_too(engine):
    with engine.connect() as connection:
        for text in ("INSERT INTO visits VALUES (1)", "DROP TABLE visits", "PRAGMA x"):
            with pytest.raises(sa.exc.NotSupportedError):
                connection.exec_driver_sql(text)
        with pytest.raises(sa.exc.NotSupportedError):
            connection.exec_driver_sql("SELECT COUNT(*) FROM visits", [(), ()])
        with pytest.raises(sa.exc.CompileError, match="savepoints"):
            connection.begin_nested()


def test_a_table_that_is_there_needs_not_be_made(engine):
    sa.Table("visits", sa.MetaData(), sa.Column("age", sa.Integer)).metadata.create_all(engine)


def test_intervals_are_reached_by_name(clinic):
    engine = sa.create_engine(f"discreet:///{clinic}?epsilon=1&intervals=true")
    with engine.connect() as connection:
        row: Any = connection.execute(BY_CLINIC).first()
        assert row.clinic == row._mapping[C.clinic] == "a"
        assert row.n_low <= max(0, row.n)
        assert list(row._mapping) == ["clinic", "n", "n_low", "n_high"]


def test_a_session_asks_too(engine):
    with Session(engine) as session:
        assert isinstance(session.scalar(COUNT), int)
        session.rollback()


def test_every_type_has_a_name_and_a_type_of_sqlalchemy():
    assert TYPE_CODES.keys() == TYPES.keys() == set(ColumnType)
    families = (dbapi.STRING, dbapi.NUMBER, dbapi.DATETIME)
    assert all(sum(code == family for family in families) == 1 for code in TYPE_CODES.values())


# ---------------------------------------------------------------- what a URL may say


@pytest.mark.parametrize(
    "url",
    [
        "discreet://host/{}?epsilon=1",
        "discreet://ann:secret@/{}",
        "discreet:///{}?budget=100",
        "discreet:///{}?rows_per_group=100",
        "discreet:///{}?fresh=true",
        "discreet:///{}?epsilon=1&epsilon=2",
        "discreet:///{}?intervals=maybe",
    ],
)
def test_a_url_says_nothing_else(clinic, url):
    with pytest.raises(sa.exc.ArgumentError):
        sa.create_engine(url.format(clinic)).connect()


def test_a_url_without_a_price_asks_nothing(clinic):
    with (
        sa.create_engine(f"discreet:///{clinic}").connect() as connection,
        pytest.raises(sa.exc.ProgrammingError, match=r"\?epsilon=0.1"),
    ):
        connection.execute(COUNT)


def test_the_budget_holds_whatever_the_url_says(tmp_path):
    folder = write_project(tmp_path, [visit("p")], epsilon="1")
    engine = sa.create_engine(f"discreet:///{folder}?epsilon=2&analyst=ann")
    with engine.connect() as connection, pytest.raises(sa.exc.OperationalError):
        connection.execute(COUNT)
    with pytest.raises(sa.exc.ProgrammingError, match="epsilon"):
        sa.create_engine(f"discreet:///{folder}?epsilon=-2").connect()
    assert spent(folder) == Pure(0)


def test_a_relative_path_has_three_slashes(clinic, monkeypatch):
    monkeypatch.chdir(clinic.parent)
    for url in ("discreet:///clinic?epsilon=1", "discreet:///./clinic"):
        assert sa.inspect(sa.create_engine(url)).has_table("visits")
    monkeypatch.chdir(clinic)
    assert sa.inspect(sa.create_engine("discreet://")).has_table("visits")


# ---------------------------------------------------------------- pandas


def test_pandas_reads_a_question(clinic):
    engine = sa.create_engine(f"discreet:///{clinic}?epsilon=1&intervals=true")
    frame = pd.read_sql("SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic", engine)
    assert list(frame.columns) == ["clinic", "n", "n_low", "n_high"]
    assert frame["n"].dtype == "int64"
    other = pd.read_sql(
        sa.text("SELECT COUNT(*) AS n FROM visits WHERE age > :a"), engine, params={"a": 3}
    )
    assert other.shape == (1, 3)
    assert pd.read_sql(BY_CLINIC, engine)["n"].tolist() == frame["n"].tolist()


def test_pandas_reads_and_writes_no_rows(engine, clinic):
    before = spent(clinic)
    with pytest.raises(pd.errors.DatabaseError, match="single people are never shown"):
        pd.read_sql_table("visits", engine)
    with pytest.raises(sa.exc.CompileError, match="writes nothing"):
        pd.DataFrame({"a": [1]}).to_sql("new", engine)
    assert spent(clinic) == before
