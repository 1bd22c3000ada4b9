"""The release card: complete, true, public, and the same in both doors."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from discreet.cli.main import main
from discreet.releases.release import Release
from discreet.roles.connection import connect
from tests.support.projects.clinic import visit, write_project

ROWS = [visit(f"hidden{i}", "abcd"[i % 4], age=i % 90, note="rare") for i in range(40)]
GROUPS = "SELECT clinic, COUNT(*) AS n, AVG(age) AS mean FROM visits GROUP BY clinic"
NOTES = "SELECT note, COUNT(DISTINCT person) AS n FROM visits GROUP BY note"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_project(tmp_path, ROWS, epsilon="10, delta = 1e-5")


def read(text: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(text)
    return found


def test_a_card_says_what_how_and_at_which_cost(folder):
    with connect(folder) as connection:
        release = connection.sql(GROUPS, epsilon="0.5")
    found = read(release.card())
    assert list(found) == ["card", "deployment", "accuracy", "checklist"]
    parts = found["deployment"]
    names = ["product", "dp_flavor", "privacy_loss", "model", "accounting", "implementation"]
    assert list(parts) == names
    assert parts["product"]["description"] == GROUPS
    assert parts["product"]["publication_date"] == datetime.now(UTC).date().isoformat()
    assert parts["dp_flavor"]["data_domain"] == {"tables": ["visits"], "data_version": 1}
    loss = parts["privacy_loss"]
    assert loss["privacy_unit"] == "a person"
    assert loss["privacy_parameters"] == {"epsilon": 0.5, "delta": 0.0}
    assert loss["privacy_parameters_exact"] == release.cost.to_json()
    assert any("rho" in other for other in loss["in_other_measures"])
    accounting = parts["accounting"]
    assert (accounting["budget"], accounting["remaining"]) == (
        "ε = 10, δ = 0.00001",
        "ε = 9.5, δ = 0.00001",
    )
    assert accounting["receipt"]["head_of_the_chain"] == release.receipt.head
    assert accounting["receipt"]["ticket"] == release.receipt.ticket.number
    made = parts["implementation"]
    assert (made["limits"]["rows_per_group"], made["limits"]["groups_per_unit"]) == (2, 3)
    assert made["clamps"] == [{"value": "age", "lower": "0", "upper": "100", "chosen": "declared"}]
    assert len(release.notes()) == len(set(release.notes()))
    laws = [(one["law"], one["parameters"]) for one in made["mechanisms"]]
    stored = [one.noise.to_json() for one in release.body.aggregates]
    assert laws == [(one.pop("law"), one) for one in stored]
    assert found["accuracy"]["notes"] == list(release.notes())
    assert found["accuracy"]["limits_cut"] == release.to_json()["limits_cut"]


def test_the_checklist_is_complete(folder):
    with connect(folder) as connection:
        found = read(connection.sql(GROUPS, epsilon=1).card())
    assert set(found["checklist"]) == {
        "source",
        "privacy_parameters",
        "unit_of_privacy",
        "algorithms_and_correctness",
        "utility_and_bias",
        "trust_model",
        "side_channels",
        "security_and_access_control",
        "data_collection",
        "not_covered",
    }
    assert all(isinstance(text, str) and text for text in found["checklist"].values())


def test_no_secret_is_in_a_card(folder):
    """No salt, no identifier, and none of the values."""
    with connect(folder) as connection:
        release = connection.sql(GROUPS, epsilon=5)
        salt = connection._project.ledger.known_version("people")
    assert salt is not None
    text = release.card()
    assert salt.salt.hex() not in text
    assert "hidden0" not in text
    assert "hidden1" not in text
    assert "rows" not in read(text)


@pytest.mark.parametrize("period", [False, True])
def test_the_unit_is_said_with_its_period(folder, period):
    file = folder / "discreet.toml"
    if period:
        said = 'unit = { column = "person", period = "month", date = "day" }'
        file.write_text(file.read_text().replace('unit = "person"', said))
    with connect(folder) as connection:
        found = read(connection.sql("SELECT COUNT(*) FROM visits", epsilon=1).card())
    text = found["deployment"]["privacy_loss"]["privacy_unit_description"]
    assert ("in one month" in text) == period


def test_private_groups_and_batches_have_cards_too(folder):
    with connect(folder) as connection:
        notes = read(connection.sql(NOTES, epsilon=2, delta="1e-6").card())
        (one, other) = connection.batch(
            [GROUPS, "SELECT COUNT(*) FROM visits"], epsilon=2, delta="1e-6"
        )
        again = connection.releases(one.receipt.ticket.number)[0].open()
        assert isinstance(again, Release)
        kept = read(again.card())
    groups = notes["deployment"]["model"]["groups"]
    assert groups["threshold"] > 0
    assert read(other.card())["deployment"]["accounting"]["receipt"]["ticket"] > 0
    assert kept == read(one.card())


def test_a_dearer_answer_has_the_card_of_what_was_paid(folder):
    with connect(folder) as connection:
        connection.sql(GROUPS, epsilon=2)
        found = read(connection.sql(GROUPS, epsilon=1).card())
    assert found["deployment"]["privacy_loss"]["privacy_parameters"]["epsilon"] == 2
    assert found["deployment"]["privacy_loss"]["in_other_measures"] == []
    assert any("earlier answer" in note for note in found["accuracy"]["notes"])


def test_the_command_writes_it(folder, capsys):
    file = folder / "card.yaml"
    asked = ["query", "--project", str(folder), "--epsilon", "1", "--card", str(file), "--json"]
    assert main([*asked, GROUPS]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (
        read(file.read_text(encoding="utf-8"))["deployment"]["accounting"]["receipt"][
            "head_of_the_chain"
        ]
        == answer["receipt"]["head"]
    )
    asked[6] = str(folder / "nowhere" / "card.yaml")
    assert main([*asked, GROUPS]) != 0
    assert "costs nothing" in capsys.readouterr().out


def test_a_clamp_of_two_aggregates_is_listed_once(tmp_path):
    with connect(write_project(tmp_path, [visit("anna")])) as connection:
        release = connection.sql(
            "SELECT SUM(CLAMP(age, 0, 50)) AS s, VARIANCE(CLAMP(age, 0, 50)) AS v,"
            " SUM(CLAMP(age, 0, 60)) AS w FROM visits",
            epsilon=1,
        )
    clamps = read(release.card())["deployment"]["implementation"]["clamps"]
    assert [one["upper"] for one in clamps] == ["50", "60"]
