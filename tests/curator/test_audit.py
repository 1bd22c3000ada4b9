"""A sampling audit of the whole path: SQL in, release out, on two neighbouring tables.

The right path must never be accused (at the stated rate), and a path with less noise must be.
"""

from fractions import Fraction

import pytest

from discreet.audit.sampling import audit_outputs
from discreet.core.loss import Pure
from discreet.curator.answer import answer
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.project import noise as noise_module
from tests.support.house.narrow import whole
from tests.support.projects.clinic import DECLARATION, make_curator, visit, write_project
from tests.support.statistics.exact_tests import alpha

EPSILON = Pure(1)


def quieter(divisor: int):
    """Return a mechanism whose noise is too small, while its event tells the usual story."""

    class Quiet(DiscreteLaplace):
        def release(self, exact_values, rng):
            return DiscreteLaplace(scale=self.scale / divisor).release(exact_values, rng)

    return Quiet


# ---- Every step of every answer, the ledger included.

ANSWERS = 150
COUNT = "SELECT COUNT(*) AS n FROM visits WHERE age > {number}"


def answers(folder, rng) -> list[int]:
    """Ask so many different questions that each is a fresh answer to the same count."""
    curator = make_curator(folder, rng)
    return [
        whole(answer(curator, COUNT.format(number=-i - 1), terms=EPSILON, analyst="a").rows[0][0])
        for i in range(ANSWERS)
    ]


@pytest.fixture
def neighbours(tmp_path):
    crowd = [visit(f"p{i}") for i in range(5)]
    tables = {"without": crowd, "with": [*crowd, visit("one more")]}
    return [
        write_project(
            tmp_path / name, rows, epsilon=str(ANSWERS), rows_per_group=1, groups_per_unit=1
        )
        for name, rows in tables.items()
    ]


def whole_path(neighbours, rng, failure):
    confidence = 1 - Fraction(failure)
    samples = [answers(folder, rng) for folder in neighbours]
    return audit_outputs(*samples, confidence=confidence)


def test_the_whole_path_is_not_accused(neighbours, rng):
    result = whole_path(neighbours, rng, alpha("curator/whole_path"))
    assert not result.refutes(EPSILON), str(result)


def test_the_whole_path_without_noise_to_speak_of_is_accused(neighbours, rng, monkeypatch):
    monkeypatch.setattr(noise_module, "NOISES", (quieter(10),))
    assert whole_path(neighbours, rng, alpha("curator/whole_path_quiet")).refutes(EPSILON)


# ---- Many experiments in one answer: each key has a person of its own, or nobody.

KEYS = 20_000


def many_counts(folder, rng, *, is_there: bool) -> list[int]:
    """Return a count for each key; the one person of each key is there or not.

    The noise of each cell is fresh, so each cell is one run on a table and its neighbour.
    """
    rows = [visit(f"p{i}", f"k{i}") for i in range(KEYS)] if is_there else []
    write_project(folder, rows, rows_per_group=1, groups_per_unit=1)
    keys = ", ".join(f'"k{i}"' for i in range(KEYS))
    declaration = DECLARATION.format(
        epsilon="1", format="parquet", rows_per_group=1, groups_per_unit=1
    )
    text = declaration.replace('keys = ["a", "b", "c", "d"]', f"keys = [{keys}]")
    (folder / "discreet.toml").write_text(text)
    sql = "SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic"
    release = answer(make_curator(folder, rng), sql, terms=EPSILON, analyst="a")
    return [whole(row[1]) for row in release.rows]


def many_cells(folder, rng, failure):
    without = many_counts(folder / "without", rng, is_there=False)
    with_one = many_counts(folder / "with", rng, is_there=True)
    return audit_outputs(without, with_one, confidence=1 - Fraction(failure))


def test_many_cells_are_not_accused_and_come_close(tmp_path, rng):
    result = many_cells(tmp_path, rng, alpha("curator/many_cells"))
    assert not result.refutes(EPSILON), str(result)
    # Power: a claim that is fifteen hundredths too low would be refuted.
    assert result.refutes(Pure("0.85")), str(result)


def test_half_the_noise_is_accused(tmp_path, rng, monkeypatch):
    monkeypatch.setattr(noise_module, "NOISES", (quieter(2),))
    result = many_cells(tmp_path, rng, alpha("curator/many_cells_half"))
    assert result.refutes(EPSILON), str(result)
