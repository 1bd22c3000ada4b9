"""A dialect of SQLAlchemy: ``create_engine("discreet:///clinic?epsilon=0.1")``.

SQLAlchemy finds it by its entry point, and loads this file only then.
"""

import sys
from typing import Any

from discreet.core import optional
from discreet.core.errors import UnknownTable
from discreet.dbapi.compiler import ReadingCompiler, RefusingCompiler
from discreet.dbapi.connection import DatabaseConnection
from discreet.dbapi.errors import ClosedConnection
from discreet.sql.syntax.databases import SCHEMAS
from discreet.tables.catalog import PublicTable, Table
from discreet.tables.column import ColumnType

_default = optional.load("sqlalchemy.engine.default")
_exc = optional.load("sqlalchemy.exc")
_types = optional.load("sqlalchemy.types")

TYPES = {
    ColumnType.INTEGER: _types.BigInteger,
    ColumnType.REAL: _types.Double,
    ColumnType.TEXT: _types.String,
    ColumnType.BOOLEAN: _types.Boolean,
    ColumnType.DATE: _types.Date,
    ColumnType.TIMESTAMP: _types.DateTime,
    ColumnType.TIME: _types.Time,
}
"""What SQLAlchemy calls the type of a declared column."""

_OPTIONS = ("epsilon", "rho", "accuracy", "delta", "analyst", "intervals")
"""What a URL may say. Budgets, shares and rules of the gate are the owner's, and in no URL."""

_TRUTH = {"true": True, "false": False}

_AUTOCOMMIT = "AUTOCOMMIT"


