"""Sampling audits of real queries: SQL in, release out, on neighbouring tables.

One answer holds many experiments: each key has people of its own, and its noise is fresh, so each
cell is one run on a small table and its neighbour. The right path must never be accused (at the
stated rate); a twin with too little noise, or too low a threshold, must be.
"""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from discreet.audit.sampling import AuditResult, audit_outputs
from discreet.core.loss import Approximate, PrivacyLoss, Pure
from discreet.curator.answer import answer
from discreet.curator.publishing import publish as publish_module
from discreet.curator.publishing.randomise import randomise
from discreet.project.open_ledger import open_ledger
from discreet.project.project import Project
from discreet.releases.release import Release
from discreet.tables.catalog import Catalog
from tests.support.projects.memory import MemoryEngine
from tests.support.projects.small import patient, small_catalog, small_world, visit
from tests.support.projects.world import Row
from tests.support.statistics.exact_tests import alpha

EPSILON = Pure(1)
CELLS = 20_000
FEW_CELLS = 10_000
MANY_CELLS = 40_000


def catalog_of(cells: int) -> Catalog:
    """Return declarations in which each of so many clinics is a public key."""
    catalog = small_catalog(rows_per_group=1, groups_per_unit=1)
    patients, visits = catalog.tables
    keys = tuple(f"k{i}" for i in range(cells))
    columns = tuple(
        evolve(column, keys=keys) if column.name == "clinic" else column
        for column in visits.columns
    )
    (space,) = catalog.id_spaces
    return evolve(
        catalog,
        id_spaces=(evolve(space, cap=Approximate(100, "0.5")),),
        tables=(patients, evolve(visits, columns=columns)),
    )


def ask(
    folder: Path,
    rng: Any,
    sql: str,
    *,
    cells: int,
    patients: list[Row] | None = None,
    visits: list[Row] | None = None,
    terms: PrivacyLoss = EPSILON,
) -> Release:
    """Return the release of a query over a project with these rows."""
    world = small_world(patients or [], visits or [], catalog_of(cells))
    engine = MemoryEngine(world.arrow())
    catalog = evolve(world.catalog, ledger=folder / "ledger")
    curator = Project(catalog=catalog, engine=engine, ledger=open_ledger(catalog), rng=rng)
    try:
        return answer(curator, sql, terms=terms, analyst="a")
    finally:
        engine.close()


def one_each(cells: int, **values: Any) -> list[Row]:
    """Return one visit of one person to each clinic."""
    return [visit(f"p{i}", f"k{i}", **values) for i in range(cells)]


def audited(first: Any, second: Any, failure: float, **more: Any) -> AuditResult:
    return audit_outputs(first, second, confidence=1 - Fraction(failure), **more)


def with_scale(monkeypatch: pytest.MonkeyPatch, divisor: int) -> None:
    """Draw noise that is so many times too small, while its event tells the usual story."""

    def quiet(exact, priced, rng):
        quieter = (evolve(m, scale=m.scale / divisor) for m in priced.mechanisms)
        pairs = zip(priced.answers, quieter, strict=True)
        answers = tuple(evolve(answer, mechanism=noise) for answer, noise in pairs)
        return randomise(exact, evolve(priced, answers=answers), rng)

    monkeypatch.setattr(publish_module, "randomise", quiet)


# ---- A count over a join of two private tables.

JOINED = (
    "SELECT v.clinic, COUNT(*) AS n FROM visits AS v JOIN patients AS p ON v.person = p.person "
    "GROUP BY v.clinic"
)


def joined_counts(folder: Path, rng: Any, *, is_there: bool) -> list[Any]:
    """Return the count of each clinic, whose one visitor is a patient or is not."""
    patients = [patient(f"p{i}") for i in range(CELLS)] if is_there else []
    visits = one_each(CELLS) if is_there else []
    release = ask(folder, rng, JOINED, cells=CELLS, patients=patients, visits=visits)
    return [row[1] for row in release.rows]


def counts_audit(folder: Path, rng: Any, failure: float) -> AuditResult:
    without = joined_counts(folder / "without", rng, is_there=False)
    return audited(without, joined_counts(folder / "with", rng, is_there=True), failure)


def test_a_count_over_a_join_is_not_accused_and_comes_close(tmp_path, rng):
    result = counts_audit(tmp_path, rng, alpha("query_audits/join"))
    assert not result.refutes(EPSILON), str(result)
    assert result.refutes(Pure("0.8")), str(result)


def test_a_count_over_a_join_with_half_the_noise_is_accused(tmp_path, rng, monkeypatch):
    with_scale(monkeypatch, 2)
    assert counts_audit(tmp_path, rng, alpha("query_audits/join_half")).refutes(EPSILON)


