"""A first declaration: from names and types alone, open where only the owner knows."""

import datetime
import json
import tomllib
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from attrs import evolve

from discreet.cli.commands.init import InitWishes, begin
from discreet.cli.init_replies import InitReplies, ask_the_rest, limit, number
from discreet.cli.main import main
from discreet.core.errors import DeclarationError, InvalidArgument
from discreet.core.loss import Approximate, Pure
from discreet.core.terminal_text import WIDEST
from discreet.engines.duckdb.sources.examine import require_source
from discreet.project.declaration_report import table_text
from discreet.tables.catalog import Limits, PrivacyUnit
from discreet.tables.column import ColumnType
from discreet.tables.declarations.declaration import read_catalog

ROWS = pa.table(
    {
        "person": pa.array(["secret person"]),
        "age": pa.array([4711]),
        "cost": pa.array([815.25]),
        "urgent": pa.array([True]),
        "day": pa.array([datetime.date(1984, 4, 4)]),
        "seen": pa.array([datetime.datetime(1984, 4, 4)], pa.timestamp("ms")),  # noqa: DTZ001
        "née": pa.array(["x"]).dictionary_encode(),
        "many": pa.array([[1]]),
    }
)
COMPLETE = InitReplies(
    id_space="patients",
    unit="Person",
    budget="epsilon = 1, delta = 1e-9",
    rows_per_group=2,
    groups_per_unit=3,
)


@pytest.fixture
def folder(tmp_path):
    pq.write_table(ROWS, tmp_path / "visits.parquet")
    (tmp_path / "staff.csv").write_text("person,reason,?,x,X,\nsecret person,sick,1,2,3,4\n")
    return tmp_path


def run(folder: Path, *files: str, answers: InitReplies = COMPLETE, ask=None, **wishes):
    wished = InitWishes(**wishes)
    return begin([str(folder / file) for file in files], folder, answers, ask, wished)


def test_with_all_answers_the_file_holds(folder):
    shown = run(folder, "visits.parquet", "staff.csv")
    assert shown.data["open"] == []
    catalog = read_catalog(folder)
    for table in catalog.tables:
        require_source(table)
        assert table.unit == PrivacyUnit(id_space="patients", column="person")
        assert table.limits == Limits(rows_per_group=2, groups_per_unit=3)
    assert catalog.id_space("patients").cap == Approximate(1, "1e-9")
    visits, staff = catalog.tables
    assert {column.name: column.type for column in visits.columns} == {
        "person": ColumnType.TEXT,
        "age": ColumnType.INTEGER,
        "cost": ColumnType.REAL,
        "urgent": ColumnType.BOOLEAN,
        "day": ColumnType.DATE,
        "seen": ColumnType.TIMESTAMP,
        "née": ColumnType.TEXT,
    }
    assert [column.name for column in staff.columns] == ["person", "reason"]
    assert {column.type for column in staff.columns} == {ColumnType.TEXT}
    assert all(column.bounds is None for column in visits.columns)


def test_nothing_of_a_row_or_a_statistic_gets_into_the_file(folder):
    run(folder, "visits.parquet", "staff.csv")
    text = (folder / "discreet.toml").read_text()
    for value in ("secret", "4711", "815", "1984", "sick"):
        assert value not in text


def test_the_data_may_be_unreadable_beyond_its_names(folder):
    with (folder / "staff.csv").open("ab") as file:
        file.write(b'\xff"\x00' * 1000)
    run(folder, "staff.csv")
    assert read_catalog(folder).tables[0].name == "staff"


ANSWERED = (
    ("id_spaces.? (line", '[id_spaces."?"]', "[id_spaces.patients]"),
    ("id_spaces.patients.unit (line", 'unit = "?"  ', 'unit = "one patient"  '),
    ("budget.epsilon (line", 'epsilon = "?"', "epsilon = 1"),
    ("visits.id_space (line", 'id_space = "?"', 'id_space = "patients"'),
    ("visits.unit (line", '\nunit = "?"', '\nunit = "person"'),
    ("rows_per_unit (line", 'rows_per_unit = "?"', "rows_per_unit = 1"),
)


def test_without_answers_the_file_says_all_that_is_missing(folder):
    shown = run(folder, "visits.parquet", answers=InitReplies())
    assert len(shown.data["open"]) == 4
    file = folder / "discreet.toml"
    for done, (_, old, new) in enumerate(ANSWERED):
        with pytest.raises(DeclarationError) as caught:
            read_catalog(folder)
        left = [place for place, *_ in ANSWERED[done:]]
        places = [place.replace("patients", "?") if done == 0 else place for place in left]
        assert all(place in str(caught.value) for place in places)
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new, 1))
    assert "be a whole number in place of the question mark" in str(caught.value)
    require_source(read_catalog(folder).tables[0])


