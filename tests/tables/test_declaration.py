"""Declarations: what is right is read, what is wrong is named by its key path."""

from fractions import Fraction

import pytest

from discreet.core.errors import DeclarationError
from discreet.core.loss import Pure
from discreet.tables.column import Bounds, ColumnType
from discreet.tables.declaration import read_catalog
from tests.support.clinic import DECLARATION

GOOD = DECLARATION.format(epsilon="0.1", format="csv", rows_per_group=2, groups_per_unit=3)


def written(folder, text):
    (folder / "discreet.toml").write_text(text, encoding="utf-8")
    return folder


def test_reads_what_is_declared(tmp_path):
    catalog = read_catalog(written(tmp_path, GOOD))
    table = catalog.table("VISITS")
    assert catalog.id_space("people").cap == Pure(Fraction(1, 10))
    assert table.limits.rows_per_group == 2
    assert table.column("Clinic").keys == ("a", "b", "c", "d")
    assert table.column("urgent").keys == (False, True)
    assert table.column("cost").bounds == Bounds(lower=0, upper=10, step="1/4")
    assert table.column("day").type is ColumnType.DATE
    assert catalog.ledger == tmp_path / ".discreet" / "ledger.sqlite"
    assert table.source.path == tmp_path / "visits.csv"


@pytest.mark.parametrize(
    ("old", "new", "path", "hint"),
    [
        ("epsilon = 0.1", "epsilon = -1", "id_spaces.people.budget.epsilon", "at least 0"),
        ("epsilon = 0.1", "epsilon = nan", "id_spaces.people.budget.epsilon", "not a number"),
        ("epsilon = 0.1", "epsilom = 1", "id_spaces.people.budget", "have epsilon"),
        ("epsilon = 0.1", "epsilon = 1, rho = 1", "id_spaces.people.budget", "once"),
        ("epsilon = 0.1", "epsilon = 1, delta = 1", "people.budget.epsilon", "below 1"),
        ("budget = { epsilon = 0.1 }", "budget = 3", "id_spaces.people.budget", "a table"),
        ('unit = "a person"', "", "id_spaces.people.unit", "missing"),
        ('id_space = "people"', 'id_space = "cats"', "tables.visits.id_space", "people"),
        ('unit = "person"', 'unit = "nobody"', "tables.visits.unit", "nobody"),
        ('unit = "person"', 'unit = "cost"', "tables.visits.unit", "integer or text"),
        ("visits.csv", "visits.xlsx", "tables.visits.source", ".csv"),
        ("rows_per_group = 2", "rows_per_group = 0", "rows_per_group", "between 1"),
        ("rows_per_group = 2", "rows_per_group = true", "tables.visits.rows_per_group", "number"),
        ("rows_per_group = 2", "rows_per_grup = 2", "tables.visits.rows_per_group", "missing"),
        ("min = 0, max = 100", "min = 5, max = 5", "tables.visits.columns.age", "min below max"),
        ("min = 0, max = 100", "max = 100", "tables.visits.columns.age.min", "missing"),
        ("max = 10, step = 0.25", "max = 10", "tables.visits.columns.cost.step", "missing"),
        ("step = 0.25", "step = 0", "tables.visits.columns.cost", "above 0"),
        ("step = 0.25", "step = 0.3", "tables.visits.columns.cost", "whole number of steps"),
        ("step = 0.25", "step = 1e-20", "tables.visits.columns.cost", "2**53"),
        ("step = 0.25", "stp = 0.25", "tables.visits.columns.cost.step", "missing"),
        ("max = 100", "max = 1e310", "tables.visits.columns.age", "1e300"),
        ('type = "date"', 'type = "datum"', "tables.visits.columns.day.type", "date"),
        ('type = "date"', 'type = "date", min = 1', "tables.visits.columns.day.min", "setting"),
        ('"b", "c"', '"b", "b"', "tables.visits.columns.clinic.keys", "twice"),
        ('"b", "c"', '"b", 3', "tables.visits.columns.clinic.keys", "text keys"),
        ('["a", "b", "c", "d"]', "[]", "tables.visits.columns.clinic.keys", "at least one"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, old, new, path, hint):
    text = GOOD.replace(old, new)
    assert text != GOOD
    with pytest.raises(DeclarationError) as caught:
        read_catalog(written(tmp_path, text))
    assert path in str(caught.value)
    assert hint in str(caught.value)


def test_a_file_that_is_not_there_or_not_toml(tmp_path):
    with pytest.raises(DeclarationError, match="no readable declaration"):
        read_catalog(tmp_path)
    with pytest.raises(DeclarationError, match="not valid TOML"):
        read_catalog(written(tmp_path, "a = = 3"))
    with pytest.raises(DeclarationError, match="id_spaces is missing"):
        read_catalog(written(tmp_path, ""))


def test_two_spellings_of_one_column_are_refused(tmp_path):
    text = GOOD.replace("note = {", 'Person = { type = "text" }\nnote = {')
    with pytest.raises(DeclarationError, match="twice"):
        read_catalog(written(tmp_path, text))
