"""Read ``discreet.toml``: every message names the key path, and nothing is guessed."""

import datetime
import tomllib
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

from attrs import define, field

from discreet.core.errors import DeclarationError, DiscreetError
from discreet.core.loss import Approximate, ApproximateZcdp, PrivacyLoss, Pure, Zcdp
from discreet.tables.catalog import Catalog, IdSpace, PrivacyUnit, Source, SourceFormat, Table
from discreet.tables.column import Bounds, Column, ColumnType, Key
from discreet.tables.limits import Limits

FILE_NAME = "discreet.toml"
DEFAULT_LEDGER = Path(".discreet") / "ledger.sqlite"


def read_catalog(path: Path) -> Catalog:
    """Return what the declaration at ``path`` (a file, or the folder that holds it) says."""
    file = path / FILE_NAME if path.is_dir() else path
    root = file.resolve().parent
    section = _Section("", _parse(file))
    ledger = section.sub("ledger", default={})
    spaces = section.sub("id_spaces")
    tables = section.sub("tables")
    section.finish()
    ledger_path = root / ledger.get("path", str, default=str(DEFAULT_LEDGER))
    ledger.finish()
    id_spaces = tuple(_id_space(name, spaces.sub(name)) for name in spaces.names())
    names = {space.name for space in id_spaces}
    declared = tuple(_table(name, tables.sub(name), names, root) for name in tables.names())
    _refuse_repeats("tables", [table.name.lower() for table in declared])
    return Catalog(id_spaces=id_spaces, tables=declared, ledger=ledger_path)


