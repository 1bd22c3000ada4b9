"""Open the ledger of a project, and note in it what the owner declared."""

from discreet.core.errors import LedgerError
from discreet.ledger.budget import Allocation, Budget
from discreet.ledger.gate_rules import SUSPEND_AFTER, GateRules
from discreet.ledger.ledger import Ledger
from discreet.ledger.sqlite_store import create_sqlite
from discreet.tables.catalog import Catalog
from discreet.tables.gate_settings import GateSettings


def open_ledger(catalog: Catalog) -> Ledger:
    """Open the project's ledger, and note the declared budgets, rules and shares in it.

    Guarantee:
        Nothing that was spent is forgotten. A share that is no longer declared stays as it was last
        noted, and while a ledger has a share of an id space, analysts without one have nothing of
        it: so taking somebody out of the declaration raises nobody's share. To end a share, declare
        it as 0.
    """
    try:
        catalog.ledger.parent.mkdir(parents=True, exist_ok=True)
    except OSError as cause:
        raise LedgerError(
            "The folder of the ledger cannot be made",
            got=cause.strerror or "",
            next="Declare another ledger.path",
        ) from None
    ledger = Ledger(create_sqlite(catalog.ledger))
    for space in catalog.id_spaces:
        ledger.declare(Budget(space.name, space.cap))
        ledger.set_rules(_rules(space.name, catalog.gate))
    for analyst in catalog.analysts:
        for id_space, share in analyst.allocations.items():
            ledger.allocate(Allocation(id_space, analyst.name, share))
    return ledger


def _rules(id_space: str, gate: GateSettings) -> GateRules:
    limit = SUSPEND_AFTER if gate.suspend_after is None else gate.suspend_after
    return GateRules(id_space=id_space, suspend_after=limit, deadline=gate.deadline)
