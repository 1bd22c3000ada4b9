"""Open data frames: declared in Python, copied into memory, with one ledger for an id space."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import field, frozen

from discreet.core.errors import DeclarationError, InvalidArgument
from discreet.engines.duckdb.sources.arrow_source import ArrowColumn
from discreet.engines.duckdb.sources.examine import require_same_people
from discreet.engines.duckdb.sources.frame_columns import FrameColumn, frame_columns
from discreet.engines.duckdb.sources.frame_source import FrameRows, copy_frame
from discreet.engines.duckdb.sources.stored_columns import DECLARED, arrow_kind
from discreet.engines.open_engine import open_engine
from discreet.ledger.versions import draw_salt
from discreet.project.frame_ledgers import FRAME_LEDGERS, Fingerprints
from discreet.project.project import Project
from discreet.randomness.rng import SystemRng
from discreet.tables.catalog import Catalog, PublicTable, Table
from discreet.tables.copied_frame import CopiedFrame
from discreet.tables.declarations.declaration import catalog_of
from discreet.tables.declarations.python_values import python_section

Declared = Mapping[str, Any]
"""A part of a declaration, with the names that ``discreet.toml`` has."""

_FINGERPRINT_KEY = draw_salt(SystemRng())
"""Of this process, so that a digest of rows says nothing to anybody else. None is ever stored."""


@frozen(kw_only=True)
class FrameDeclaration:
    """What the owner says about frames. The rows themselves say nothing but, if asked, types."""

    unit: Any
    """Whose row it is, as ``unit`` of a table."""
    budget: Any
    columns: Declared
    """For each table its columns, each with a type or with all that is declared about it."""
    id_space: str | None = None
    unit_name: str | None = None
    """What one unit is, in the owner's words."""
    limits: Declared = field(factory=dict)
    """How much of one unit counts, in every table that says nothing else."""
    types_from_frame: bool = False
    """Whether a column that is not declared has the type of its column in the frame."""
    more: Declared = field(factory=dict)
    """Whatever else the file could say: ``gate``, ``analysts``, ``default``, ``tables``."""


def open_frames(
    frames: Mapping[str, object],
    public: Mapping[str, object],
    declared: FrameDeclaration,
    *,
    ledger: str | Path | None,
    data_changed: bool | None,
) -> Project:
    """Copy frames and open them as a project.

    Guarantee:
        The declaration is the owner's and is read as a file is; of the frames, names and types of
        columns are looked at, and cells are copied. Nothing of a cell decides what is declared, how
        another cell is read, or whether the project opens; except that rows which are said to be
        the same as before are compared with those, for the owner alone.
    """
    _require_names(frames, declared)
    _require_named("public", public)
    if data_changed is not None and type(data_changed) is not bool:
        raise InvalidArgument(
            "data_changed is no word", must="be True or False", got=type(data_changed).__name__
        )
    read = {name: frame_columns(frame, name) for name, frame in {**public, **frames}.items()}
    catalog = _catalog(frames, public, read, declared, ledger)
    tables: tuple[Table | PublicTable, ...] = (*catalog.tables, *catalog.public_tables)
    rows = {table.name: copy_frame(table, read[table.name]) for table in tables}
    engine = open_engine(catalog)
    try:
        for table in tables:
            engine.require_source(table)
        require_same_people(catalog)
        rng = SystemRng()
        prints = _fingerprints(catalog, rows)
        known = FRAME_LEDGERS.opened(catalog, prints, data_changed=data_changed, rng=rng)
    except BaseException:
        engine.close()
        raise
    (id_space,) = catalog.id_spaces
    copied = {id_space.name: known.version}
    return Project(catalog=catalog, engine=engine, ledger=known.ledger, rng=rng, copied=copied)


def reopened(project: Project) -> Project:
    """Return the same rows and the same ledger, with an engine of their own."""
    return Project(
        catalog=project.catalog,
        engine=open_engine(project.catalog),
        ledger=project.ledger,
        rng=SystemRng(),
        copied=project.copied,
    )


def _fingerprints(catalog: Catalog, rows: Mapping[str, FrameRows]) -> Fingerprints:
    names = [table.name for table in catalog.tables]
    names += [table.name for table in catalog.public_tables]
    return {
        (name.lower(), column): made
        for name in names
        for column, made in rows[name].fingerprints(_FINGERPRINT_KEY).items()
    }


# ---- The declaration.


