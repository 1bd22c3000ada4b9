"""Large releases under a deadline: how large they can be is known before anything is charged."""

import datetime
from fractions import Fraction
from pathlib import Path

import pytest

from discreet.core.canonical import canonical
from discreet.core.errors import RefusedQuery
from discreet.core.loss import Pure
from discreet.curator.answer import answer, explain, prepare
from discreet.curator.batch import PricedBatch
from discreet.curator.publishing.largest_release import MOST_GROUPS, largest_release
from discreet.ledger import releases as ledger_releases
from discreet.ledger.releases import settlement_time
from discreet.project.project import Project
from discreet.project.terms import Terms
from discreet.tables.keyset import LONGEST_KEY
from tests.project.test_deadline import FakeTime, declare
from tests.support.house.narrow import known
from tests.support.projects.clinic import make_curator, visit, write_project

TERMS = Terms(epsilon=100, delta="1e-4")
BY_NOTE = "SELECT note, COUNT(*) AS n, SUM(age) AS years FROM visits GROUP BY note"
NASTY = ["\x01" * LONGEST_KEY, '"\\' * 20, "ε" * 50, "\U0001f600", ""]
SIZES = {f"note {i}": 10 + i for i in range(6)}

QUESTIONS = (
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT clinic, COUNT(*) AS n, SUM(change) AS c FROM visits GROUP BY clinic",
    "SELECT clinic, urgent, COUNT(*) AS n FROM visits GROUP BY ROLLUP (clinic, urgent)",
    "SELECT clinic, MEDIAN(age) AS m FROM visits GROUP BY clinic",
    BY_NOTE,
    "SELECT note, clinic, urgent, COUNT(*) AS n FROM visits GROUP BY note, clinic, urgent",
    "SELECT day, COUNT(*) AS n FROM visits GROUP BY day",
)


def size_of(body: object) -> int:
    return len(canonical(body).encode())


def curator_of(folder: Path, rng, rows, *settings: str) -> Project:
    write_project(folder, rows, epsilon="100_000, delta = 0.1")
    if settings:
        declare(folder, *settings)
    return make_curator(folder, rng)


def by_size() -> list[dict[str, object]]:
    return [
        visit(f"{note} {person}", note=note)
        for note, size in SIZES.items()
        for person in range(size)
    ]


def priced_of(curator: Project, sql: str):
    return prepare(curator, sql, TERMS)[1]


def test_no_release_is_larger_than_its_bound(tmp_path, rng):
    day = datetime.date(9999, 12, 31)
    rows = [
        visit(f"{note[:5]} {i}", "abcd"[i % 4], note=note, age=i, day=day, urgent=i % 2 == 0)
        for note in NASTY
        for i in range(12)
    ]
    curator = curator_of(tmp_path, rng, rows)
    longest = 0
    for sql in QUESTIONS:
        body = answer(curator, sql, terms=TERMS, analyst="a").body.to_json()
        bound = largest_release(priced_of(curator, sql))
        assert size_of(body) <= bound.bytes
        longest = max(longest, max((size_of(row) for row in body["keys"]["rows"]), default=0))
    assert longest > 6 * LONGEST_KEY, "the longest key there can be was among them"
    plans = tuple(priced_of(curator, sql) for sql in QUESTIONS[:2])
    batch = PricedBatch(questions=(), plans=plans, loss=Pure(1), method="pure")
    releases = [answer(curator, sql, terms=TERMS, analyst="a") for sql in QUESTIONS[:2]]
    together = {"batch": [release.body.to_json() for release in releases]}
    assert size_of(together) <= batch.largest().bytes


def test_a_question_with_too_many_groups_is_refused_before_the_charge(tmp_path, rng, monkeypatch):
    """It was charged, and failed late if its work was done, and on time if it was not."""
    curator = curator_of(tmp_path, rng, [visit("p")], "deadline = 5")
    age = "CLAMP(age, 0, 999)"
    sql = f"SELECT clinic, {age} AS a, COUNT(*) AS n FROM visits GROUP BY clinic, {age}"
    explain(curator, sql, terms=Pure(1), analyst="a")
    monkeypatch.setattr(ledger_releases, "MADE", 1_000)
    for ask in (answer, explain):
        with pytest.raises(RefusedQuery, match=r"too large for its deadline.*Nothing was spent"):
            ask(curator, sql, terms=Pure(1), analyst="a")
    assert curator.ledger.spent("people") == curator.ledger.budget("people").cap * 0


def test_the_largest_noisy_counts_stay(tmp_path, rng, monkeypatch):
    time = FakeTime(monkeypatch, patience=60)
    curator = curator_of(tmp_path, rng, by_size(), "deadline = 10", "most_groups = 3")
    release = answer(curator, BY_NOTE, terms=TERMS, analyst="a")
    assert time.now == 10
    assert [row[0] for row in release.rows] == ["note 3", "note 4", "note 5"]
    assert known(release.body.selection).most_groups == 3
    assert any("at most 3 groups are shown" in note for note in release.notes())
    declare(tmp_path, "deadline = 10", "most_groups = 7")
    wider = answer(make_curator(tmp_path, rng), BY_NOTE, terms=TERMS, analyst="a")
    assert not wider.is_stored, "another limit is another question"
    assert [row[0] for row in wider.rows] == list(SIZES)
    assert not any("groups are shown" in note for note in wider.notes())


def test_without_a_deadline_there_is_no_most(tmp_path, rng):
    curator = curator_of(tmp_path, rng, by_size(), "most_groups = 3")
    release = answer(curator, BY_NOTE, terms=TERMS, analyst="a")
    assert len(release.rows) == len(SIZES)
    assert "most_groups" not in known(release.body.selection).to_json()


def test_what_the_owner_does_not_say_is_what_fits(tmp_path, rng):
    def most(*settings: str) -> int | None:
        return priced_of(curator_of(tmp_path, rng, [], *settings), BY_NOTE).groups.most_groups

    assert most() is None
    short, long = most("deadline = 5"), most("deadline = 3600")
    assert short is not None
    assert 1_000 < short < MOST_GROUPS
    assert long == MOST_GROUPS
    curator = curator_of(tmp_path, rng, by_size(), "deadline = 5")
    size = largest_release(priced_of(curator, BY_NOTE))
    assert size.seconds() <= 2.5
    assert settlement_time(Fraction(5), size) < 3


def test_a_most_that_cannot_be_kept_is_refused(tmp_path, rng):
    curator = curator_of(tmp_path, rng, by_size(), "deadline = 5", "most_groups = 1_000_000")
    with pytest.raises(RefusedQuery, match="too large for its deadline"):
        answer(curator, BY_NOTE, terms=TERMS, analyst="a")
