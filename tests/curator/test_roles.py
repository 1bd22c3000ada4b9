"""Separate objects for separate roles: an analyst has no way to what only the owner does."""

import inspect
from typing import Any

import pytest

import discreet
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Approximate
from discreet.ledger.chain import Kind
from discreet.ledger.ledger import Ledger
from discreet.roles.connection import LONGEST_NAME, Connection, connect
from discreet.roles.owner import Owner, own
from tests.support.projects.clinic import visit, write_project

ROWS = [visit(f"p{i}", "abcd"[i % 4], age=i % 90) for i in range(40)]
ONE = "SELECT COUNT(*) AS n FROM visits"
COUNTS = "SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic"


@pytest.fixture
def folder(tmp_path):
    return write_project(tmp_path, ROWS, epsilon="10, delta = 1e-3")


def test_an_analyst_gets_nothing_that_writes_but_questions(folder):
    """Nothing that is public on a connection is a ledger, an engine or randomness, or gives one."""
    with connect(folder) as connection:
        names = [name for name in dir(connection) if not name.startswith("_")]
        assert set(names) == {
            *("sql", "explain", "rehearse", "batch", "budget", "catalog", "tables"),
            *("public_tables", "history", "verify", "releases", "profile", "close"),
            *("synthesise", "explain_synthesis", "rehearse_synthesis", "judge"),
            *("publish", "explain_publishing", "open_queries", "explain_open_queries"),
            *("synthesise_related", "explain_related", "rehearse_related"),
            *("holdout", "explain_holdout"),
        }
        given = [connection.budget(), connection.catalog(), connection.history()]
        assert not any(isinstance(one, Ledger) for one in given)
        hints = {inspect.signature(getattr(Connection, name)).return_annotation for name in names}
        assert Ledger not in hints


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("", "empty text"),
        (7, "got int"),
        ("a\udcff", "no lone surrogates"),
        ("a" * (LONGEST_NAME + 1), f"at most {LONGEST_NAME} characters; got 201"),
    ],
)
def test_a_name_that_no_charge_could_keep_is_refused_beforehand(folder, name, told: str):
    """One that is no text could not be written down, and a long one is kept with every charge."""
    with pytest.raises(InvalidArgument, match=told):
        connect(folder, analyst=name)
    with connect(folder, epsilon=1, analyst="a" * LONGEST_NAME) as connection:
        connection.sql(ONE)
        assert max(map(len, str(connection.history()).splitlines())) < 200


def test_the_owner_looks_after_data_and_ledger(folder):
    with own(folder) as owner:
        owner.check()
        with owner.connect(analyst="ann", epsilon=1) as connection:
            release = connection.sql(ONE)
            assert connection.sql(ONE).is_stored
            assert owner.data_changed("people") == 2
            assert not connection.sql(ONE).is_stored
            assert connection.verify(release.receipt).sequence == len(connection.history())
        assert owner.resume("people") == 0
        assert [entry.kind for entry in owner.ledger().entries()][-1] is Kind.RESUME
        assert owner.catalog().id_spaces[0].name == "people"
        for act in (owner.resume, owner.data_changed):
            with pytest.raises(InvalidArgument, match="no such id space"):
                act("nobody")


def test_both_are_at_the_root():
    assert discreet.own is own
    assert discreet.connect is connect
    assert discreet.Owner is Owner


@pytest.mark.parametrize("name", ["sql", "explain", "rehearse", "batch"])
def test_a_typo_names_the_function_that_was_called(folder, name):
    with (
        connect(folder) as connection,
        pytest.raises(TypeError, match=rf"Connection\.{name}\(\).*'epsilonn'"),
    ):
        getattr(connection, name)(ONE, epsilonn=1)


def test_what_is_given_by_mistake_is_said(folder):
    wrong: Any = "x"
    with own(folder) as owner, owner.connect() as connection:
        assert connection.history(last=0) == ()
        for act in (
            lambda: connection.history(last=-1),
            lambda: connection.history(last=wrong),
            lambda: connection.verify(wrong),
            lambda: connection.batch(ONE, epsilon=1, delta="1e-6"),
            lambda: owner.resume(None),  # type: ignore[arg-type]
            lambda: owner.data_changed(["people"]),  # type: ignore[arg-type]
        ):
            with pytest.raises(InvalidArgument):
                act()
        assert connection.budget()[0].spent == Approximate(0, 0)


def test_a_batch_takes_limits_and_is_fresh_as_an_answer_is(folder):
    with connect(folder) as connection:
        terms: dict[str, Any] = {"epsilon": 1, "delta": "1e-6"}
        usual = connection.batch([ONE, COUNTS], **terms)
        narrow = connection.batch([ONE, COUNTS], **terms, rows_per_group=1, groups_per_unit=1)
        assert [release.body.limits.rows_per_group for release in narrow] == [1, 1]
        assert float(narrow[1].error("n")) < float(usual[1].error("n"))
        before = connection.budget()[0].spent
        assert all(one.is_stored for one in connection.batch([ONE, COUNTS], **terms))
        assert connection.budget()[0].spent == before
        again = connection.batch([ONE, COUNTS], **terms, fresh=True)
        assert not any(one.is_stored for one in again)
        assert before + Approximate("0.9", 0) <= connection.budget()[0].spent


@pytest.mark.parametrize("verb", ["sql", "explain", "rehearse", "batch"])
def test_a_closed_connection_asks_nothing_more(folder, verb):
    connection = connect(folder, epsilon=1)
    connection.close()
    arguments: Any = {"epsilon": 1, "delta": "1e-6"} if verb == "batch" else {}
    with pytest.raises(InvalidArgument, match="closed"):
        getattr(connection, verb)([ONE] if verb == "batch" else ONE, **arguments)
    with connect(folder) as other:
        assert other.budget()[0].spent == Approximate(0, 0)