def _parse(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"), parse_float=Decimal)
    except OSError as cause:
        raise DeclarationError(
            f"There is no readable declaration at {file}",
            got=cause.strerror or "",
            next="Write a discreet.toml, or run 'discreet demo --keep FOLDER' to get one",
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as cause:
        raise DeclarationError(f"{file.name} is not valid TOML", got=str(cause)) from None


@define
class _Section:
    """One table of the file: hands out its keys, and complains of the ones nobody asked for."""

    path: str
    data: dict[str, Any]
    _taken: set[str] = field(factory=set)

    def key_path(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def names(self) -> list[str]:
        if not self.data:
            raise DeclarationError(f"{self.path} is empty", must="declare at least one")
        return list(self.data)

    def get(self, key: str, kind: type | tuple[type, ...], default: Any = None) -> Any:
        """Return the value of ``key``; it must be there unless it has a default."""
        self._taken.add(key)
        if key not in self.data:
            if default is not None:
                return default
            raise DeclarationError(f"{self.key_path(key)} is missing", must="be declared")
        value = self.data[key]
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise DeclarationError(
                f"{self.key_path(key)} has the wrong type",
                must=f"be {_type_name(kind)}",
                got=type(value).__name__,
            )
        return value

    def has(self, key: str) -> bool:
        return key in self.data

    def sub(self, key: str, default: dict[str, Any] | None = None) -> "_Section":
        return _Section(self.key_path(key), self.get(key, dict, default))

    def finish(self) -> None:
        """Refuse keys that mean nothing: a typing error must not silently drop a bound."""
        for key in self.data:
            if key not in self._taken:
                raise DeclarationError(
                    f"{self.key_path(key)} is not a setting",
                    next=f"Settings here: {', '.join(sorted(self._taken))}",
                )


T = TypeVar("T")

_NUMBER = (int, Decimal)
_TYPE_NAMES = {str: "text", dict: "a table", list: "a list", int: "a whole number"}


def _type_name(kind: type | tuple[type, ...]) -> str:
    return "a number" if isinstance(kind, tuple) else _TYPE_NAMES.get(kind, kind.__name__)


def _at(path: str, make: Callable[[], T]) -> T:
    """Run ``make``, putting the key path in front of what it complains of."""
    try:
        return make()
    except DeclarationError:
        raise
    except DiscreetError as cause:
        raise DeclarationError(
            f"{path}: {cause.what}", must=cause.must, got=cause.got, next=cause.next
        ) from None


def _id_space(name: str, section: _Section) -> IdSpace:
    unit = section.get("unit", str)
    budget = section.sub("budget")
    section.finish()
    return IdSpace(name=name, unit=unit, cap=_cap(budget))


def _cap(budget: _Section) -> PrivacyLoss:
    """Return the cap: ε, ε with δ, ρ, or ρ with δ. Each has a filter of its own."""
    if budget.has("epsilon") == budget.has("rho"):
        raise DeclarationError(
            f"{budget.path} must say how much, once",
            must="have epsilon (with delta or without) or rho (with delta or without)",
            got=", ".join(budget.data) or "nothing",
        )
    name = "epsilon" if budget.has("epsilon") else "rho"
    amount = budget.get(name, _NUMBER)
    delta = budget.get("delta", _NUMBER) if budget.has("delta") else None
    budget.finish()
    alone, beside = _CAPS[name]
    return _at(
        budget.key_path(name), lambda: alone(amount) if delta is None else beside(amount, delta)
    )


_CAPS: dict[str, tuple[Callable[..., PrivacyLoss], Callable[..., PrivacyLoss]]] = {
    "epsilon": (Pure, Approximate),
    "rho": (Zcdp, ApproximateZcdp),
}


def _table(name: str, section: _Section, id_spaces: set[str], root: Path) -> Table:
    source = section.get("source", str)
    id_space = section.get("id_space", str)
    unit = section.get("unit", str)
    rows = section.get("rows_per_group", int)
    groups = section.get("groups_per_unit", int)
    columns_section = section.sub("columns")
    section.finish()
    if id_space not in id_spaces:
        raise DeclarationError(
            f"{section.key_path('id_space')} names no id space",
            must=f"be one of {', '.join(sorted(id_spaces))}",
            got=id_space,
        )
    columns = tuple(_column(key, columns_section.sub(key)) for key in columns_section.names())
    _refuse_repeats(columns_section.path, [column.name.lower() for column in columns])
    table = Table(
        name=name,
        source=_source(section.key_path("source"), root / source),
        unit=PrivacyUnit(id_space=id_space, column=unit),
        columns=columns,
        limits=_at(section.path, lambda: Limits(rows_per_group=rows, groups_per_unit=groups)),
    )
    _require_unit(section.key_path("unit"), table)
    return table


def _source(path: str, file: Path) -> Source:
    suffix = file.suffix.lower().lstrip(".")
    known = [form.value for form in SourceFormat]
    if suffix not in known:
        raise DeclarationError(
            f"{path} is not a kind of file that we read",
            must=f"end in {' or '.join('.' + form for form in known)}",
            got=file.name,
        )
    return Source(path=file, format=SourceFormat(suffix))


def _require_unit(path: str, table: Table) -> None:
    column = _at(path, lambda: table.column(table.unit.column))
    if column.type not in (ColumnType.INTEGER, ColumnType.TEXT):
        raise DeclarationError(
            f"{path} is a {column.type.value} column", must="be an integer or text column"
        )


def _column(name: str, section: _Section) -> Column:
    type_name = section.get("type", str)
    known = [kind.value for kind in ColumnType]
    if type_name not in known:
        raise DeclarationError(
            f"{section.key_path('type')} is not a type",
            must=f"be one of {', '.join(known)}",
            got=type_name,
        )
    kind = ColumnType(type_name)
    bounds = _bounds(section, kind) if kind in _NUMERIC else None
    keys = _keys(section, kind) if kind is not ColumnType.REAL else None
    section.finish()
    return Column(name=name, type=kind, bounds=bounds, keys=keys)


_NUMERIC = (ColumnType.INTEGER, ColumnType.REAL)


def _bounds(section: _Section, kind: ColumnType) -> Bounds | None:
    named = [key for key in ("min", "max", "step") if section.has(key)]
    if not named:
        return None
    lower, upper = section.get("min", _NUMBER), section.get("max", _NUMBER)
    default_step = 1 if kind is ColumnType.INTEGER else None
    step = section.get("step", _NUMBER, default_step)
    return _at(section.path, lambda: Bounds(lower=lower, upper=upper, step=step))


_KEY_TYPES: dict[ColumnType, type] = {
    ColumnType.TEXT: str,
    ColumnType.INTEGER: int,
    ColumnType.BOOLEAN: bool,
    ColumnType.DATE: datetime.date,
}


def _keys(section: _Section, kind: ColumnType) -> tuple[Key, ...] | None:
    if not section.has("keys"):
        return (False, True) if kind is ColumnType.BOOLEAN else None
    path = section.key_path("keys")
    keys = section.get("keys", list)
    if not keys:
        raise DeclarationError(f"{path} is empty", must="list at least one public key")
    if any(type(key) is not _KEY_TYPES[kind] for key in keys):
        raise DeclarationError(f"{path} has a key of the wrong type", must=f"be {kind.value} keys")
    if kind is ColumnType.INTEGER and any(not -(2**63) <= key < 2**63 for key in keys):
        raise DeclarationError(f"{path} has a key that is too large", must="fit in 64 bits")
    _refuse_repeats(path, keys)
    return tuple(keys)


def _refuse_repeats(path: str, items: list[Any]) -> None:
    seen: set[Any] = set()
    for item in items:
        if item in seen:
            raise DeclarationError(f"{path} declares something twice", got=str(item))
        seen.add(item)
