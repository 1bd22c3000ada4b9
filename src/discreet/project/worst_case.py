"""What is said wherever a loss is told, once an exact release has ended the worst-case claim.

A budget bounds what anybody learns about one unit, whatever the data are and whatever they know.
An exact number has no such bound: it is safe under an asserted law, or not at all. So from the
first one on the budget bounds the *noisy* answers alone, and everything that tells a loss says so.
"""

from collections.abc import Iterable

from discreet.ledger.ledger import Ledger
from discreet.ledger.order import Receipt

MOST_NAMED = 5
"""So many exact releases are named; of others it is said how many there are."""


def void_remarks(ledger: Ledger, *id_spaces: str) -> tuple[str, ...]:
    """Return what must be said of id spaces whose worst-case claim has ended, a sentence each."""
    return tuple(_sentence(ledger, name) for name in id_spaces if ledger.is_void(name))


def receipt_remarks(ledger: Ledger, receipt: Receipt) -> tuple[str, ...]:
    """Return what must be said of a release, of whichever time: what is public now counts."""
    return void_remarks(ledger, *(charge.id_space for charge in receipt.charges))


def _sentence(ledger: Ledger, id_space: str) -> str:
    names = list(dict.fromkeys(noted.claim.name for noted in ledger.claims(id_space).claims))
    return (
        f"the worst-case claim of {id_space} is void: {_named(names)} published exactly, which is"
        " safe only if what the owner asserted is true. Losses bound what noisy answers tell, and"
        " no longer all that is public"
    )


def _named(names: Iterable[str]) -> str:
    found = list(names)
    if not found:
        return "something that the ledger has lost was"
    shown = ", ".join(found[:MOST_NAMED])
    more = len(found) - MOST_NAMED
    if more > 0:
        return f"{shown} and {more} more were"
    return f"{shown} was" if len(found) == 1 else f"{shown} were"