# ---- A mean: two noisy numbers, one budget.

MEAN = "SELECT clinic, AVG(cost) AS mean FROM visits GROUP BY clinic"


def mean_evidence(folder: Path, rng: Any, *, is_there: bool) -> list[int]:
    """Return how many of the numbers behind each mean speak for the person, who is at the clamp."""
    visits = one_each(CELLS, cost=1e300) if is_there else []
    release = ask(folder, rng, MEAN, cells=CELLS, visits=visits)
    found = [0] * CELLS
    for part in release.body.aggregates:
        # A person at the upper clamp adds 1 to the count, and 20 steps to the centred sum.
        least = 1 if part.kind.startswith("count") else 20
        found = [
            so_far + (value >= least) for so_far, value in zip(found, part.values, strict=True)
        ]
    return found


def mean_audit(folder: Path, rng: Any, failure: float) -> AuditResult:
    without = mean_evidence(folder / "without", rng, is_there=False)
    return audited(without, mean_evidence(folder / "with", rng, is_there=True), failure)


def test_a_mean_is_not_accused_and_comes_close(tmp_path, rng):
    result = mean_audit(tmp_path, rng, alpha("query_audits/mean"))
    assert not result.refutes(EPSILON), str(result)
    assert result.refutes(Pure("0.7")), str(result)


def test_a_mean_with_half_the_noise_is_accused(tmp_path, rng, monkeypatch):
    with_scale(monkeypatch, 2)
    assert mean_audit(tmp_path, rng, alpha("query_audits/mean_half")).refutes(EPSILON)


# ---- Private keys: does a key that one person alone has appear?

BY_KEY = "SELECT diagnosis, COUNT(DISTINCT person) AS n FROM visits GROUP BY diagnosis"
KEYS_LOSS = Approximate(1, "0.02")


def keys_audit(folder: Path, rng: Any, failure: float) -> tuple[AuditResult, PrivacyLoss]:
    """Audit whether a key is shown (one that nobody has never is), against what it cost."""
    visits = [visit(f"p{i}", "k0", diagnosis=f"d{i}") for i in range(MANY_CELLS)]
    release = ask(folder, rng, BY_KEY, cells=1, visits=visits, terms=KEYS_LOSS)
    cost = release.cost
    assert isinstance(cost, Approximate)
    shown = {row[0] for row in release.rows}
    with_one = [f"d{i}" in shown for i in range(MANY_CELLS)]
    return audited([False] * MANY_CELLS, with_one, failure, delta=cost.delta), cost


def test_a_key_of_one_person_appears_as_seldom_as_was_said(tmp_path, rng):
    result, cost = keys_audit(tmp_path, rng, alpha("query_audits/keys"))
    assert not result.refutes(cost), str(result)
    assert min(result.likely_hits, result.unlikely_hits) < MANY_CELLS / 2, "no key was ever shown"


def test_a_threshold_that_is_one_too_low_is_accused(tmp_path, rng, monkeypatch):
    def lower(exact, priced, rng):
        keys = priced.groups.mechanism
        low = evolve(keys, threshold=keys.threshold - 1)
        groups = evolve(priced.groups, mechanism=low)
        return randomise(exact, evolve(priced, groups=groups), rng)

    monkeypatch.setattr(publish_module, "randomise", lower)
    result, cost = keys_audit(tmp_path, rng, alpha("query_audits/keys_low"))
    assert result.refutes(cost), str(result)


# ---- A median.

MEDIAN = "SELECT clinic, MEDIAN(cost) AS median FROM visits GROUP BY clinic"


def medians(folder: Path, rng: Any, *, is_there: bool) -> list[Any]:
    visits = one_each(FEW_CELLS, cost=10.0) if is_there else []
    release = ask(folder, rng, MEDIAN, cells=FEW_CELLS, visits=visits)
    return [row[1] for row in release.rows]


def median_audit(folder: Path, rng: Any, failure: float) -> AuditResult:
    without = medians(folder / "without", rng, is_there=False)
    return audited(without, medians(folder / "with", rng, is_there=True), failure)


def test_a_median_is_not_accused(tmp_path, rng):
    result = median_audit(tmp_path, rng, alpha("query_audits/median"))
    assert not result.refutes(EPSILON), str(result)


def test_a_median_with_an_eighth_of_the_noise_is_accused(tmp_path, rng, monkeypatch):
    """Half of ε buys the value, of which it uses about half on these tables: less would pass."""
    with_scale(monkeypatch, 8)
    assert median_audit(tmp_path, rng, alpha("query_audits/median_eighth")).refutes(EPSILON)
