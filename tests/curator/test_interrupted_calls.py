"""Ctrl-C in Python, wherever it comes in a call that may charge: the words say what was charged."""

import threading

import pytest

from discreet.core.interrupts import Interrupted
from discreet.core.loss import Pure
from discreet.curator import answer as answering
from discreet.curator.answer import answer
from discreet.ledger.under_way import is_interruptible, last_charge
from discreet.roles.connection import Connection, connect
from discreet.roles.owner import Owner
from discreet.synthesis import synthesise
from tests.support.projects.clinic import visit, write_project

ROWS = [visit(f"p{i}", "abcd"[i % 4], age=i % 90) for i in range(40)]
ONE = "SELECT COUNT(*) AS n FROM visits"


@pytest.fixture
def connection(tmp_path):
    with connect(write_project(tmp_path, ROWS, epsilon="10"), epsilon="1/2") as opened:
        yield opened


def pressed(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def pressed_after(call):
    def do(*arguments, **named):
        call(*arguments, **named)
        raise KeyboardInterrupt

    return do


def test_before_the_charge_nothing_was_spent(connection, monkeypatch):
    connection.sql(ONE, epsilon=1)  # an earlier charge is not this one
    monkeypatch.setattr(answering, "answer", pressed)
    with pytest.raises(Interrupted, match=r"before the charge\. Nothing was spent") as caught:
        connection.sql(ONE)
    assert caught.value.spent == ""
    assert caught.value.__cause__ is None


def test_after_the_charge_it_is_said_what_was_charged(connection, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(answering, "answer", pressed_after(answer))
        with pytest.raises(Interrupted, match=r"ε = 0\.5 of 'people' is spent"):
            connection.sql(ONE)
    assert connection.sql(ONE).is_stored
    # What is given again is paid for by then.
    monkeypatch.setattr(answering, "answer", pressed_after(answer))
    with pytest.raises(Interrupted, match="Nothing was spent"):
        connection.sql(ONE)


def test_what_another_thread_is_charged_for_is_not_said_of_this_one(connection, monkeypatch):
    def beside(*_: object, **__: object) -> None:
        other = threading.Thread(target=answered)
        other.start()
        other.join()
        raise KeyboardInterrupt

    def answered() -> None:
        assert not is_interruptible()
        answer(connection._opened(), ONE, terms=Pure(1), analyst="other")

    before = last_charge()
    monkeypatch.setattr(answering, "answer", beside)
    with pytest.raises(Interrupted, match="Nothing was spent"):
        connection.sql(ONE)
    assert last_charge() == before


def test_synthetic_rows_too(connection, monkeypatch):
    monkeypatch.setattr(synthesise, "synthesise", pressed)
    with pytest.raises(Interrupted, match="Nothing was spent"):
        connection.synthesise("visits")


@pytest.mark.parametrize(
    "method",
    [
        *(Connection.sql, Connection.batch, Connection.publish, Connection.open_queries),
        *(Connection.synthesise, Connection.synthesise_related, Connection.judge),
        *(Connection.holdout, Owner.profile, Owner.publish_exact),
    ],
)
def test_whatever_may_charge_tells(method):
    assert method.__wrapped__.__code__ is not method.__code__
