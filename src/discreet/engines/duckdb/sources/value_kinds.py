r"""What kinds of values the text columns of a file hold, for an owner who asks to look.

A CSV file does not say what type a column has. Whether all of its values read as whole numbers
depends on every row of it, so on people. So this is no part of checking a source and no question
ever does it: the owner consents, sees each type and confirms it before it is written down.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from attrs import evolve, field, mutable

from discreet.core import optional
from discreet.engines.duckdb.sources.open_source import open_source
from discreet.engines.duckdb.sources.stored_columns import StoredColumn, StoredKind, plainly
from discreet.engines.duckdb.sources.stored_times import (
    LONGEST_FORM,
    TIME_FORM,
    TIMESTAMP_FORM,
    clock_array,
)
from discreet.tables.catalog import PublicTable
from discreet.tables.column import Column, ColumnType
from discreet.tables.source import Source

MISSING = ("NA", "N/A", "NULL", "NaN", "None", "-")
"""Words, in any case, that stand for no value: a column of numbers may have them."""

_NO_VALUE = rf"(?i)^\s*({'|'.join(map(re.escape, MISSING))})?\s*$"

_WHOLE = r"^[ \t]*[+-]?(0|[1-9][0-9]{0,17})[ \t]*$"
"""No zero in front: what has one is a code, such as that of a post office."""

_EXPONENT = r"([eE][+-]?[0-9]{1,2})?"
_REAL = rf"^[ \t]*[+-]?((0|[1-9][0-9]{{0,14}})(\.[0-9]*)?|\.[0-9]+){_EXPONENT}[ \t]*$"
"""With more digits before the point a number would be rounded: it names something."""

_DAY = r"^[ \t]*[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[ \t]*$"
_TRUTH = r"(?i)^(true|false|t|f)$"
ZONED = r":[0-9:.,]+ ?((?i:Z|UTC|GMT)|[+-][0-9]{2}(:?[0-9]{2})?)[ \t]*$"
"""A zone stands behind a clock: the day at the end of a date is none."""


_FORMS: dict[StoredKind, str] = {
    StoredKind.INTEGER: _WHOLE,
    StoredKind.FLOAT: _REAL,
    StoredKind.BOOLEAN: _TRUTH,
    StoredKind.DATE: _DAY,
    StoredKind.TIMESTAMP: TIMESTAMP_FORM,
    StoredKind.TIME: TIME_FORM,
}
"""How values of a kind are written. The first kind that all values of a column have is proposed."""

_CLOCKS = {
    StoredKind.DATE: Column(name="day", type=ColumnType.TIMESTAMP),
    StoredKind.TIMESTAMP: Column(name="seen", type=ColumnType.TIMESTAMP),
    StoredKind.TIME: Column(name="at", type=ColumnType.TIME),
}
"""Kinds of which not all that is written like one is one: calendars have no 30 February.

In its form, what is a day is a timestamp as well, and the engine takes the same days for one.
"""


def _are(values: Any, kind: StoredKind) -> bool:
    """Tell whether texts are all of a kind: written like it, and read as it in a question."""
    compute = optional.load("pyarrow.compute")
    if not compute.all(compute.match_substring_regex(values, _FORMS[kind])).as_py():
        return False
    return kind not in _CLOCKS or not clock_array(_CLOCKS[kind], values).null_count


@mutable
class _Looked:
    """What is known of a column so far: which kinds all of its values have."""

    fitting: list[StoredKind] = field(factory=lambda: list(_FORMS))
    has_values: bool = False
    has_zones: bool = False

    def look(self, texts: object) -> None:
        """Leave out the kinds that some text does not have."""
        compute = optional.load("pyarrow.compute")
        if not self.fitting:
            return
        is_missing = compute.match_substring_regex(texts, _NO_VALUE)
        values = compute.drop_null(compute.filter(texts, compute.invert(is_missing)))
        if not len(values):
            return
        self.has_values = True
        if compute.max(compute.binary_length(values)).as_py() > LONGEST_FORM:
            self.fitting = []
        self.fitting = [kind for kind in self.fitting if _are(values, kind)]
        if StoredKind.TIMESTAMP in self.fitting and StoredKind.DATE not in self.fitting:
            zoned = compute.any(compute.match_substring_regex(values, ZONED)).as_py()
            self.has_zones = self.has_zones or zoned

    def kind(self) -> StoredKind:
        """Return what to propose: text, unless all values are of another kind."""
        if not self.has_values or not self.fitting:
            return StoredKind.TEXT
        found = self.fitting[0]
        is_instant = found is StoredKind.TIMESTAMP and self.has_zones
        return StoredKind.INSTANT if is_instant else found


def with_value_kinds(source: Source, columns: Sequence[StoredColumn]) -> tuple[StoredColumn, ...]:
    """Return the columns, those of text with the kind that all of their values have.

    Every row is read. Nothing but one kind for each column is kept: no value, no number of rows,
    not whether any is missing. Columns whose names are one, in any case, cannot be told apart,
    so they are not looked at.
    """
    named = Counter(column.name.casefold() for column in columns)
    texts = [
        column.name
        for column in columns
        if column.kind is StoredKind.TEXT and named[column.name.casefold()] == 1
    ]
    if not texts:
        return tuple(columns)
    # To be read as text is the same for private and public tables; the names are those of the file.
    declared = tuple(Column(name=name, type=ColumnType.TEXT) for name in texts)
    table = PublicTable(name="looked at", source=source, columns=declared)
    looked = plainly(lambda: _looked(table, texts), source, "the declaration")
    return tuple(
        evolve(column, kind=looked[column.name].kind()) if column.name in looked else column
        for column in columns
    )


def _looked(table: PublicTable, texts: Sequence[str]) -> dict[str, _Looked]:
    looked = {name: _Looked() for name in texts}
    for batches in open_source(table, frozenset(texts), "looked").batches.values():
        for batch in batches.begin():
            for place, column in enumerate(looked.values()):
                column.look(batch.column(place))
    return looked
