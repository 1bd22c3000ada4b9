"""The section ``[gate]``: both settings are optional, and nothing is guessed."""

from fractions import Fraction
from pathlib import Path

import pytest

from discreet.core.errors import DeclarationError
from discreet.tables.gate_settings import GateSettings
from tests.support.declared import GOOD, parsed


def gate(tmp_path: Path, *settings: str) -> GateSettings:
    return parsed(GOOD + "\n".join(["[gate]", *settings]), tmp_path).gate


def test_nothing_has_to_be_declared(tmp_path):
    assert parsed(GOOD, tmp_path).gate == gate(tmp_path) == GateSettings()


def test_both_can_be_declared(tmp_path):
    assert gate(tmp_path, "suspend_after = 3", "deadline = 5.5") == GateSettings(
        suspend_after=3, deadline=Fraction(11, 2)
    )
    assert gate(tmp_path, "deadline = 5").deadline == 5


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("suspend_after = 0", "gate.suspend_after .*is out of range"),
        ("suspend_after = 1_001", "gate.suspend_after .*is out of range"),
        ("suspend_after = 2.5", "gate.suspend_after .*has the wrong type"),
        ("suspend_after = true", "gate.suspend_after .*has the wrong type"),
        ("most_groups = 0", "gate.most_groups .*is out of range"),
        ("most_groups = 1_000_001", "gate.most_groups .*is out of range"),
        ("deadline = 0", "gate.deadline .*is out of range"),
        ("deadline = 4.999", "gate.deadline .*is out of range.*5 to 86,400"),
        ("deadline = -1", "gate.deadline .*is out of range"),
        ("deadline = 86_401", "gate.deadline .*is out of range"),
        ("deadline = inf", "gate.deadline .*"),
        ("deadline = nan", "gate.deadline .*"),
        ('deadline = "10 s"', "gate.deadline .*has the wrong type"),
        (
            "patience = 3",
            "gate.patience .*is not a setting.*Settings here: deadline, most_groups",
        ),
    ],
)
def test_what_cannot_hold_is_named_with_its_line(tmp_path, setting, message):
    line = len(GOOD.splitlines()) + 2
    with pytest.raises(DeclarationError, match=message) as caught:
        gate(tmp_path, setting)
    assert f"line {line}" in str(caught.value)
