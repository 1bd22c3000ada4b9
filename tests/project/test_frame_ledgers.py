"""Frames have one ledger for an id space and process, and answers about the rows that they are."""

import copy
import gc
import pickle
import threading
import tomllib
import warnings
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from attrs import evolve

import discreet
from discreet.core.errors import (
    BudgetExhausted,
    DeclarationError,
    DiscreetError,
    InvalidArgument,
    LedgerError,
)
from discreet.core.loss import Pure
from discreet.ledger.ledger import Ledger
from discreet.ledger.memory_store import MemoryStore
from discreet.project import frame_ledgers
from discreet.project.frame_ledgers import FRAME_LEDGERS, FrameLedgers
from discreet.tables.declarations.declaration import read_catalog
from tests.support.projects.forked import forked
from tests.support.projects.frames import owned

pytestmark = pytest.mark.filterwarnings("ignore:The ledger is in memory")

COUNT = "SELECT COUNT(*) AS n FROM visits"


@pytest.fixture(autouse=True)
def _no_ledgers(monkeypatch):
    monkeypatch.setattr(FRAME_LEDGERS, "_known", {})


def visits(people: int = 20) -> pd.DataFrame:
    return pd.DataFrame({"patient": range(people), "clinic": "a", "age": 30})


def test_who_opens_it_again_has_no_other_budget():
    owned({"visits": visits()}).connect(epsilon=3).sql(COUNT)
    gc.collect()
    with owned({"visits": visits()}) as owner, owner.connect() as connection:
        (status,) = connection.budget()
        assert status.remaining == Pure(7)
        connection.sql(COUNT, epsilon=3)
        assert connection.budget()[0].spent == Pure(3), "given again"
        with pytest.raises(BudgetExhausted):
            connection.sql("SELECT SUM(age) FROM visits", epsilon=8)
        owner.ledger().verify()


def test_a_twin_that_forgets_gives_a_second_budget(monkeypatch):
    owned({"visits": visits()}).connect(epsilon=9).sql(COUNT)
    monkeypatch.setattr("discreet.project.open_frames.FRAME_LEDGERS", FrameLedgers())
    connection = owned({"visits": visits()}).connect()
    with pytest.raises(AssertionError):
        assert connection.budget()[0].remaining == Pure(1)


def test_threads_share_one_budget():
    answered: list[object] = []

    def ask(number: int) -> None:
        try:
            connection = owned({"visits": visits()}).connect(epsilon=3)
            answered.append(
                connection.sql(f"SELECT COUNT(*) + {number} AS n FROM visits", fresh=True)
            )
        except BudgetExhausted:
            pass

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answered) == 3
    ledger = owned({"visits": visits()}).ledger()
    assert ledger.spent("patient") == Pure(9)
    ledger.verify()


def test_another_budget_unit_or_place_is_refused(tmp_path):
    frames = {"visits": visits()}
    owned(frames)
    with pytest.raises(DeclarationError, match=r"another budget already.*ε = 10.*; got.*ε = 11"):
        owned(frames, budget={"epsilon": 11})
    with pytest.raises(DeclarationError, match="another kind of unit"):
        owned(frames, unit={"each_row": True}, id_space="patient")
    with pytest.raises(DeclarationError, match="another ledger in this process"):
        owned(frames, ledger=tmp_path / "ledger.sqlite")
    assert owned(frames, id_space="others").ledger().spent("others") == Pure(0)


def test_another_spelling_is_no_other_budget(tmp_path, monkeypatch):
    owned({"visits": visits()}).connect(epsilon=4).sql(COUNT)
    assert owned({"visits": visits()}, unit="PATIENT").ledger().spent("patient") == Pure(4)
    with pytest.raises(DeclarationError, match="be spelled patient"):
        owned({"visits": visits()}, id_space="Patient")
    owned({"visits": visits()}, id_space="people", ledger=tmp_path / "visits.ledger")
    monkeypatch.setattr(FRAME_LEDGERS, "_known", {})
    with pytest.raises(DeclarationError, match="be spelled people"):
        owned({"visits": visits()}, id_space="People", ledger=tmp_path / "visits.ledger")


