"""Exact releases that were taken for the same again, or for something else, and were not."""

from pathlib import Path

import pytest
from attrs import evolve

import discreet
from discreet.core.errors import RefusedQuery
from discreet.noiseless.exact.same_rows import names_of_rows
from discreet.tables.declarations.declaration import read_catalog
from discreet.tables.source import SourceFormat
from tests.support.projects.exact import ROWS, make_school, release

pytestmark = pytest.mark.usefixtures("stated_law")

PREMISES = {"given": '["total"]', "robust": '["total"]'}
SECOND = {"table": '"again"', "rows": ROWS - 1}


def edit(folder: Path, old: str, new: str) -> None:
    declared = folder / "discreet.toml"
    text = declared.read_text(encoding="utf-8")
    assert old in text
    declared.write_text(text.replace(old, new), encoding="utf-8")


def declare_a_second_table(folder: Path, id_space: str = "students") -> None:
    """Declare the rows of the exams once more, as another table."""
    text = (folder / "discreet.toml").read_text(encoding="utf-8")
    table = text[text.index("[tables.exams]") : text.index("[exact")]
    second = table.replace("tables.exams", "tables.again").replace('"students"', f'"{id_space}"')
    edit(folder, "[exact.total]", second + "\n[exact.total]")


def test_rows_are_not_thrown_away_anew_for_another_number_of_rows(tmp_path):
    """Several draws of one histogram average the discarding out."""
    discard = "{ epsilon = 1, delta = 1e-3 }"
    made = [
        release(
            f"grades{more}", "histogram", '["grade"]', least=1, discard=discard, rows=ROWS + more
        )
        for more in range(2)
    ]
    make_school(tmp_path, *made)
    with discreet.own(tmp_path) as owner:
        first = owner.publish_exact("grades0")
        with pytest.raises(RefusedQuery, match="is part of what 'grades0' has released"):
            owner.publish_exact("grades1")
        assert owner.publish_exact("grades0").numbers == first.numbers
        assert len(owner.exact_claims()) == 1


def test_a_total_is_not_read_again_from_rows_that_have_changed(tmp_path):
    make_school(tmp_path, release("total"), release("later", rows=ROWS - 1))
    rows = tmp_path / "exams.csv"
    with discreet.own(tmp_path) as owner:
        owner.publish_exact("total")
        lines = rows.read_text(encoding="utf-8").splitlines()
        rows.write_text("\n".join(lines[:-1]) + "\n", encoding="utf-8")
        with pytest.raises(RefusedQuery, match=r"Take it from 'total' \(ticket"):
            owner.publish_exact("later")


def test_a_key_with_a_comma_is_not_two_keys(tmp_path):
    two = release("two", "count", '["grade"]', values='["a", "b"]')
    make_school(tmp_path, two, release("one", "count", '["grade"]', values='["a, b"]'))
    edit(tmp_path, 'keys = ["a", "b", "c"]', 'keys = ["a", "b", "c", "a, b"]')
    with discreet.own(tmp_path) as owner:
        owner.publish_exact("two")
        with pytest.raises(RefusedQuery, match="could be subtracted"):
            owner.publish_exact("one")


def test_a_second_table_of_the_same_source_hides_no_subtraction(tmp_path):
    make_school(tmp_path, release("total"), release("rest", **SECOND, **PREMISES))
    declare_a_second_table(tmp_path)
    with discreet.own(tmp_path) as owner:
        owner.publish_exact("total")
        with pytest.raises(RefusedQuery, match="The totals tell what a row of"):
            owner.publish_exact("rest")


def test_a_renamed_table_hides_no_subtraction(tmp_path):
    make_school(tmp_path, release("total"))
    with discreet.own(tmp_path) as owner:
        owner.publish_exact("total")
        owner.data_changed("students")
    make_school(tmp_path, release("july", table='"july"', rows=ROWS + 1, **PREMISES))
    edit(tmp_path, "[tables.exams", "[tables.july")
    with (
        discreet.own(tmp_path) as owner,
        pytest.raises(RefusedQuery, match="The totals tell what a row of"),
    ):
        owner.publish_exact("july")


@pytest.mark.parametrize(
    "name", ["folder/../exams.csv", "link.csv", "second.csv", "exam*.csv", "exams.csv"]
)
def test_one_file_by_another_path_hides_no_subtraction(tmp_path, name):
    make_school(tmp_path, release("total"), release("rest", **SECOND, **PREMISES))
    declare_a_second_table(tmp_path)
    edit(tmp_path, '[tables.again]\nsource = "exams.csv"', f'[tables.again]\nsource = "{name}"')
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.csv").symlink_to(tmp_path / "exams.csv")
    (tmp_path / "second.csv").hardlink_to(tmp_path / "exams.csv")
    (tmp_path / "exam-of-nobody.csv").symlink_to(tmp_path / "nothing.csv")
    with discreet.own(tmp_path) as owner:
        owner.publish_exact("total")
        with pytest.raises(RefusedQuery, match="The totals tell what a row of"):
            owner.publish_exact("rest")


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("exams", "EXAMS", True),
        ("exams", "main.exams", True),
        ("june.exams", "july.exams", False),
        ("exams", None, True),
        ("exams", "pupils", False),
    ],
)
def test_names_of_one_table_of_a_database(tmp_path, one, other, is_same):
    make_school(tmp_path, release("total"))
    (tmp_path / "school.db").touch()
    catalog = read_catalog(tmp_path)
    (table,) = catalog.tables
    source = evolve(table.source, path=tmp_path / "school.db", format=SourceFormat.DUCKDB)
    first, second = (
        evolve(table, name=name, source=evolve(source, table=inside))
        for name, inside in (("first", one), ("second", other))
    )
    tables = evolve(catalog, tables=(first, second), exact=())
    assert names_of_rows(tables, first, ()) == ({"second"} if is_same else set())


