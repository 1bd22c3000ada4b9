"""Exact releases in ``discreet.toml``: only what the owner writes there can be published exactly.

.. code-block:: toml

    [exact.mean-score]
    table = "exams"
    statistic = "mean"
    columns = ["score"]
    rows = 4000
    known = 100
    epsilon = 0.5
    delta = 1e-6
    law = "floor(0.01, 20, 80)"
    assurance = "The law is from the report on last year's exams; nobody has looked at these."
"""

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

from discreet.core.errors import DeclarationError
from discreet.core.numbers import exact, written
from discreet.tables.catalog import Table
from discreet.tables.column import Column, ColumnType
from discreet.tables.declarations.exact_choices import (
    counts_values,
    read_threshold,
    require_buildable,
    require_whole_choice,
)
from discreet.tables.declarations.section import (
    LIST,
    NUMBER,
    TABLE,
    TEXT,
    WHOLE,
    YES_OR_NO,
    Section,
    located,
)
from discreet.tables.exact_declaration import ExactDeclaration, ExactKind

MOST_ROWS = 10**12
MOST_COLUMNS = 16
MOST_NAMES = 1_000
SHORTEST_ASSURANCE = 20
LEAST_LETTERS = 8
"""An owner who has something to assure needs more than that, and not of spaces and dots alone."""

_NUMBERS = (ColumnType.INTEGER, ColumnType.REAL)
TICKET = "ticket "
"""How a noisy release is named: by the ticket that paid for it."""


def read_exact(section: Section, tables: tuple[Table, ...]) -> tuple[ExactDeclaration, ...]:
    """Return the exact releases that are allowed."""
    if not section.data:
        return ()
    return tuple(_exact(name, section.sub(name), tables) for name in section.names())


def _exact(name: str, section: Section, tables: tuple[Table, ...]) -> ExactDeclaration:
    if not name.strip() or name.startswith(TICKET):
        raise DeclarationError(
            f"{section.place()} has no name of its own",
            must=f"have one that does not begin with '{TICKET}'",
        )
    table = _table(section, tables)
    kind = _kind(section)
    columns = _columns(section, table)
    rows = section.whole("rows", MOST_ROWS)
    split, parts = _split(section, table)
    made = ExactDeclaration(
        name=name,
        table=table.name,
        kind=kind,
        columns=tuple(one.name for one in columns),
        values=_values(section, kind, columns),
        threshold=read_threshold(section, kind),
        has_exact_rows=bool(section.get_or("rows_exact", False, YES_OR_NO)),
        least=_least(section, kind),
        discards=_discards(section),
        has_intercept=bool(section.get_or("intercept", True, YES_OR_NO)),
        rows=rows,
        known=_known(section, rows),
        split=split,
        parts=parts,
        law=_law(section),
        epsilon=_positive(section, "epsilon"),
        delta=_probability(section, "delta"),
        given=_names(section, "given"),
        robust=_names(section, "robust"),
        holds_beside_noise=bool(section.get_or("holds_beside_noise", False, YES_OR_NO)),
        assurance=_assurance(section),
        place=section.place(),
    )
    section.finish()
    _require_fitting(section, made, columns)
    return made


def _kind(section: Section) -> ExactKind:
    require_buildable(section)
    return ExactKind(section.choice("statistic", [one.value for one in ExactKind]))


def _table(section: Section, tables: tuple[Table, ...]) -> Table:
    name = section.get("table", TEXT)
    for table in tables:
        if table.name.lower() == name.lower():
            return table
    raise DeclarationError(
        f"{section.place('table')} names no private table",
        must=f"be one of {', '.join(table.name for table in tables)}",
        got=name,
    )


def _columns(section: Section, table: Table) -> tuple[Column, ...]:
    names = _texts(section, "columns")
    if not 1 <= len(names) <= MOST_COLUMNS:
        raise DeclarationError(
            f"{section.place('columns')} has no columns, or too many",
            must=f"name between 1 and {MOST_COLUMNS}",
            got=str(len(names)),
        )
    section.refuse_repeats([name.lower() for name in names], "columns")
    return tuple(_column(section, "columns", table, name) for name in names)


