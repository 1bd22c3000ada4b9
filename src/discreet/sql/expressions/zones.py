"""AT TIME ZONE: a column with a declared zone, on the wall of another."""

from typing import Any

from discreet.core.errors import RefusedQuery
from discreet.sql.expressions.rule import Rule, Visit
from discreet.sql.syntax.nodes import Node, is_a, unbracketed, written
from discreet.tables.column import ColumnType
from discreet.tables.expression import Expression
from discreet.tables.functions.zones import on_wall_of, require_zone


def is_conversion(node: Node) -> bool:
    """Tell whether a node is AT TIME ZONE, in one of its forms."""
    return is_a(node, "AtTimeZone") or (is_a(node, "Anonymous") and node.name.lower() == "timezone")


def at_time_zone(value: Any, zone: Any, visit: Visit) -> Expression:
    """Return a column on the wall of a zone. Of which wall it is now, its declaration says.

    A value that is computed has no zone. So an AT TIME ZONE around another is read only where the
    inner one names the zone of the column, and so changes nothing: SQL then means the same, if the
    column is without a zone there. Around any other, SQL does not mean one more conversion.
    """
    name = _name(zone)
    moment = visit(value)
    if moment.type is not ColumnType.TIMESTAMP:
        raise RefusedQuery(
            "AT TIME ZONE stands behind what is no timestamp",
            must=_BEHIND,
            got=f"{written(value)}, of type {moment.type.value}",
        )
    column = visit.field(moment)
    if column is None or column.made is not None:
        raise RefusedQuery(
            "AT TIME ZONE stands behind a value that is computed",
            must=_BEHIND,
            got=written(value),
            next="Write it behind the column, once, and compute with what it gives",
        )
    if column.zone is None:
        raise RefusedQuery(
            f"No zone is declared for column '{column.name}', so AT TIME ZONE would make an instant"
            " of it, and there are none here",
            must=_BEHIND,
            next='Have zone = "UTC" declared for the column, or the zone whose clocks it shows',
        )
    return on_wall_of(name, moment, column.zone, column.dates)


_BEHIND = "stand behind a timestamp column with a declared zone"


def _name(node: Any) -> str:
    zone = unbracketed(node)
    if not zone.is_string:
        raise RefusedQuery(
            "The zone of AT TIME ZONE is not a constant",
            must="be a text that is written in the query, such as 'Europe/Berlin'",
        )
    require_zone(zone.name)
    return zone.name


def _at_time_zone(node: Any, visit: Visit) -> Expression:
    return at_time_zone(node.this, node.args["zone"], visit)


ZONES = {"AtTimeZone": Rule(("this", "zone"), _at_time_zone)}
