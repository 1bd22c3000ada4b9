"""A broken twin of a module: its source with some passages changed, run beside the original."""

import inspect
from types import ModuleType


def mutant(module: ModuleType, *changes: tuple[str, str]) -> ModuleType:
    """Return the module as it would be with the second text of each change for the first.

    A passage must occur exactly once, so that a mutant cannot quietly become the original when
    the source moves on.
    """
    text = inspect.getsource(module)
    for old, new in changes:
        if text.count(old) != 1:
            raise ValueError(f"the passage must occur once in {module.__name__}; got {old!r}.")
        text = text.replace(old, new)
    twin = ModuleType(module.__name__)
    exec(compile(text, f"mutant of {module.__name__}", "exec"), twin.__dict__)
    return twin
