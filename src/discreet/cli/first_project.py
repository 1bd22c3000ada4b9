"""A first project: its declaration is written, checked against the files, and given limits."""

from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from discreet.cli.command import CommandResult
from discreet.cli.exit_status import ANSWERED, USAGE
from discreet.cli.first_declaration import FirstTable, first_declaration
from discreet.cli.first_profile import MeasuredRows, asked_price, measure_rows, wants_limits
from discreet.cli.init_replies import EACH_ROW, Ask
from discreet.core.errors import DiscreetError, InvalidArgument
from discreet.core.terminal_text import lines
from discreet.engines.duckdb.sources.examine import (
    require_apart,
    require_same_people,
    require_source,
)
from discreet.engines.duckdb.sources.stored_columns import StoredKind
from discreet.tables.declarations.declaration import parse_catalog


@frozen(kw_only=True)
class FirstProject:
    """The declaration that is being written: where, and what it says."""

    target: Path
    tables: tuple[FirstTable, ...]
    public: tuple[FirstTable, ...]

    def text(self) -> str:
        """Return the text of the file."""
        return first_declaration(self.tables, self.public)

    def missing(self) -> list[str]:
        """Return what is still open."""
        found = {missing for table in self.tables for missing in table.answers.missing()}
        columns = (one for table in (*self.tables, *self.public) for one in table.declared())
        zones = {"zone" for column in columns if column.kind is StoredKind.INSTANT}
        return sorted(found | zones)

    def doubts(self) -> list[str]:
        """Return what the owner should know of the files besides, as far as they were read."""
        tables = (*self.tables, *self.public)
        return [said for table in tables for said in (*table.header_doubt(), *table.doubts)]

    def with_rows(self, name: str, rows: int | None) -> "FirstProject":
        """Return the same with another limit for one table."""
        tables = (
            evolve(table, answers=table.answers.with_rows(rows)) if table.name == name else table
            for table in self.tables
        )
        return evolve(self, tables=tuple(tables))

    def create(self) -> None:
        """Write it into a new file."""
        self._write("x")

    def replace(self, old: "FirstProject") -> None:
        """Write it in place of an older text, unless somebody has changed that meanwhile."""
        if self.target.read_text(encoding="utf-8") != old.text():
            raise InvalidArgument(f"{self.target} was changed meanwhile", next="Edit it yourself")
        self._write("w")

    def _write(self, mode: str) -> None:
        try:
            self.target.parent.mkdir(parents=True, exist_ok=True)
            with self.target.open(mode, encoding="utf-8") as file:
                file.write(self.text())
        except OSError as cause:
            raise InvalidArgument(
                f"{self.target} cannot be written", got=cause.strerror or ""
            ) from None

    def fault(self) -> DiscreetError | None:
        """Return what is wrong with the declaration or its files; no row is read."""
        try:
            catalog = parse_catalog(self.text(), self.target)
            require_apart(catalog)
            for table in catalog.tables:
                require_source(table)
            for public in catalog.public_tables:
                require_source(public)
            require_same_people(catalog)
        except DiscreetError as error:
            return error
        return None


@frozen(kw_only=True)
class ProfileWishes:
    """What was said beforehand about profiles; on a terminal, the rest is asked for."""

    price: str | None = None
    write_limits: bool = False
    """The owner's consent that limits which a profile proposes are written."""


def finish(declared: FirstProject, wishes: ProfileWishes, ask: Ask | None) -> CommandResult:
    """Check what was written, offer a profile of each private table, and say what is left."""
    measured: dict[str, MeasuredRows] = {}
    for table in declared.tables:
        price = _price(declared, table, wishes, ask)
        if price is not None:
            declared, measured[table.name] = _with_limits(declared, table.name, price, wishes, ask)
    return _result(declared, measured, is_shown=ask is not None)


def _price(
    declared: FirstProject, table: FirstTable, wishes: ProfileWishes, ask: Ask | None
) -> str | None:
    """Return what a profile of a table may cost; nothing if there is to be none.

    Everything but the limit of rows must be known, for the data to be opened.
    """
    answers = table.answers
    if answers.unit == EACH_ROW or answers.budget is None:
        return None
    provisional = _provisional(declared, table.name)
    if provisional.missing() or provisional.fault() is not None:
        return None
    if wishes.price is not None or ask is None:
        return wishes.price
    return asked_price(table.name, answers.budget, answers.who() or "", ask)


def _provisional(declared: FirstProject, name: str) -> FirstProject:
    """Return a declaration in which no limit is open. A profile does not depend on limits."""
    for table in declared.tables:
        if table.name == name or "rows_per_unit" in table.answers.missing():
            declared = declared.with_rows(table.name, table.answers.rows_per_unit or 1)
    return declared


def _with_limits(
    declared: FirstProject, name: str, price: str, wishes: ProfileWishes, ask: Ask | None
) -> tuple[FirstProject, MeasuredRows]:
    """Pay for a profile, and write the limit that it proposes if the owner says so.

    Meanwhile a limit stands in the file that is no answer; what stood there before comes back.
    """
    provisional = _provisional(declared, name)
    provisional.replace(declared)
    final = declared
    try:
        found = measure_rows(declared.target, name, price)
        is_wanted = wishes.write_limits if ask is None else wants_limits(found, ask)
        if is_wanted and found.rows_per_unit is not None:
            final = declared.with_rows(name, found.rows_per_unit)
    finally:
        final.replace(provisional)
    return final, found


_THEN = "then run 'discreet check'."


def _result(
    declared: FirstProject, measured: dict[str, MeasuredRows], *, is_shown: bool
) -> CommandResult:
    names = [table.name for table in (*declared.tables, *declared.public)]
    doubts = declared.doubts()
    left = declared.missing()
    fault = None if left else declared.fault()
    if left:
        rest = (
            f"Still open: {', '.join(left)}. Answer where \"?\" stands, then run 'discreet check'."
        )
    elif fault is not None:
        rest = f"It does not hold yet: {fault} Mend it, {_THEN}"
    elif doubts:
        rest = f"Its names are those of the files. See to what is said above, {_THEN}"
    else:
        rest = f"It fits the files. Read it over, {_THEN}"
    shown = f"Wrote {declared.target} for {_named(declared)}. {rest}"
    found_out = [] if is_shown else [found.said() for found in measured.values()]
    parts = [*found_out, *(lines(doubt, indent="") for doubt in doubts), lines(shown, indent="")]
    data: dict[str, Any] = {
        "target": str(declared.target),
        "tables": names,
        "public": [table.name for table in declared.public],
        "open": left,
    }
    if measured:
        data["profiles"] = {name: found.to_json() for name, found in measured.items()}
    if doubts:
        data["doubts"] = doubts
    if fault is not None:
        data |= fault.to_json()
    return CommandResult("\n\n".join(parts), data, status=ANSWERED if fault is None else USAGE)


def _named(declared: FirstProject) -> str:
    """Return the names of the tables, and which of them are public."""
    private, public = (
        ", ".join(table.name for table in tables) for tables in (declared.tables, declared.public)
    )
    if not public:
        return private
    said = f"{public} (public: everybody may know every row)"
    return f"{private} (private) and {said}" if private else said
