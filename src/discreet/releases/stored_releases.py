"""Releases that the ledger keeps, read again by the ticket that paid for them."""

from discreet.core.errors import InvalidArgument
from discreet.ledger.ledger import Ledger
from discreet.releases.body import Body
from discreet.releases.release import Release
from discreet.releases.view import plain_view


def read_releases(ledger: Ledger, ticket: int) -> tuple[Release, ...]:
    """Return the stored release that a ticket paid for: one, or those of a batch.

    The columns are the keys and the noisy numbers from which the answer was made.
    """
    found = ledger.release_of(ticket)
    if found is None:
        raise InvalidArgument(
            "There is no release of this ticket",
            must="be the number of a ticket that was answered",
            got=str(ticket),
            next="See the history with `discreet ledger`",
        )
    stored, receipt = found
    batch = stored.get("batch", [stored])
    bodies = map(Body.from_json, batch if isinstance(batch, list) else [batch])
    return tuple(
        Release(view=plain_view(body), body=body, receipt=receipt, is_stored=True)
        for body in bodies
    )
