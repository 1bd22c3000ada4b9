"""Without an open permit of the gate no engine reads a row."""

import pytest

from discreet.core.errors import AnswerFailed
from discreet.core.permit import Permit
from discreet.engines.duckdb.engine import DuckDbEngine
from discreet.ledger.gate import pass_gate
from discreet.tables.declarations.declaration import read_catalog
from tests.ledger.orders import order
from tests.support.projects.clinic import make_plan, visit, write_project
from tests.support.projects.memory import SALT

SQL = "SELECT COUNT(*) FROM visits"


def test_an_engine_runs_with_an_open_permit_only(tmp_path, monkeypatch):
    catalog = read_catalog(write_project(tmp_path, [visit("p")]))
    plan, engine, permit = make_plan(catalog, SQL), DuckDbEngine(), Permit()
    with pytest.raises(AnswerFailed):
        engine.execute(plan, SALT, permit)
    permit.open()
    engine.execute(plan, SALT, permit)
    permit.end()
    monkeypatch.setattr(engine, "_databases", None)  # nothing is even lent
    with pytest.raises(AnswerFailed):
        engine.execute(plan, SALT, permit)


def test_the_gate_opens_a_permit_for_its_work_alone(ledger):
    kept: list[Permit] = []

    def work(permit: Permit) -> dict[str, object]:
        permit.require_open()
        kept.append(permit)
        return {"rows": []}

    pass_gate(ledger, order(), work)
    with pytest.raises(AnswerFailed):
        kept[0].require_open()
    assert len(kept) == 1
