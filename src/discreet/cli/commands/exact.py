"""Publish a declared statistic without noise, as the owner; or list what is declared."""

import argparse

from discreet.cli.command import CommandResult, add_project
from discreet.core.terminal_text import lines, text_table
from discreet.roles.owner import Owner, own

LIST = "list"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "name", metavar="NAME", help="which of the releases that discreet.toml allows; or 'list'"
    )
    parser.add_argument(
        "--certify",
        action="store_true",
        help="only say what would be asserted and noted; nothing is read or published",
    )
    add_project(parser)


def run(options: argparse.Namespace) -> CommandResult:
    """Publish, certify or list."""
    with own(options.project) as owner:
        if options.name == LIST:
            return _listed(owner)
        if options.certify:
            certificate = owner.certify_exact(options.name)
            return CommandResult(str(certificate), certificate.to_json())
        release = owner.publish_exact(options.name)
        return CommandResult(str(release), release.to_json())


def _listed(owner: Owner) -> CommandResult:
    declared = owner.exact_releases()
    if not declared:
        text = "No exact release is declared. The owner allows them under [exact.NAME]"
        return CommandResult(lines(text), [])
    stated = {one.claim.name for one in owner.exact_claims()}
    rows = [
        [
            one.name,
            one.kind.value,
            one.table,
            f"{one.rows:,}",
            "published" if one.name in stated else "allowed",
        ]
        for one in declared
    ]
    data = [
        {"name": name, "statistic": kind, "table": table, "published": state == "published"}
        for name, kind, table, _, state in rows
    ]
    return CommandResult(text_table(["name", "statistic", "table", "rows", ""], rows), data)