def _catalog(
    frames: Mapping[str, object],
    public: Mapping[str, object],
    read: Mapping[str, tuple[FrameColumn, ...]],
    declared: FrameDeclaration,
    ledger: str | Path | None,
) -> Catalog:
    for name in declared.columns:
        if name not in read:
            raise DeclarationError(
                f"columns.{name} is about no frame", must=f"be one of {', '.join(read)}"
            )
    id_space = _id_space(declared)
    more = {name: value for name, value in declared.more.items() if name != "tables"}
    _require_apart_names(more)
    usual = {"id_space": id_space, "unit": declared.unit, **declared.limits}
    own = declared.more.get("tables", {})
    _require_known(own, frames)
    tables = {
        name: {**usual, **own.get(name, {})} | _from_frame(name, frame, read, declared)
        for name, frame in frames.items()
    }
    spaces = {"unit": declared.unit_name or id_space, "budget": declared.budget}
    least = {"least_price": more.pop("least_price")} if "least_price" in more else {}
    whole = {"id_spaces": {id_space: {**spaces, **least}}, "tables": tables, **more}
    if public:
        whole["public_tables"] = {
            name: _from_frame(name, frame, read, declared) for name, frame in public.items()
        }
    place, anchors = _ledger_place(ledger)
    return catalog_of(python_section(whole), root=Path.cwd(), ledger=place, anchors=anchors)


def _require_names(frames: Mapping[str, object], declared: FrameDeclaration) -> None:
    """Refuse what is not said by name: a table for each frame, and columns for each table."""
    if not frames:
        raise DeclarationError("There is no frame", must="be at least one, by the name of a table")
    _require_named("The frames", frames)
    _require_named("declaration", declared.more)
    tables = declared.more.get("tables", {})
    for place, part in (("columns", declared.columns), ("tables", tables)):
        _require_named(place, part)
        for name, some in part.items():
            _require_named(f"{place}.{name}", some)


def _require_named(place: str, part: object) -> None:
    if not isinstance(part, Mapping):
        got = type(part).__name__
    elif not all(isinstance(name, str) for name in part):
        got = "other names"
    else:
        return
    raise DeclarationError(
        f"{place} has the wrong type", must="be a dictionary, by names that are text", got=got
    )


def _id_space(declared: FrameDeclaration) -> str:
    """Return the name of the id space: if nothing is said, that of the column of the unit.

    A column is meant in any case, so its name is in small letters: another spelling is no other
    budget.
    """
    unit = declared.unit
    column = unit.get("column") if isinstance(unit, Mapping) else unit
    usual = column.lower() if isinstance(column, str) else None
    name = declared.id_space if declared.id_space is not None else usual
    if not isinstance(name, str) or not name:
        raise DeclarationError(
            "id_space is missing",
            must="name those whose budget it is, where no one column names them",
            next='Give id_space="patients", or whoever they are',
        )
    return name


def _require_apart_names(more: Declared) -> None:
    for name in ("id_spaces", "public_tables", "ledger"):
        if name in more:
            raise DeclarationError(
                f"{name} is declared by arguments of its own",
                must="be left out here",
                next="Give unit, budget and id_space; public; ledger",
            )


def _require_known(own: Declared, frames: Mapping[str, object]) -> None:
    for name, settings in own.items():
        if name not in frames:
            raise DeclarationError(
                f"tables.{name} is about no frame", must=f"be one of {', '.join(frames)}"
            )
        for key in ("source", "columns", "id_space"):
            if key in settings:
                raise DeclarationError(
                    f"tables.{name}.{key} is declared by an argument of its own",
                    must="be left out here",
                )


def _from_frame(
    name: str,
    frame: object,
    read: Mapping[str, tuple[FrameColumn, ...]],
    declared: FrameDeclaration,
) -> dict[str, Any]:
    """Return what is declared about a table because of its frame: where it is, and its columns."""
    said = {
        column: {"type": about} if isinstance(about, str) else about
        for column, about in declared.columns.get(name, {}).items()
    }
    if declared.types_from_frame:
        said = _types(name, read[name], said) | said
    return {"source": CopiedFrame(origin=id(frame)), "columns": said}


def _types(name: str, columns: tuple[FrameColumn, ...], said: Declared) -> dict[str, Any]:
    """Return the types that columns of a frame have, for those that nothing is said about."""
    known = {column.lower() for column in said}
    found: dict[str, Any] = {}
    for column in columns:
        if column.name.lower() in known:
            continue
        kind = None if column.is_of_objects else _declared_type(column)
        if kind is None:
            raise DeclarationError(
                f"Column '{column.name}' of the frame of {name} has no type that says what its"
                " cells are",
                must="be declared, or be left out of the frame",
                got=column.stored,
                next=f'Give columns={{"{name}": {{"{column.name}": "text"}}}}, or what they are',
            )
        found[column.name] = {"type": kind}
    return found


def _declared_type(column: FrameColumn) -> str | None:
    if column.comes_as is None:
        return None
    kind = DECLARED.get(arrow_kind(ArrowColumn(name=column.name, type=column.comes_as)))
    return None if kind is None else kind.value


def _ledger_place(ledger: str | Path | None) -> tuple[Path | None, tuple[Path, ...]]:
    """Return the file of the ledger and its anchor, which is beside it, or beside its folder."""
    if ledger is None:
        return None, ()
    if not isinstance(ledger, str | Path) or not str(ledger):
        raise DeclarationError(
            "ledger is no place",
            must="be the path of a file or a folder",
            got=type(ledger).__name__,
        )
    path = Path(ledger).resolve()
    file = path / "ledger.sqlite" if path.is_dir() else path
    return file, (path.with_name(f"{path.name}.anchor"),)
