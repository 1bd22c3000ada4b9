"""Files that a careless or malicious person could get into a table.

One person's rows must not be read as another's, and no value may make an answer fail: whether it
fails would tell that the person is there.
"""

import csv
import datetime
import io
import math
import os
import stat
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.core.errors import DeclarationError
from discreet.core.loss import Pure
from discreet.curator.answer import answer
from discreet.engines.duckdb.engine import DuckDbEngine
from discreet.engines.duckdb.sources.csv_source import BLOCK
from discreet.roles.connection import connect
from discreet.tables.declarations.declaration import read_catalog
from tests.support.house.narrow import whole
from tests.support.projects.clinic import make_curator, run_exact, visit, write_project, write_rows
from tests.support.projects.owner import owner_of

COUNT = "SELECT COUNT(*) FROM visits"
BOTH = "SELECT COUNT(*), SUM(age) FROM visits"


def as_line(row) -> str:
    buffer = io.StringIO()
    csv.DictWriter(buffer, list(row)).writerow(row)
    return buffer.getvalue()


# ---- CSV: one record stays one record, wherever it stands.

CUT = 8_000_000
"""Where a parallel reader would cut the file first."""

FORGED = "\n".join(f"forged{i},a,true,100,1,1,," for i in range(2000))


def test_a_quoted_field_at_a_cut_is_not_read_as_other_people(tmp_path):
    folder = write_project(tmp_path, [], file_format="csv", rows_per_group=1, groups_per_unit=1)
    header = (folder / "visits.csv").read_text()
    filler = as_line(visit("p0", note="x" * 500))
    lines = [as_line(visit(f"p{i}", note="x" * 500)) for i in range(CUT // len(filler) + 50)]
    for ahead in (0, 1, 2):
        at = CUT // len(filler) - 1 + ahead
        evil = as_line(visit("evil", note=f"\n{FORGED}\n"))
        (folder / "visits.csv").write_text(header + "".join([*lines[:at], evil, *lines[at:]]))
        (counts,) = run_exact(folder, COUNT)
        assert counts.tolist() == [len(lines) + 1]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_a_quoted_newline_makes_no_answer_fail(tmp_path, newline):
    rows = [visit(f"p{i}") for i in range(20)] + [visit("new", note=f"a{newline}b")]
    folder = write_project(tmp_path, rows, file_format="csv")
    assert run_exact(folder, COUNT)[0].tolist() == [21]


ENDS = ["\n", "\r\n"]
ODD_ENDS = [*ENDS, "\r"]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("odd", ODD_ENDS)
def test_another_line_end_makes_no_row_into_many_peoples(tmp_path, end, odd):
    """A field in which another kind of line end stands unquoted, as some programs write it."""
    folder = write_project(tmp_path, [], file_format="csv", rows_per_group=1)
    header = (folder / "visits.csv").read_text().strip()
    people = [as_line(visit(f"p{i}")).strip() for i in range(5)]
    forged = odd.join(f"x{i},a,true,100,1,1,," for i in range(1000))
    evil = as_line(visit("ann", note="x")).strip() + odd + forged
    lines = [header, *people[:3], evil, *people[3:]]
    (folder / "visits.csv").write_bytes(end.join([*lines, ""]).encode())
    (counts,) = run_exact(folder, COUNT)
    # With the file's own end, these are lines of their own.
    assert counts.tolist() == [1006 if end in odd else 5]


@pytest.mark.parametrize("end", ENDS)
def test_quoted_line_ends_are_text(tmp_path, end):
    folder = write_project(tmp_path, [], file_format="csv")
    header = (folder / "visits.csv").read_text().strip()
    lines = [f'p{i},a,true,1,1,1,,"x{odd}y"' for i, odd in enumerate(ODD_ENDS)]
    (folder / "visits.csv").write_bytes(end.join([header, *lines]).encode())
    assert run_exact(folder, COUNT)[0].tolist() == [3]
    assert run_exact(folder, f"{COUNT} WHERE LENGTH(note) > 3")[0].tolist() == [1]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("h\np,a\nq,a\r", 2),  # a return at the very end belongs to it
        ("h\r\np,a\r\nq,a\r", 2),
        ("h\np,a\r\nq,a\r\n", 2),  # a feed ends these lines, too
        ("h\r\np,a\nq,a\n", 0),  # no line after the header ends as the header does
        ("h\rp,a\rq,a", 0),  # a return alone ends no line
        ("\ufeffh\np,a\nq,a\n", 2),
    ],
)
def test_lines_end_as_the_header_does(tmp_path, text, rows):
    folder = write_project(tmp_path, [], file_format="csv")
    header = (folder / "visits.csv").read_text().strip()
    (folder / "visits.csv").write_bytes(text.replace("h", header, 1).encode())
    assert run_exact(folder, COUNT)[0].tolist() == [rows]


