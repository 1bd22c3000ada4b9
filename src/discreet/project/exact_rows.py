"""Rows of exact releases stay in their id space: no other one may go on promising the worst case.

An exact release ends the worst-case claim of one id space, and rows that are in two have none. A
second id space that is declared over them *afterwards* would begin with a claim that is not true.
"""

import os

from discreet.core.canonical import digest
from discreet.core.errors import DeclarationError
from discreet.ledger.exact_claims import ExactClaim
from discreet.ledger.ledger import Ledger
from discreet.tables.catalog import Catalog, Table
from discreet.tables.source import Source
from discreet.tables.source_files import may_share_rows

PLACE = "place"
"""Where the rows are, in what is asserted; of frames, and of older releases, it is not there."""


def place_of(catalog: Catalog, source: Source) -> str | None:
    """Return a digest of where a source is, from the folder of the ledger: both may be moved."""
    if catalog.is_in_memory or not source.format.is_file:
        return None
    folder = catalog.ledger.parent.resolve()
    return digest([os.path.relpath(source.path.resolve(), folder), source.table])


def require_exact_rows_in_one_space(catalog: Catalog, ledger: Ledger) -> None:
    """Refuse a declaration that puts rows of an exact release into another id space.

    Guarantee:
        Nothing is answered, stored answers included, and no budget or meaning is told of an id
        space that has rows of which another one has published an exact number: neither claims that
        the budget bounds all that is public. The ledger and the declaration are looked at, and
        which files there are; no row is.

        Rows are found by their source, under whatever names, links or patterns. If their table
        is no longer declared, they are found by where the ledger says that they were, or by the
        name of the table, and in whatever table of the first id space they may be.
    """
    for own in ledger.spent_spaces():
        others = [one for one in catalog.tables if one.unit.id_space != own]
        if not others or not ledger.is_void(own):
            continue
        within = [one for one in catalog.tables if one.unit.id_space == own]
        claims = [noted.claim for noted in ledger.claims(own).claims]
        released = _released(within, claims)
        for other in others:
            if _has_some(catalog, other, released, within, claims):
                raise _in_two(other, own)


def _released(within: list[Table], claims: list[ExactClaim]) -> list[Table]:
    """Return the tables that rows were released of; all, if it may be any of them."""
    names = {claim.asserted["table"] for claim in claims}
    is_known = bool(claims) and names <= {one.name for one in within}
    return [one for one in within if not is_known or one.name in names]


def _has_some(
    catalog: Catalog,
    other: Table,
    released: list[Table],
    within: list[Table],
    claims: list[ExactClaim],
) -> bool:
    """Tell whether a table has rows that were released, or may have them."""
    if any(may_share_rows(one.source, other.source) for one in released):
        return True
    place = place_of(catalog, other.source)
    if place is None:
        return False
    here = {one.name for one in within}
    gone = [claim.asserted for claim in claims if claim.asserted["table"] not in here]
    return any(one["table"] == other.name for one in gone) or any(
        claim.asserted.get(PLACE) == place for claim in claims
    )


def _in_two(other: Table, own: str) -> DeclarationError:
    return DeclarationError(
        f"Exact numbers of rows of '{other.name}' were published in '{own}', but it is declared in"
        f" '{other.unit.id_space}'",
        must="be in one id space alone, or another one would claim what has ended",
        next=f"Declare the rows in '{own}' only; if they are others, give '{other.name}' another"
        " name or place",
    )
