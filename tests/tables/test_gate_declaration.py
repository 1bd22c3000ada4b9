"""The section ``[gate]`` and least prices: all are optional, and nothing is guessed."""

from fractions import Fraction
from pathlib import Path

import pytest

from discreet.core.errors import DeclarationError
from discreet.tables.gate_settings import GateSettings
from tests.support.projects.declared import GOOD, changed, parsed


def gate(tmp_path: Path, *settings: str) -> GateSettings:
    return parsed(GOOD + "\n".join(["[gate]", *settings]), tmp_path).gate


def test_nothing_has_to_be_declared(tmp_path):
    assert parsed(GOOD, tmp_path).gate == gate(tmp_path) == GateSettings()


def test_all_can_be_declared(tmp_path):
    lines = ("suspend_after = 3", "suspend_all_after = 9", "most_in_flight = 2", "deadline = 5.5")
    assert gate(tmp_path, *lines) == GateSettings(
        suspend_after=3, suspend_all_after=9, most_in_flight=2, deadline=Fraction(11, 2)
    )
    assert gate(tmp_path, "deadline = 5").deadline == 5


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("suspend_after = 0", "gate.suspend_after .*is out of range"),
        ("suspend_after = 1_001", "gate.suspend_after .*is out of range"),
        ("suspend_after = 2.5", "gate.suspend_after .*has the wrong type"),
        ("suspend_after = true", "gate.suspend_after .*has the wrong type"),
        ("suspend_all_after = 0", "gate.suspend_all_after .*is out of range"),
        ("suspend_all_after = 1_001", "gate.suspend_all_after .*is out of range"),
        (
            "suspend_all_after = 2\nsuspend_after = 3",
            "gate.suspend_all_after .*is below gate.suspend_after.*at least 3",
        ),
        ("most_in_flight = 0", "gate.most_in_flight .*is out of range"),
        ("most_in_flight = 1_001", "gate.most_in_flight .*is out of range"),
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
            "gate.patience .*not a setting.* deadline, most_groups, most_in_flight, suspend_after",
        ),
    ],
)
def test_what_cannot_hold_is_named_with_its_line(tmp_path, setting, message):
    line = len(GOOD.splitlines()) + 2
    with pytest.raises(DeclarationError, match=message) as caught:
        gate(tmp_path, setting)
    assert f"line {line}" in str(caught.value)


# ---- The least price of a question stands beside the budget, in its measure.


def with_price(budget: str, price: str) -> str:
    line = f"budget = {{ {budget} }}"
    return changed(line, f"{line}\nleast_price = {{ {price} }}")


@pytest.mark.parametrize(
    ("name", "budget", "price", "expected"),
    [
        ("people", "epsilon = 3", "epsilon = 0.01", "1/100"),
        ("days", "rho = 0.5, delta = 1e-6", "rho = 0.5", "1/2"),
        ("calls", "epsilon = 2, delta = 1e-9", "epsilon = 1e-9", "1e-9"),
    ],
)
def test_a_least_price_is_read_in_the_measure_of_the_budget(
    tmp_path, name, budget, price, expected
):
    catalog = parsed(with_price(budget, price), tmp_path)
    assert catalog.id_space(name).least_price == Fraction(expected)
    assert parsed(GOOD, tmp_path).id_space(name).least_price is None


CALLS = "budget = { epsilon = 2, delta = 1e-9 }"


def test_a_least_price_in_mu_is_kept_as_its_square(tmp_path):
    said = "budget = {{ mu = 3 }}\nleast_price = {{ mu = {} }}"
    catalog = parsed(changed(CALLS, said.format("0.1")), tmp_path)
    assert catalog.id_space("calls").least_price == Fraction(1, 100)
    for wrong in ("-1", "3.1"):
        with pytest.raises(DeclarationError, match="at most the budget, μ² = 9"):
            parsed(changed(CALLS, said.format(wrong)), tmp_path)


@pytest.mark.parametrize(
    ("price", "message"),
    [
        ("rho = 0.1", "least_price.*epsilon"),
        ("epsilon = 1, delta = 1e-9", "least_price.delta .*is not a setting"),
        (
            "epsilon = 0",
            "least_price.epsilon .*out of range.*above 0 and at most the budget, ε = 3",
        ),
        ("epsilon = 3.1", "least_price.epsilon .*out of range"),
        ("epsilon = nan", "least_price.epsilon"),
        ('epsilon = "1"', "least_price.epsilon .*wrong type"),
        ("", "least_price"),
    ],
)
def test_a_least_price_that_cannot_hold_is_named(tmp_path, price, message):
    with pytest.raises(DeclarationError, match=message):
        parsed(with_price("epsilon = 3", price), tmp_path)
