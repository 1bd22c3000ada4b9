"""What the owner of an opened project can do, beside an analyst's connection to it."""

from functools import partial

from discreet.project.project import open_project
from discreet.roles.connection import Connection
from discreet.roles.owner import Owner


def owner_of(connection: Connection) -> Owner:
    """Return the owner's view of what a connection has open."""
    folder = connection.catalog().ledger.parent
    return Owner(connection._project, partial(open_project, folder))