def test_a_ledger_on_disk_is_kept_and_its_budget_too(tmp_path, monkeypatch):
    place = tmp_path / "visits.ledger"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        owned({"visits": visits()}, ledger=place).connect(epsilon=4).sql(COUNT)
    monkeypatch.setattr(FRAME_LEDGERS, "_known", {})  # as in another process
    with pytest.raises(InvalidArgument, match="be told whether these are the same rows"):
        owned({"visits": visits()}, ledger=place)
    with pytest.raises(DeclarationError, match="another budget already"):
        owned({"visits": visits()}, ledger=place, budget={"epsilon": 99}, data_changed=False)
    again = owned({"visits": visits()}, ledger=place, data_changed=False)
    assert again.connect(epsilon=4).sql(COUNT) is not None
    assert again.ledger().spent("patient") == Pure(4), "given again"
    assert "in_memory" not in again.connect().budget()[0].to_json()
    assert "nobody knows" not in repr(again) + again._repr_html_()
    monkeypatch.setattr(FRAME_LEDGERS, "_known", {})
    place.unlink()
    with pytest.raises(LedgerError, match="this project had one"):
        owned({"visits": visits()}, ledger=place)


def test_a_folder_for_the_ledger(tmp_path):
    folder = tmp_path / "ledgers"
    folder.mkdir()
    owned({"visits": visits()}, ledger=str(folder))
    assert (folder / "ledger.sqlite").exists()
    assert (tmp_path / "ledgers.anchor").exists()


def test_it_is_said_loudly_that_a_ledger_is_in_memory():
    with pytest.warns(UserWarning, match="nobody knows what was spent") as caught:
        owner = discreet.own(
            {"visits": visits()},
            unit="patient",
            budget={"epsilon": 1},
            types_from_frame=True,
            rows_per_unit=1,
        )
    assert caught[0].filename == __file__
    analyst = owner.connect()
    budgets = analyst.budget()
    for shown in (repr(owner), owner._repr_html_(), repr(analyst), repr(budgets)):
        assert "nobody knows what was spent" in " ".join(shown.split())
    assert budgets[0].to_json()["in_memory"] is True
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning):
            owned({"visits": visits()}, id_space="others")
    assert "others" not in FRAME_LEDGERS._known


# ---- Copies of the memory.


def test_a_forked_child_spends_nothing(tmp_path):
    owner = owned({"visits": visits()})
    connection = owner.connect(epsilon=1)

    def child() -> int:
        for attempt in (
            lambda: connection.sql(COUNT),
            connection.budget,
            lambda: owned({"visits": visits()}),
            lambda: owner.ledger().verify(),
        ):
            try:
                attempt()
            except LedgerError as error:
                assert "another process" in error.what  # noqa: PT017 - a child has no pytest
            else:
                return 1
        return 0

    with FRAME_LEDGERS._lock:  # as if another thread opened something just now
        ended = forked(child, tmp_path)
    assert ended.status == 0, ended.said
    assert owner.ledger().spent("patient") == Pure(0)


def test_a_ledger_in_memory_cannot_be_copied():
    owner = owned({"visits": visits()})
    for copied in (copy.deepcopy, pickle.dumps):
        with pytest.raises((TypeError, DiscreetError)):
            copied(owner.ledger())


def test_a_ledger_in_memory_keeps_all_or_nothing():
    ledger = Ledger(MemoryStore())

    def broken() -> None:
        with ledger.store.write() as transaction:
            transaction.put_release(1, "{}")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        broken()
    with ledger.store.read() as snapshot:
        assert snapshot.tickets() == ()


# ---- Rows that changed.


