"""Names of three parts, as tools write them: a database, a schema and a table."""

from discreet.core.errors import RefusedQuery
from discreet.sql.syntax.nodes import Node, is_a, part, replaced

SCHEMAS = ("main", "public")
"""What may stand in front of a table's name, as tools write it: all tables are in one place."""


def require_schema(node: Node | None) -> None:
    """Refuse a schema that is none of those that tools put in front of tables."""
    if node is not None and node.name.lower() not in SCHEMAS:
        raise RefusedQuery(
            "There is no such schema",
            must=f"be left out, or be {' or '.join(SCHEMAS)}",
            got=node.name[:40],
            next=_CATALOG if node.name.lower() in _CATALOGS else "",
        )


_CATALOGS = ("information_schema", "pg_catalog", "sys")
_CATALOG = "To see the columns of a table, for nothing, write SELECT * FROM table LIMIT 0"


def without_database(select: Node, project: str) -> Node:
    """Return a statement without the name of the database, which is that of the project.

    There is one database, so that what stands before the schema says nothing more. Any other name
    is refused: tables of another database are not meant to be these.
    """
    if all(_database(node) is None for node in select.walk()):
        return select
    known = list(dict.fromkeys(name.lower() for name in (project, "discreet", *SCHEMAS) if name))

    def change(node: Node) -> Node:
        name = _database(node)
        if name is not None:
            if name.name.lower() not in known:
                raise RefusedQuery(
                    "There is no such database",
                    must=f"be left out, or be {' or '.join(known)}",
                    got=name.name[:40],
                    next="Write FROM table",
                )
            node.set("catalog", None)
        return node

    return replaced(select, change)


def _database(node: Node) -> Node | None:
    return part(node, "catalog") if is_a(node, "Table", "Column") else None