class DiscreetDialect(_default.DefaultDialect):  # type: ignore[misc, name-defined]
    """Lets SQLAlchemy ask: it writes no table, and looks up names in the declaration alone.

    Guarantee:
        Nothing but a SELECT that somebody executes is ever charged. Connecting, testing a
        connection, and listing tables and columns ask no question.
    """

    name = "discreet"
    driver = "discreet"
    default_paramstyle = "qmark"
    statement_compiler = ReadingCompiler
    ddl_compiler = RefusingCompiler
    supports_statement_cache = True
    """Statements are written once: nothing of their text depends on the parameters."""
    supports_native_boolean = True
    supports_alter = False
    supports_views = False
    postfetch_lastrowid = False
    div_is_floordiv = False
    """7 / 2 is 3.5, for whole numbers too."""
    supports_simple_order_by_label = True

    @classmethod
    def import_dbapi(cls) -> Any:
        """Return the module of DB-API 2.0: the package that this file stands in."""
        return sys.modules[__package__]

    def create_connect_args(self, url: Any) -> tuple[list[str], dict[str, Any]]:
        """Return the arguments of ``connect`` that a URL says; anything else in it is refused.

        As in the URLs of SQLite, three slashes go before a path from here, and four before one
        from the root: ``discreet:///clinic``, ``discreet:////srv/clinic``.
        """
        if url.host or url.username or url.password or url.port:
            raise _exc.ArgumentError(
                "A URL of Discreet names a folder of this machine, and no host or user: write"
                " discreet:///folder, or discreet:////srv/folder from the root"
            )
        options = dict(url.query)
        for name, value in options.items():
            if name not in _OPTIONS or not isinstance(value, str):
                raise _exc.ArgumentError(
                    f"A URL of Discreet does not take {name!r} (or not twice): it may say"
                    f" {', '.join(_OPTIONS)}"
                )
        if "intervals" in options:
            options["intervals"] = _truth(options["intervals"])
        return [url.database or "."], options

    def do_ping(self, dbapi_connection: DatabaseConnection) -> bool:
        """Tell that the connection is open. Nothing is asked, so nothing is charged."""
        dbapi_connection.require_open()
        return True

    def is_disconnect(self, e: BaseException, connection: object, cursor: object) -> bool:
        """Tell whether the connection must be opened again."""
        return isinstance(e, ClosedConnection)

    # ---- There are no transactions.

    def do_savepoint(self, connection: object, name: str) -> None:
        """Refuse: what was paid cannot be taken back."""
        raise _exc.CompileError("Discreet has no savepoints: a charge cannot be undone")

    def get_isolation_level_values(self, dbapi_conn: object) -> list[str]:
        """Return the one level that there is: every answer is durable before it is given."""
        return [_AUTOCOMMIT]

    def get_isolation_level(self, dbapi_connection: object) -> str:
        """Return the one level that there is."""
        return _AUTOCOMMIT

    def set_isolation_level(self, dbapi_connection: object, level: str) -> None:
        """Do nothing: SQLAlchemy has refused every other level."""

    def detect_autocommit_setting(self, dbapi_conn: object) -> bool:
        """Tell that no commit is needed."""
        return True

    # ---- What is declared. No question is asked for it.

    def get_table_names(self, connection: Any, schema: str | None = None, **kw: object) -> Any:
        """Return the names of the private tables and of the public ones."""
        return [table.name for table in _tables(connection)] if _is_ours(schema) else []

    def get_view_names(self, connection: Any, schema: str | None = None, **kw: object) -> Any:
        """Return nothing: there are no views."""
        return []

    def get_temp_table_names(self, connection: Any, schema: str | None = None, **kw: object) -> Any:
        """Return nothing: there are no temporary tables."""
        return []

    def get_schema_names(self, connection: Any, **kw: object) -> Any:
        """Return the one schema that all tables stand in."""
        return [SCHEMAS[0]]

    def _get_default_schema_name(self, connection: Any) -> str:
        return SCHEMAS[0]

    def has_table(
        self, connection: Any, table_name: str, schema: str | None = None, **kw: object
    ) -> bool:
        """Tell whether a table is declared, by its name in any case."""
        self._ensure_has_table_connection(connection)
        names = {table.name.lower() for table in _tables(connection)}
        return _is_ours(schema) and table_name.lower() in names

    def get_columns(
        self, connection: Any, table_name: str, schema: str | None = None, **kw: object
    ) -> list[dict[str, Any]]:
        """Return the declared columns with their types."""
        return [
            {
                "name": column.name,
                "type": TYPES[column.type](),
                "nullable": column.nullable,
                "default": None,
                "autoincrement": False,
                "comment": None,
            }
            for column in _table(connection, table_name, schema).columns
        ]

    def get_pk_constraint(
        self, connection: Any, table_name: str, schema: str | None = None, **kw: object
    ) -> dict[str, Any]:
        """Return no key: rows are never addressed one by one."""
        _table(connection, table_name, schema)
        return {"constrained_columns": [], "name": None}

    def _nothing(
        self, connection: Any, table_name: str, schema: str | None = None, **kw: object
    ) -> list[Any]:
        _table(connection, table_name, schema)
        return []

    get_foreign_keys = _nothing
    get_indexes = _nothing
    get_unique_constraints = _nothing
    get_check_constraints = _nothing

    def get_table_comment(
        self, connection: Any, table_name: str, schema: str | None = None, **kw: object
    ) -> dict[str, None]:
        """Return no comment."""
        _table(connection, table_name, schema)
        return {"text": None}


def _truth(text: str) -> bool:
    if text.lower() not in _TRUTH:
        raise _exc.ArgumentError(f"intervals is true or false in a URL; got {text!r}")
    return _TRUTH[text.lower()]


def _is_ours(schema: str | None) -> bool:
    return schema is None or schema.lower() in SCHEMAS


def _tables(connection: Any) -> tuple[Table | PublicTable, ...]:
    catalog = _opened(connection).catalog()
    return (*catalog.tables, *catalog.public_tables)


def _table(connection: Any, name: str, schema: str | None) -> Table | PublicTable:
    if not _is_ours(schema):
        raise _exc.NoSuchTableError(f"{schema}.{name}")
    try:
        return _opened(connection).catalog().table(name)
    except UnknownTable as error:
        raise _exc.NoSuchTableError(name) from error


def _opened(connection: Any) -> DatabaseConnection:
    found: DatabaseConnection = connection.connection.dbapi_connection
    return found
