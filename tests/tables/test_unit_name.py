"""The owner's word for a unit, in messages."""

import pytest

from discreet.core.unit_words import A_UNIT, ONE_UNIT, UNITS
from discreet.releases.headline import headline
from discreet.releases.left_out import unmeasured
from discreet.tables.unit_name import UNIT, reworded, unit_name


@pytest.mark.parametrize(
    ("words", "one", "a", "many"),
    [
        ("a patient", "one patient", "a patient", "patients"),
        ("one employee", "one employee", "an employee", "employees"),
        ("an aircraft", "one aircraft", "an aircraft", "aircraft"),
        ("household", "one household", "a household", "households"),
        ("A Person", "one Person", "a Person", "People"),
        ("a member of the staff", "one member of the staff", "a member of the staff",
         "members of the staff"),
        ("a person in a month", "one person in a month", "a person in a month",
         "people in a month"),
        ("an hour", "one hour", "an hour", "hours"),
        ("a Bürger", "one Bürger", "a Bürger", "Bürgers"),
    ],
)  # fmt: skip
def test_names(words, one, a, many):
    called = unit_name(words)
    assert (called.one, called.a, called.plural) == (one, a, many)


@pytest.mark.parametrize(
    "words",
    [
        "",
        " ",
        "?",
        "whatever somebody did",
        "a person, or two",
        "a <b>x</b>",
        "a \ue000",
        "a \x00b",
    ],
)
def test_what_is_no_name_is_a_unit(words):
    assert unit_name(words) == UNIT


def test_a_declared_plural_comes_first():
    assert unit_name("an ox", "oxen").counted(2) == "2 oxen"
    assert unit_name("an ox", "oxen").counted(1) == "1 ox"


def test_names_of_columns_are_left_alone():
    said = unit_name("a patient").said(f"SUM(units) of {ONE_UNIT}, {A_UNIT}, {UNITS}")
    assert said == "SUM(units) of one patient, a patient, patients"
    assert reworded("a unit of all units", unit_name("a cat")) == "a cat of all cats"
    assert headline(unmeasured(["count"], can_leave_out=True), (), UNIT)
