"""Names that a package lends from its modules, each loaded when it is first used.

The doors of the house say where a name is at home. Whoever comes in by a door needs no file's name,
so files are free to move, and nothing is loaded that is not used.
"""

import gc
import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any


@contextmanager
def no_collection() -> Iterator[None]:
    """Look for no garbage while modules are loaded: they leave none, and looking takes time.

    Afterwards what was loaded is among the oldest objects, as it would be after some collections:
    it is here to stay, so nobody looks through it again soon.
    """
    was_enabled = gc.isenabled()
    try:
        gc.disable()
        yield
    finally:
        # First, so that an interrupt among what follows does not leave it off.
        if was_enabled:
            gc.enable()
        # Together these two move every object to the oldest generation and look at none. What
        # somebody else froze would thaw, so then they are left out.
        if not gc.get_freeze_count():
            gc.freeze()
            gc.unfreeze()


def lazy_names(
    package: str, homes: Mapping[str, str], *, rooms: tuple[str, ...] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and the ``__dir__`` of a package that lends these names.

    ``homes`` says in which module each name is. ``rooms`` are packages below this one that can be
    reached with no import of their own.

    Example:
        >>> get, names = lazy_names("discreet.core", {"exact": "discreet.core.numbers"})
        >>> get("exact")("0.5")
        Fraction(1, 2)
        >>> names()
        ['exact']
        >>> get("inexact")
        Traceback (most recent call last):
        AttributeError: module 'discreet.core' has no attribute 'inexact'
    """

    def get(name: str) -> Any:
        if name in rooms:
            return importlib.import_module(f"{package}.{name}")
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        with no_collection():
            value = getattr(importlib.import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted([*homes, *rooms])

    return get, names
