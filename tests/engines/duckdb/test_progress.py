"""No progress is shown, and a notebook that could not show any is not a reason to fail."""

import duckdb
import pytest

from discreet.engines.duckdb.databases import Databases
from discreet.engines.duckdb.sources.progress import show_no_progress

SETTING = "SELECT current_setting('enable_progress_bar')"


class InNotebook:
    """A database as DuckDB has it in a notebook without widgets: its bar is off for good."""

    def __init__(self) -> None:
        self.database = duckdb.connect(":memory:")
        self.database.execute("SET enable_progress_bar = false")

    def execute(self, sql: str) -> duckdb.DuckDBPyConnection:
        if sql.startswith("SET enable_progress_bar"):
            raise duckdb.InvalidInputException("required package 'ipywidgets' is missing")
        return self.database.execute(sql)


def test_a_notebook_without_widgets_has_nothing_to_switch_off():
    with pytest.raises(duckdb.InvalidInputException):
        InNotebook().execute("SET enable_progress_bar = false")
    show_no_progress(InNotebook())


def test_a_bar_is_switched_off():
    database = duckdb.connect(":memory:")
    database.execute("SET enable_progress_bar = true")
    show_no_progress(database)
    assert database.execute(SETTING).fetchone() == (False,)


def test_what_is_lent_shows_none():
    databases = Databases()
    with databases.lent() as cursor:
        assert cursor.execute(SETTING).fetchone() == (False,)
    databases.close()