def test_very_many_open_answers_are_named_by_their_lines(folder):
    files = [f"part{i}.csv" for i in range(12)]
    for file in files:
        (folder / file).write_text("person,age\n")
    run(folder, *files, answers=InitReplies(id_space="patients", budget="epsilon = 1"))
    with pytest.raises(DeclarationError, match=r"25 answers are open.* got lines 8, .*\d\."):
        read_catalog(folder)


def test_a_question_mark_in_a_list_is_a_key(folder):
    run(folder, "visits.parquet")
    file = folder / "discreet.toml"
    keys = 'person = { type = "text", keys = ["?", "a"] }'
    file.write_text(file.read_text().replace('person = { type = "text" }', keys))
    assert read_catalog(folder).tables[0].column("person").keys == ("?", "a")


def test_the_words_for_a_unit_are_the_owners(folder):
    run(folder, "visits.parquet", answers=evolve(COMPLETE, unit_words="one patient"))
    assert read_catalog(folder).id_space("patients").unit == "one patient"


def test_examples_show_how_columns_are_declared(folder):
    run(folder, "visits.parquet", "staff.csv")
    text = (folder / "discreet.toml").read_text()
    examples = [line[2:] for line in text.splitlines() if line.startswith("#   ")]
    assert len(examples) == 5
    assert max(map(len, text.splitlines())) <= WIDEST
    shown = "\n".join(line.rpartition("}")[0] + "}" for line in examples)
    declared = text.replace("[tables.visits.columns]\n", f"[tables.visits.columns]\n{shown}\n")
    for old in ('age = { type = "integer" }', 'cost = { type = "real" }'):
        assert old in declared
    kept = [
        line
        for line in declared.splitlines()
        if not line.startswith(("age ", "cost ", "urgent ", "day "))
    ]
    (folder / "discreet.toml").write_text("\n".join(kept))
    visits = read_catalog(folder).table("visits")
    assert visits.column("clinic").keys == ("north", "south")
    assert visits.column("cost").bounds is not None
    assert visits.column("day").dates is not None


def test_the_example_of_a_public_table_holds(folder):
    run(folder, "visits.parquet")
    file = folder / "discreet.toml"
    head, _, example = file.read_text().partition("# [public_tables.districts]")
    lines = [line.removeprefix("# ").removeprefix("#") for line in example.splitlines()]
    file.write_text(head + "[public_tables.districts]" + "\n".join(lines))
    assert [table.name for table in read_catalog(folder).public_tables] == ["districts"]


def test_public_files_are_declared_without_a_unit(folder, capsys):
    (folder / "districts.csv").write_text("district,region\n")
    (folder / "visits.csv").write_text("clinic\n")
    run(
        folder,
        "visits.parquet",
        public=[str(folder / "districts.csv"), str(folder / "visits.csv")],
    )
    catalog = read_catalog(folder)
    assert [table.name for table in catalog.tables] == ["visits"]
    assert [table.name for table in catalog.public_tables] == ["districts", "visits_2"]
    for table in catalog.public_tables:
        require_source(table)
    assert "# [public_tables" not in (folder / "discreet.toml").read_text()


def test_the_command_takes_public_files(folder, capsys):
    (folder / "districts.csv").write_text("district,region\n")
    options = ["--public", str(folder / "districts.csv"), "--project", str(folder), "--json"]
    assert main(["init", str(folder / "visits.parquet"), *options]) == 0
    assert json.loads(capsys.readouterr().out)["tables"] == ["visits", "districts"]


@pytest.mark.parametrize("header", ["person;age", "person\tage"])
def test_other_separators_than_commas_are_named(folder, capsys, header):
    (folder / "odd.csv").write_text(f"{header}\nsecret person;4711\n")
    assert main(["to-parquet", str(folder / "odd.csv")]) == 2
    told = capsys.readouterr().err
    assert "commas" in told
    assert "secret" not in told
    assert not (folder / "odd.parquet").exists()


def test_a_file_is_never_overwritten(folder):
    (folder / "discreet.toml").write_text("mine")
    with pytest.raises(InvalidArgument, match="exists already"):
        run(folder, "visits.parquet")
    assert (folder / "discreet.toml").read_text() == "mine"