def test_files_of_a_pattern_have_line_ends_of_their_own(tmp_path):
    folder = write_project(tmp_path, [], file_format="csv")
    header = (folder / "visits.csv").read_text().strip()
    for number, end in enumerate(ENDS):
        lines = [header, f"p{number},a", f"q{number},a"]
        (folder / f"part-{number}.csv").write_bytes(end.join([*lines, ""]).encode())
    declared = folder / "discreet.toml"
    declared.write_text(declared.read_text().replace("visits.csv", "part-?.csv"))
    assert run_exact(folder, COUNT)[0].tolist() == [4]


def test_the_owner_is_told_of_returns_alone(tmp_path):
    folder = write_project(tmp_path, [visit("p")], file_format="csv")
    text = (folder / "visits.csv").read_bytes()
    (folder / "visits.csv").write_bytes(text.replace(b"\r\n", b"\r"))
    with connect(folder) as connection, pytest.raises(DeclarationError, match="line feed"):
        owner_of(connection).check()


def test_odd_signs_at_the_edges_of_blocks(tmp_path):
    """A return, a quotation mark and a line end at every place around two edges of a block."""
    folder = write_project(tmp_path, [], file_format="csv", rows_per_group=1)
    header = (folder / "visits.csv").read_text().strip() + "\n"
    filler = "p{},a,true,1,1,1,,{}\n"
    evil = 'x,a,true,1,1,1,,"1\r\n""2"\ny,a,true,1,1,1,,3\r4\nz,a,true,1,1,1,,5\n'
    for place in range(BLOCK - 60, BLOCK + 20, 7):
        size = place - len(header) - len(filler.format("0", "")) + 2
        text = header + filler.format("0", "n" * size) + evil + filler.format("1", "") * 3
        (folder / "visits.csv").write_bytes(text.encode())
        (counts,) = run_exact(folder, COUNT)
        assert counts.tolist() == [4]  # p0, x, z, and p1 once: y's line is nobody's


@pytest.mark.parametrize("name", ["x[1]", "y*", "z?"])
def test_a_path_is_never_a_pattern(tmp_path, name):
    sibling = name.replace("[1]", "1").replace("*", "yy").replace("?", "z")
    write_project(tmp_path / sibling, [visit(f"s{i}") for i in range(77)])
    inside = write_project(tmp_path / name, [visit("p"), visit("q")])
    assert run_exact(inside, COUNT)[0].tolist() == [2]
    write_project(inside, [visit("p")], file_format="csv")
    with connect(inside) as connection:
        owner_of(connection).check()
    assert run_exact(inside, COUNT)[0].tolist() == [1]


@pytest.mark.parametrize("file_format", ["csv", "parquet"])
@pytest.mark.parametrize("name", ["clinic=b", "age=99", "person=7"])
def test_a_folder_is_never_a_column(tmp_path, file_format, name):
    rows = [visit(f"p{i}", "a", age=1) for i in range(50)]
    folder = write_project(tmp_path / name, rows, file_format=file_format)
    counts, ages = run_exact(
        folder, "SELECT clinic, COUNT(*), SUM(age) FROM visits GROUP BY clinic"
    )
    assert counts.tolist() == [50, 0, 0, 0]
    assert ages.tolist() == [50, 0, 0, 0]


# ---- Names: which column is the unit is never a guess.


@pytest.mark.parametrize("file_format", ["csv", "parquet"])
def test_a_name_that_means_two_columns_means_none_and_the_owner_is_told(tmp_path, file_format):
    folder = write_project(tmp_path, [visit("p")], file_format=file_format)
    if file_format == "csv":
        text = (folder / "visits.csv").read_text()
        (folder / "visits.csv").write_text(text.replace("note", "PERSON", 1))
    else:
        table = pq.read_table(folder / "visits.parquet")
        again = table.append_column("PERSON", table.column("person"))
        pq.write_table(again, folder / "visits.parquet")
    text = (folder / "discreet.toml").read_text()
    kept = "".join(line for line in text.splitlines(True) if not line.startswith("note"))
    (folder / "discreet.toml").write_text(kept)
    with connect(folder) as connection, pytest.raises(DeclarationError, match="twice"):
        owner_of(connection).check()
    assert run_exact(folder, COUNT)[0].tolist() == [0]


