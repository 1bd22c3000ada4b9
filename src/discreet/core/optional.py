"""The one place where heavy third-party libraries are imported, and only when they are used.

``import discreet`` must stay quick, so no other module imports these libraries by name.
"""

import importlib
from functools import cache
from typing import Any

from discreet.core.errors import MissingDependency
from discreet.core.lazy_names import no_collection

_EXTRA_OF = {
    "ortools": "attacks",
    "pandas": "pandas",
    "matplotlib": "plot",
    "sqlalchemy": "sqlalchemy",
    "uvicorn": "server",
}


@cache
def load(name: str) -> Any:
    """Import and return the module ``name``; say how to install it if it is missing.

    Example:
        >>> load("json").dumps([1])
        '[1]'
    """
    try:
        with no_collection():
            return importlib.import_module(name)
    except ModuleNotFoundError as cause:
        root = name.partition(".")[0]
        if (cause.name or "").partition(".")[0] != root:
            raise
        package = f"discreet[{_EXTRA_OF[root]}]" if root in _EXTRA_OF else root
        raise MissingDependency(
            f"This needs the library '{root}', which is not installed",
            next=f"Run: pip install '{package}'",
        ) from None
