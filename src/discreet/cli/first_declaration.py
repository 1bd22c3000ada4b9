"""The text of a first ``discreet.toml``, from names and types, with the open questions marked."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Context, Decimal
from fractions import Fraction

from attrs import field, frozen

from discreet.cli.init_replies import EACH_ROW, InitReplies
from discreet.cli.toml_text import key
from discreet.cli.toml_text import quoted as _text
from discreet.engines.duckdb.sources.stored_columns import StoredColumn, StoredKind
from discreet.tables.column import INSIDE, Bounds, ColumnType, DateRange
from discreet.tables.declarations.section import UNANSWERED
from discreet.tables.declarations.sources import usual_source
from discreet.tables.source import Source, SourceFormat
from discreet.tables.text_form import TextForm
from discreet.tables.unit_name import UNIT

_COMMENT_AT = 40
_DIGITS = 40


@frozen(kw_only=True)
class InnerField:
    """A field inside a column: the name that it is declared by, and where it is stored."""

    name: str
    path: tuple[str, ...]
    stored: StoredColumn


def inner_fields(columns: Sequence[StoredColumn]) -> tuple[InnerField, ...]:
    """Return the fields inside columns, of which none has fields inside in turn.

    A name is that of the path, with a number where another column has it.
    """
    times = Counter(one.name.casefold() for one in columns)
    inner = {
        tuple(one.name.split(INSIDE)[1:]): one
        for one in columns
        if INSIDE in one.name and times[one.name.casefold()] == 1
    }
    outer = {path[:length] for path in inner for length in range(1, len(path))}
    taken = {one.name.casefold() for one in columns}
    found = []
    for path, stored in inner.items():
        plain = "_".join(path)
        names = (plain, *(f"{plain}_{number}" for number in range(2, len(inner) + 3)))
        name = next((one for one in names if one.casefold() not in taken), plain)
        taken.add(name.casefold())
        if path not in outer:
            found.append(InnerField(name=name, path=path, stored=stored))
    return tuple(found)


@frozen(kw_only=True)
class FirstTable:
    """A table to begin with: its name, its source as written, its columns and its answers."""

    name: str
    source: str
    stored_table: str | None
    read_from: Source
    columns: tuple[StoredColumn, ...]
    answers: InitReplies
    is_typed: bool = False
    """Whether the types of a file that has none were proposed or confirmed."""
    ranges: Mapping[str, Bounds | DateRange] = field(factory=dict)
    """The range of each column that has one, if the file is public."""
    doubts: tuple[str, ...] = ()
    """What the owner is told of text that cannot be read; it is not written."""

    inner: tuple[InnerField, ...] = ()
    """The fields inside columns that can be declared, or be mentioned."""

    def inside(self, column: StoredColumn) -> tuple[InnerField, ...]:
        """Return the fields inside a column."""
        outer = column.name.casefold()
        return tuple(one for one in self.inner if one.path[0].casefold() == outer)

    def declared(self) -> tuple[StoredColumn, ...]:
        """Return the columns that can be declared."""
        return tuple(column for column in self.columns if not self.obstacle(column))

    def header_doubt(self) -> tuple[str, ...]:
        """Return what to tell where the names of a CSV file look like a row; none is quoted."""
        is_named = self.read_from.format is SourceFormat.CSV and self.read_from.text.has_header
        if not is_named or not any(_NUMBER.fullmatch(column.name) for column in self.columns):
            return ()
        return (_NO_HEADER.format(source=self.source),)

    def obstacle(self, column: StoredColumn) -> str:
        """Return why a column cannot be declared, or nothing."""
        if self.inside(column):
            return "it has fields inside, which are declared one by one"
        if column.declared_type is None:
            # How a type is written can hold names of the file, and a comment ends with its line.
            return f"it is stored as {re.sub(r'[^ -~]', ' ', column.stored)[:60]}"
        return self.name_obstacle(column)

    def name_obstacle(self, column: StoredColumn) -> str:
        """Return why a column cannot be declared by its name, or nothing."""
        if column.name in ("", UNANSWERED):
            return "it has no name that could be written here"
        alike = [one for one in self.columns if one.name.casefold() == column.name.casefold()]
        return "another column has the same name" if len(alike) > 1 else ""


_NUMBER = re.compile(r"\s*[+-]?[0-9]+([.,][0-9]+)?\s*")

_NO_HEADER = (
    "The first line of {source} is taken for the names of its columns, and one of them is a number."
    " If that line is a row, its values stand in the declaration now: delete them there, and name"
    " the columns in their order, with header = false."
)


def first_declaration(tables: Sequence[FirstTable], public: Sequence[FirstTable] = ()) -> str:
    """Return the file. It is valid as soon as no question mark is left in it."""
    examples = [_EXAMPLES, *("" for _ in tables)]
    return "\n".join(
        [
            _HEAD,
            *(_id_space(table.answers) for table in tables[:1]),
            *map(_table, tables, examples),
            *([_PUBLIC, *map(_public_table, public)] if public else [_PUBLIC + _PUBLIC_EXAMPLE]),
        ]
    )


_HEAD = f"""\
# What Discreet may know about your data. No question looks at rows to find out more. This file was
# made from names, types and your answers. Where "{UNANSWERED}" stands, only you know the answer.
# 'discreet check' says what is missing, and then what your answers imply.
"""


_EXAMPLES = """\
# How a column is declared, by examples:
#   clinic = { type = "text", keys = ["north", "south"] }         for GROUP BY
#   age = { type = "integer", min = 0, max = 110 }                for SUM, AVG and the like
#   cost = { type = "real", min = 0, max = 500, step = 0.5 }      values are rounded to the step
#   day = { type = "date", min = 2025-01-01, max = 2025-12-31 }   for GROUP BY day, month or year
#   urgent = { type = "boolean", nullable = false }               it is never empty"""

