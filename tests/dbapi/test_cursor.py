"""Cursors and connections of DB-API 2.0, end to end on a clinic."""

import datetime
import inspect
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet import dbapi
from discreet.core import errors
from discreet.core.loss import Pure
from discreet.dbapi.errors import translated
from discreet.dbapi.spelling import spelled
from tests.support.projects.clinic import visit, write_project

BY_CLINIC = "SELECT clinic, COUNT(*) AS n, AVG(cost) AS m FROM visits GROUP BY clinic"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [visit(f"p{i}", "abcd"[i % 4], day=datetime.date(2025, 1, 1)) for i in range(80)]
    return write_project(tmp_path / "clinic", rows, epsilon="100")


def spent(folder: Path):
    with discreet.connect(folder) as connection:
        return connection.budget()[0].spent


def test_an_answer_has_rows_names_and_types(folder):
    with dbapi.connect(folder, epsilon=1) as connection, connection.cursor() as opened:
        cursor: Any = opened
        assert (cursor.description, cursor.rowcount, cursor.rownumber) == (None, -1, None)
        assert cursor.execute(BY_CLINIC) is cursor
        assert [column[:2] for column in cursor.description] == [
            ("clinic", "VARCHAR"),
            ("n", "BIGINT"),
            ("m", "DOUBLE"),
        ]
        assert all(column[2:] == (None,) * 5 for column in cursor.description)
        assert (cursor.rowcount, cursor.rownumber) == (4, 0)
        rows = [cursor.fetchone(), *cursor.fetchmany(2)]
        assert cursor.rownumber == 3
        rows += cursor
        assert [row[0] for row in rows] == ["a", "b", "c", "d"]
        assert cursor.fetchone() is None
        assert cursor.fetchall() == cursor.fetchmany() == []
        assert rows == list(cursor.release.rows)


def test_type_objects_equal_the_codes_of_their_types(folder):
    sql = "SELECT clinic, COUNT(*) AS n, clinic = 'a' AS first, DATE '2025-01-31' AS day"
    cursor: Any = dbapi.connect(folder, epsilon=1).cursor()
    cursor.execute(f"{sql} FROM visits GROUP BY clinic")
    codes = [column[1] for column in cursor.description]
    assert codes == [dbapi.STRING, dbapi.NUMBER, dbapi.NUMBER, dbapi.DATETIME]
    assert dbapi.STRING != "BIGINT"
    assert dbapi.BINARY != dbapi.ROWID
    assert cursor.fetchone()[3] == datetime.date(2025, 1, 31)


def test_intervals_stand_beside_the_noisy_columns(folder):
    cursor: Any = dbapi.connect(folder, epsilon=1, intervals=True).cursor().execute(BY_CLINIC)
    names = [column[0] for column in cursor.description]
    assert names == ["clinic", "n", "n_low", "n_high", "m", "m_low", "m_high"]
    assert tuple(row[2:4] for row in cursor) == cursor.release.totals("n")
    with pytest.raises(dbapi.ProgrammingError, match="True or False"):
        dbapi.connect(folder, intervals="yes")  # type: ignore[arg-type]


def test_what_must_be_known_is_in_the_messages(folder):
    cursor: Any = dbapi.connect(folder, epsilon=1).cursor().execute(BY_CLINIC)
    told = (*cursor.release.headline(), *cursor.release.notes())
    assert cursor.release.headline()
    assert [str(text) for _, text in cursor.messages] == [*map(spelled, told)]
    assert {kind for kind, _ in cursor.messages} == {dbapi.Warning}


# ---------------------------------------------------------------- what it costs


def test_the_same_question_again_costs_nothing(folder):
    sql = "SELECT COUNT(*) AS n FROM visits WHERE clinic IN (?, ?) AND age > ?"
    with dbapi.connect(folder, epsilon=1) as first:
        answer = first.cursor().execute(sql, ("a", "b", -3)).fetchall()
    for _ in range(3):  # a dashboard opens a connection, and asks the same as before
        with dbapi.connect(folder, epsilon=1) as again:
            assert again.cursor().execute(sql, ["a", "b", -3]).fetchall() == answer
    written = "SELECT COUNT(*) AS n FROM visits WHERE clinic IN ('b', 'a') AND age > -3"
    with dbapi.connect(folder, epsilon=1) as again:
        assert again.cursor().execute(written).fetchall() == answer
    assert spent(folder) == Pure(1)