def test_every_kind_of_file_and_odd_names(tmp_path):
    with duckdb.connect(tmp_path / "clinic.duckdb") as database:
        database.execute("CREATE TABLE visits (person BIGINT, b HUGEINT, t TIME, d DECIMAL(5, 2))")
        database.execute('CREATE SCHEMA w; CREATE TABLE w."1 odd" (person BIGINT, ts TIMESTAMP_NS)')
        database.execute("CREATE VIEW seen AS SELECT 1 // 0 AS person")
    people = pa.table({"person": [1], 'a "\\\n\x7f': [2], "struct": pa.array([{"a\nb": 1}])})
    (tmp_path / "parts").mkdir()
    pq.write_table(people, tmp_path / "parts" / "visits-1.parquet")
    run(tmp_path, "clinic.duckdb", "parts/visits-*.parquet", answers=COMPLETE)
    catalog = read_catalog(tmp_path)
    assert [table.name for table in catalog.tables] == ["visits", "w_1_odd", "visits_2"]
    for table in catalog.tables:
        require_source(table)
    types = [[column.type.value for column in table.columns] for table in catalog.tables]
    assert types == [
        ["integer", "integer", "time", "real"],
        ["integer", "timestamp"],
        ["integer", "integer", "integer"],
    ]
    assert catalog.tables[2].source.path.name == "visits-*.parquet"


def test_what_cannot_be_begun_with(folder):
    for file, what in (("visits.sav", "end in"), ("nowhere.csv", "cannot be read")):
        with pytest.raises((InvalidArgument, DeclarationError), match=what):
            run(folder, file)
    with pytest.raises(InvalidArgument, match="whose row it is"):
        run(folder, "visits.parquet", answers=InitReplies(unit="cost"))
    (folder / "empty.csv").write_text("\n")
    with pytest.raises(InvalidArgument, match="no columns"):
        run(folder, "empty.csv")
    assert not (folder / "discreet.toml").exists()


def test_each_row_needs_no_limits(folder):
    shown = run(
        folder,
        "staff.csv",
        answers=InitReplies(id_space="calls", unit="each row", budget="rho = 0.1"),
    )
    assert shown.data["open"] == []
    assert read_catalog(folder).tables[0].unit.column is None


# ---- Questions on a terminal.


def asker(*replies: str):
    left = list(replies)
    asked = []

    def ask(question: str) -> str:
        asked.append(question)
        return left.pop(0) + "\n"

    return ask, asked


def test_the_rest_is_asked_for(folder):
    replies = ["nobody", "cost", "PERSON", "a patient", "", "1", "0", "3", "no"]  # of visits
    ask, asked = asker(*replies, "n", "", "each row", "n")
    run(folder, "visits.parquet", "staff.csv", answers=InitReplies(), ask=ask)
    catalog = read_catalog_with_two_kinds(folder)
    assert "whose rows are these" in asked[0]
    assert "There is no such column" in asked[2]
    assert "about one patient, as an epsilon" in asked[5]
    assert "That is no limit" in asked[7]
    assert catalog["id_spaces"]["patients"] == {"unit": "a patient", "budget": {"epsilon": 1}}
    assert catalog["tables"]["visits"]["rows_per_unit"] == 3
    assert catalog["tables"]["staff"]["unit"] == {"each_row": True}


def read_catalog_with_two_kinds(folder: Path) -> dict:
    with pytest.raises(DeclarationError, match="another kind of unit"):
        read_catalog(folder)
    return tomllib.loads((folder / "discreet.toml").read_text())


def test_an_empty_reply_leaves_a_question_open():
    ask, asked = asker("", "", "", "", "")
    assert ask_the_rest(InitReplies(), "visits", ["person"], ask) == InitReplies()
    assert len(asked) == 4
    known = ask_the_rest(COMPLETE, "visits", ["person"], ask)
    assert known == COMPLETE
    assert len(asked) == 4


@pytest.mark.parametrize("bad", ["1/3", "-1", "x", "nan", ""])
def test_amounts_are_decimals(bad):
    with pytest.raises(InvalidArgument):
        number(bad)


@pytest.mark.parametrize("bad", ["0", "1.5", "", "²", "9" * 5000, "1000001", "-1"])
def test_limits_are_whole(bad):
    with pytest.raises(InvalidArgument):
        limit(bad)


# ---- The command.


