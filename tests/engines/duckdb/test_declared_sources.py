"""From a declaration to exact numbers: what the owner says of files, is told, and is asked."""

import gzip
import os
import sqlite3
from contextlib import closing
from itertools import count
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.cli.main import main
from discreet.core.canonical import described, digest
from discreet.core.errors import DeclarationError
from discreet.engines.duckdb.sources import excel_source, json_source, sqlite_source
from discreet.roles.connection import connect
from discreet.tables.declarations.sources import SUFFIXES, way_out
from tests.support.projects.clinic import run_exact
from tests.support.projects.owner import owner_of
from tests.support.projects.source_writers import OF_TABLES, WRITERS, text_cell, workbook, write

DECLARATION = """
[id_spaces.people]
unit = "a person"
budget = {{ epsilon = 10 }}
[tables.visits]
source = "{source}"
{more}
id_space = "people"
unit = "person"
rows_per_group = 5
groups_per_unit = 5
[tables.visits.columns]
person = {{ type = "text" }}
city = {{ type = "text", keys = ["Köln", "Łódź", "Bonn"] }}
age = {{ type = "integer", min = 0, max = 100 }}
"""
BY_CITY = "SELECT city, COUNT(*), SUM(age) FROM visits GROUP BY city"
LINES = ["person;city;age", "p;Köln;1", "q;Köln;2", "r;Bonn;4", ""]


def project(folder: Path, source: str, more: str = "", *, public: str = "") -> Path:
    text = DECLARATION.format(source=source, more=more)
    (folder / "discreet.toml").write_text(text + public, encoding="utf-8")
    return folder


def checked(folder: Path, capsys) -> str:
    assert main(["check", "--project", str(folder)]) == 0
    return " ".join(capsys.readouterr().out.split())


def asked(folder: Path) -> list[list[int]]:
    return [column.tolist() for column in run_exact(folder, BY_CITY)]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_file_in_latin_1_keeps_its_groups(tmp_path, capsys, end):
    (tmp_path / "visits.csv").write_bytes(end.join(LINES).encode("latin-1"))
    project(tmp_path, "visits.csv", 'delimiter = ";"\nencoding = "latin-1"')
    assert "no text" not in checked(tmp_path, capsys)
    assert asked(tmp_path) == [[2, 0, 1], [3, 0, 4]]


def test_a_wrong_encoding_is_told_to_the_owner_by_the_column_alone(tmp_path, capsys):
    (tmp_path / "visits.csv").write_bytes("\n".join(LINES).encode("latin-1"))
    project(tmp_path, "visits.csv", 'delimiter = ";"')
    told = checked(tmp_path, capsys)
    assert "visits.city has cells that are no text in utf-8" in told
    assert 'encoding = "cp1252"' in told
    assert "ln;" not in told
    # Behind the gate these cells are NULL; the others are what they were.
    assert asked(tmp_path) == [[0, 0, 1], [0, 0, 4]]
    (tmp_path / "visits.csv").write_bytes("\n".join(LINES).encode())
    project(tmp_path, "visits.csv", 'delimiter = ";"\nencoding = "latin-1"')
    assert "visits.city is declared as iso8859-1, and all of it" in checked(tmp_path, capsys)


@pytest.mark.parametrize(
    ("name", "more", "encoded"),
    [
        ("visits.txt", 'format = "csv"\ndelimiter = ";"', lambda text: text.encode()),
        ("visits.csv.gz", 'delimiter = ";"', lambda text: gzip.compress(text.encode())),
        (
            "visits",
            'format = "csv"\ndelimiter = "\\t"\nencoding = "utf-16"\ncompression = "gzip"',
            lambda text: gzip.compress(text.replace(";", "\t").encode("utf-16")),
        ),
        (
            "visits.csv",
            'delimiter = "|"\nquote = ""\nheader = false\nencoding = "cp1250"',
            lambda text: text.partition("\n")[2].replace(";", "|").encode("cp1250"),
        ),
    ],
)
def test_declared_forms_are_read_to_the_end(tmp_path, capsys, name, more, encoded):
    (tmp_path / name).write_bytes(encoded("\n".join(LINES)))
    project(tmp_path, name, more)
    assert "All is well" in checked(tmp_path, capsys)
    assert asked(tmp_path) == [[2, 0, 1], [3, 0, 4]]
    with connect(tmp_path, epsilon=1) as connection:
        assert len(connection.sql(BY_CITY).rows) == 3