def test_rows_that_changed_need_the_owners_word():
    first = owned({"visits": visits(20)})
    old = first.connect(epsilon=1)
    before = old.sql(COUNT)
    with pytest.raises(InvalidArgument, match="visits are not those that were opened before"):
        owned({"visits": visits(21)})
    with pytest.raises(InvalidArgument):
        owned({"visits": visits(21)}, data_changed=False)
    new = owned({"visits": visits(21)}, data_changed=True).connect(epsilon=1)
    assert new.sql(COUNT).receipt != before.receipt, "not given again"
    with pytest.raises(InvalidArgument, match="were replaced since these were opened"):
        old.sql(COUNT)
    with pytest.raises(InvalidArgument, match="do not change"):
        first.data_changed("patient")
    assert owned({"visits": visits(21)}).connect(epsilon=1).sql(COUNT).receipt is not None
    assert first.ledger().spent("patient") == Pure(2)


def test_a_twin_that_does_not_know_its_version_stores_old_answers_for_new_rows():
    first = owned({"visits": visits(0)})
    twin = first.connect(epsilon=5)
    twin._project = evolve(twin._project, copied={})
    new = owned({"visits": visits(1000)}, data_changed=True)
    twin.sql(COUNT)
    with pytest.raises(AssertionError):
        # The law of the noise: farther than 900 is a chance below e**-2000.
        assert new.connect(epsilon=5).sql(COUNT).to_arrow()["n"][0].as_py() > 100


def test_another_table_of_the_id_space_is_no_change():
    owned({"visits": visits()})
    owner = owned({"calls": visits(3)}, columns={"calls": {"patient": "integer"}})
    assert owner.ledger().known_version("patient") is not None
    owned({"visits": visits()})


def test_no_digest_of_rows_is_stored_or_shown(tmp_path):
    owner = owned({"visits": visits()}, ledger=tmp_path / "visits.ledger")
    (known,) = FRAME_LEDGERS._known.values()
    stored = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    for made in known.fingerprints.values():
        assert made not in stored
        assert made.hex().encode() not in stored
    assert "fingerprints" not in repr(known)
    owner.close()


# ---- The declaration.

TOML = """
[id_spaces.patient]
unit = "patient"
budget = { epsilon = 10 }
least_price = { epsilon = 0.5 }

[tables.visits]
source = "visits.csv"
id_space = "patient"
unit = "patient"
rows_per_group = 2
groups_per_unit = 2
most_rows = 100

[tables.visits.columns]
patient = { type = "integer" }
clinic = { type = "text", keys = ["a", "b"] }
age = { type = "integer", min = 0, max = 100 }

[public_tables.clinics]
source = "clinics.csv"
[public_tables.clinics.columns]
clinic = { type = "text" }

[gate]
deadline = 7.5
"""