def test_without_a_price_nothing_is_answered(folder):
    with dbapi.connect(folder) as connection:
        cursor = connection.cursor()
        with pytest.raises(dbapi.ProgrammingError, match=r"epsilon=0\.1") as caught:
            cursor.execute(BY_CLINIC)
        assert caught.value.code == "missing_loss"
        assert "OPTIONS (epsilon = 0.1)" in str(caught.value)
        with pytest.raises(dbapi.InterfaceError):
            cursor.fetchone()
        priced = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = ?) COUNT(*) AS n FROM visits"
        assert len(cursor.execute(priced, ["0.5"]).fetchall()) == 1
    assert spent(folder) == Pure("0.5")


def test_opening_looking_and_closing_cost_nothing(folder):
    with dbapi.connect(folder, epsilon=1) as connection:
        connection.commit()
        connection.rollback()
        assert [table.name for table in connection.catalog().tables] == ["visits"]
    assert spent(folder) == Pure(0)


def test_a_rollback_undoes_no_charge(folder):
    with dbapi.connect(folder, epsilon=1) as connection:
        connection.cursor().execute(BY_CLINIC)
        connection.rollback()
    assert spent(folder) == Pure(1)


# ---------------------------------------------------------------- refusals


REFUSED = [
    ("SELECT * FROM visits", dbapi.NotSupportedError, "refused_query"),
    ("INSERT INTO visits VALUES (1)", dbapi.NotSupportedError, "refused_query"),
    ("DROP TABLE visits", dbapi.NotSupportedError, "refused_query"),
    ("SELECT COUNT(*) FROM nobody", dbapi.ProgrammingError, "unknown_table"),
    ("SELECT SUM(nothing) FROM visits", dbapi.ProgrammingError, "unknown_column"),
    ("SELECT (", dbapi.ProgrammingError, "bad_syntax"),
    ("SELECT COUNT(*) FROM visits WHERE age > ?", dbapi.ProgrammingError, "invalid_argument"),
]


@pytest.mark.parametrize(("sql", "kind", "code"), REFUSED)
def test_what_is_refused_costs_nothing(folder, sql, kind, code):
    with dbapi.connect(folder, epsilon=1) as connection:
        cursor = connection.cursor()
        with pytest.raises(kind) as caught:
            cursor.execute(sql)
        assert caught.value.code == code
        assert isinstance(caught.value.__cause__, errors.DiscreetError)
        assert cursor.description is None
    assert spent(folder) == Pure(0)


def test_a_budget_that_is_spent_is_an_operational_error(folder):
    with dbapi.connect(folder, epsilon=60) as connection:
        cursor = connection.cursor().execute("SELECT COUNT(*) AS n FROM visits")
        with pytest.raises(dbapi.OperationalError) as caught:
            cursor.execute("SELECT COUNT(*) AS n FROM visits WHERE age > 3")
    assert caught.value.code == "budget_exhausted"


@pytest.mark.parametrize("values", ["abc", b"abc", {"a": 1}, 3, {1, 2, 3}])
def test_parameters_are_a_list(folder, values):
    with pytest.raises(dbapi.ProgrammingError, match="not a list"):
        dbapi.connect(folder, epsilon=1).cursor().execute(BY_CLINIC, values)


def test_many_at_once_is_refused(folder):
    with pytest.raises(dbapi.NotSupportedError, match="GROUP BY"):
        dbapi.connect(folder, epsilon=1).cursor().executemany(BY_CLINIC, [(), ()])


def test_a_project_that_is_not_there_is_an_operational_error(tmp_path):
    with pytest.raises(dbapi.OperationalError):
        dbapi.connect(tmp_path / "nowhere")


