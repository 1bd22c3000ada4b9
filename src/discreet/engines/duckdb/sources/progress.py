"""How far a query has come: DuckDB would show it in a notebook, and it tells of the rows."""

from typing import Any


def show_no_progress(database: Any) -> None:
    """Switch off the bar that DuckDB shows of its progress.

    In a notebook that has no means to show a bar it is off already, and DuckDB refuses to hear of
    it once more.
    """
    (is_shown,) = database.execute("SELECT current_setting('enable_progress_bar')").fetchone()
    if is_shown:
        database.execute("SET enable_progress_bar = false")
