"""Published counts are listed with all other releases, and opened while their plan is declared."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.core.errors import InvalidArgument
from discreet.synthesis.published.stored_counts import open_counts
from tests.support.projects.frames import owned as owned_frames

COLUMNS = {
    "patient": "integer",
    "clinic": {"type": "text", "keys": ["a", "b"], "nullable": False},
    "age": {"type": "integer", "min": 0, "max": 9},
}
ROWS = pa.table({"patient": range(60), "clinic": ["a", "b"] * 30, "age": [1, 2, 3] * 20})


@pytest.fixture
def owned(tmp_path):
    said = {"ledger": tmp_path / "ledger", "id_space": tmp_path.name, "budget": {"epsilon": 20}}
    said |= {"columns": {"visits": COLUMNS}}
    return lambda **more: owned_frames({"visits": ROWS}, **said | more)


def test_of_other_declarations_they_are_listed_and_not_opened(owned):
    with owned() as owner:
        found = owner.connect().publish("visits", columns=["age"], method="tree", epsilon=1)
    changed = COLUMNS | {"age": {"type": "integer", "min": 0, "max": 19}}
    with owned(columns={"visits": changed}) as owner:
        connection = owner.connect()
        (stored,) = connection.releases()
        assert stored.columns == ("age",)
        assert "counts of visits by age (tree)" in str(connection.releases())
        with pytest.raises(InvalidArgument, match="another way"):
            stored.open()
    without = {name: said for name, said in COLUMNS.items() if name != "age"}
    with owned(columns={"visits": without}) as owner:
        (stored,) = owner.connect().releases()
        with pytest.raises(InvalidArgument, match="another way"):
            stored.open()
    with owned() as owner:
        assert owner.connect().releases()[0].open().receipt == found.receipt


def test_of_replaced_data_they_say_so(owned):
    with owned() as owner:
        owner.connect().publish("visits", columns=["age"], method="tree", epsilon=1)
    with owned(data_changed=True) as owner:
        (stored,) = owner.connect().releases()
        assert not stored.is_current
        opened = stored.open()
        assert any("replaced since" in note for note in opened.notes())
        assert opened.about()["data_version"] == stored.data_version


def test_a_ticket_of_something_else_is_none(owned):
    with owned() as owner:
        connection = owner.connect()
        answer = connection.sql("SELECT COUNT(*) FROM visits", epsilon=1)
        with pytest.raises(InvalidArgument, match="no published counts"):
            open_counts(connection._project, answer.receipt.ticket.number)


def test_files_and_frames_say_what_they_are(owned, tmp_path):
    with owned() as owner:
        found = owner.connect().publish("visits", columns=["clinic"], method="cells", epsilon=1)
    pq.write_table(found.to_arrow(), tmp_path / "counts.parquet")
    about = json.loads(pq.read_schema(tmp_path / "counts.parquet").metadata[b"discreet"])
    assert about == found.to_pandas().attrs["discreet"]
    assert about["published"] == "cells"
    assert {"cost", "data_version", "ticket", "notes"} <= set(about)