def test_odd_headers_of_undeclared_columns_do_not_matter(tmp_path):
    folder = write_project(tmp_path, [visit("p")], file_format="csv")
    header, row = (folder / "visits.csv").read_text().splitlines()
    (folder / "visits.csv").write_text(f"{header},,odd,odd\n{row},1,2,3\n")
    assert run_exact(folder, COUNT)[0].tolist() == [1]


# ---- Parquet: no stored value raises; a type of which one could is NULL, and the owner is told.

BAD_TEXT = pa.Array.from_buffers(
    pa.string(), 2, pa.array([b"ok", b"\xff\xfe"], pa.binary()).buffers()
)
HOSTILE = {
    "int8": pa.array([-128, 127], pa.int8()),
    "uint64": pa.array([0, 2**64 - 1], pa.uint64()),
    "int64": pa.array([-(2**63), 2**63 - 1], pa.int64()),
    "float16": pa.array([math.inf, math.nan], pa.float16()),
    "float32": pa.array([-math.inf, 3e38], pa.float32()),
    "float64": pa.array([math.nan, -0.0], pa.float64()),
    "bool": pa.array([True, None], pa.bool_()),
    "string": BAD_TEXT,
    "large_string": pa.array(["9" * 10_000, "\x00"], pa.large_string()),
    "binary": pa.array([b"\xff", b"2"], pa.binary()),
    "dictionary": pa.array(["x", "1"]).dictionary_encode(),
    "date32": pa.array([-(2**31), 2**31 - 1], pa.int32()).cast(pa.date32()),
    "timestamp_ms": pa.array([0, 2**62], pa.int64()).cast(pa.timestamp("ms")),
    "timestamp_us": pa.array([-(2**62), 2**62], pa.int64()).cast(pa.timestamp("us")),
    "timestamp_ns": pa.array([-(2**63), 2**63 - 1], pa.int64()).cast(pa.timestamp("ns")),
    "timestamp_tz": pa.array([-(2**62), 2**62], pa.int64()).cast(pa.timestamp("us", "UTC")),
    "time32": pa.array([-(2**31), 2**30], pa.int32()).cast(pa.time32("ms")),
    "time64": pa.array([-1, 2**62], pa.int64()).cast(pa.time64("us")),
    "decimal": pa.array([Decimal("9" * 38), Decimal(-1)], pa.decimal128(38, 0)),
}
REFUSED = {
    "duration": pa.array([1, 2], pa.int64()).cast(pa.duration("us")),
    "list": pa.array([[1], None]),
    "struct": pa.array([{"a": 1}, None]),
}
DECLARED = ["integer", "real", "text", "boolean", "date", "timestamp", "time"]


def odd_project(folder: Path, array: pa.Array, declared: str) -> Path:
    write_project(folder, [])
    table = pa.table(
        {name: pa.array(["p", "q"]) for name in ("person", "clinic")}
        | {"odd": array, "filler": pa.array([1, 2])}
    )
    pq.write_table(table, folder / "visits.parquet")
    text = (folder / "discreet.toml").read_text()
    head = text[: text.index("urgent =")]
    bounds = ", min = 0, max = 10, step = 1" if declared in ("integer", "real") else ""
    (folder / "discreet.toml").write_text(head + f'odd = {{ type = "{declared}"{bounds} }}\n')
    return folder


@pytest.mark.parametrize("declared", DECLARED)
@pytest.mark.parametrize("name", HOSTILE)
def test_no_stored_value_raises(tmp_path, name, declared):
    folder = odd_project(tmp_path, HOSTILE[name], declared)
    is_number = declared in ("integer", "real")
    sql = "SELECT COUNT(*), SUM(odd) FROM visits" if is_number else COUNT
    counts, *sums = run_exact(folder, f"{sql} WHERE odd IS NOT NULL OR odd IS NULL")
    assert counts.tolist() == [2]
    assert all(0 <= total[0] <= 20 for total in sums)


@pytest.mark.parametrize("name", HOSTILE)
def test_any_stored_value_can_name_a_unit(tmp_path, name):
    folder = odd_project(tmp_path, HOSTILE[name], "text")
    text = (folder / "discreet.toml").read_text()
    (folder / "discreet.toml").write_text(text.replace('unit = "person"', 'unit = "odd"'))
    (counts,) = run_exact(folder, COUNT)
    assert 0 <= counts[0] <= 2


