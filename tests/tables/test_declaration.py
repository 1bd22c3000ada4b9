"""Declarations: what is right is read, what is wrong is named by its key path and its line."""

import datetime
from fractions import Fraction
from pathlib import Path

import pytest

from discreet.accounting.conversions.convert import convert
from discreet.core.errors import DeclarationError
from discreet.core.loss import Approximate, ApproximateZcdp, GaussianDp, Pure, Zcdp
from discreet.tables.catalog import Limits, Period, PeriodLength, PrivacyUnit
from discreet.tables.column import Bounds, ColumnType, DateRange
from discreet.tables.declarations.declaration import read_catalog
from discreet.tables.source import SourceFormat
from tests.support.projects.declared import GOOD, changed, parsed, private


def test_reads_what_is_declared_about_people():
    catalog = parsed()
    assert catalog.id_space("people").cap == Pure(3)
    assert catalog.id_space("days").cap == ApproximateZcdp(rho="1/2", delta="1e-6")
    assert catalog.id_space("calls").cap == Approximate(2, "1e-9")
    assert catalog.default == Pure("1/2")
    assert [analyst.name for analyst in catalog.analysts] == ["kim", "lou@example.org"]
    assert catalog.analysts[0].allocations == {
        "people": Pure(1),
        "days": ApproximateZcdp(rho="1/10", delta="1e-7"),
    }
    assert catalog.ledger == Path("/data/books.sqlite")


def test_reads_what_is_declared_about_tables():
    visits = private("VISITS")
    assert visits.limits == Limits(rows_per_group=2, groups_per_unit=3)
    assert visits.most_rows == 10_000_000
    assert visits.column("Clinic").keys == ("a", "b", "c")
    assert visits.column("urgent").keys == (False, True)
    assert visits.column("cost").bounds == Bounds(lower=0, upper=10, step="1/4")
    assert visits.column("age").bounds == Bounds(lower=0, upper=100, step=1)
    assert visits.column("day").type is ColumnType.DATE
    assert visits.column("day").dates == DateRange(
        first=datetime.date(2025, 1, 1), last=datetime.date(2025, 12, 31)
    )
    assert not visits.column("person").nullable
    assert visits.column("note").nullable
    districts = parsed().table("Districts")
    assert [column.name for column in districts.columns] == ["clinic", "people"]


def test_reads_units():
    assert private("visits").unit == PrivacyUnit(id_space="people", column="person")
    assert private("steps").unit == PrivacyUnit(
        id_space="days",
        column="person",
        period=Period(length=PeriodLength.DAY, column="walked"),
    )
    assert private("calls").unit == PrivacyUnit(id_space="calls", column=None)
    assert private("calls").limits == Limits(rows_per_group=1, groups_per_unit=1)
    fan_out = changed("each_row = true }", "each_row = true }\nrows_per_group = 5")
    assert private("calls", fan_out).limits == Limits(rows_per_group=5, groups_per_unit=1)
    in_a_table = changed('unit = "person"', 'unit = { column = "PERSON" }')
    assert private("visits", in_a_table).unit == private("visits").unit


def test_reads_sources():
    catalog = parsed()
    visits, steps, calls = (table.source for table in catalog.tables)
    assert (visits.path, visits.format) == (Path("/data/visits.csv"), SourceFormat.CSV)
    assert (steps.path, steps.format) == (Path("/data/steps/*.parquet"), SourceFormat.PARQUET)
    assert (calls.format, calls.table) == (SourceFormat.DUCKDB, "main.calls")
    assert catalog.public_tables[0].source.format is SourceFormat.ARROW
    for suffix in ("arrow", "ipc", "FEATHER"):
        text = changed("visits.csv", f"/elsewhere/visits.{suffix}")
        source = parsed(text).table("visits").source
        assert source.path == Path(f"/elsewhere/visits.{suffix}")
        assert source.format is SourceFormat.ARROW


def test_the_rest_is_optional():
    start, end = GOOD.index("[id_spaces.days]"), GOOD.index("[tables.visits]")
    text = GOOD[GOOD.index("[id_spaces.people]") : start] + GOOD[end : GOOD.index("[tables.steps]")]
    text = changed("most_rows = 10_000_000\n", "", text)
    catalog = parsed(text)
    assert catalog.default is None
    assert catalog.analysts == ()
    assert catalog.public_tables == ()
    assert private("visits", text).most_rows is None
    assert catalog.ledger == Path("/data/.discreet/ledger.sqlite")
    assert catalog.anchors == (Path("/data/discreet.anchor"),)


PEOPLE, DAYS, VISITS, STEPS = "id_spaces.people", "id_spaces.days", "tables.visits", "tables.steps"
COLUMNS = f"{VISITS}.columns"

