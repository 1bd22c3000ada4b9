"""Find the stored profile of a table, and read it."""

from collections.abc import Callable, Iterable
from typing import Any

from attrs import evolve

from discreet.core.canonical import described, digest
from discreet.core.errors import InvalidArgument
from discreet.curator.profile.measured_as import MEASURED_AS, is_still
from discreet.curator.profile.one_table import only_table
from discreet.ledger.order import Receipt
from discreet.project.project import Project
from discreet.project.worst_case import receipt_remarks
from discreet.releases.body import Body
from discreet.releases.profile import Profile
from discreet.releases.read_profile import read_profile
from discreet.releases.value_bins import MEASURED, value_bins
from discreet.tables.catalog import Table
from discreet.tables.column import Column
from discreet.tables.functions.comparison import MOST_VALUES
from discreet.tables.relations.relation import Relation

VERSION = 1
"""The version of the histograms: a profile of another one is not taken for it."""


def profile_name(table: Table) -> str:
    """Return the name under which the profile of a table is stored, whatever it cost."""
    return digest({"profile": VERSION, "table": described(table)})


FindProfile = Callable[[Table], Profile | None]
"""A way to find the stored profile of a table."""


def find_profile(project: Project, table: Table) -> Profile | None:
    """Return the stored profile of a table for the data as they are now, if there is one."""
    version = project.ledger.known_version(table.unit.id_space)
    return None if version is None else _find(project, table, version.number)


def profile_for(project: Project, relation: Relation) -> Profile | None:
    """Return the stored profile of the one table that a relation is about, if it is of one."""
    table = only_table(relation)
    return None if table is None else find_profile(project, table)


def profiles_of(project: Project, version: int) -> FindProfile:
    """Return a way to find profiles for a version of the data, which looks for each once."""
    found: dict[str, Profile | None] = {}

    def find(table: Table) -> Profile | None:
        if table.name not in found:
            found[table.name] = _find(project, table, version)
        return found[table.name]

    return find


_READ: dict[tuple[Receipt, Table, str], Profile] = {}
"""Profiles that were read before: by what they are, and what was declared then."""

_MOST_READ = 64


def _find(project: Project, table: Table, version: int) -> Profile | None:
    found = project.ledger.find_release(profile_name(table), version)
    if found is None:
        return None
    stored, receipt = found
    place = receipt, table, project.catalog.id_space(table.unit.id_space).unit
    profile = _READ.get(place)
    if profile is None:
        profile = profile_of(project, table, stored["batch"], receipt, is_stored=True)
        if len(_READ) >= _MOST_READ:
            _READ.clear()
        _READ[place] = profile
    return profile


def open_profile(project: Project, ticket: int) -> Profile:
    """Return the profile that a ticket paid for, while its table is declared as it was then."""
    found = project.ledger.release_of(ticket)
    tables = [] if found is None else project.catalog.tables
    for table in tables:
        if found is not None and profile_name(table) == found[1].plan_digest:
            opened = profile_of(project, table, found[0]["batch"], found[1], is_stored=True)
            return with_void(project, opened)
    raise InvalidArgument(
        "The table is declared in another way than when its profile was made",
        must="have the same columns, keys, ranges and limits",
        got=f"ticket {ticket}",
        next="Nothing was charged. Declare the table as it was, or make a new profile",
    )


def profile_of(
    project: Project,
    table: Table,
    bodies: Iterable[Any],
    receipt: Receipt,
    *,
    is_stored: bool,
) -> Profile:
    """Return the profile that bodies are, by what is declared of the table.

    What was measured of a column that is declared in another way now is left out.
    """
    space = project.catalog.id_space(table.unit.id_space)
    said = project.ledger.description_of(receipt.ticket.number).get(MEASURED_AS)
    read = map(Body.from_json, bodies)
    return read_profile(
        table.name,
        space.unit,
        (body for body in read if is_still(table, body.keys.columns[0], said)),
        units=space.units,
        period=None if table.unit.period is None else table.unit.period.length.value,
        most=table.most_rows_per_unit,
        groups={
            column.name: len(column.keys)
            for column in table.columns
            if column.keys and has_few_keys(column)
        },
        values={
            column.name: value_bins(column) for column in table.columns if column.type in MEASURED
        },
        receipt=receipt,
        is_stored=is_stored,
    )


def with_void(project: Project, profile: Profile) -> Profile:
    """Return a profile that says so if an exact release has ended the worst-case claim."""
    if profile.receipt is None:
        return profile
    remarks = receipt_remarks(project.ledger, profile.receipt)
    return profile if remarks == profile.remarks else evolve(profile, remarks=remarks)


def has_few_keys(column: Column) -> bool:
    """Tell whether the keys of a column can be listed in a condition."""
    return column.keys is not None and len(column.keys) <= MOST_VALUES