_PUBLIC = """\
# Public tables: everybody may know every row of them, so joining with them costs nothing and their
# values are public keys for GROUP BY.
"""

_PUBLIC_EXAMPLE = """\
# [public_tables.districts]
# source = "districts.csv"
#
# [public_tables.districts.columns]
# district = { type = "integer" }
# region = { type = "text" }
"""


def _id_space(answers: InitReplies) -> str:
    who = answers.who() or UNANSWERED
    name = answers.id_space or UNANSWERED
    budget = answers.budget or f"epsilon = {_text(UNANSWERED)}"
    them = "people" if answers.name() == UNIT else answers.name().plural
    return f"""\
# All tables about the same {them}, and the most that may ever be told about one of them.
# What is spent is spent for ever: a new name for the same {them} would be a second budget.
{_line(f"[id_spaces.{key(name)}]", "a name of your choice, such as patients")}
{_line(f"unit = {_text(who)}", "what one unit is, in your words: one patient")}
{_line(f"budget = {{ {budget} }}", "or { epsilon = 1, delta = 1e-9 }, or { rho = 0.1 }")}
"""


def _table(table: FirstTable, examples: str = "") -> str:
    answers, path = table.answers, f"tables.{key(table.name)}"
    lines = [
        f"[{path}]",
        *_source(table),
        f"id_space = {_text(answers.id_space or UNANSWERED)}",
        *_unit(answers),
        *_limits(answers),
        "",
        "# Only what stands here can be asked about. Ranges and keys are public, so they come from",
        "# what you know of the matter and never from the data. Delete what nobody needs.",
        *([examples] if examples else []),
        f"[{path}.columns]",
        *(line for column in table.columns for line in _lines_of(column, table)),
    ]
    return "\n".join(lines) + "\n"


def _public_table(table: FirstTable) -> str:
    path = f"public_tables.{key(table.name)}"
    found = (line for column in table.columns for line in _lines_of(column, table))
    columns = [line.partition("  # for ")[0].rstrip() for line in found]
    lines = [f"[{path}]", *_source(table), "", f"[{path}.columns]", *columns]
    return "\n".join(lines) + "\n"


def _source(table: FirstTable) -> list[str]:
    stored = [] if table.stored_table is None else [f"source_table = {_text(table.stored_table)}"]
    usual = usual_source(table.read_from.path)
    delimiter = table.read_from.text.delimiter
    is_usual = usual is None or delimiter == usual.text.delimiter
    separated = [] if is_usual else [_line(f"delimiter = {_text(delimiter)}", "as in its header")]
    return [f"source = {_text(table.source)}", *_form(table.read_from), *separated, *stored]


def _form(source: Source) -> list[str]:
    """Return what is written down of a file's mark, and of the folders that it is in."""
    lines = []
    if source.text.encoding != TextForm().encoding:
        lines.append(_line(f"encoding = {_text(source.text.encoding)}", "as its mark says"))
    if source.partitions:
        names = ", ".join(map(_text, source.partitions))
        lines.append(_line(f"partitions = [{names}]", "as its folders are called"))
    return lines