def test_the_owner_is_told_of_another_separator_or_encoding(tmp_path):
    project(tmp_path, "visits.csv")
    for data, told in [
        ("\n".join(LINES).encode(), 'delimiter = ";"'),
        ("\n".join(LINES).replace(";", ",").encode("utf-16"), 'encoding = "utf-16"'),
    ]:
        (tmp_path / "visits.csv").write_bytes(data)
        with connect(tmp_path) as connection, pytest.raises(DeclarationError) as caught:
            owner_of(connection).check()
        assert told in str(caught.value)


# ---- What is not read, and the way out.


@pytest.mark.parametrize(
    ("source", "more", "told"),
    [
        ("visits.xls", "", "read_excel('visits.xls').to_parquet('visits.parquet')"),
        ("visits.sav", "", "read_spss"),
        ("visits.dta", "", "read_stata"),
        ("visits.sas7bdat", "", "read_sas"),
        ("visits.json", "", 'format = "jsonl"'),
        ("visits.txt", "", 'format = "csv"'),
        ("visits.zip", "", "gzip"),
        ("visits.parquet.gz", "", "Convert it"),
        ("visits.quux", "", "Convert it"),
        ("visits.csv", 'encoding = "ebcdic"', "encoding"),
        ("visits.csv", 'delimiter = "ab"', "delimiter"),
        ("visits.csv", 'compression = "lzma"', "gzip"),
        ("visits.csv", 'source_table = "x"', "not a setting"),
        ("visits.jsonl", 'delimiter = ";"', "not a setting"),
        ("visits.parquet", 'encoding = "utf-8"', "not a setting"),
        ("visits.sqlite", "", "source_table"),
        ("visits.xlsx", 'source_table = "x"\npartitions = ["age"]', "not a setting"),
        ("*.sqlite", 'source_table = "x"', "one database file"),
        ("visits.csv", 'partitions = ["year"]', "names no declared column"),
        ("visits.csv", 'partitions = ["age", "Age"]', "twice"),
        ("visits.csv", "partitions = [1]", "list of columns"),
        ("visits.csv", 'format = "xml"', "csv"),
    ],
)
def test_what_is_not_read_is_refused_with_a_way_out(tmp_path, source, more, told):
    with pytest.raises(DeclarationError) as caught:
        connect(project(tmp_path, source, more))
    assert told in str(caught.value)


def test_a_pipe_is_no_source_and_nobody_waits_for_it(tmp_path):
    project(tmp_path, "visits.csv")
    os.mkfifo(tmp_path / "visits.csv")
    # Whoever opens it to write keeps one that would wait from waiting for ever.
    handle = os.open(tmp_path / "visits.csv", os.O_RDWR | os.O_NONBLOCK)
    os.write(handle, b"person,city,age\n")
    with connect(tmp_path) as connection, pytest.raises(DeclarationError, match="not a pipe"):
        owner_of(connection).check()
    os.close(handle)


