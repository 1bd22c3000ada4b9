"""One database for each plan: a failure is seen by nobody else, and memory has a limit."""

import threading
from typing import Any

import duckdb
import pytest

from discreet.core.errors import RefusedQuery
from discreet.engines.duckdb import engine as engine_module
from discreet.engines.duckdb.databases import MOST_IDLE, STAYING, Databases
from discreet.engines.duckdb.engine import DuckDbEngine
from discreet.engines.duckdb.render.rows import query
from discreet.tables.lowered.lower import lower
from discreet.tables.lowered.plan import LoweredPlan
from discreet.tables.plans.plan import BoundedPlan
from tests.support.projects.memory import MemoryEngine, reveal
from tests.support.projects.plan import plan_of
from tests.support.projects.small import CROWD

SQL = "SELECT clinic, COUNT(*), SUM(cost) FROM visits GROUP BY clinic"

POISON = "SELECT TRY_CAST(make_timestamp(-9223372036854775807) AS VARCHAR)"
"""An *internal* error of DuckDB, which invalidates the database that it happens in."""


@pytest.fixture
def databases():
    databases = Databases()
    yield databases
    databases.close()


def test_a_database_is_lent_to_one_at_a_time_and_kept(databases):
    with databases.lent() as first, databases.lent() as second:
        first.execute("CREATE TABLE mine (x INTEGER)")
        with pytest.raises(duckdb.CatalogException):
            second.execute("SELECT * FROM mine")
    assert len(databases._idle) == 2


def test_every_optimizer_is_known_to_stay_or_is_off(databases):
    """Also in a later version of the engine: what nobody looked at is switched off."""
    with databases.lent() as cursor:
        known = {name for (name,) in cursor.sql("SELECT name FROM duckdb_optimizers()").fetchall()}
        ((off,),) = cursor.sql("SELECT current_setting('disabled_optimizers')").fetchall()
    assert known >= STAYING
    assert set(off.split(",")) == known - STAYING
    moving = {"filter_pushdown", "join_order", "join_filter_pushdown", "build_side_probe_side"}
    assert moving <= known - STAYING


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, duckdb.Error])
def test_a_database_is_thrown_away_after_any_error(databases, error):
    with pytest.raises(error), databases.lent():
        raise error
    assert databases._idle == []


def test_no_more_wait_than_are_of_use(databases):
    lent = [databases.lent() for _ in range(MOST_IDLE + 2)]
    for one in lent:
        one.__enter__()
    for one in lent:
        one.__exit__(None, None, None)
    assert len(databases._idle) == MOST_IDLE


def test_memory_has_a_limit(databases):
    with databases.lent() as database:
        limit = _memory_limit(database)
    with duckdb.connect() as usual:
        assert limit < _memory_limit(usual) / 2


def _memory_limit(database: Any) -> float:
    text = database.execute("SELECT current_setting('memory_limit')").fetchone()[0]
    number, unit = text.split()
    return float(number) * 1024 ** ["bytes", "KiB", "MiB", "GiB", "TiB"].index(unit)


def test_a_poisoned_database_is_seen_by_no_other_plan(monkeypatch):
    """The engine of version 1 had one database, and an internal error in it ended every plan."""
    engine = MemoryEngine(CROWD.arrow())
    plan = plan_of(SQL, CROWD.catalog, engine)
    before = counted(engine, plan)
    running, stopped = threading.Event(), threading.Event()
    found: list[list[list[int]]] = []

    def slowly(plan: LoweredPlan, sources: Any) -> str:
        running.set()
        assert stopped.wait(30)
        return query(plan, sources)

    def other() -> None:
        found.append(counted(engine, plan))

    monkeypatch.setattr(engine_module, "query", slowly)
    thread = threading.Thread(target=other)
    thread.start()
    assert running.wait(30)
    with pytest.raises(duckdb.Error):
        poison(engine)
    stopped.set()
    thread.join(30)
    assert found == [before]
    assert counted(engine, plan) == before
    engine.close()


def counted(engine: DuckDbEngine, plan: BoundedPlan) -> list[list[int]]:
    columns: Any = reveal(engine, plan).columns
    return [column.tolist() for column in columns]


