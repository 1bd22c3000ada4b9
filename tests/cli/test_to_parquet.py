"""Every kind of file becomes Parquet, for its owner, or is refused by line."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.cli.main import main
from tests.support.projects.source_writers import WRITERS, write, write_sqlite

ROWS = pa.table({"person": ["p", "é", None], "age": [1, 2, None]})


@pytest.mark.parametrize("kind", [kind for kind in WRITERS if kind != "parquet"])
def test_every_kind_becomes_parquet(tmp_path, capsys, kind):
    source = write(tmp_path / f"visits.{kind}", ROWS)
    assert main(["to-parquet", str(source)]) == 0
    assert f"{2 if kind == 'xlsx' else 3} rows" in capsys.readouterr().out  # empty rows are none
    found = pq.read_table(tmp_path / "visits.parquet")
    people = [
        value.decode() if isinstance(value, bytes) else value
        for value in found.column("person").to_pylist()
    ]
    assert people[:2] == ["p", "é"]
    assert [str(age) for age in found.column("age").to_pylist()[:2]] == ["1", "2"]


def test_options_say_how_a_file_is_written(tmp_path, capsys):
    source = tmp_path / "visits.txt"
    source.write_bytes("p|'é|'\nq|x\n".encode("latin-1"))
    options = ["--format", "csv", "--delimiter", "|", "--quote", "'", "--encoding", "latin-1"]
    assert main(["to-parquet", str(source), *options, "--no-header"]) == 0
    found = pq.read_table(tmp_path / "visits.parquet").to_pylist()
    assert found == [{"column1": "p", "column2": "é|"}, {"column1": "q", "column2": "x"}]
    capsys.readouterr()


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("visits.jsonl", b'{"a": 1}\n\n{"a": \n', "Line 3 is malformed"),
        ("visits.csv", b"a,b\n1,2\n\xff,3\n", "cannot be read"),
        ("visits.csv.gz", b"a,b\n", "cannot be read"),
        ("visits.sqlite", b"nothing", "cannot be read"),
        ("visits.xlsx", b"nothing", "cannot be read"),
        ("visits.xls", b"nothing", "read_excel"),
        ("visits.parquet", b"nothing", "It is Parquet already"),
        ("visits.csv", b"a;b\n1;2\n", "delimiter"),
    ],
)
def test_what_is_in_doubt_is_refused(tmp_path, capsys, name, data, told):
    (tmp_path / name).write_bytes(data)
    assert main(["to-parquet", str(tmp_path / name), str(tmp_path / "new.parquet")]) == 2
    assert told in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "new.parquet").exists()


def test_a_table_is_named_where_there_are_several(tmp_path, capsys):
    source = write(tmp_path / "visits.sqlite", ROWS)
    write_sqlite(source, ROWS.slice(0, 1), table="other")
    assert main(["to-parquet", str(source)]) == 2
    assert "other, visits" in " ".join(capsys.readouterr().err.split())
    assert main(["to-parquet", str(source), "--table", "Other"]) == 0
    assert len(pq.read_table(tmp_path / "visits.parquet")) == 1
