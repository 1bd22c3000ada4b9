"""Broken plans: the proof refuses each, and the replay of neighbours sees it in every engine.

The plans are trees that no query could ask for: their joins name no unit, so that a plan that
forgets the owner is not saved by the query.
"""

from itertools import islice

import pytest

from discreet.core.errors import Unsupported
from discreet.tables.lowered.lower import lower
from discreet.tables.lowered.prove import contributions
from tests.support.projects.lowered_mutants import MUTANTS
from tests.support.projects.neighbours_replay import first_caught, fitting, fitting_plans, replay


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.rule)
def test_the_proof_refuses_a_broken_plan(mutant):
    """Either there is no bound, or another than the one that is paid for."""
    changed = 0
    for plan in fitting_plans(mutant, 40):
        right = lower(plan)
        broken = mutant.broken(right)
        if broken == right:
            continue
        changed += 1
        try:
            proved = contributions(broken)
        except Unsupported:
            continue
        assert proved != contributions(right)
    assert changed > 10


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.rule)
def test_the_replay_catches_a_broken_plan_and_not_the_plan(under_test, engine, monkeypatch, mutant):
    """What catches a mutant is the mutant: the same plans and people, unbroken, are not accused."""
    with monkeypatch.context() as patch:
        under_test.hand(patch, mutant.broken)
        caught = first_caught(engine, mutant)
    assert caught is not None, f"'{mutant.rule}' went unseen"
    number, cases = caught
    unbroken = replay(engine, number, fitting(mutant), kinds=mutant.kinds)
    assert len(list(islice(unbroken, cases))) == cases