def poison(engine: DuckDbEngine) -> None:
    with engine._databases.lent() as database:
        with pytest.raises(duckdb.InternalException):
            database.execute(POISON).fetchall()
        database.execute("SELECT 1").fetchall()


def test_a_plan_that_fails_on_empty_tables_is_refused(monkeypatch):
    engine = MemoryEngine(CROWD.arrow())
    plan = plan_of(SQL, CROWD.catalog, engine)
    engine.require_runnable(plan)

    def broken(plan: LoweredPlan, sources: Any) -> str:
        return f"SELECT no_such_function(1), * FROM ({query(plan, sources)})"

    monkeypatch.setattr(engine_module, "query", broken)
    with pytest.raises(RefusedQuery, match="cannot run"):
        engine.require_runnable(plan)
    engine.close()


def test_a_plan_that_never_ends_on_empty_tables_is_refused(monkeypatch):
    engine = MemoryEngine(CROWD.arrow())
    plan = plan_of(SQL, CROWD.catalog, engine)
    endless = "SELECT count($salt) FROM range(1_000_000_000_000)"
    monkeypatch.setattr(engine_module, "query", lambda *_: endless)
    monkeypatch.setattr(engine_module, "LONGEST_PUBLIC", 0.1)
    with pytest.raises(RefusedQuery, match="in time"):
        engine.require_runnable(plan)
    engine.close()


def test_the_try_reads_nothing(monkeypatch):
    """No source is opened for it: it cannot tell anything of the data."""
    engine = MemoryEngine(CROWD.arrow())
    plan = plan_of(SQL, CROWD.catalog, engine)
    monkeypatch.setattr(engine, "_reader", None)
    engine.tables = {}
    engine.require_runnable(plan)
    engine.close()


def test_a_plan_is_tried_once(monkeypatch):
    engine = MemoryEngine(CROWD.arrow())
    first, second = (
        plan_of(sql, CROWD.catalog, engine) for sql in (SQL, SQL.replace("SUM", "AVG"))
    )
    engine.require_runnable(first)
    tried: list[BoundedPlan] = []
    own = engine_module._register_keys

    def noted(cursor: Any, plan: BoundedPlan, **options: bool) -> None:
        tried.append(plan)
        own(cursor, plan, **options)

    monkeypatch.setattr(engine_module, "_register_keys", noted)
    engine.require_runnable(first)
    assert not tried
    engine.require_runnable(second)
    assert tried == [second]
    engine.close()


@pytest.mark.parametrize("sql", [SQL, "SELECT COUNT(*) FROM visits"])
def test_what_was_tried_is_run_and_is_made_once(monkeypatch, sql):
    engine = MemoryEngine(CROWD.arrow())
    plan = plan_of(sql, CROWD.catalog, engine)
    made: list[LoweredPlan] = []

    def noted(plan: BoundedPlan) -> LoweredPlan:
        made.append(lower(plan))
        return made[-1]

    run: list[LoweredPlan] = []

    def rendered(plan: LoweredPlan, sources: Any) -> str:
        run.append(plan)
        return query(plan, sources)

    monkeypatch.setattr(engine_module, "lower", noted)
    monkeypatch.setattr(engine_module, "query", rendered)
    engine.require_runnable(plan)
    first = counted(engine, plan)
    assert len(made) == 1
    assert run == [made[0], made[0]]
    assert not engine._lowered  # a plan holds its keys, which may be many
    assert counted(engine, plan) == first
    assert len(made) == 2
    engine.close()


def test_few_plans_wait_to_be_run():
    engine = MemoryEngine(CROWD.arrow())
    for _ in range(engine_module.MOST_LOWERED + 1):
        engine.require_runnable(plan_of(SQL, CROWD.catalog, engine))
    assert len(engine._lowered) == 1
    engine.close()


def test_a_plan_that_has_just_ended_can_be_interrupted():
    """Its cursor is closed, and it may not be known yet that the thread runs nothing."""
    engine, thread = DuckDbEngine(), threading.Thread()
    with engine._databases.lent() as cursor:
        engine._running[thread] = cursor
    engine.interrupt(thread)
    engine.close()
