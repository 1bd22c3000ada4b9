"""The engines by name: a declaration says which one runs its plans."""

from collections.abc import Callable, Mapping

from discreet.core.errors import DeclarationError
from discreet.engines.duckdb.engine import DuckDbEngine
from discreet.engines.duckdb.sources.examine import require_apart
from discreet.tables.catalog import Catalog
from discreet.tables.plans.engine import Engine

_LONGEST_SHOWN = 40


def open_engine(catalog: Catalog) -> Engine:
    """Return the declared engine, for the declared tables."""
    opened = ENGINES.get(catalog.engine)
    if opened is None:
        known = ", ".join(f'"{name}"' for name in ENGINES)
        raise DeclarationError(
            "The engine that is declared is not known",
            must=f"be {known}",
            got=ascii(catalog.engine[:_LONGEST_SHOWN]),
            next="Write engine in discreet.toml with that name, or leave it out",
        )
    return opened(catalog)


def _duckdb(catalog: Catalog) -> Engine:
    require_apart(catalog)
    return DuckDbEngine(private=catalog.tables)


ENGINES: Mapping[str, Callable[[Catalog], Engine]] = {"duckdb": _duckdb}
"""Each engine by the name that a declaration gives it. All pass one suite of tests."""
