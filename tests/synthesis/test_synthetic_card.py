"""The cards of synthetic rows, counts and related tables: one layout, and all that is public."""

import json

import pyarrow as pa
import pytest

from tests.support.projects.frames import owned as owned_frames

yaml = pytest.importorskip("yaml")

COLUMNS = {
    "visits": {
        "patient": "integer",
        "clinic": {"type": "text", "keys": ["a", "b"], "nullable": False},
        "age": {"type": "integer", "min": 0, "max": 9},
    },
    "patients": {"patient": "integer", "sex": {"type": "text", "keys": ["f", "m"]}},
}
FRAMES = {
    "visits": pa.table(
        {"patient": [*range(100)] * 2, "clinic": ["a", "b"] * 100, "age": [1, 2, 3, 4] * 50}
    ),
    "patients": pa.table({"patient": range(100), "sex": ["f", "m"] * 50}),
}


@pytest.fixture(scope="module")
def owner(tmp_path_factory):
    place = tmp_path_factory.mktemp("cards")
    said = {"ledger": place / "ledger", "id_space": "people", "budget": {"rho": 100}}
    with owned_frames(FRAMES, columns=COLUMNS, **said) as found:
        yield found


@pytest.fixture(scope="module")
def releases(owner):
    connection = owner.connect()
    return {
        "answer": connection.sql("SELECT COUNT(*) AS n FROM visits", rho=1),
        "rows": connection.synthesise("visits", rho=1),
        "counts": connection.publish("visits", columns=["age"], method="tree", rho=1),
        "tables": connection.synthesise_related("patients", "visits", rho=1),
    }


KINDS = {
    "answer": ("Summary statistics", "An answer about visits"),
    "rows": ("Synthetic data", "Synthetic rows about visits"),
    "counts": ("Summary statistics", "Counts about visits"),
    "tables": ("Synthetic data", "Synthetic rows about visits, patients"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_all_cards_have_the_same_parts(releases, kind):
    found, usual = (yaml.safe_load(releases[name].card()) for name in (kind, "answer"))
    assert list(found) == list(usual)
    assert list(found["deployment"]) == list(usual["deployment"])
    for part in ("product", "dp_flavor", "privacy_loss", "model", "accounting"):
        assert list(found["deployment"][part]) == list(usual["deployment"][part])
    assert list(found["checklist"]) == list(usual["checklist"])
    product = found["deployment"]["product"]
    assert (product["data_product_type"], product["name"]) == KINDS[kind]
    assert "not known here" not in json.dumps(found)
    loss = found["deployment"]["privacy_loss"]
    assert loss["privacy_parameters"]["rho"] == pytest.approx(1, abs=1e-3)
    assert loss["in_other_measures"]
    receipt = found["deployment"]["accounting"]["receipt"]
    assert receipt["ticket"] == releases[kind].receipt.ticket.number
    assert found["accuracy"]["notes"] == json.loads(json.dumps(releases[kind].notes()))


@pytest.mark.parametrize("kind", KINDS)
def test_an_opened_release_has_the_same_card(owner, releases, kind):
    first = releases[kind]
    (stored,) = owner.connect().releases(first.receipt.ticket.number)
    assert stored.open().card() == first.card()


def test_what_was_measured_stands_there_with_its_noise(releases):
    found = yaml.safe_load(releases["tables"].card())["deployment"]["implementation"]
    assert [one["rows_per_unit"] for one in found["limits"]] == [1, 4]
    measured = {(one["table"], one["measured"]): one for one in found["mechanisms"]}
    assert ("patients", "number of visits") in measured
    assert ("visits", "by patients.sex") in measured
    assert ("visits", "scores of all columns with those of patients") in measured
    assert all(one["half_width"] > 0 and one["numbers"] > 0 for one in measured.values())
    counts = yaml.safe_load(releases["counts"].card())["deployment"]["implementation"]
    assert counts["method"] == "tree"
    assert json.loads(counts["options"]) == {"cells": 64, "branching": None} or counts["options"]
    assert counts["measured"]