def _column(section: Section, key: str, table: Table, name: str) -> Column:
    found = [column for column in table.columns if column.name.lower() == name.lower()]
    if not found:
        raise DeclarationError(
            f"{section.place(key)} names no declared column of {table.name}",
            must=f"be of {', '.join(column.name for column in table.columns)}",
            got=name,
        )
    if found[0].name in table.unit.owner_columns():
        raise DeclarationError(
            f"{section.place(key)} names the column that says whose a row is",
            must="be another column",
            got=name,
        )
    return found[0]


def _split(section: Section, table: Table) -> tuple[str | None, tuple[str, ...]]:
    """Return the public column by which rows are told apart, and the parts that are meant."""
    if not section.has("split"):
        if section.has("parts"):
            raise DeclarationError(f"{section.place('parts')} belongs to no split")
        return None, ()
    column = _column(section, "split", table, section.get("split", TEXT))
    parts = _texts(section, "parts")
    section.refuse_repeats(parts, "parts")
    known = [str(key) for key in column.keys or ()]
    if not parts or not set(parts) <= set(known):
        raise DeclarationError(
            f"{section.place('parts')} has none of the declared keys of {column.name}, or others",
            must=f"be of {', '.join(known) or 'a column with declared keys'}",
            got=", ".join(parts) or "nothing",
            next="A split is a column that everybody may know of each row. Conditions on private "
            "columns are not allowed: two of them could be subtracted",
        )
    return column.name, tuple(parts)


def _values(section: Section, kind: ExactKind, columns: tuple[Column, ...]) -> tuple[Any, ...]:
    if not counts_values(section, kind, columns):
        return ()
    if columns[0].type is ColumnType.BOOLEAN and not section.has("values"):
        return (True,)
    values = tuple(section.get("values", LIST))
    known = (True, False) if columns[0].type is ColumnType.BOOLEAN else columns[0].keys or ()
    if not values or len(set(map(str, values))) < len(values) or not set(values) <= set(known):
        raise DeclarationError(
            f"{section.place('values')} has none of the declared keys of {columns[0].name}, or"
            " others",
            must=f"be different ones of {', '.join(map(str, known)) or 'a column with keys'}",
        )
    return values


def _least(section: Section, kind: ExactKind) -> int | None:
    if kind is not ExactKind.HISTOGRAM:
        return None
    return section.whole("least", MOST_ROWS)


def _known(section: Section, rows: int) -> int:
    known: int = section.get_or("known", 0, WHOLE)
    if not 0 <= known < rows:
        raise DeclarationError(
            f"{section.place('known')} is out of range",
            must="be at least 0 and below the number of rows, or nothing is hidden",
            got=f"{known:,}",
        )
    return known


def _law(section: Section) -> Any:
    """Return the law as plain values; what it means is for the model to say."""
    return _plain(section, section.get("law", TEXT, TABLE))


def _plain(section: Section, value: Any) -> Any:
    if isinstance(value, Decimal):
        return written(located(section.place("law"), lambda: exact(value)))
    if isinstance(value, list):
        return [_plain(section, one) for one in value]
    if isinstance(value, dict):
        return {name: _plain(section, one) for name, one in value.items()}
    if isinstance(value, str | int):
        return value
    raise DeclarationError(
        f"{section.place('law')} has a value that no law has", must="have numbers and texts"
    )


def _positive(section: Section, key: str) -> Fraction:
    value = section.get(key, NUMBER)
    found = located(section.place(key), lambda: exact(value))
    if found <= 0:
        raise DeclarationError(
            f"{section.place(key)} is out of range", must="be above 0", got=str(value)
        )
    return found


def _probability(section: Section, key: str) -> Fraction:
    found = _positive(section, key)
    if found >= 1:
        raise DeclarationError(
            f"{section.place(key)} is out of range", must="be below 1", got=str(found)
        )
    return found


def _discards(section: Section) -> tuple[Fraction, Fraction] | None:
    if not section.has("discard"):
        return None
    discard = section.sub("discard")
    found = _positive(discard, "epsilon"), _probability(discard, "delta")
    discard.finish()
    return found


def _texts(section: Section, key: str) -> list[str]:
    values = section.get(key, LIST)
    for value in values:
        if not isinstance(value, str):
            raise DeclarationError(
                f"{section.place(key)} has something that is no text", must="be a list of texts"
            )
    return list(values)


