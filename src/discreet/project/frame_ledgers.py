"""The ledgers of frames: one for each id space and process, however often it is opened."""

import os
import threading
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path

from attrs import field, frozen

from discreet.core.errors import DeclarationError, InvalidArgument
from discreet.core.protocols import Rng
from discreet.ledger.books import cap_of
from discreet.ledger.chain import Kind
from discreet.ledger.ledger import Ledger
from discreet.ledger.memory_store import MemoryStore
from discreet.project.open_ledger import find_ledger, note_declaration
from discreet.tables.catalog import Catalog, IdSpace
from discreet.tables.declarations.units import unit_kind

IN_MEMORY = (
    "The ledger is in memory: when this process ends, nobody knows what was spent, and whoever"
    ' opens the data again has a whole budget. To keep it, give ledger="visits.ledger" to'
    " discreet.own"
)
"""What is said about a ledger that no file has."""

Fingerprints = Mapping[tuple[str, str], bytes]
"""A keyed digest of each column that was copied, by the names of its table and its own."""


@frozen(kw_only=True)
class Known:
    """What this process knows of an id space of frames."""

    ledger: Ledger
    place: Path | None
    unit: str
    version: int
    fingerprints: Fingerprints = field(repr=False)


class FrameLedgers:
    """Hands out the one ledger of an id space, and the version that its rows are.

    Guarantee:
        *No second budget.* Within a process the name of an id space leads to one ledger, whoever
        opens it, at the same time or later, whatever became of who opened it before. Another place
        for it, another budget or another kind of unit is refused. So whatever is asked about the
        id space is one chain of charges, which the filter of its budget lets through. A child that
        was forked has the same names and finds a ledger in memory that refuses it
        (:class:`~discreet.ledger.memory_store.MemoryStore`), not a new one.

        *No old answers.* Rows that are not those of the current version are refused until the owner
        says that the data changed, which begins the next one. Nothing is begun without that word:
        the number of versions is public, and whether rows changed can be the fact that one
        person's did.

    Assumes:
        An id space has one name. Who opens the same people under two names gives them two budgets,
        as in two projects.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, Known] = {}

    def opened(
        self, catalog: Catalog, prints: Fingerprints, *, data_changed: bool | None, rng: Rng
    ) -> Known:
        """Return the ledger of the one id space of ``catalog``, with what is declared noted."""
        (id_space,) = catalog.id_spaces
        place = None if catalog.is_in_memory else catalog.ledger
        unit = unit_kind(catalog.tables[0])
        with self._lock:
            _require_one_spelling(id_space.name, self._known)
            known = self._known.get(id_space.name)
            if known is not None:
                _require_same(known, id_space, place, unit)
            ledger = _ledger(known, catalog, id_space)
            version = _version(ledger, known, id_space.name, prints, data_changed, rng)
            is_known = known is not None and known.version in (version, version - 1)
            before = known.fingerprints if known is not None and is_known else {}
            found = Known(
                ledger=ledger,
                place=place,
                unit=unit,
                version=version,
                fingerprints={**before, **prints},
            )
            self._known[id_space.name] = found
        return found

    def after_fork_in_child(self) -> None:
        """Let nobody wait for a thread that was not forked. What is known stays known."""
        self._lock = threading.Lock()


FRAME_LEDGERS = FrameLedgers()
"""Those of this process."""

os.register_at_fork(after_in_child=FRAME_LEDGERS.after_fork_in_child)


def _require_same(known: Known, id_space: IdSpace, place: Path | None, unit: str) -> None:
    if known.place != place:
        raise DeclarationError(
            f"The id space {id_space.name} has another ledger in this process",
            must=f"be opened with {_place_words(known.place)}, or its budget could be spent twice",
            got=_place_words(place),
            next=f"Give the same ledger; if these are other {id_space.called.plural}, give an"
            " id_space of their own",
        )
    if known.unit != unit:
        raise DeclarationError(
            f"The id space {id_space.name} has another kind of unit in this process",
            must=f"be {known.unit}",
            got=unit,
            next="Give an id_space of its own, with a budget of its own",
        )


def _place_words(place: Path | None) -> str:
    return "the ledger in memory" if place is None else f"the ledger {place}"


def _ledger(known: Known | None, catalog: Catalog, id_space: IdSpace) -> Ledger:
    if catalog.is_in_memory:
        # First: where warnings are errors, nothing is opened.
        warnings.warn(IN_MEMORY, UserWarning, stacklevel=5)
    if known is not None:
        ledger = known.ledger
    else:
        ledger = Ledger(MemoryStore()) if catalog.is_in_memory else find_ledger(catalog)
    _require_same_budget(ledger, id_space)
    note_declaration(ledger, catalog)
    return ledger


def _require_one_spelling(name: str, known: Iterable[str]) -> None:
    """Refuse a name that differs from another in its letters' case alone: two budgets for one."""
    for other in known:
        if other != name and other.casefold() == name.casefold():
            raise DeclarationError(
                f"The id space {name} is spelled in another way already",
                must=f"be spelled {other}, or have a name that is not the same in any case",
            )


def _require_same_budget(ledger: Ledger, id_space: IdSpace) -> None:
    with ledger.store.read() as snapshot:
        names = [name for _, name in snapshot.subjects(Kind.BUDGET, "id_space")]
        _require_one_spelling(id_space.name, names)
        if id_space.name not in names:
            return
        cap = cap_of(snapshot.latest, id_space.name)
    if cap != id_space.cap:
        raise DeclarationError(
            f"The id space {id_space.name} has another budget already",
            must=f"be opened with the budget that it has, {cap}",
            got=str(id_space.cap),
            next=f"Give that budget. If these are other {id_space.called.plural}, give an"
            " id_space of their own",
        )


def _version(
    ledger: Ledger,
    known: Known | None,
    name: str,
    prints: Fingerprints,
    data_changed: bool | None,
    rng: Rng,
) -> int:
    """Return the version that the rows are, by the owner's word where that is needed."""
    current = ledger.known_version(name)
    if current is None:
        return ledger.data_version(name, rng).number
    if data_changed:
        return ledger.advance_version(name, rng).number
    if known is None or known.version != current.number:
        if data_changed is None:
            raise InvalidArgument(
                f"The ledger of {name} has answers about rows that were opened before",
                must="be told whether these are the same rows",
                next="Give data_changed=False if they are, and earlier answers are given again for"
                " nothing; or data_changed=True, and they are not",
            )
        return current.number
    shared = prints.keys() & known.fingerprints.keys()
    changed = sorted({table for table, _ in shared if _differ(table, shared, prints, known)})
    if changed:
        raise InvalidArgument(
            f"The rows of {', '.join(changed)} are not those that were opened before in {name}",
            must="be the same, or be said to have changed",
            next="Give data_changed=True, this once: earlier answers are not given again. If these"
            " are other units, give an id_space of their own",
        )
    return current.number


def _differ(table: str, shared: set[tuple[str, str]], prints: Fingerprints, known: Known) -> bool:
    return any(prints[key] != known.fingerprints[key] for key in shared if key[0] == table)
