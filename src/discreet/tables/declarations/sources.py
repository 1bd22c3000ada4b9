"""Sources in ``discreet.toml``: files by the end of their name, or by what is declared of them."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from attrs import evolve

from discreet.core.errors import DeclarationError
from discreet.tables.column import Column
from discreet.tables.declarations.section import LIST, TEXT, YES_OR_NO, Section, located
from discreet.tables.source import Source, SourceFormat
from discreet.tables.source_files import is_pattern
from discreet.tables.text_form import Compression, TextForm

SUFFIXES = {
    ".csv": SourceFormat.CSV,
    ".tsv": SourceFormat.CSV,
    ".tab": SourceFormat.CSV,
    ".jsonl": SourceFormat.JSON_LINES,
    ".ndjson": SourceFormat.JSON_LINES,
    ".parquet": SourceFormat.PARQUET,
    ".arrow": SourceFormat.ARROW,
    ".feather": SourceFormat.ARROW,
    ".ipc": SourceFormat.ARROW,
    ".xlsx": SourceFormat.EXCEL,
    ".xlsm": SourceFormat.EXCEL,
    ".sqlite": SourceFormat.SQLITE,
    ".sqlite3": SourceFormat.SQLITE,
    ".duckdb": SourceFormat.DUCKDB,
    ".db": SourceFormat.DUCKDB,
}
"""How a file name ends, in any case, and the kind of file that this means."""

PACKED = {".gz": Compression.GZIP, ".zst": Compression.ZSTD}
"""How the name of a packed file of text ends, after the end that says its kind."""

_OF_TEXT = (SourceFormat.CSV, SourceFormat.JSON_LINES)

_TO_PARQUET = "Convert it once: python -c \"import pandas; pandas.{0}('{1}').to_parquet('{2}')\""

_READERS = {
    **dict.fromkeys((".xls", ".xlsb", ".ods"), "read_excel"),
    ".sav": "read_spss",
    ".zsav": "read_spss",
    ".dta": "read_stata",
    ".sas7bdat": "read_sas",
    ".xpt": "read_sas",
    ".orc": "read_orc",
    ".xml": "read_xml",
    ".h5": "read_hdf",
    ".hdf5": "read_hdf",
}
"""What of pandas reads a kind of file that we do not read."""

TO_JSON_LINES = (
    'Make lines of an array: python -c "import json; [print(json.dumps(row)) for row in'
    " json.load(open('FILE.json'))]\" > FILE.jsonl"
)
"""What to do with one JSON text in which all rows are."""

_WAYS_OUT = {
    ".txt": 'Say what it is: format = "csv", with its delimiter',
    ".dat": 'Say what it is: format = "csv", with its delimiter',
    ".json": f'If each line is an object of its own, add format = "jsonl"; if not: {TO_JSON_LINES}',
    ".avro": "Convert it once with DuckDB or another program that writes Parquet",
    ".rds": "Convert it once in R: arrow::write_parquet(readRDS(file), 'file.parquet')",
    ".rdata": "Convert it once in R: arrow::write_parquet(table, 'file.parquet')",
    ".mdb": "Export the table from Access as CSV",
    ".accdb": "Export the table from Access as CSV",
    ".pkl": "Convert it once with the program that wrote it, to Parquet; a pickle runs code",
    ".zip": "Unpack it, or pack it with gzip: file.csv.gz",
    ".bz2": "Unpack it, or pack it with gzip: file.csv.gz",
    ".xz": "Unpack it, or pack it with gzip: file.csv.gz",
    ".7z": "Unpack it, or pack it with gzip: file.csv.gz",
}


def usual_source(path: Path) -> Source | None:
    """Return what a file is by the end of its name alone, or nothing if that says nothing.

    Example:
        >>> usual_source(Path("/data/visits.TSV.gz")).text.compression.value
        'gzip'
        >>> usual_source(Path("/data/visits.sav"))
    """
    compression = PACKED.get(path.suffix.lower(), Compression.NONE)
    ending = (path if compression is Compression.NONE else path.with_suffix("")).suffix.lower()
    kind = SUFFIXES.get(ending)
    if kind is None or (compression is not Compression.NONE and kind not in _OF_TEXT):
        return None
    delimiter = "\t" if ending in (".tsv", ".tab") else ","
    text = TextForm(delimiter=delimiter, compression=compression)
    return Source(path=path, format=kind, text=text)


def way_out(path: Path) -> str:
    """Return what to do with a file of a kind that is not read.

    Example:
        >>> way_out(Path("survey.txt"))
        'Say what it is: format = "csv", with its delimiter'
    """
    ending = path.suffix.lower()
    if ending in _READERS:
        name = path.name.replace("'", "")
        return _TO_PARQUET.format(_READERS[ending], name, f"{Path(name).stem}.parquet")
    usual = "Convert it to Parquet or CSV, or say what it is with format"
    return _WAYS_OUT.get(ending, usual)


def read_source(section: Section, root: Path) -> Source:
    """Return the source of a table; relative paths begin at the folder of the declaration."""
    path = root / section.get("source", TEXT)
    usual = usual_source(path)
    kind = _format(section, None if usual is None else usual.format)
    if kind is None:
        raise DeclarationError(
            f"{section.place('source')} is not a kind of file that we read",
            must=f"end in {', '.join(SUFFIXES)}",
            got=path.name,
            next=way_out(path),
        )
    text = _text_form(section, kind, TextForm() if usual is None else usual.text)
    if not kind.has_tables:
        return Source(path=path, format=kind, text=text, partitions=_partitions(section))
    if is_pattern(path):
        raise DeclarationError(
            f"{section.place('source')} is a pattern",
            must="be one database file or workbook",
            got=path.name,
        )
    return Source(path=path, format=kind, table=section.get("source_table", TEXT))


def _format(section: Section, usual: SourceFormat | None) -> SourceFormat | None:
    if not section.has("format"):
        return usual
    return SourceFormat(
        section.choice("format", [kind.value for kind in SourceFormat if kind.is_file])
    )


def _text_form(section: Section, kind: SourceFormat, usual: TextForm) -> TextForm:
    """Return how the text is written; what a kind of file has no use for is refused there."""
    if kind not in _OF_TEXT:
        return TextForm()
    compression = usual.compression
    if section.has("compression"):
        choices = [one.value for one in Compression]
        compression = Compression(section.choice("compression", choices))
    if kind is SourceFormat.JSON_LINES:
        return TextForm(compression=compression)
    given = {key: section.get(key, TEXT) for key in _SIGNS if section.has(key)}
    for key, value in given.items():
        # By itself first, so that a complaint names the line of what it is about.
        apart = {"delimiter": ";" if value == "," else ",", "quote": "", key: value}
        located(section.place(key), partial(TextForm, **apart))
    place = section.place(next(iter(given), "source"))
    form = evolve(
        usual, compression=compression, has_header=section.get_or("header", True, YES_OR_NO)
    )
    return located(place, partial(evolve, form, **given))


_SIGNS = ("delimiter", "quote", "encoding")


def _partitions(section: Section) -> tuple[str, ...]:
    names: list[str] = section.get_or("partitions", [], LIST)
    if not all(isinstance(name, str) and name for name in names):
        raise DeclarationError(
            f"{section.place('partitions')} has something else than names",
            must="be a list of columns",
        )
    section.refuse_repeats([name.casefold() for name in names], "partitions")
    return tuple(names)


def require_partitions(section: Section, source: Source, columns: Sequence[Column]) -> None:
    """Refuse folders whose column is not declared; nothing is known of it, not even its type."""
    known = {column.name for column in columns}
    for name in source.partitions:
        if name not in known:
            raise DeclarationError(
                f"{section.place('partitions')} names no declared column",
                must=f"be some of {', '.join(sorted(known))}",
                got=name,
            )