def _names(section: Section, key: str) -> tuple[str, ...]:
    """Return names of earlier releases; a number is the ticket of a noisy one."""
    values: list[Any] = section.get_or(key, [], LIST)
    if len(values) > MOST_NAMES or not all(type(one) in (str, int) for one in values):
        raise DeclarationError(
            f"{section.place(key)} is no list of releases",
            must="have names of exact releases, and tickets of noisy ones as whole numbers",
        )
    found = tuple(f"{TICKET}{one}" if isinstance(one, int) else one for one in values)
    section.refuse_repeats(list(found), key)
    return found


def _assurance(section: Section) -> str:
    text = " ".join(section.get("assurance", TEXT).split())
    if len(text) < SHORTEST_ASSURANCE or sum(map(str.isalpha, text)) < LEAST_LETTERS:
        raise DeclarationError(
            f"{section.place('assurance')} assures nothing",
            must="say in a sentence of yours how law, clamps and bins were chosen without looking "
            "at the rows",
        )
    return text


def _require_fitting(section: Section, made: ExactDeclaration, columns: tuple[Column, ...]) -> None:
    """Refuse columns of which the statistic cannot be."""
    counted = made.is_choice_by_counts or made.kind in (ExactKind.COUNT, ExactKind.HISTOGRAM)
    if counted and len(columns) != 1:
        raise DeclarationError(
            f"{section.place('columns')} names several", must="name one, by which rows are counted"
        )
    for column in columns:
        if counted and not (column.keys or column.type is ColumnType.BOOLEAN):
            raise DeclarationError(
                f"{section.place('columns')} names {column.name}, which has no declared keys",
                must="be a column with keys, which are the bins",
                next="Bins that were found in the data would tell what is in them",
            )
        if not counted and (column.type not in _NUMBERS or column.bounds is None):
            raise DeclarationError(
                f"{section.place('columns')} names {column.name}, which has no declared range",
                must="be a column of numbers with min and max: without clamps one row could be "
                "the whole total, and nothing would hide it",
            )
    if made.split is not None and made.split in made.columns:
        raise DeclarationError(
            f"{section.place('split')} names a column of the statistic itself",
            must="be a column that everybody may know",
        )
    if made.kind is ExactKind.REGRESSION:
        _require_parts(section, made)
    elif section.has("intercept"):
        raise DeclarationError(f"{section.place('intercept')} is for regressions alone")
    if made.discards is not None and made.kind is not ExactKind.HISTOGRAM:
        raise DeclarationError(f"{section.place('discard')} is for histograms alone")
    require_whole_choice(section, made, columns)
    _require_earlier(section, made)


def _require_parts(section: Section, made: ExactDeclaration) -> None:
    """Refuse a regression without a part of the rows for every average that needs its own."""
    regressors = len(made.columns) - 1
    needed = regressors * (regressors + 3) // 2 + int(made.has_intercept)
    if regressors < 1:
        raise DeclarationError(
            f"{section.place('columns')} makes no line",
            must="name a regressor or several, and the outcome last",
        )
    if len(made.parts) != needed:
        raise DeclarationError(
            f"{section.place('parts')} does not fit the line",
            must=f"be {needed} parts of a split: {'one for the means, ' * made.has_intercept}one "
            "for each square and each product",
            got=str(len(made.parts)),
            next="Two averages of the same rows would be functions of one another; a row hides in "
            "one of them",
        )


def _require_earlier(section: Section, made: ExactDeclaration) -> None:
    """Refuse premises that are about the release itself, or that lack the other half."""
    for key, names in (("given", made.given), ("robust", made.robust)):
        if made.name in names:
            raise DeclarationError(
                f"{section.place(key)} names the release itself", must="name earlier ones"
            )
    alone = _missing(made.robust, made.given)
    if alone:
        raise DeclarationError(
            f"{section.place('robust')} names {alone[0]}, which the law is not asserted given",
            must="be among given too: the theorem has both premises",
        )


def _missing(names: Iterable[str], among: Iterable[str]) -> list[str]:
    known = set(among)
    return [name for name in names if name not in known]