@pytest.mark.parametrize("name", REFUSED)
def test_types_that_could_raise_are_null_and_the_owner_is_told(tmp_path, name):
    folder = odd_project(tmp_path, REFUSED[name], "text")
    with connect(folder) as connection, pytest.raises(DeclarationError, match="is stored as"):
        owner_of(connection).check()
    assert run_exact(folder, f"{COUNT} WHERE odd IS NULL")[0].tolist() == [2]


def test_a_decimal_beyond_its_precision_is_nobody_elses(tmp_path):
    """The same question over and over: it was answered with whatever lay in memory."""
    unscaled = [10**8 + i if i % 2 else 1000 for i in range(4000)]
    raw = b"".join(number.to_bytes(16, "little") for number in unscaled)
    amounts = pa.Array.from_buffers(pa.decimal128(8, 2), 4000, [None, pa.py_buffer(raw)])
    people = pa.array([f"p{i}" for i in range(4000)])
    folder = write_project(tmp_path, [])
    table = pa.table({"person": people, "note": people, "odd": amounts})
    with pa.ipc.new_file(str(folder / "visits.arrow"), table.schema) as writer:
        writer.write_table(table)
    text = (folder / "discreet.toml").read_text().replace("visits.parquet", "visits.arrow")
    odd = 'odd = { type = "real", min = 0, max = 1000, step = 1 }\nnote = { type = "text" }\n'
    (folder / "discreet.toml").write_text(text[: text.index("clinic =")] + odd)
    engine = DuckDbEngine()
    for _ in range(6):
        counts, sums = run_exact(folder, "SELECT COUNT(odd), SUM(odd) FROM visits", engine=engine)
        assert (counts.tolist(), sums.tolist()) == ([2000], [20000])
        (longer,) = run_exact(folder, f"{COUNT} WHERE LENGTH(note) > 4", engine=engine)
        assert longer.tolist() == [3000]


@pytest.mark.parametrize(
    "array",
    [
        pa.array([-(2**63), 0], pa.int64()).cast(pa.timestamp("us")),
        pa.Array.from_buffers(
            pa.decimal128(38, 3), 2, [None, pa.py_buffer(bytes(15) + b"\x80" + bytes(16))]
        ),
    ],
    ids=["not a time", "no decimal"],
)
@pytest.mark.parametrize("declared", ["text", "real"])
def test_what_an_engine_cannot_show_makes_no_answer_fail(tmp_path, array, declared):
    folder = odd_project(tmp_path, array, declared)
    engine = DuckDbEngine()
    for _ in range(2):
        (counts,) = run_exact(folder, f"{COUNT} WHERE odd IS NULL", engine=engine)
        is_number = declared == "real" and pa.types.is_timestamp(array.type)
        assert counts.tolist() == [2 if is_number else 1]


def test_sums_at_the_edge_are_answered(tmp_path, rng):
    """One row more or less must not decide whether an answer comes."""
    for count in (511, 512, 513):
        rows = [visit(f"p{i}", age=2**60) for i in range(count)]
        folder = write_project(tmp_path / str(count), rows, epsilon="30000")
        text = (folder / "discreet.toml").read_text()
        wide = text.replace("min = 0, max = 100", f"min = 0, max = {2**53}")
        (folder / "discreet.toml").write_text(wide)
        sql = "SELECT SUM(age) AS a FROM visits"
        release = answer(make_curator(folder, rng), sql, terms=Pure(20000), analyst="a")
        # The noise has a scale below 2**40, so it is beyond 2**50 with probability e^-1024.
        assert abs(whole(release.rows[0][0]) - min(count * 2**53, 2**62)) < 2**50


# ---- What does not fit in memory is not for others to read.


def test_scratch_is_private_and_removed(tmp_path):
    engine = DuckDbEngine()
    with engine._databases.lent() as first, engine._databases.lent() as second:
        asked = "SELECT current_setting('temp_directory')"
        folders = [database.execute(asked).fetchone()[0] for database in (first, second)]
    assert folders[0] != folders[1]
    for folder in folders:
        assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
    engine.close()
    assert not any(os.path.exists(folder) for folder in folders)


def test_dates_and_text_still_read_as_before(tmp_path):
    rows = [visit("p", day=datetime.date(2025, 3, i + 1), note="née") for i in range(3)]
    folder = write_project(tmp_path, rows, rows_per_group=5)
    sql = "SELECT COUNT(*) FROM visits WHERE day >= DATE '2025-03-02' AND note = 'née'"
    assert run_exact(folder, sql)[0].tolist() == [2]
    write_rows(folder, rows)
    assert read_catalog(folder).table("visits").source.path.exists()