WRONG = [
    ("epsilon = 3", "epsilon = -1", f"{PEOPLE}.budget.epsilon (line 9)", "at least 0"),
    ("epsilon = 3", "epsilon = nan", f"{PEOPLE}.budget.epsilon (line 9)", "not a number"),
    ("epsilon = 3", "epsilon = true", f"{PEOPLE}.budget.epsilon (line 9)", "a number"),
    ("epsilon = 3", "epsilom = 1", f"{PEOPLE}.budget (line 9)", "have epsilon"),
    ("epsilon = 3", "epsilon = 1, rho = 1", f"{PEOPLE}.budget (line 9)", "once"),
    ("epsilon = 3", "epsilon = 1, delta = 1", f"{PEOPLE}.budget.delta (line 9)", "below 1"),
    ("budget = { epsilon = 3 }", "budget = 3", f"{PEOPLE}.budget (line 9)", "a table"),
    ('unit = "a person"', "", f"{PEOPLE}.unit (near line 7)", "missing"),
    ("epsilon = 0.5", "epsilon = 0", "default.epsilon (line 5)", "above 0"),
    ('path = "books.sqlite"', "path = 3", "ledger.path (line 2)", "text; got a whole number"),
    ("[ledger]", "[ledger]\nanchor = 3", "ledger.anchor (line 2)", "be text; got a whole number"),
    ("[ledger]", '[ledger]\nanchor = "books.sqlite"', "ledger.anchor", "in use already"),
    ("[ledger]", '[ledger]\nanchor = "discreet.anchor"', "ledger.anchor", "in use already"),
    ("[ledger]", "[legder]", "legder (line 1)", "not a setting"),
    ('id_space = "people"', 'id_space = "cats"', f"{VISITS}.id_space (line 21)", "people"),
    ('unit = "person"', 'unit = "nobody"', f"{VISITS}.unit (line 22)", "nobody"),
    ('unit = "person"', 'unit = "cost"', f"{VISITS}.unit (line 22)", "integer or text"),
    ('unit = "person"', "unit = { each_row = false }", f"{VISITS}.unit.each_row", "be true"),
    ('unit = "person"', "unit = {}", f"{VISITS}.unit.column (near line 22)", "missing"),
    ('"Person", period', '"walked", period', f"{STEPS}.unit.column", "type integer or text"),
    ('period = "day"', 'period = "decade"', f"{STEPS}.unit.period (line 42)", "day, week"),
    ('period = "day", ', "", f"{STEPS}.unit.period (near line 42)", "missing"),
    (', date = "walked"', "", f"{STEPS}.unit.date (near line 42)", "missing"),
    ('date = "walked"', 'date = "count"', f"{STEPS}.unit.date (line 42)", "type date"),
    ("each_row = true", 'each_row = true, column = "x"', "tables.calls.unit.column", "setting"),
    ("visits.csv", "visits.sav", f"{VISITS}.source (line 20)", ".csv"),
    ('source_table = "main.calls"\n', "", "tables.calls.source_table (near", "missing"),
    ("switch.duckdb", "switch*.duckdb", "tables.calls.source (line", "one database file"),
    ('"visits.csv"', '"visits.csv"\nsource_table = "x"', f"{VISITS}.source_table", "setting"),
    ("rows_per_group = 2\n", "rows_per_group = 0\n", f"{VISITS}.rows_per_group", "between 1"),
    ("rows_per_group = 2\n", "rows_per_group = true\n", f"{VISITS}.rows_per_group", "number"),
    ("rows_per_group = 2\n", "rows_per_grup = 2\n", f"{VISITS}.rows_per_group", "missing"),
    ("most_rows = 10_000_000", "most_rows = 0", f"{VISITS}.most_rows (line 25)", "between 1"),
    ("min = 0, max = 100 ", "min = 5, max = 5 ", f"{COLUMNS}.age (line 34)", "min below max"),
    ("min = 0, max = 100 ", "max = 100 ", f"{COLUMNS}.age.min (near line 34)", "missing"),
    ("max = 10, step = 0.25", "max = 10", f"{COLUMNS}.cost.step (near line 35)", "step = 0.1"),
    ("step = 0.25", "step = 0", f"{COLUMNS}.cost (line 35)", "above 0"),
    ("step = 0.25", "step = 0.3", f"{COLUMNS}.cost", "whole number of steps"),
    ("step = 0.25", "step = 1e-20", f"{COLUMNS}.cost", "2**53"),
    ("step = 0.25", "stp = 0.25", f"{COLUMNS}.cost.step", "missing"),
    ("max = 100 ", "max = 1e310 ", f"{COLUMNS}.age", "1e300"),
    ('type = "date", min', 'type = "datum", min', f"{COLUMNS}.day.type (line 36)", "date"),
    ("min = 2025-01-01", "min = 1", f"{COLUMNS}.day.min (line 36)", "a date such as"),
    ("min = 2025-01-01", "min = 2025-01-01T00:00:00", f"{COLUMNS}.day.min", "with a time"),
    ("min = 2025-01-01, ", "", f"{COLUMNS}.day.min (near line 36)", "missing"),
    ("min = 2025-01-01", "min = 2026-01-01", f"{COLUMNS}.day (line 36)", "at or before"),
    ("nullable = false", 'nullable = "no"', f"{COLUMNS}.person.nullable", "true or false"),
    ('note = { type = "text"', 'note = { type = "text", min = 1', f"{COLUMNS}.note.min", "setting"),
    ('"b", "c"', '"b", "b"', f"{COLUMNS}.clinic.keys (line 29)", "twice"),
    ('"b", "c"', '"b", 3', f"{COLUMNS}.clinic.keys.2 (line 31)", "text keys"),
    ('keys = ["a"]', "keys = []", "public_tables.districts.columns.clinic.keys", "at least one"),
    ('keys = ["a"]', 'key = ["a"]', "public_tables.districts.columns.clinic.key", "setting"),
    ("districts.feather", "districts", "public_tables.districts.source", ".feather"),
    ('"districts.feather"', '"d.csv"\nunit = "clinic"', "public_tables.districts.unit", "setting"),
    (
        "people = { epsilon = 1 }",
        "cats = { epsilon = 1 }",
        "analysts.kim.allocations.cats",
        "id sp",
    ),
    (
        "people = { epsilon = 1 }",
        "people = { rho = 1 }",
        "analysts.kim.allocations.people",
        "epsil",
    ),
    ("rho = 0.1, delta = 1e-7", "rho = 0.1", "analysts.kim.allocations.days", "rho and delta"),
    ("allocations.people = { epsilon = 2.5 }", "", "analysts.lou@example.org.alloc", "missing"),
]


