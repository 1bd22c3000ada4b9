"""A whole query under replay: the curator's own stages, with its mechanisms watched."""

from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from discreet.audit.finding import AuditedFunction, FindingKind, replay_audit
from discreet.audit.recorder import Recorder
from discreet.core.contribution import Contribution
from discreet.core.loss import Pure
from discreet.curator.price.allocate import allocate
from discreet.curator.price.price import price
from discreet.curator.publishing.publish import publish
from discreet.curator.publishing.randomise import randomise
from discreet.engines.duckdb.engine import DuckDbEngine
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.tables.declarations.declaration import read_catalog
from tests.support.house.narrow import of_kind
from tests.support.projects.bounded_plans import equal_weights
from tests.support.projects.clinic import make_plan, visit, write_project
from tests.support.projects.gate import open_permit
from tests.support.projects.memory import SALT
from tests.support.statistics.numbered_rng import NumberedRng

SQL = "SELECT clinic, COUNT(*), SUM(age) FROM visits GROUP BY clinic"
CROWD = [visit(f"p{i}", "ab"[i % 2], age=i) for i in range(20)]
ONE_MORE = [visit("new", clinic, age=10**6) for clinic in "abcd" for _ in range(5)]


def query(*, declared: Contribution | None = None) -> AuditedFunction:
    """The query as a function of its folder, with the contributions that the plan declares."""

    def run(folder: Path, recorder: Recorder) -> Any:
        plan = make_plan(read_catalog(folder), SQL)
        priced = price(plan, allocate(plan, equal_weights(plan), Pure(1)), Pure(10))
        contributions = plan.contributions()
        watched: Any = tuple(
            recorder.watch(of_kind(DiscreteLaplace, mechanism), d_in=declared or d_in)
            for mechanism, d_in in zip(priced.mechanisms, contributions, strict=True)
        )
        exact = DuckDbEngine().execute(plan, SALT, open_permit())
        answers = tuple(
            evolve(answer, mechanism=mechanism)
            for answer, mechanism in zip(priced.answers, watched, strict=True)
        )
        noisy = randomise(exact, evolve(priced, answers=answers), recorder.rng)
        return publish(noisy, priced).to_json()

    return run


@pytest.fixture
def neighbours(tmp_path) -> tuple[Path, Path]:
    return (
        write_project(tmp_path / "without", CROWD),
        write_project(tmp_path / "with", CROWD + ONE_MORE),
    )


def test_a_query_replays(neighbours):
    without, within = neighbours
    assert replay_audit(query(), without, within, NumberedRng(1)) == ()


def test_a_query_that_declares_too_little_is_caught(neighbours):
    without, within = neighbours
    too_little = query(declared=Contribution(l0=1, linf=1))
    findings = replay_audit(too_little, without, within, NumberedRng(1))
    assert {finding.kind for finding in findings} == {FindingKind.CONTRIBUTION}
    assert {finding.call for finding in findings} == {0, 1}