def _unit(answers: InitReplies) -> list[str]:
    if answers.unit == EACH_ROW:
        return [_line("unit = { each_row = true }", "or the column that says whose row it is")]
    comment = "the column of whose row it is, or { each_row = true }"
    return [_line(f"unit = {_text(answers.unit or UNANSWERED)}", comment)]


def _limits(answers: InitReplies) -> list[str]:
    one = answers.name().one
    comments = {
        "rows_per_unit": f"so many rows of {one} count, over all groups",
        "rows_per_group": f"so many rows of {one} count in a group",
        "groups_per_unit": f"so many groups of {one} count",
    }
    found = {name: getattr(answers, name) for name in comments}
    opened = answers.missing()
    return [
        _line(f"{name} = {_text(UNANSWERED) if value is None else value}", comments[name])
        for name, value in found.items()
        if value is not None or name in opened
    ]


_HINTS = {
    ColumnType.INTEGER: "for SUM and AVG: min = 0, max = 100",
    ColumnType.REAL: "for SUM and AVG: min = 0, max = 100, step = 0.1",
    ColumnType.TEXT: 'for GROUP BY: keys = ["a", "b"]',
    ColumnType.DATE: "for GROUP BY: min = 2025-01-01, max = 2025-12-31",
    ColumnType.BOOLEAN: "",
    ColumnType.TIMESTAMP: "for GROUP BY: min = 2025-01-01, max = 2025-12-31",
    ColumnType.TIME: "",
}


def _lines_of(column: StoredColumn, table: FirstTable) -> list[str]:
    """Return the line of a column, or those of the fields inside of it."""
    inside = table.inside(column)
    if not inside:
        return [_column(column, table)]
    return [f"# {_text(column.name)} has fields inside:", *(_inner(one, table) for one in inside)]


def _inner(one: InnerField, table: FirstTable) -> str:
    """Return the line of a field inside a column. What it lacks is said, and no open answer."""
    kind, path = one.stored.declared_type, f"[{', '.join(map(_text, one.path))}]"
    if kind is None or any(name in ("", UNANSWERED) for name in one.path):
        return f"#   {path} cannot be declared"
    entry = f"{key(one.name)} = {{ type = {_text(kind.value)}, from = {path} }}"
    if one.stored.kind is StoredKind.INSTANT:
        zoned = f"{entry[:-2]}, zone = {_text('Europe/Berlin')} }}"
        return _line(f"# {zoned}", "with the zone whose clocks are meant")
    if one.name == table.answers.unit:
        return _line(entry, "whose row it is")
    is_open = one.stored.stored == "text"
    return _line(entry, "or integer, real, boolean, date" if is_open else _HINTS[kind])


def _column(column: StoredColumn, table: FirstTable) -> str:
    obstacle = table.obstacle(column)
    if column.declared_type is None or obstacle:
        return f"# {_text(column.name)} cannot be declared: {obstacle}"
    zone = f", zone = {_text(UNANSWERED)}" if column.kind is StoredKind.INSTANT else ""
    more = zone + _range(table.ranges.get(column.name))
    entry = f"{key(column.name)} = {{ type = {_text(column.declared_type.value)}{more} }}"
    if column.name == table.answers.unit:
        return _line(entry, "whose row it is")
    if column.name in table.ranges:
        return entry
    if column.stored == "text" and not table.is_typed:
        return _line(entry, "or integer, real, boolean, date, timestamp")
    if zone:
        return _line(entry, 'whose wall clock: zone = "Europe/Berlin" or the like')
    return _line(entry, _HINTS[column.declared_type])


def _range(found: Bounds | DateRange | None) -> str:
    if found is None:
        return ""
    if isinstance(found, DateRange):
        return f", min = {found.first.isoformat()}, max = {found.last.isoformat()}"
    step = "" if found.step == 1 else f", step = {_decimal(found.step)}"
    return f", min = {_decimal(found.lower)}, max = {_decimal(found.upper)}{step}"


def _decimal(number: Fraction) -> str:
    """Return a number of a proposed range, which has few digits after the point, exactly."""
    digits = Context(prec=_DIGITS).divide(Decimal(number.numerator), Decimal(number.denominator))
    return f"{digits:f}"


def _line(text: str, comment: str) -> str:
    return f"{text.ljust(_COMMENT_AT)}  # {comment}" if comment else text
