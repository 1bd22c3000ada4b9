"""Synthetic releases are listed with all others, and opened again for nothing."""

from typing import Any

import pyarrow as pa
import pytest
from attrs import evolve

from discreet.core.errors import InvalidArgument
from discreet.core.loss import Pure
from discreet.curator.profile.stored_profile import open_profile
from discreet.synthesis import judge as judging
from discreet.synthesis.judge import Judge
from discreet.synthesis.stored_synthesis import open_synthesis
from discreet.synthesis.synthetic_release import SyntheticRelease
from tests.support.projects.frames import owned as owned_frames

COLUMNS = {
    "patient": "integer",
    "clinic": {"type": "text", "keys": ["a", "b", "c"]},
    "age": {"type": "integer", "min": 0, "max": 9},
    "word": "text",
}
ROWS = [
    {"patient": i, "clinic": "abc"[i % 3], "age": i % 10, "word": ["yes", "no"][i % 2]}
    for i in range(600)
]


TABLE = pa.Table.from_pylist(ROWS)


@pytest.fixture
def owned(tmp_path):
    """Own the visits with a ledger on disk."""
    said = {"ledger": tmp_path / "ledger", "id_space": tmp_path.name}
    said |= {"columns": {"visits": COLUMNS}, "budget": {"rho": 50, "delta": 1e-6}}
    return lambda **more: owned_frames({"visits": TABLE}, **said | more)


@pytest.fixture
def owner(owned):
    with owned() as found:
        yield found


def test_it_is_listed_and_opened_as_it_was(owner):
    connection = owner.connect(analyst="ann")
    first = connection.synthesise("visits", rho=5, delta=1e-7)
    connection.sql("SELECT COUNT(*) FROM visits", rho=1)
    rows, answer = owner.connect(analyst="bob").releases()
    assert rows.sql == "synthetic rows of visits with clinic, age, word"
    assert (rows.analyst, rows.columns) == ("ann", ("clinic", "age", "word"))
    assert "synthetic rows of visits" in str(owner.connect().releases())
    again = rows.open()
    assert isinstance(again, SyntheticRelease)
    assert again.is_stored
    assert again.measured.to_json() == first.measured.to_json()
    assert [one.to_json() for one in again.cells] == [one.to_json() for one in first.cells]
    assert again.cells == first.cells, "as they are declared"
    assert again.receipt == first.receipt
    assert len(again) == len(first)
    assert again.notes() == first.notes()
    with pytest.raises(InvalidArgument, match="no synthetic rows"):
        open_synthesis(owner.connect()._project, answer.ticket)


def test_an_opened_one_can_be_judged(owner):
    connection = owner.connect()
    connection.synthesise("visits", rho=1, columns=["clinic", "age"])
    (stored,) = connection.releases()
    judged = connection.judge(stored.open(), rho=1)
    assert judged.judged is not None
    _, judgement = connection.releases()
    assert judgement.sql == "how far synthetic rows are from visits"
    opened = judgement.open()
    assert opened.judged.to_json() == judged.judged.to_json()
    assert opened.report().to_json() == judged.report().to_json()
    assert not opened.remarks


def test_a_judgement_is_opened_with_what_its_model_was_made_of(owner):
    """Its rows agree with an earlier answer and with an assertion, and so do those opened again."""
    connection = owner.connect()
    connection.sql("SELECT COUNT(*) AS n FROM visits", rho=1, rows_per_unit=2)
    release = connection.synthesise(
        "visits", rho=1, columns=["clinic", "age"], rows=600, rows_per_unit=2
    ).with_tours(77)
    assert release.agrees_with
    judged = connection.judge(release, rho=1)
    opened = connection.releases()[-1].open()
    assert opened.agrees_with == release.agrees_with
    assert opened.model.rows == 600
    assert opened.tours == 77
    assert opened.judged.to_json() == judged.judged.to_json()