def test_tables_of_other_sources_are_left_to_the_premises(tmp_path):
    make_school(tmp_path, release("total"), release("rest", **SECOND, **PREMISES))
    declare_a_second_table(tmp_path)
    edit(tmp_path, '[tables.again]\nsource = "exams.csv"', '[tables.again]\nsource = "others.csv"')
    (tmp_path / "others.csv").write_bytes((tmp_path / "exams.csv").read_bytes())
    with discreet.own(tmp_path) as owner:
        owner.publish_exact("total")
        assert owner.publish_exact("rest").claim.asserted["composed"]["rule"] == "premises"


PEOPLE = '[id_spaces.people]\nunit = "a person"\nbudget = { epsilon = 3 }\n\n'


def test_rows_that_are_in_two_id_spaces_have_no_exact_number(tmp_path):
    """Noisy answers of the other one would not be looked at, and would not say it is void."""
    make_school(tmp_path, release("total"))
    declare_a_second_table(tmp_path, "people")
    edit(tmp_path, "[id_spaces.students]", PEOPLE + "[id_spaces.students]")
    with discreet.own(tmp_path) as owner:
        owner.connect(epsilon=1).sql("SELECT SUM(score) FROM again")
        with pytest.raises(RefusedQuery, match="are in the id space 'people' too"):
            owner.publish_exact("total")
        assert not owner.ledger().is_void("students")


def test_a_renamed_id_space_hides_no_subtraction(tmp_path):
    """Nor one whose table, file and name are all new."""
    make_school(tmp_path, release("total"), release("rest", rows=ROWS - 1))
    with discreet.own(tmp_path) as owner:
        owner.publish_exact("total")
    make_school(tmp_path, release("rest", table='"pupils"', rows=ROWS - 1))
    (tmp_path / "exams.csv").rename(tmp_path / "pupils.csv")
    edit(tmp_path, "[tables.exams", "[tables.pupils")
    edit(tmp_path, '"exams.csv"\nid_space = "students"', '"pupils.csv"\nid_space = "people"')
    edit(tmp_path, "[id_spaces.students]", "[id_spaces.people]")
    with (
        discreet.own(tmp_path) as owner,
        pytest.raises(RefusedQuery, match="in 'students' of a table that is not there any more"),
    ):
        owner.publish_exact("rest")


def test_a_table_that_was_renamed_in_another_id_space_is_in_nobody_s_way(tmp_path):
    make_school(tmp_path, release("total"))
    with discreet.own(tmp_path) as owner:
        owner.publish_exact("total")
    make_school(tmp_path, release("total"))
    declare_a_second_table(tmp_path, "people")
    edit(tmp_path, "[id_spaces.students]", PEOPLE + "[id_spaces.students]")
    (tmp_path / "others.csv").write_bytes((tmp_path / "exams.csv").read_bytes())
    edit(tmp_path, '[tables.again]\nsource = "exams.csv"', '[tables.again]\nsource = "others.csv"')
    edit(tmp_path, 'table = "exams"', 'table = "again"')
    edit(tmp_path, "[tables.exams", "[tables.tests")
    with discreet.own(tmp_path) as owner:
        assert owner.publish_exact("total").claim.asserted["composed"]["rule"] == "first"


def test_one_file_of_a_folder_of_parts_hides_no_subtraction(tmp_path):
    make_school(tmp_path, release("total"), release("rest", **SECOND, **PREMISES))
    declare_a_second_table(tmp_path)
    folder = tmp_path / "all" / "campus=north"
    folder.mkdir(parents=True)
    (tmp_path / "exams.csv").rename(folder / "exams.csv")
    parts = 'source = "all/*.csv"\npartitions = ["campus"]'
    edit(tmp_path, '[tables.exams]\nsource = "exams.csv"', f"[tables.exams]\n{parts}")
    alone = 'source = "all/campus=north/exams.csv"'
    edit(tmp_path, '[tables.again]\nsource = "exams.csv"', f"[tables.again]\n{alone}")
    with discreet.own(tmp_path) as owner:
        owner.publish_exact("total")
        with pytest.raises(RefusedQuery, match="The totals tell what a row of"):
            owner.publish_exact("rest")


def test_a_total_and_the_parts_of_the_next_version_are_subtracted_too(tmp_path):
    """The whole of June, and of July each campus by itself: together they tell who came."""
    make_school(tmp_path, release("total"))
    with discreet.own(tmp_path) as owner:
        owner.publish_exact("total")
        owner.data_changed("students")
    north = {"split": '"campus"', "parts": '["north"]', "rows": 20}
    others = {"split": '"campus"', "parts": '["south", "east"]', "rows": ROWS - 20 + 1}
    both = {"given": '["total", "north"]', "robust": '["total", "north"]'}
    make_school(
        tmp_path, release("north", **north, **PREMISES), release("others", **others, **both)
    )
    with discreet.own(tmp_path) as owner:
        owner.publish_exact("north")
        with pytest.raises(RefusedQuery, match="The totals tell what a row of"):
            owner.publish_exact("others")