def test_the_command_takes_every_answer_as_an_option(folder, capsys):
    options = ["--id-space", "people", "--unit", "person", "--epsilon", ".5"]
    options += ["--rows-per-group", "1", "--groups-per-unit", "1", "--project", str(folder)]
    assert main(["init", str(folder / "staff.csv"), *options, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["open"] == []
    assert read_catalog(folder).id_space("people").cap == Pure("1/2")
    assert main(["init", str(folder / "staff.csv"), "--project", str(folder)]) == 2
    assert "exists already" in capsys.readouterr().err


@pytest.mark.parametrize(
    "options", [["--delta", "1e-9"], ["--epsilon", "1", "--rho", "1"], ["--epsilon", "no"]]
)
def test_a_budget_says_how_much_once(folder, capsys, options):
    assert main(["init", str(folder / "staff.csv"), *options, "--project", str(folder)]) == 2
    assert "[invalid_argument]" in capsys.readouterr().err


@pytest.mark.parametrize("header", ["person;age\np;1\n", '"person";"age"\n"p";"1"\n'])
def test_a_separator_is_proposed_from_the_header(tmp_path, capsys, header):
    (tmp_path / "visits.csv").write_text(header)
    source = str(tmp_path / "visits.csv")
    given = ["--unit", "person", "--id-space", "people", "--epsilon", "1"]
    options = [*given, "--unit-words", "a person", "--rows-per-unit", "1"]
    assert main(["init", source, "--project", str(tmp_path), *options]) == 0
    assert 'delimiter = ";"' in (tmp_path / "discreet.toml").read_text()
    assert main(["check", "--project", str(tmp_path)]) == 0
    capsys.readouterr()


@pytest.mark.parametrize("header", ["p,p,,x", "p,P,,x"])
def test_a_name_that_two_columns_have_is_said(tmp_path, header):
    (tmp_path / "staff.csv").write_text(f"{header}\n1,2,3,4\n")
    with pytest.raises(InvalidArgument, match="Two columns of staff are called p"):
        run(tmp_path, "staff.csv", answers=evolve(COMPLETE, unit="p"))


@pytest.mark.parametrize(("first", "is_said"), [("anna,4711.25", True), ("person,pay2", False)])
def test_a_first_line_that_looks_like_a_row_is_said(tmp_path, first, is_said):
    (tmp_path / "staff.csv").write_text(f"{first}\nbob,8150\n")
    shown = run(tmp_path, "staff.csv", answers=evolve(COMPLETE, unit=first.split(",")[0]))
    said = " ".join(shown.text.split())
    assert ("header = false" in said) == is_said
    assert ("It fits the files" in said) != is_said
    assert "4711.25" not in said


# ---- The form of a file: its mark, and the folders that it is in.


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_mark_of_utf_16_is_written_down(tmp_path, encoding):
    text = "\ufeffperson;city\np1;Köln\n"
    (tmp_path / "visits.csv").write_bytes(text.encode(encoding))
    run(tmp_path, "visits.csv")
    declared = tomllib.loads((tmp_path / "discreet.toml").read_text(encoding="utf-8"))
    visits = declared["tables"]["visits"]
    assert (visits["encoding"], visits["delimiter"]) == ("utf-16", ";")
    assert [*visits["columns"]] == ["person", "city"]
    catalog = read_catalog(tmp_path)
    require_source(catalog.tables[0])


def test_without_a_mark_the_encoding_is_named(tmp_path):
    (tmp_path / "visits.csv").write_bytes("person;city\np1;Köln\n".encode("utf-16-be"))
    with pytest.raises(DeclarationError, match='encoding = "utf-16"'):
        run(tmp_path, "visits.csv")


def hive(folder: Path) -> None:
    for year in (2023, 2024):
        inner = folder / "hive" / f"year={year}" / "region=secret region"
        inner.mkdir(parents=True)
        pq.write_table(ROWS.select(["person", "age"]), inner / "part.parquet")


def test_folders_are_columns(tmp_path):
    hive(tmp_path)
    run(tmp_path, "hive/*.parquet")
    text = (tmp_path / "discreet.toml").read_text(encoding="utf-8")
    assert "secret" not in text
    found = tomllib.loads(text)["tables"]["hive"]
    assert (found["source"], found["partitions"]) == ("hive/*.parquet", ["year", "region"])
    assert [*found["columns"]] == ["person", "age", "year", "region"]
    catalog = read_catalog(tmp_path)
    require_source(catalog.tables[0])
    assert "from hive/*.parquet" in table_text(catalog, catalog.tables[0])


def test_a_file_in_such_folders_is_not_private_and_public(tmp_path):
    hive(tmp_path)
    public = tmp_path / "hive" / "year=2024" / "region=secret region" / "part.parquet"
    with pytest.raises(InvalidArgument, match="private and as public"):
        run(tmp_path, "hive/*.parquet", public=(str(public),))


@pytest.mark.parametrize(("given", "said"), [("no/*.parquet", "No file fits"), ("hive", "pattern")])
def test_what_is_no_file_is_shown_as_it_is_given(tmp_path, given, said):
    hive(tmp_path)
    with pytest.raises(InvalidArgument) as told:
        run(tmp_path, given)
    assert said in str(told.value)
    assert str(tmp_path / given) in str(told.value)