OBJECT = '{"person": "p", "city": "Bonn", "age": 1}'
NO_LINES = {
    "an array": (f"[\n{OBJECT},\n{OBJECT}\n]\n", "JSON array"),
    "an array in one line": (f"[{OBJECT}, {OBJECT}]", "JSON array"),
    "an array behind a mark": (f"\ufeff\n  [\n{OBJECT}\n]", "JSON array"),
    "an array in a line that is too long": (f"[{', '.join([OBJECT] * 60_000)}]", "JSON array"),
    "one object over many lines": (f'{{"rows": [\n{OBJECT},\n{OBJECT}\n]}}', "no object by itself"),
    "written out": (
        '{\n  "person": "p",\n  "where":\n{"city": "Bonn"}\n}\n',
        "no object by itself",
    ),
    "several in a line": (OBJECT + OBJECT, "no object by itself"),
    "too long": (f'{{"rows": [{", ".join([OBJECT] * 60_000)}]}}', "no object by itself"),
    "nothing": ("\n \n", "cannot be read"),
    "something else": ("person,city,age\np,Bonn,1\n", "cannot be read"),
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", NO_LINES)
def test_what_is_json_and_no_lines_is_found_by_check(tmp_path, capsys, name, packed):
    text, told = NO_LINES[name]
    file = tmp_path / ("visits.jsonl.gz" if packed else "visits.jsonl")
    file.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    project(tmp_path, file.name)
    for command in (["check", "--project", str(tmp_path)], ["to-parquet", str(file), "--as-text"]):
        assert main(command) == 2
        said = " ".join(capsys.readouterr().err.split())
        assert "Bonn" not in said
        assert told in said or command[0] == "to-parquet"
    # A question does not look: what a file holds decides about nothing before the charge.
    with connect(tmp_path, epsilon=1) as connection:
        connection.sql("SELECT COUNT(*) FROM visits")


def test_lines_that_are_no_objects_are_told_to_the_owner(tmp_path, capsys):
    (tmp_path / "visits.jsonl").write_text(f"{OBJECT}\n[1]\n{OBJECT}\n")
    told = checked(project(tmp_path, "visits.jsonl"), capsys)
    assert "visits has lines that are no JSON objects. They are dropped" in told
    (tmp_path / "visits.jsonl").write_text(f"{OBJECT}\n\n{OBJECT}\n")
    assert "no JSON objects" not in checked(tmp_path, capsys)


@pytest.mark.parametrize(
    ("more", "place"),
    [
        ('delimiter = "ab"', "delimiter (line 7)"),
        ('delimiter = "|"\nquote = "x"', "quote (line 8)"),
        ('quote = ","\ndelimiter = ";"\nencoding = "ebcdic"', "encoding (line 9)"),
        ('encoding = "shift_jis"\ndelimiter = "|"', "delimiter (line 8)"),
        ('quote = ","', "quote (line 7)"),
        ("delimiter = '\"'", "delimiter (line 7)"),
    ],
)
def test_a_complaint_names_the_line_of_what_it_is_about(tmp_path, more, place):
    with pytest.raises(DeclarationError) as caught:
        connect(project(tmp_path, "visits.csv", more))
    assert f"tables.visits.{place}" in str(caught.value)
    both = "quote = ','\ndelimiter = '\"'"
    (tmp_path / "visits.csv").write_text('person"city"age\n')
    (table,) = connect(project(tmp_path, "visits.csv", both)).catalog().tables
    assert (table.source.text.quote, table.source.text.delimiter) == (",", '"')


def test_every_way_out_names_what_can_be_read():
    assert all(ending not in SUFFIXES for ending in (".xls", ".sav", ".json"))
    assert "parquet" in way_out(Path("it's.xls"))


def test_a_file_of_sqlite_by_another_name_is_told(tmp_path):
    (tmp_path / "visits.db").write_bytes(b"SQLite format 3\0" + bytes(100))
    project(tmp_path, "visits.db", 'source_table = "visits"')
    with connect(tmp_path) as connection, pytest.raises(DeclarationError, match="sqlite"):
        owner_of(connection).check()


# ---- Folders as columns.

FOLDERS = {
    "city=K%C3%B6ln/age=1": ["p"],
    "city=K%C3%B6ln/age=2": ["q"],
    "CITY=Bonn/age=4": ["r"],
    "city=__HIVE_DEFAULT_PARTITION__/age=50": ["s"],
    "city=%FF/age=50": ["t"],
    "city=Bonn": ["not deep enough"],
    "city=Bonn/age=1/more=1": ["too deep"],
    "town=Bonn/age=1": ["of another name"],
    "city=Bonn/ages=1": ["of another name, too"],
}


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_folders_are_columns_where_that_is_declared(tmp_path, capsys, kind):
    for name, people in FOLDERS.items():
        folder = tmp_path / "data" / name
        folder.mkdir(parents=True)
        for number, person in enumerate(people):
            rows = pa.table({"person": [person], "city": ["Łódź"]})  # the folder says otherwise
            file = folder / f"part-{number}.{kind}"
            if kind == "csv":
                file.write_text(f"person,city\n{person},Łódź\n", encoding="utf-8")
            elif kind == "jsonl":
                file.write_text(f'{{"person": "{person}", "city": "Łódź"}}\n', encoding="utf-8")
            else:
                pq.write_table(rows, file)
    project(tmp_path, f"data/part-*.{kind}", 'partitions = ["city", "age"]')
    assert "All is well" in checked(tmp_path, capsys)
    assert asked(tmp_path) == [[2, 0, 1], [3, 0, 4]]
    assert run_exact(tmp_path, "SELECT SUM(age) FROM visits")[0].tolist() == [107]


PUBLIC = """
[public_tables.known]
source = "{source}"
{more}
[public_tables.known.columns]
person = {{ type = "text" }}
"""


def test_a_partitioned_private_table_is_apart_from_public_ones(tmp_path):
    inner = tmp_path / "data" / "city=Bonn"
    inner.mkdir(parents=True)
    (inner / "part.csv").write_text("person,age\np,1\n")
    for source in ("data/city=Bonn/part.csv", "data/city=Bonn/*.csv"):
        public = PUBLIC.format(source=source, more="")
        project(tmp_path, "data/*.csv", 'partitions = ["city"]', public=public)
        with pytest.raises(DeclarationError, match="would make private rows public"):
            connect(tmp_path)
    os.symlink(inner / "part.csv", tmp_path / "known.csv")
    public = PUBLIC.format(source="known.csv", more="")
    project(tmp_path, "data/*.csv", 'partitions = ["city"]', public=public)
    with pytest.raises(DeclarationError, match="reads the file of a private one"):
        connect(tmp_path)


@pytest.mark.parametrize("link", [os.symlink, os.link, None])
def test_a_private_file_is_not_public_as_another_kind_of_file(tmp_path, link):
    (tmp_path / "visits.sqlite").write_bytes(b"person\np\n")
    source = "visits.sqlite"
    if link is not None:
        source = "known.txt"
        link(tmp_path / "visits.sqlite", tmp_path / source)
    public = PUBLIC.format(source=source, more='format = "csv"')
    project(tmp_path, "visits.sqlite", 'source_table = "visits"', public=public)
    with pytest.raises(DeclarationError, match="private"):
        connect(tmp_path)


@pytest.mark.parametrize("kind", WRITERS)
def test_a_link_to_a_private_file_of_any_kind_is_no_public_table(tmp_path, kind):
    people = pa.table({"person": ["p"], "city": ["Bonn"], "age": [1]})
    write(tmp_path / f"visits.{kind}", people)
    write(tmp_path / f"known.{kind}", people)
    table = 'source_table = "visits"' if kind in OF_TABLES else ""
    public = PUBLIC.format(source=f"known.{kind}", more=table)
    project(tmp_path, f"visits.{kind}", table, public=public)
    with connect(tmp_path, epsilon=1) as connection:
        # Whoever swaps it after the project was opened is caught as well.
        (tmp_path / f"known.{kind}").unlink()
        os.link(tmp_path / f"visits.{kind}", tmp_path / f"known.{kind}")
        with pytest.raises(DeclarationError, match="reads the file of a private one"):
            connection.sql("SELECT COUNT(*) FROM visits JOIN known USING (person)")
    with pytest.raises(DeclarationError, match="reads the file of a private one"):
        connect(tmp_path)


# ---- Units: the replay of a neighbour, and its broken twin.

OBJECTS = b'{"person": 5, "age": 1}\n{"person": 5.0, "age": 1}\n{"person": "5", "age": 1}\n'
VALUES = ("5", "5.0", "'5'")
CELLS = ("<c><v>5</v></c>", "<c><v>5.0</v></c>", text_cell("5"))


def with_unit(folder: Path, kind: str) -> Path:
    """Write a table in which one unit is written in three forms."""
    path = folder / f"visits.{kind}"
    if kind == "jsonl":
        path.write_bytes(OBJECTS)
    elif kind == "sqlite":
        with closing(sqlite3.connect(path)) as database, database:
            database.execute("CREATE TABLE visits (person, city, age)")
            values = ", ".join(f"({person}, 'Bonn', 1)" for person in VALUES)
            database.execute(f"INSERT INTO visits VALUES {values}")
    else:
        names = [text_cell(name) for name in ("person", "age")]
        path.write_bytes(workbook([names, *([person, "<c><v>1</v></c>"] for person in CELLS)]))
    table = 'source_table = "visits"' if kind in OF_TABLES else ""
    project(folder, path.name, table)
    declared = folder / "discreet.toml"
    declared.write_text(declared.read_text().replace("rows_per_group = 5", "rows_per_group = 1"))
    return folder


@pytest.mark.parametrize(
    ("kind", "place", "name"),
    [
        ("jsonl", json_source, "_id_cell"),
        ("sqlite", sqlite_source, "id_cell"),
        ("xlsx", excel_source, "id_cell"),
    ],
)
def test_a_unit_in_three_forms_moves_no_more_than_one(tmp_path, monkeypatch, kind, place, name):
    folder = with_unit(tmp_path, kind)
    assert run_exact(folder, "SELECT COUNT(*) FROM visits")[0].tolist() == [1]
    turns = count()
    monkeypatch.setattr(place, name, lambda value: f"{value!r}{next(turns)}".encode())
    assert run_exact(folder, "SELECT COUNT(*) FROM visits")[0].tolist() == [3]


# ---- Parquet with timestamps of any unit.


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "Asia/Kolkata"])
def test_timestamps_of_any_unit_are_read(tmp_path, unit, zone):
    ticks = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    moments = pa.array([1_700_000_000 * ticks, None], pa.int64()).cast(pa.timestamp(unit, zone))
    pq.write_table(pa.table({"person": ["p", "q"], "seen": moments}), tmp_path / "v.parquet")
    text = DECLARATION.format(source="v.parquet", more="")
    declared = 'seen = { type = "timestamp", zone = "Europe/Berlin" }\n'
    (tmp_path / "discreet.toml").write_text(text[: text.index("city =")] + declared)
    with connect(tmp_path) as connection:
        owner_of(connection).check()
    hour = 22 if zone is None else 23  # Berlin is an hour ahead of UTC in November
    sql = f"SELECT COUNT(*) FROM visits WHERE hour(seen) = {hour} AND minute(seen) = 13"
    assert run_exact(tmp_path, sql)[0].tolist() == [1]


