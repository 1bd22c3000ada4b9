"""What the owner of an opened project can do, beside an analyst's connection to it."""

from discreet.curator.connection import Connection
from discreet.curator.owner import Owner


def owner_of(connection: Connection) -> Owner:
    """Return the owner's view of what a connection has open."""
    return Owner(connection.catalog().ledger.parent, connection._project)
