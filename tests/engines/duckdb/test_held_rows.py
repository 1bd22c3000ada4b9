"""A table that several plans read is read once, and each of them finds what it would find."""

import tempfile
import threading

import pytest

from discreet.core.errors import AnswerFailed
from discreet.core.loss import Approximate
from discreet.core.permit import Permit
from discreet.curator.batch import answer_batch
from discreet.curator.profile.profile import profile, profile_plans
from discreet.engines.duckdb.engine import DuckDbEngine
from discreet.engines.duckdb.sources.open_source import open_source
from discreet.project.terms import Terms
from discreet.tables.catalog import Table
from tests.support.projects.clinic import make_curator, visit, write_project, write_rows
from tests.support.projects.gate import open_permit
from tests.support.projects.memory import reveal
from tests.support.projects.plan import plan_of

HOSTILE = ['"a ""quoted"" clinic"', "x" * 5000, "", "ä\x00ö", "1e400"]
ROWS = [
    *(visit(name, "abcd"[i % 4]) for name in ("anna", "ben", "cleo") for i in range(7)),
    *(visit(name, "a") for name in HOSTILE),
]

QUESTIONS = (
    "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic",
    "SELECT COUNT(*) FROM visits WHERE cost > 20",
    "SELECT SUM(CLAMP(cost, 0, 100)), AVG(CLAMP(cost, 0, 100)) FROM visits",
    "SELECT COUNT(*) FROM visits AS a JOIN visits AS b ON a.person = b.person",
)


class Reader:
    """Opens sources, and counts how often one is read from its first row."""

    def __init__(self) -> None:
        self.begun: list[str] = []

    def __call__(self, table, used, name):
        opened = open_source(table, used, name)
        for batches in opened.batches.values():
            self._watch(table.name, batches)
        return opened

    def _watch(self, table, batches):
        begin = batches.begin

        def noted():
            self.begun.append(table)
            return begin()

        object.__setattr__(batches, "begin", noted)


@pytest.fixture
def folder(tmp_path):
    return write_project(tmp_path, ROWS, epsilon="1000, delta = 1e-3")


@pytest.fixture
def reader():
    return Reader()


@pytest.fixture
def curator(folder, rng, reader):
    return make_curator(folder, rng, engine=DuckDbEngine(reader=reader))


def visits_of(project) -> Table:
    table = project.catalog.table("visits")
    assert isinstance(table, Table)
    return table


def test_a_profile_reads_its_table_once(curator, reader):
    assert len(profile_plans(visits_of(curator), None, ("cost",))) > 2
    profile(curator, "visits", terms=Terms(epsilon=1), values=("cost",), analyst="owner")
    assert reader.begun == ["visits"]


def test_a_batch_reads_each_of_its_tables_once(curator, reader):
    target = Approximate(1, "1e-6")
    answer_batch(curator, QUESTIONS[:3], target=target, analyst="a")
    assert reader.begun == ["visits"]


def test_each_plan_finds_what_it_would_find_in_the_source(curator, reader):
    engine = curator.engine
    plans = [plan_of(sql, curator.catalog, engine) for sql in QUESTIONS]
    plans = [*plans, *profile_plans(visits_of(curator), None, ("cost",))]
    one_by_one = [reveal(engine, plan) for plan in plans]
    # Two plans more are joined with themselves: each of them reads it twice.
    assert len(reader.begun) == sum(len(plan.scans()) for plan in plans)
    reader.begun.clear()
    with engine.reading_once(plans, open_permit()):
        together = [reveal(engine, plan) for plan in plans]
    assert reader.begun == ["visits"]
    for alone, held in zip(one_by_one, together, strict=True):
        assert alone.keys == held.keys
        assert [list(column) for column in alone.columns] == [list(one) for one in held.columns]
    # Afterwards nothing is held.
    reveal(engine, plans[0])
    assert reader.begun == ["visits"] * 2


def test_what_several_plans_find_is_of_one_moment(curator, folder):
    """A file that is written meanwhile makes no difference between two plans of a passage."""
    engine = curator.engine
    plan = plan_of("SELECT COUNT(*) FROM visits", curator.catalog, engine)
    with engine.reading_once([plan, plan], open_permit()):
        before = reveal(engine, plan)
        write_rows(folder, ROWS[:3])
        assert list(reveal(engine, plan).columns[0]) == list(before.columns[0])
    assert list(reveal(engine, plan).columns[0]) != list(before.columns[0])


def test_without_room_for_them_rows_are_read_again(curator, reader, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    profile(curator, "visits", terms=Terms(epsilon=1), analyst="owner")
    assert len(reader.begun) == len(profile_plans(visits_of(curator)))


def test_only_a_permit_lets_rows_be_held(curator, reader):
    plan = plan_of(QUESTIONS[0], curator.catalog, curator.engine)
    with pytest.raises(AnswerFailed), curator.engine.reading_once([plan] * 2, Permit()):
        pass
    assert reader.begun == []


def test_holding_rows_ends_when_nobody_waits_for_them(curator, reader):
    engine = curator.engine
    plan = plan_of(QUESTIONS[0], curator.catalog, engine)
    engine.interrupt(threading.current_thread())
    with pytest.raises(AnswerFailed), engine.reading_once([plan] * 2, open_permit()):
        pass
    assert reader.begun == ["visits"]
