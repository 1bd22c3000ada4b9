"""Open the ledger of a project, and note in it what the owner declared."""

from pathlib import Path

from discreet.core.errors import LedgerError
from discreet.ledger.anchor import Anchor, behind
from discreet.ledger.anchoring import read_marks
from discreet.ledger.budget import Allocation, Budget
from discreet.ledger.gate_rules import MOST_IN_FLIGHT, SUSPEND_AFTER, GateRules
from discreet.ledger.ledger import Ledger
from discreet.ledger.sqlite_store import create_sqlite
from discreet.project.exact_rows import require_exact_rows_in_one_space
from discreet.tables.catalog import Catalog, IdSpace
from discreet.tables.gate_settings import GateSettings


def open_ledger(catalog: Catalog, *, begin_again: bool = False) -> Ledger:
    """Open the project's ledger, and note the declared budgets, rules and shares in it.

    ``begin_again`` is the owner's word that a ledger which is gone, or behind its anchors, cannot
    be had back. What the anchors know as spent stays spent.

    Guarantee:
        Nothing that was spent is forgotten: a project that had a ledger gets no other one, and one
        that is behind its anchors is refused (:mod:`discreet.ledger.anchoring`). A share that is no
        longer declared stays as it was last noted, and while a ledger has a share of an id space,
        analysts without one have nothing of it: so taking somebody out of the declaration raises
        nobody's share. To end a share, declare it as 0. Rows of an exact release are in no other id
        space (:mod:`discreet.project.exact_rows`).
    """
    ledger = find_ledger(catalog, begin_again=begin_again)
    note_declaration(ledger, catalog)
    return ledger


def find_ledger(catalog: Catalog, *, begin_again: bool = False) -> Ledger:
    """Open the ledger as it is, or begin an empty one, as :func:`open_ledger` says."""
    anchors = tuple(Anchor(path) for path in catalog.anchors)
    # The anchors are read first: another process may be making both, and makes the ledger first.
    had_one = any(mark for _, mark in read_marks(anchors))
    if had_one and not begin_again and not catalog.ledger.exists():
        raise behind(
            f"There is no ledger at {catalog.ledger}, but this project had one",
            must="be there, or be moved there if ledger.path was changed",
        )
    try:
        _make_folder(catalog.ledger.parent)
    except OSError as cause:
        raise LedgerError(
            "The folder of the ledger cannot be made",
            got=cause.strerror or "",
            next="Declare another ledger.path",
        ) from None
    ledger = Ledger(create_sqlite(catalog.ledger), anchors=anchors)
    if begin_again:
        ledger.begin_again()
    require_exact_rows_in_one_space(catalog, ledger)
    return ledger


def note_declaration(ledger: Ledger, catalog: Catalog) -> None:
    """Note the declared budgets, rules and shares in a ledger; what holds already is not noted."""
    for space in catalog.id_spaces:
        ledger.declare(Budget(space.name, space.cap))
        ledger.set_rules(_rules(space, catalog.gate))
    for analyst in catalog.analysts:
        for id_space, share in analyst.allocations.items():
            ledger.allocate(Allocation(id_space, analyst.name, share))
    ledger.move_anchors()


def _make_folder(folder: Path) -> None:
    """Make a folder that only its owner can look into, whatever else is usual here."""
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        folder.chmod(0o700)


def _rules(space: IdSpace, gate: GateSettings) -> GateRules:
    usual = min(SUSPEND_AFTER, gate.suspend_all_after or SUSPEND_AFTER)
    return GateRules(
        id_space=space.name,
        suspend_after=gate.suspend_after or usual,
        suspend_all_after=gate.suspend_all_after,
        most_in_flight=gate.most_in_flight or MOST_IN_FLIGHT,
        least_price=space.least_price,
        deadline=gate.deadline,
    )