def test_it_is_declared_as_in_the_file(tmp_path):
    (tmp_path / "discreet.toml").write_text(TOML)
    declared = read_catalog(tmp_path)
    said: dict[str, Any] = tomllib.loads(TOML)
    own = {name: said["tables"]["visits"].pop(name) for name in ("columns", "most_rows")}
    owner = owned(
        {"visits": visits()},
        columns={"visits": own["columns"], "clinics": {"clinic": "text"}},
        public={"clinics": pa.table({"clinic": ["a", "b"]})},
        declaration={
            "gate": {"deadline": 7.5},
            "least_price": {"epsilon": 0.5},
            "tables": {"visits": {"most_rows": own["most_rows"]}},
        },
    )
    found = owner.catalog()
    source = declared.tables[0].source
    assert [evolve(table, source=source) for table in found.tables] == list(declared.tables)
    assert found.public_tables[0].columns == declared.public_tables[0].columns
    assert (found.id_spaces, found.gate) == (declared.id_spaces, declared.gate)
    joined = (
        "SELECT c.clinic, COUNT(*) FROM visits v JOIN clinics c ON v.clinic = c.clinic GROUP BY 1"
    )
    assert owner.connect(epsilon=1).explain(joined) is not None


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "unit": ({"unit": None}, "unit is missing"),
    "budget": ({"budget": None}, "budget is missing"),
    "a number": ({"budget": 3}, "id_spaces.patient.budget has the wrong type"),
    "a loss": ({"budget": Pure(3)}, "id_spaces.patient.budget has the wrong type"),
    "columns": ({"columns": None}, "columns is empty"),
    "another table": ({"columns": {"calls": {}}}, "columns.calls is about no frame"),
    "a list": ({"columns": {"visits": ["patient"]}}, "columns.visits has the wrong type"),
    "a type": ({"columns": {"visits": {"patient": int}}}, "columns.patient has the wrong type"),
    "an unknown type": ({"columns": {"visits": {"patient": "int"}}}, "type is not known"),
    "infinity": ({"budget": {"epsilon": float("inf")}}, "budget.epsilon is no number"),
    "a name": ({"id_space": 5}, "id_space is missing"),
    "a setting": ({"declaration": {"gates": {}}}, "gates is not a setting"),
    "a source": (
        {"declaration": {"tables": {"visits": {"source": "x.csv"}}}},
        "tables.visits.source is declared by an argument",
    ),
    "the ledger twice": ({"declaration": {"ledger": {}}}, "ledger is declared by arguments"),
    "a place": ({"ledger": 5}, "ledger is no place"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_declared(name):
    said, match = REFUSED[name]
    with pytest.raises((DeclarationError, InvalidArgument), match=match):
        owned({"visits": visits()}, **said)
    assert not FRAME_LEDGERS._known, "nothing was opened"


def test_private_rows_are_not_made_public():
    frame = visits()
    columns = {"visits": {"patient": "integer"}, "open": {"patient": "integer"}}
    with pytest.raises(DeclarationError, match="would make private rows public"):
        owned({"visits": frame}, public={"open": frame}, columns=columns)
    with pytest.raises(DeclarationError, match="has the name of a private table"):
        owned({"visits": frame}, public={"visits": visits(3)}, columns={"visits": columns["open"]})


def test_what_is_about_frames_says_nothing_about_a_project(tmp_path):
    with pytest.raises(InvalidArgument, match="budget is about data frames"):
        discreet.own(tmp_path, budget={"epsilon": 1})


def test_types_are_taken_from_the_frame_when_the_owner_says_so():
    frame = visits().assign(seen=pd.Timestamp("2024-01-01"), note=pd.Series("x", index=range(20)))
    owner = owned({"visits": frame}, columns=None, types_from_frame=True)
    kinds = {column.name: column.type.value for column in owner.catalog().tables[0].columns}
    assert kinds == {
        "patient": "integer",
        "clinic": "text",
        "age": "integer",
        "seen": "timestamp",
        "note": "text",
    }
    (table,) = owner.catalog().tables
    assert not any(column.keys or column.bounds or column.dates for column in table.columns)
    assert all(column.nullable for column in table.columns)
    mixed = frame.astype({"note": object})
    with pytest.raises(DeclarationError, match="Column 'note' of the frame of visits has no type"):
        owned({"visits": mixed}, columns=None, types_from_frame=True)


# ---- Everything that a project does.


def test_frames_are_behind_the_same_gate():
    budget = {"epsilon": 10, "delta": 1e-6}
    owner = owned({"visits": visits(50)}, budget=budget, declaration={"gate": {"suspend_after": 2}})
    owner.check()
    with owner.connect(epsilon=1) as connection:
        question = "SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic"
        assert "ε = 1" in str(connection.explain(question))
        assert connection.rehearse(question).release is not None
        found = connection.sql(question)
        assert "unit_of_privacy" in found.card()
        assert connection.releases(found.receipt.ticket.number)[0].open().receipt == found.receipt
        connection.verify(found.receipt)
        assert connection.profile("visits") is None
        assert len(connection.batch([COUNT, question], epsilon=1, delta=1e-9)) == 2
    owner.profile("visits", epsilon=1)
    assert owner.connect().profile("visits") is not None
    assert frame_ledgers.IN_MEMORY in repr(owner)
