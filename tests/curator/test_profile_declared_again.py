"""A profile outlives changes of the declaration, but never tells of a column what it was not."""

import pytest

from discreet.curator.profile.measured_as import MEASURED_AS, is_still
from discreet.roles.connection import connect
from discreet.roles.owner import own

COST = 'cost = { type = "integer", min = 0, max = 1000 }'
CLINIC = 'clinic = { type = "text", keys = ["n", "s", "w"] }'
DECLARED = f"""
[id_spaces.people]
unit = "a person"
budget = {{ epsilon = 100000 }}
least_price = {{ epsilon = 1 }}

[tables.visits]
source = "visits.csv"
id_space = "people"
unit = "person"
rows_per_group = 1
groups_per_unit = 1
most_rows_per_unit = 1

[tables.visits.columns]
person = {{ type = "integer" }}
{COST}
{CLINIC}
"""
PEOPLE = 400
TOTAL = 900 * PEOPLE


@pytest.fixture
def profiled(tmp_path):
    rows = [f"{person},900,{'nsw'[person % 3]}" for person in range(PEOPLE)]
    (tmp_path / "visits.csv").write_text("person,cost,clinic\n" + "\n".join(rows) + "\n")
    (tmp_path / "discreet.toml").write_text(DECLARED)
    with own(tmp_path) as owner:
        owner.profile("visits", epsilon=1000, values=["cost"], unreadable=["cost"])
    return tmp_path


def declare(folder, old, new):
    file = folder / "discreet.toml"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))
    return connect(folder)


def test_values_in_other_steps_are_not_read_as_half_as_large(profiled):
    new = 'cost = { type = "real", min = 0, max = 1000, step = 0.5, bounds = "auto" }'
    with declare(profiled, COST, new) as connection:
        profile = connection.profile("visits")
        assert (profile.values, profile.unreadable) == ({}, {})
        assert set(profile.groups) == {"clinic"}
        # With bins in steps of 1 taken for halves, the largest value would have seemed to be 450.
        (total,) = connection.sql("SELECT SUM(cost) FROM visits", epsilon=1000).rows[0]
        assert abs(total - TOTAL) < 1000


def test_a_range_can_be_declared_again(profiled):
    new = 'cost = { type = "integer", min = 0, max = 100000, bounds = "auto" }'
    with declare(profiled, COST, new) as connection:
        # Who declared 1,000 said that nobody is beyond it; who declares 100,000 does not.
        assert not connection.profile("visits").values["cost"].bins.is_declared
        (total,) = connection.sql("SELECT SUM(cost) FROM visits", epsilon=1000).rows[0]
        assert abs(total - TOTAL) < 1000


@pytest.mark.parametrize(
    "new",
    [
        "",
        'cost = { type = "text" }',
        'cost = { type = "integer", min = 0, max = 1000, missing = [900] }',
    ],
)
def test_a_column_that_is_another_one_now_has_no_values_and_stops_no_question(profiled, new):
    with declare(profiled, COST, new) as connection:
        profile = connection.profile("visits")
        assert (profile.values, set(profile.groups)) == ({}, {"clinic"})
        assert connection.sql("SELECT COUNT(*) FROM visits", epsilon=1).rows
        for stored in connection.releases():
            stored.open()


@pytest.mark.parametrize(
    "new",
    ["", 'clinic = { type = "text" }', CLINIC.replace('"w"', '"x"'), CLINIC.replace("]", ', "x"]')],
)
def test_groups_are_of_the_keys_that_were_counted(profiled, new):
    with declare(profiled, CLINIC, new) as connection:
        profile = connection.profile("visits")
        assert (profile.groups, profile.busiest, set(profile.values)) == ({}, {}, {"cost"})


def test_other_words_for_a_missing_value_are_about_what_is_unreadable_alone(profiled):
    new = COST[:-2] + ', missing = ["n/a"] }'
    with declare(profiled, COST, new) as connection:
        profile = connection.profile("visits")
        assert profile.unreadable == {}
        assert profile.values["cost"].bins.is_declared


def test_what_does_not_change_the_values_keeps_the_profile(profiled):
    new = CLINIC[:-2] + ", nullable = false }"
    with declare(profiled, CLINIC, new) as connection:
        assert set(connection.profile("visits").groups) == {"clinic"}


def test_a_profile_of_an_earlier_version_is_read_as_far_as_it_can_be(profiled):
    with own(profiled) as owner:
        (table,) = owner.catalog().tables
        (said,) = (
            entry.payload["order"]["description"]
            for entry in owner.ledger().entries()
            if entry.kind.value == "reserve"
        )
    assert set(said[MEASURED_AS]) == {"groups of clinic", "largest cost", "unreadable cost"}
    for name in ("rows", *said[MEASURED_AS]):
        assert is_still(table, name, None)
        assert is_still(table, name, said[MEASURED_AS])
    assert not is_still(table, "largest clinic", None)
    assert not is_still(table, "largest age", None)
    assert not is_still(table, "groups of clinic", {})
