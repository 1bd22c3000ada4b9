"""Check the declarations and their sources, and say what they imply."""

import argparse
from collections.abc import Iterator
from typing import Any

from discreet.cli.command import CommandResult, add_project
from discreet.core.terminal_text import lines
from discreet.ledger.anchoring import ELSEWHERE, STAY_HERE
from discreet.ledger.ledger import Ledger
from discreet.project.declaration_report import (
    cautions,
    source_cautions,
    space_lines,
    space_to_json,
    table_text,
    table_to_json,
)
from discreet.project.worst_case import void_remarks
from discreet.roles.owner import own
from discreet.tables.catalog import Catalog


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_project(parser)


def run(options: argparse.Namespace) -> CommandResult:
    """Check, by names and types, and by whether texts, keys and times are what is declared."""
    with own(options.project) as owner:
        owner.check()
        catalog = owner.catalog()
        return explained(catalog, owner.ledger(), source_cautions(catalog))


def explained(
    catalog: Catalog, ledger: Ledger | None = None, about_sources: tuple[str, ...] = ()
) -> CommandResult:
    """Return what the declarations imply, beside what the ledger and the sources hold."""
    left_over = [] if ledger is None else [*_void(catalog, ledger), *_left_over(catalog, ledger)]
    left_over += [] if ledger is None else _moved(ledger)
    left_over += [] if ledger is None else _failed(catalog, ledger)
    warnings = [*cautions(catalog), *about_sources, *left_over]
    public = [table.name for table in catalog.public_tables]
    names = [*(table.name for table in catalog.tables), *public]
    spaces = (space_lines(catalog, space) for space in catalog.id_spaces)
    parts = ["\n".join(lines(line, indent="    ") for line in space) for space in spaces]
    parts += [table_text(catalog, table) for table in catalog.tables]
    if public:
        parts.append(lines(f"Public, so everybody may know every row: {', '.join(public)}"))
    if warnings:
        parts.append("Worth knowing:\n" + "\n".join(lines(f"- {warning}") for warning in warnings))
    parts.append(lines(f"All is well: {', '.join(names)}"))
    data: dict[str, Any] = {
        "ok": True,
        "tables": names,
        "id_spaces": [space_to_json(catalog, space) for space in catalog.id_spaces],
        "implied": [table_to_json(catalog, table) for table in catalog.tables],
        "warnings": warnings,
    }
    return CommandResult("\n\n".join(parts), data)


def _void(catalog: Catalog, ledger: Ledger) -> Iterator[str]:
    """Say which worst-case claims have ended, and what the owner allows to end one."""
    for text in void_remarks(ledger, *(space.name for space in catalog.id_spaces)):
        yield f"{text[:1].upper()}{text[1:]}."
    for declared in catalog.exact:
        yield (
            f"The owner may publish {declared.name} exactly ('discreet exact {declared.name}'), "
            f"which is safe only if its law is true: {declared.assurance}"
        )


def _left_over(catalog: Catalog, ledger: Ledger) -> Iterator[str]:
    """Say what the ledger knows of that is no longer declared; it stays in force."""
    spaces = {space.name for space in catalog.id_spaces}
    declared = {
        (name, analyst.name) for analyst in catalog.analysts for name in analyst.allocations
    }
    for id_space in ledger.spent_spaces():
        if id_space not in spaces:
            yield (
                f"The ledger has spending in the id space {id_space}, which is not declared. If "
                "another one is about the same units, what was told adds up: use its old name."
            )
    for share in ledger.shares():
        if (share.id_space, share.analyst) not in declared and share.cap != share.cap * 0:
            yield (
                f"{share.analyst} is not declared but keeps the share of {share.id_space} that was "
                "noted before. Declare it as 0 to end it."
            )


def _moved(ledger: Ledger) -> Iterator[str]:
    """Say whether the ledger may be a copy."""
    if ledger.is_elsewhere():
        yield f"The ledger {ELSEWHERE}. {STAY_HERE}."


def _failed(catalog: Catalog, ledger: Ledger) -> Iterator[str]:
    """Say whose answers failed since the owner last resumed, and for whom the gate is shut."""
    for space in catalog.id_spaces:
        failures, limit = ledger.failures(space.name), ledger.rules(space.name).most_failures
        if failures >= limit:
            yield (
                f"Questions about {space.name} are suspended for everybody after {failures} failed "
                f"answers. Look for the cause, then run 'discreet resume {space.name}'."
            )
        for counter in ledger.counters(space.name):
            who = "analysts without a share" if counter.analyst is None else counter.analyst
            shut = ", so they are suspended" if counter.is_suspended else ""
            yield (
                f"Failed answers about {space.name} since it was last resumed, of {who}: "
                f"{counter.failures} of {counter.suspend_after}{shut}."
            )