def test_a_judgement_holds_for_a_model_that_is_estimated_otherwise(owner, monkeypatch):
    """As by a later version, or where numbers are rounded otherwise; and it is not paid again."""
    connection = owner.connect()
    release = connection.synthesise("visits", rho=1, columns=["clinic", "age"])
    judged = connection.judge(release, rho=1)
    (before,) = connection.budget()
    ours = Judge.of_model

    def otherwise(*said):
        judge = ours(*said)
        return evolve(judge, tables={at: one + 1 for at, one in judge.tables.items()})

    monkeypatch.setattr(Judge, "of_model", otherwise)
    opened = connection.releases()[-1].open()
    assert opened.judged.to_json() == judged.judged.to_json()
    again = connection.judge(release, rho=1)
    assert again.judged.to_json() == judged.judged.to_json()
    assert connection.budget()[0].spent == before.spent
    (pair,) = again.report().pairs
    table = judged.judged.tables[0]
    bounds = [judged.judged.bound(0, table + moved) for moved in (0.0, 1.0)]
    assert bounds[1] == bounds[0] + table.size, "by how far the other model is from this one"
    assert pair.of_groups is not None


def test_a_judgement_of_an_earlier_version_is_found_again(owner, monkeypatch):
    """It had its name by what was expected, and was stored without the tables that were judged."""
    connection = owner.connect()
    release = connection.synthesise("visits", rho=1, columns=["clinic", "age"])
    ours = judging.judging_passage

    def as_before(judge, *said):
        passage: Any = ours(judge, *said)
        (leg,) = passage.legs

        def published(exact, rng):
            body = leg.published(exact, rng)
            distances = body["distances"]["distances"]
            return body | {"expected": judge.expected(), "distances": distances}

        (name,) = passage.earlier
        return evolve(passage, name=name, earlier=(), legs=(evolve(leg, published=published),))

    with monkeypatch.context() as patch:
        patch.setattr(judging, "judging_passage", as_before)
        before = connection.judge(release, rho=1)
    (spent,) = connection.budget()
    for found in (connection.judge(release, rho=1), connection.releases()[-1].open()):
        assert found.judged.to_json() == before.judged.to_json()
    assert connection.budget()[0].spent == spent.spent


def test_a_judgement_of_other_groups_is_left_out(owner, monkeypatch):
    connection = owner.connect()
    release = connection.synthesise("visits", rho=1, columns=["clinic", "age"])
    connection.judge(release, rho=1)
    monkeypatch.setattr(Judge, "grouping", "another")
    opened = connection.releases()[-1].open()
    assert opened.judged is None
    assert any("another way" in note for note in opened.notes())


def test_distances_that_were_stored_without_tables_are_of_the_same_model_or_left_out(owner):
    """As the first versions stored them, beside a digest of what was expected."""
    connection = owner.connect()
    release = connection.synthesise("visits", rho=1, columns=["clinic", "age"])
    judge = Judge.of_model(release.model, release.rows_per_unit, Pure(1))
    distances = connection.judge(release, rho=1).judged.distances.to_json()
    found = judge.read(distances, judge.expected())
    assert found is not None
    assert found.distances.to_json() == distances
    assert [one.tolist() for one in found.tables] == [one.tolist() for one in judge.tables.values()]
    assert judge.read(distances, "another") is None


def test_a_profile_is_listed_and_opened(owned):
    with owned() as owner:
        profile = owner.profile("visits", rho=1)
        (stored,) = owner.connect().releases()
        assert stored.sql.startswith("profile of visits")
        assert stored.columns == ()
        assert stored.open().to_json() == profile.to_json() | {"stored": True}
        with pytest.raises(InvalidArgument, match="another way"):
            open_profile(owner.connect()._project, stored.ticket + 1)


def test_of_replaced_data_it_says_so(owned):
    with owned() as owner:
        owner.connect().synthesise("visits", rho=1, columns=["clinic"])
    with owned(data_changed=True) as owner:
        (stored,) = owner.connect().releases()
        assert not stored.is_current
        assert any("replaced since" in note for note in stored.open().notes())