@pytest.mark.parametrize(("old", "new", "place", "hint"), WRONG)
def test_what_is_wrong_is_named(old, new, place, hint):
    with pytest.raises(DeclarationError) as caught:
        parsed(changed(old, new))
    assert place in str(caught.value)
    assert hint in str(caught.value)


def written(folder, text):
    (folder / "discreet.toml").write_text(text, encoding="utf-8")
    return folder


def test_a_file_that_is_not_there_or_not_toml(tmp_path):
    with pytest.raises(DeclarationError, match=r"no readable declaration.*discreet init"):
        read_catalog(tmp_path)
    with pytest.raises(DeclarationError, match=r"not valid TOML.*line 1, column 5"):
        read_catalog(written(tmp_path, "a = = 3"))
    with pytest.raises(DeclarationError, match="id_spaces is missing"):
        read_catalog(written(tmp_path, ""))
    (tmp_path / "discreet.toml").write_bytes(b"\xff")
    with pytest.raises(DeclarationError, match=r"not written in UTF-8.*at byte 0"):
        read_catalog(tmp_path)
    with pytest.raises(DeclarationError, match="without NUL"):
        read_catalog(tmp_path / "a\0b")


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path):
    assert read_catalog(written(tmp_path, "\ufeff" + GOOD)).table("visits").name == "visits"


def test_two_spellings_of_one_name_are_refused():
    with pytest.raises(DeclarationError, match=r"columns \(line 27\) declares something twice"):
        parsed(changed("note = {", 'Person = { type = "text" }\nnote = {'))
    again = GOOD[GOOD.index("[tables.calls]") : GOOD.index("[public_tables")]
    with pytest.raises(DeclarationError, match=r"tables .* declares something twice"):
        parsed(GOOD + again.replace("tables.calls", "tables.Calls"))
    with pytest.raises(DeclarationError, match=r"Visits \(line \d+\) has the name of a private"):
        parsed(GOOD.replace("public_tables.districts", "public_tables.Visits"))


@pytest.mark.parametrize(
    ("public", "private"),
    [
        ("visits.csv", "visits.csv"),
        ("./old/../visits.csv", "visits.csv"),
        ("visits-1.csv", "visits-*.csv"),
        ("visits-*.csv", "visits-1.csv"),
        ("visits-*.csv", "*-1.csv"),
    ],
)
def test_no_private_row_is_declared_public(public, private):
    text = changed("visits.csv", private, changed("districts.feather", public))
    with pytest.raises(DeclarationError, match=r"districts\.source \(.*would make private rows"):
        parsed(text)