# ---- Who a row is of, and what a question is called.


def units_counted(folder: Path) -> int:
    (columns,) = run_exact(folder, "SELECT COUNT(DISTINCT person) FROM visits")
    return int(columns[0])


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_what_is_no_whole_number_names_nobody(tmp_path, kind):
    """Rounded, 1.1 and 1.2 would be one person, and more would move than is paid for."""
    written = ["1", "1.0", " 1", "1e0", "1.1", "1.2", "0.9", "0x1", "7", "x", ""]
    file = tmp_path / f"visits.{kind}"
    if kind == "csv":
        lines = [f"{one},Bonn,1" for one in written]
        file.write_text("\n".join(["person,city,age", *lines, ""]))
    elif kind == "jsonl":
        file.write_text("".join(f'{{"person": "{one}", "city": "Bonn"}}\n' for one in written))
    else:
        pq.write_table(pa.table({"person": written, "city": ["Bonn"] * len(written)}), file)
    folder = project(tmp_path, file.name)
    declared = (folder / "discreet.toml").read_text()
    number = declared.replace('person = { type = "text" }', 'person = { type = "integer" }')
    (folder / "discreet.toml").write_text(number)
    assert units_counted(folder) == 2
    assert [int(n) for n in run_exact(folder, "SELECT COUNT(*) FROM visits")[0]] == [5]


