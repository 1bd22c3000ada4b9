"""Mutants of DuckDB's SQL: each breaks one rule that keeps answers private, and is seen.

What a plan says is broken in the contract of engines (``lowered_mutants``). Here the plan is right,
and the SQL does not do what it says; or what is claimed of the plan is wrong.
"""

from itertools import islice
from typing import Any

import pytest

from discreet.core.errors import Unsupported
from discreet.engines.duckdb import engine as engine_module
from discreet.engines.duckdb.sources.opened import Opened
from discreet.tables.lowered import lower as lowering
from discreet.tables.plans.plan import BoundedPlan
from tests.support.projects.duckdb_mutants import CLAIMS, MUTANTS
from tests.support.projects.memory import MemoryEngine
from tests.support.projects.neighbours_replay import first_caught, fitting, fitting_plans, replay


@pytest.fixture(scope="module")
def engine():
    engine = MemoryEngine()
    yield engine
    engine.close()


def rendered(plan: BoundedPlan) -> str:
    """Return the SQL of a plan, as the engine now writes it."""
    sources = [
        Opened(relation=f"source{i}", cells={c.name: c.name for c in scan.table.columns})
        for i, scan in enumerate(plan.scans())
    ]
    now: Any = vars(engine_module)
    return str(now["query"](now["lower"](plan), sources))


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.rule)
def test_the_replay_catches_a_broken_rule_and_not_the_rule(engine, monkeypatch, mutant):
    """What catches a mutant is the mutant: the same plans and people, unbroken, are not accused."""
    plans = fitting_plans(mutant)
    right = [rendered(plan) for plan in plans]
    with monkeypatch.context() as broken:
        mutant.apply(broken)
        assert right != [rendered(plan) for plan in plans]
        caught = first_caught(engine, mutant)
    assert caught is not None, f"'{mutant.rule}' went unseen"
    number, cases = caught
    unbroken = replay(engine, number, fitting(mutant), kinds=mutant.kinds)
    assert len(list(islice(unbroken, cases))) == cases


@pytest.mark.parametrize("mutant", CLAIMS, ids=lambda mutant: mutant.rule)
def test_a_false_claim_is_refused_by_the_proof_and_seen_by_the_replay(engine, monkeypatch, mutant):
    plans = fitting_plans(mutant)
    right = [plan.contributions() for plan in plans]
    with monkeypatch.context() as broken:
        mutant.apply(broken)
        false = [
            plan for plan, claim in zip(plans, right, strict=True) if plan.contributions() != claim
        ]
        assert false
        for plan in false:
            with pytest.raises(Unsupported, match="has no proof"):
                lowering.lower(plan)
        broken.setattr(lowering, "require_claim", lambda *_: None)
        assert first_caught(engine, mutant) is not None
