"""Read ``discreet.toml``: every message names the key path and its line; nothing is guessed."""

from pathlib import Path

from discreet.core.errors import DeclarationError
from discreet.core.loss import PrivacyLoss
from discreet.tables.catalog import Catalog, IdSpace, Table
from discreet.tables.declarations.exact_releases import read_exact
from discreet.tables.declarations.keys_from import require_keys_from
from discreet.tables.declarations.losses import read_least_price, read_loss
from discreet.tables.declarations.section import TABLE, TEXT, Section, top_section
from discreet.tables.declarations.settings import read_analysts, read_gate, read_ledger
from discreet.tables.declarations.tables import read_public_tables, read_tables

FILE_NAME = "discreet.toml"


def read_catalog(path: Path) -> Catalog:
    """Return what the declaration at ``path`` (a file, or the folder that holds it) says."""
    if "\0" in str(path):
        raise DeclarationError(
            "No file can have that name", must="be a path without NUL", got=repr(str(path))
        )
    file = path / FILE_NAME if path.is_dir() else path
    return parse_catalog(_text(file), file.resolve())


def parse_catalog(text: str, file: Path) -> Catalog:
    """Return what the text of a declaration says; relative paths begin at the folder of ``file``.

    No file is opened: whether the sources are there is for an engine to say.
    """
    top = top_section(text, file.name)
    ledger, anchors = read_ledger(top.sub_or_empty("ledger"), file)
    return catalog_of(top, root=file.parent, ledger=ledger, anchors=anchors)


def catalog_of(
    top: Section, *, root: Path, ledger: Path | None, anchors: tuple[Path, ...]
) -> Catalog:
    """Return what a declaration says, whose ledger is at a place; without one it is in memory."""
    id_spaces, tables = _private(top, root)
    public_tables = read_public_tables(top.sub_or_empty("public_tables"), root, tables)
    require_keys_from(top.sub_or_empty("tables"), tables, public_tables)
    gate = read_gate(top.sub_or_empty("gate"))
    analysts = read_analysts(top.sub_or_empty("analysts"), id_spaces)
    default = _default(top.sub("default")) if top.has("default") else None
    engine = top.get_or("engine", "duckdb", TEXT)
    exact = read_exact(top.sub_or_empty("exact"), tables)
    top.finish()
    return Catalog(
        id_spaces=id_spaces,
        tables=tables,
        ledger=ledger,
        anchors=anchors,
        public_tables=public_tables,
        analysts=analysts,
        default=default,
        engine=engine,
        gate=gate,
        name=root.name,
        exact=exact,
    )


def _private(top: Section, root: Path) -> tuple[tuple[IdSpace, ...], tuple[Table, ...]]:
    """Return the id spaces and their tables; beside public tables there need be none."""
    if top.has("public_tables") and not (top.has("id_spaces") or top.has("tables")):
        return (), ()
    spaces = top.sub("id_spaces")
    id_spaces = tuple(_id_space(name, spaces.sub(name)) for name in spaces.names())
    return id_spaces, read_tables(top.sub("tables"), id_spaces, root)


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except OSError as cause:
        raise DeclarationError(
            f"There is no readable declaration at {file}",
            got=cause.strerror or "",
            next="Run 'discreet init FILE' to begin one for your data, "
            "or 'discreet demo --keep FOLDER' to get an example",
        ) from None
    except UnicodeDecodeError as cause:
        raise DeclarationError(
            f"{file.name} is not written in UTF-8",
            must="be text in UTF-8, as TOML is",
            got=f"{cause.reason}, at byte {cause.start:,}",
        ) from None


def _id_space(name: str, section: Section) -> IdSpace:
    unit, units = section.get("unit", TEXT), section.get_or("units", None, TEXT)
    cap = read_loss(section.sub("budget"))
    has_price = section.get_or("least_price", None, TABLE) is not None
    section.finish()
    least = read_least_price(section.sub("least_price"), cap) if has_price else None
    return IdSpace(name=name, unit=unit, cap=cap, least_price=least, units=units)


def _default(section: Section) -> PrivacyLoss:
    """Return what a question costs if nobody says; for nothing there would be no answer."""
    loss = read_loss(section)
    if section.has("mu") or section.has("kept_as"):
        raise DeclarationError(
            f"{section.place()} is no price", must="be an epsilon or a rho, perhaps with a delta"
        )
    name = "epsilon" if section.has("epsilon") else "rho"
    if not getattr(loss, name):
        raise DeclarationError(f"{section.place(name)} is nothing", must="be above 0")
    return loss