def test_another_reading_of_a_file_is_another_question(tmp_path):
    (tmp_path / "visits.csv").write_bytes("\n".join(LINES).encode("latin-1"))
    names = set()
    readings = ['delimiter = ";"', 'delimiter = ";"\nencoding = "latin-1"', 'quote = "|"']
    for more in ["", *readings]:
        (table,) = connect(project(tmp_path, "visits.csv", more)).catalog().tables
        names.add(digest(described(table)))
    assert len(names) == 4
    usual = 'delimiter = ","\nencoding = "utf8"\nheader = true'
    (same,) = connect(project(tmp_path, "visits.csv", usual)).catalog().tables
    assert digest(described(same)) in names


def test_units_of_another_type_are_other_units(tmp_path):
    """Three texts name two whole numbers and nobody: the stored answer is not about these."""
    (tmp_path / "visits.csv").write_text("person,city,age\n1,Bonn,1\n01,Bonn,1\nx,Bonn,1\n")
    spent = []
    for kind in ("text", "integer", "text"):
        folder = project(tmp_path, "visits.csv")
        declared = (folder / "discreet.toml").read_text()
        number = declared.replace('person = { type = "text" }', f'person = {{ type = "{kind}" }}')
        (folder / "discreet.toml").write_text(number)
        with connect(folder, epsilon=1) as connection:
            connection.sql("SELECT COUNT(*) FROM visits")
            (part,) = connection.budget()
            spent.append(str(part.spent))
    assert spent == ["ε = 1", "ε = 2", "ε = 2"]


def test_a_half_is_rounded_alike_in_all_files(tmp_path):
    ages = [0.5, 1.5, 2.5, 3.5]
    sums = []
    for column in (pa.array(ages), pa.array(list(map(str, ages)))):
        table = pa.table({"person": list("pqrs"), "city": ["Bonn"] * 4, "age": column})
        pq.write_table(table, tmp_path / "visits.parquet")
        sums.append(int(run_exact(project(tmp_path, "visits.parquet"), BY_CITY)[1][2]))
    assert sums == [1 + 2 + 3 + 4] * 2
