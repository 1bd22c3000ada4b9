"""Writers of every kind of file that a table can be read from."""

import csv
import datetime
import io
import json
import sqlite3
import zipfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import duckdb
import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq


def write_csv(path: Path, rows: pa.Table) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows.column_names)
        writer.writeheader()
        writer.writerows(rows.to_pylist())


def write_tsv(path: Path, rows: pa.Table) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows.column_names, delimiter="\t")
        writer.writeheader()
        writer.writerows(rows.to_pylist())


def write_packed_csv(path: Path, rows: pa.Table) -> None:
    """Pack a CSV file as its name says."""
    plain = path.with_name(f"{path.name}.plain")
    write_csv(plain, rows)
    packing = {".gz": "gzip", ".zst": "zstd"}[path.suffix]
    with pa.CompressedOutputStream(str(path), packing) as packed:
        packed.write(plain.read_bytes())
    plain.unlink()


def write_json_lines(path: Path, rows: pa.Table) -> None:
    lines = [json.dumps(row, default=str) for row in rows.to_pylist()]
    names = json.dumps(dict.fromkeys(rows.column_names))  # a row of nobody has all names
    path.write_text("\n".join([*lines, *([] if lines else [names]), ""]), encoding="utf-8")


def write_parquet(path: Path, rows: pa.Table) -> None:
    pq.write_table(rows, path)


def write_arrow_file(path: Path, rows: pa.Table, chunk: int = 3) -> None:
    with ipc.new_file(str(path), rows.schema) as writer:
        writer.write_table(rows, max_chunksize=chunk)


def write_arrow_stream(path: Path, rows: pa.Table, chunk: int = 3) -> None:
    with ipc.new_stream(str(path), rows.schema) as writer:
        writer.write_table(rows, max_chunksize=chunk)


def write_duckdb(path: Path, rows: pa.Table, table: str = "visits") -> None:
    with duckdb.connect(path) as database:
        database.register("rows", rows)
        database.execute(f"CREATE TABLE {table} AS SELECT * FROM rows")


def write_sqlite(path: Path, rows: pa.Table, table: str = "visits") -> None:
    kinds = [("INTEGER" if pa.types.is_integer(kind) else "") for kind in rows.schema.types]
    columns = [f'"{name}" {kind}' for name, kind in zip(rows.column_names, kinds, strict=True)]
    values = [tuple(map(_of_sqlite, row.values())) for row in rows.to_pylist()]
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
        places = ", ".join("?" * len(columns))
        database.executemany(f"INSERT INTO {table} VALUES ({places})", values)


def _of_sqlite(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime.date) else value


def write_excel(path: Path, rows: pa.Table, sheet: str = "visits") -> None:
    names = [[text_cell(name) for name in rows.column_names]]
    cells = [[_of_excel(value) for value in row.values()] for row in rows.to_pylist()]
    path.write_bytes(workbook([*names, *cells], sheet=sheet))


def text_cell(text: str) -> str:
    return f'<c t="inlineStr"><is><t xml:space="preserve">{escape(text)}</t></is></c>'


def _of_excel(value: Any) -> str:
    if value is None:
        return "<c/>"
    if isinstance(value, bool):
        return f'<c t="b"><v>{int(value)}</v></c>'
    if isinstance(value, datetime.datetime):
        passed = value - datetime.datetime(1899, 12, 30)  # noqa: DTZ001 - a wall, of no zone
        return f'<c s="1"><v>{passed / datetime.timedelta(1)!r}</v></c>'
    if isinstance(value, datetime.date):
        return f'<c s="1"><v>{(value - datetime.date(1899, 12, 30)).days}</v></c>'
    return text_cell(value) if isinstance(value, str) else f"<c><v>{value!r}</v></c>"


_BOOK = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_RELATED = "http://schemas.openxmlformats.org/package/2006/relationships"


def _relations(**parts: str) -> str:
    listed = "".join(
        f'<Relationship Id="{kind}" Type="{_OFFICE}/{kind}" Target="{part}"/>'
        for kind, part in parts.items()
    )
    return f'<Relationships xmlns="{_RELATED}">{listed}</Relationships>'


def workbook(
    rows: Sequence[Sequence[str]],
    *,
    sheet: str = "visits",
    formats: Sequence[int] = (0, 14, 46, 18),
    texts: Sequence[str] = (),
    is_1904: bool = False,
) -> bytes:
    """Return a workbook with one sheet, whose cells are given in XML."""
    made = io.BytesIO()
    lines = "".join(f"<row>{''.join(cells)}</row>" for cells in rows)
    styles = "".join(f'<xf numFmtId="{number}"/>' for number in formats)
    shared = "".join(f"<si>{text}</si>" for text in texts)
    parts = {
        "_rels/.rels": _relations(officeDocument="xl/workbook.xml"),
        "xl/_rels/workbook.xml.rels": _relations(
            worksheet="worksheets/sheet1.xml", styles="styles.xml", sharedStrings="/xl/texts.xml"
        ),
        "xl/workbook.xml": f'<workbook xmlns="{_BOOK}" xmlns:r="{_OFFICE}">'
        f'<workbookPr date1904="{int(is_1904)}"/><sheets>'
        f'<sheet name="{escape(sheet)}" sheetId="1" r:id="worksheet"/></sheets></workbook>',
        "xl/styles.xml": f'<styleSheet xmlns="{_BOOK}"><cellXfs>{styles}</cellXfs></styleSheet>',
        "xl/texts.xml": f'<sst xmlns="{_BOOK}">{shared}</sst>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{_BOOK}"><sheetData>{lines}</sheetData>'
        "</worksheet>",
    }
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text.encode("utf-8", "surrogatepass"))
    return made.getvalue()


WRITERS = {
    "csv": write_csv,
    "tsv": write_tsv,
    "csv.gz": write_packed_csv,
    "csv.zst": write_packed_csv,
    "jsonl": write_json_lines,
    "parquet": write_parquet,
    "arrow": write_arrow_file,
    "feather": write_arrow_stream,
    "duckdb": write_duckdb,
    "sqlite": write_sqlite,
    "xlsx": write_excel,
}

OF_TABLES = ("duckdb", "sqlite", "xlsx")
"""Kinds of file that hold several tables."""


def write(path: Path, rows: pa.Table) -> Path:
    """Write rows into a file of the kind that its name says."""
    kind = next(kind for kind in WRITERS if path.name.endswith(f".{kind}"))
    WRITERS[kind](path, rows)
    return path
