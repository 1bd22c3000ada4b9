"""What the owner of an opened project can do, beside an analyst's connection to it."""

from functools import partial

from discreet.curator.connection import Connection
from discreet.curator.owner import Owner
from discreet.project.project import open_project


def owner_of(connection: Connection) -> Owner:
    """Return the owner's view of what a connection has open."""
    folder = connection.catalog().ledger.parent
    return Owner(connection._project, partial(open_project, folder))