def test_other_files_and_tables_may_be_public():
    for public in ("visits.parquet", "visits2.csv", "new/visits.csv", "v*s1.csv"):
        assert parsed(changed("districts.feather", public)).public_tables
    other = '"switch.duckdb"\nsource_table = "{}"'
    parsed(changed('"districts.feather"', other.format("main.districts")))
    with pytest.raises(DeclarationError, match="would make private rows"):
        parsed(changed('"districts.feather"', other.format("Calls")))


# ---- One budget means one unit.

OTHER_UNITS = [
    ("days", '{ column = "person" }', "what a column of whole numbers names, in each day"),
    ("days", '{ column = "person", period = "week", date = "walked" }', "in each day"),
    ("days", "{ each_row = true }", "in each day by itself"),
    ("people", '"person"', "what a column of text names"),
    ("calls", '"person"', "each row by itself"),
]


@pytest.mark.parametrize(("space", "unit", "must"), OTHER_UNITS)
def test_tables_of_one_id_space_have_one_kind_of_unit(space, unit, must):
    more = GOOD[GOOD.index("[tables.steps]") : GOOD.index("[tables.calls]")]
    more = more.replace("tables.steps", "tables.more")
    assert len(parsed(GOOD + more).tables) == 4
    line = next(line for line in more.splitlines() if line.startswith("unit"))
    other = more.replace('id_space = "days"', f'id_space = "{space}"').replace(
        line, f"unit = {unit}"
    )
    with pytest.raises(DeclarationError, match=r"tables\.more\.unit \(line \d+\)") as caught:
        parsed(GOOD + other)
    assert must in str(caught.value)


# ---- What `discreet init` could not know.


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("epsilon = 3", 'epsilon = "?"', f"{PEOPLE}.budget.epsilon (line 9)"),
        ('unit = "person"', 'unit = "?"', f"{VISITS}.unit (line 22)"),
        ("rows_per_group = 2\n", 'rows_per_group = "?"\n', f"{VISITS}.rows_per_group (line 23)"),
    ],
)
def test_what_is_not_answered_yet_is_named(old, new, place):
    with pytest.raises(DeclarationError, match="is not answered yet") as caught:
        parsed(changed(old, new))
    assert place in str(caught.value)


def test_a_name_that_is_not_chosen_yet_is_named():
    with pytest.raises(DeclarationError, match=r"id_spaces\.\? \(line 7\) needs a name"):
        parsed(GOOD.replace("[id_spaces.people]", '[id_spaces."?"]'))


def test_measures_of_shares_and_default_are_read_like_budgets():
    text = changed("epsilon = 0.5", "rho = 0.1")
    assert parsed(text).default == Zcdp("1/10")


def test_a_gaussian_budget_and_its_share():
    text = changed("{ epsilon = 3 }", "{ mu = 0.3 }")
    text = text.replace("people = { epsilon = 1 }", "people = { mu = 0.1 }")
    text = text.replace("people = { epsilon = 2.5 }", "people = { mu = 0.2 }")
    assert parsed(text).id_space("people").cap == GaussianDp(mu_squared="0.09")
    with pytest.raises(DeclarationError, match="have mu, like the budget"):
        parsed(text.replace("people = { mu = 0.1 }", "people = { epsilon = 1 }"))


@pytest.mark.parametrize(
    ("kept_as", "kind"), [("rho", Zcdp), ("mu", GaussianDp)], ids=["rho", "mu"]
)
def test_an_epsilon_with_a_delta_is_kept_as_what_implies_it(kept_as: str, kind: type):
    text = changed("epsilon = 2, delta = 1e-9", f'epsilon = 2, delta = 1e-9, kept_as = "{kept_as}"')
    cap = parsed(text).id_space("calls").cap
    assert isinstance(cap, kind)
    found = convert(cap, to="approximate", delta="1e-9").loss
    assert isinstance(found, Approximate)
    assert Fraction("1.99999") < found.epsilon <= 2


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("epsilon = 3", "mu = -1", "at least 0"),
        ("epsilon = 3", "mu = 1, delta = 1e-6", "delta"),
        ("epsilon = 3", "mu = 1, rho = 1", "once"),
        ("epsilon = 3", 'epsilon = 3, kept_as = "rho"', "both above 0"),
        ("epsilon = 3", 'mu = 3, kept_as = "rho"', "both above 0"),
        ("delta = 1e-9", 'delta = 1e-9, kept_as = "euros"', "is not known"),
        ("epsilon = 0.5", "mu = 0.5", "is no price"),
    ],
)
def test_measures_that_cannot_be_declared(before: str, after: str, words: str):
    with pytest.raises(DeclarationError, match=words):
        parsed(changed(before, after))
