"""Modules that wait: they are there to be imported, and are loaded when a name of theirs is used.

Who holds a way to every model would else load every model for the one that is used. A module that
waits is imported like any other, as a whole (``from discreet.curator import answer``), at the top
of a file, so that the direction of each import is seen; ``answer.answer(...)`` then loads it.
"""

import sys
from importlib.util import find_spec, module_from_spec
from threading import RLock
from types import ModuleType
from typing import Any

from discreet.core.lazy_names import no_collection

_KNOWN = frozenset(
    {
        *("__class__", "__name__", "__spec__", "__loader__", "__package__", "__path__"),
        *("__file__", "__cached__", "_waits_for"),
    }
)
"""What is known of a module before it is loaded; the machinery of imports looks at it."""


def let_wait(*names: str) -> None:
    """Let modules wait to be loaded, unless they are loaded already.

    Example:
        >>> let_wait("discreet.core.waiting_modules")  # loaded, or it could not be asked
        >>> is_waiting("discreet.core.waiting_modules")
        False
    """
    for name in names:
        spec = None if name in sys.modules else find_spec(name)
        if spec is None:
            continue
        module = module_from_spec(spec)
        module._waits_for = RLock()  # type: ignore[attr-defined]
        module.__class__ = _Waiting
        # Another thread may be quicker: whoever holds that module must not meet a second one.
        if sys.modules.setdefault(name, module) is module:
            package, _, leaf = name.rpartition(".")
            setattr(sys.modules[package], leaf, module)


def is_waiting(name: str) -> bool:
    """Tell whether a module was imported, perhaps, but not loaded."""
    return type(sys.modules.get(name)) is _Waiting


class _Waiting(ModuleType):
    """A module that loads itself when a name of it is used, and is like any other afterwards."""

    _waits_for: RLock

    def __getattribute__(self, name: str) -> Any:
        if name not in _KNOWN:
            _load(self)
        return ModuleType.__getattribute__(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _KNOWN:
            _load(self)
        ModuleType.__setattr__(self, name, value)


_LOADING: set[str] = set()
"""The modules that are being loaded: to their own thread they are what they are so far."""


def _load(module: _Waiting) -> None:
    """Run the module, once: other threads wait for it.

    No two of them wait for one another: files import one another in no circle.
    """
    spec = module.__spec__
    assert spec is not None
    assert spec.loader is not None
    with module._waits_for:
        if type(module) is not _Waiting or spec.name in _LOADING:
            return
        try:
            # Inside: an interrupt right behind it must not leave the module as if half loaded.
            _LOADING.add(spec.name)
            with no_collection():
                spec.loader.exec_module(module)
            module.__class__ = ModuleType  # type: ignore[assignment]
        finally:
            _LOADING.discard(spec.name)