@pytest.mark.parametrize("terms", [{"epsilon": -1}, {"epsilon": 1, "rho": 1}, {"analyst": ""}])
def test_a_wrong_argument_is_a_programming_error(folder, terms):
    with pytest.raises(dbapi.ProgrammingError):
        dbapi.connect(folder, **terms)


def test_every_error_of_ours_is_one_of_theirs():
    """A failure after the charge must not look like one that tools try again."""
    kinds = [
        kind
        for _, kind in inspect.getmembers(errors, inspect.isclass)
        if issubclass(kind, errors.DiscreetError) and kind is not errors.DiscreetError
    ]
    assert len(kinds) > 15
    for kind in kinds:
        error = kind() if kind is errors.AnswerFailed else kind("What happened")
        found = translated(error)
        assert isinstance(found, dbapi.DatabaseError)
        assert found.code == kind.code
        may_be_charged = kind in (
            errors.AnswerFailed,
            errors.WrittenBefore,
            errors.OutputFailed,
            errors.UnexpectedError,
        )
        assert isinstance(found, dbapi.InternalError) == may_be_charged


# ---------------------------------------------------------------- closing, and threads


def test_what_is_closed_answers_nothing(folder):
    connection = dbapi.connect(folder, epsilon=1)
    cursor, other = connection.cursor().execute(BY_CLINIC), connection.cursor()
    other.close()
    for use in (other.fetchone, other.fetchall, lambda: other.execute(BY_CLINIC)):
        with pytest.raises(dbapi.InterfaceError, match="cursor is closed"):
            use()
    connection.close()
    connection.close()
    assert len(cursor.fetchall()) == 4, "what was answered before can still be read"
    for name in ("cursor", "commit", "rollback", "catalog"):
        with pytest.raises(dbapi.InterfaceError, match="connection is closed"):
            getattr(connection, name)()
    with pytest.raises(dbapi.InterfaceError, match="connection is closed"):
        cursor.execute(BY_CLINIC)


def test_threads_may_share_a_connection(folder):
    """As ``threadsafety`` says. Equal questions are paid for once, whoever asks first."""
    assert dbapi.threadsafety == 2
    ages = [age for age in range(4) for _ in range(4)]
    with dbapi.connect(folder, epsilon=1) as connection, ThreadPoolExecutor(8) as pool:

        def ask(age: int):
            sql = "SELECT COUNT(*) AS n FROM visits WHERE age > ?"
            return age, connection.cursor().execute(sql, [age]).fetchall()

        answers = set(map(str, pool.map(ask, ages)))
    assert len(answers) == 4
    assert spent(folder) == Pure(4)


def test_a_connection_is_told_of_its_own_arguments(folder):
    with dbapi.connect(folder, epsilon=1) as connection:
        cursor: Any = connection.cursor().execute("SELECT COUNT(*) AS n FROM visits")
        notes = " ".join(str(note) for _, note in cursor.messages)
        assert "give other limits in the OPTIONS of a query, as rows_per_group" in notes
        assert "limits = auto" not in notes
    with dbapi.connect(folder, accuracy=50) as connection:
        with pytest.raises(dbapi.NotSupportedError) as caught:
            connection.cursor().execute("SELECT MEDIAN(age) AS m FROM visits")
        told = "That is connect(..., epsilon=0.1), or ?epsilon=0.1 in a URL."
        assert str(caught.value).endswith(told)
        with pytest.raises(dbapi.ProgrammingError, match=r"\^$"):
            connection.cursor().execute("SELECT COUNT(*) FORM visits")


def test_a_missing_delta_is_no_missing_price(folder):
    text = (folder / "discreet.toml").read_text()
    declared = text.replace("epsilon = 100", "epsilon = 100, delta = 1e-6")
    (folder / "discreet.toml").write_text(declared)
    with (
        dbapi.connect(folder, epsilon=1) as connection,
        pytest.raises(dbapi.ProgrammingError) as caught,
    ):
        connection.cursor().execute("SELECT note, COUNT(*) AS n FROM visits GROUP BY note")
    assert "connect(..., delta=1e-9), or ?delta=1e-9" in str(caught.value)
    assert "epsilon=" not in str(caught.value)
