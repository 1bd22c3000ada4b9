"""Arrays that refuse to mix kinds of numbers, and a NumPy that makes no others.

NumPy computes a signed with an unsigned 64-bit integer in binary64, and an integer with a float
too; narrow integers wrap where wide ones do not. None of this is an error there. Here it is: every
operand of an operation has one type, and a conversion that can lose something is written down.

``guarded(array)`` watches one array and all that is made of it. ``GUARDED_NUMPY`` stands for the
name ``np`` in a module: then every array that the module makes is watched.
"""

from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from discreet.core.protocols import Rng

EXACT_FLOATS = 2**53
"""Up to here every integer is a binary64 number."""

_NUMBERS = "iuf"
_SPLIT = {np.frexp, np.ldexp}
"""Floats with their exponents: two types by their nature, and exact."""

_MAY_WRAP = {np.add, np.subtract, np.multiply, np.negative, np.absolute, np.left_shift}

_BY_PLACE = {np.take, np.delete, np.repeat, np.split, np.array_split, np.bincount}
"""Functions with an argument that counts places: only what they copy must be of one type."""


class MixedNumbers(AssertionError):
    """An operation on numbers of more than one type, or a conversion that loses something."""


class Guarded(np.ndarray):
    """An array that takes part in operations on numbers of its own type alone."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        out = options.get("out", ())
        if ufunc not in _SPLIT:
            _require_one_type(ufunc.__name__, [*inputs, *out])
        if "casting" in options:
            _refuse(ufunc.__name__, "casting is given")
        _require_no_other(ufunc.__name__, options.get("dtype"), inputs)
        bare = {
            name: tuple(map(_bare, value)) if name == "out" else _bare(value)
            for name, value in options.items()
        }
        before = [_bare(part).copy() if isinstance(part, Guarded) else part for part in inputs]
        result = getattr(ufunc, method)(*map(_bare, inputs), **bare)
        if ufunc not in _SPLIT:
            _require_same_kind(ufunc.__name__, inputs, result)
            _require_no_wrapping(ufunc, method, before, result)
        return out[0] if len(out) == 1 else _guard(result)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        name = function.__name__
        numbers = [args[0], options.get("out")] if function in _BY_PLACE else [args, options]
        _require_one_type(name, list(_leaves(numbers)))
        return _guard(super().__array_function__(function, types, args, options))

    def __setitem__(self, key: Any, value: Any) -> None:
        for part in _leaves([value]):
            is_cut = isinstance(part, float) and self.dtype.kind in "iu"
            if is_cut or not _is_widening(_type(part), self.dtype):
                _refuse("assignment", f"{_type(part) or type(part)} into {self.dtype}")
        super().__setitem__(key, value)

    def astype(self, dtype: Any, *args: Any, **options: Any) -> Any:
        """Convert, and see that integers that stay integers are the same numbers afterwards."""
        is_to_integer = np.dtype(dtype).kind in "iu"
        is_small = self.dtype.kind != "f" or (np.abs(_bare(self)) < 2.0**62).all()
        if is_to_integer and not is_small:
            _refuse("astype", f"{self.dtype} to {np.dtype(dtype)} overflows")
        result = super().astype(dtype, *args, **options)
        is_whole = is_to_integer and self.dtype.kind in "iu"
        if is_whole and _bare(self).tolist() != _bare(result).tolist():
            _refuse("astype", f"{self.dtype} to {result.dtype} changes a value")
        return result


class GuardedRng:
    """Hands out the words of another generator, guarded."""

    def __init__(self, source: Rng) -> None:
        self.source = source

    def words(self, count: int) -> NDArray[np.uint64]:
        words: NDArray[np.uint64] = guarded(self.source.words(count))
        return words


def guarded(array: NDArray[Any]) -> Any:
    """Return a view of the array that guards itself."""
    return array.view(Guarded)


class _GuardedNumPy(ModuleType):
    """NumPy whose functions guard what they are given and what they give back."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(np, name)
        if isinstance(found, type) or not callable(found):
            return found
        return _GuardedFunction(found)


class _GuardedFunction:
    def __init__(self, function: Any) -> None:
        self.function = function

    def __call__(self, *args: Any, **options: Any) -> Any:
        return _guard(self.function(*_all(_guard, args), **_all(_guard, options)))

    def __getattr__(self, name: str) -> Any:
        return _GuardedFunction(getattr(self.function, name))


GUARDED_NUMPY = _GuardedNumPy("numpy")


def _require_one_type(name: str, operands: Iterable[Any]) -> None:
    """Arrays and NumPy's scalars have one type; Python's numbers must be exact in it."""
    operands = list(operands)
    kinds = {dtype for part in operands if (dtype := _type(part)) and dtype.kind in _NUMBERS}
    if len(kinds) > 1:
        _refuse(name, " and ".join(sorted(map(str, kinds))))
    for dtype in kinds:
        for part in operands:
            if dtype.kind != "f" and isinstance(part, float):
                _refuse(name, f"{dtype} and a float")
            if dtype.kind == "f" and isinstance(part, int) and abs(part) > EXACT_FLOATS:
                _refuse(name, f"{dtype} and an integer that no float is")


def _require_no_other(name: str, wanted: Any, inputs: Iterable[Any]) -> None:
    """An accumulator has the type of what is added up; truth values may be counted."""
    for part in inputs:
        dtype = _type(part)
        if wanted is not None and dtype and dtype.kind in _NUMBERS and dtype != np.dtype(wanted):
            _refuse(name, f"{dtype} as {np.dtype(wanted)}")


def _require_same_kind(name: str, inputs: Iterable[Any], result: Any) -> None:
    """Integers do not become floats, as they do in a quotient or a root."""
    given = {dtype.kind for part in inputs if (dtype := _type(part))}
    for part in result if isinstance(result, tuple) else (result,):
        dtype = _type(part)
        if dtype and dtype.kind == "f" and "f" not in given:
            _refuse(name, f"integers give {dtype}")


def _require_no_wrapping(ufunc: Any, method: str, inputs: list[Any], result: Any) -> None:
    """Signed integers that wrap around are not the numbers they should be; words may wrap."""
    is_signed = getattr(result, "dtype", None) == np.int64
    if not is_signed or ufunc not in _MAY_WRAP or method not in ("__call__", "reduce"):
        return
    exact = [part.astype(object) if isinstance(part, np.ndarray) else part for part in inputs]
    if method == "reduce":
        total = sum(exact[0].ravel().tolist())
        is_wrapped = total != sum(np.ravel(result).tolist())
    else:
        exact = [int(part) if isinstance(part, np.integer) else part for part in exact]
        is_wrapped = bool(np.any(np.asarray(ufunc(*exact)) != result))
    if is_wrapped:
        _refuse(ufunc.__name__, "64 bits wrap around")


def _is_widening(source: np.dtype[Any] | None, target: np.dtype[Any]) -> bool:
    if source is None or source.kind not in _NUMBERS or target.kind not in _NUMBERS:
        return True
    is_float = source.kind == "f"
    return is_float == (target.kind == "f") and np.can_cast(source, target, "safe")


def _type(part: Any) -> np.dtype[Any] | None:
    """The type of an array or of one of NumPy's scalars; Python's numbers have none here."""
    return part.dtype if isinstance(part, np.ndarray | np.generic) else None


def _leaves(parts: Any) -> Iterator[Any]:
    if isinstance(parts, list | tuple):
        for part in parts:
            yield from _leaves(part)
    elif isinstance(parts, dict):
        yield from _leaves(list(parts.values()))
    else:
        yield parts


def _all(change: Any, parts: Any) -> Any:
    """Change the arrays in arguments, also those in lists."""
    if isinstance(parts, list | tuple):
        return type(parts)(_all(change, part) for part in parts)
    if isinstance(parts, dict):
        return {name: _all(change, part) for name, part in parts.items()}
    return change(parts)


def _guard(part: Any) -> Any:
    if isinstance(part, tuple):
        return tuple(map(_guard, part))
    is_number = isinstance(part, np.ndarray) and part.dtype.kind in "biuf"
    return guarded(part) if is_number and not isinstance(part, Guarded) else part


def _bare(part: Any) -> Any:
    return part.view(np.ndarray) if isinstance(part, Guarded) else part


def _refuse(name: str, what: str) -> NoReturn:
    raise MixedNumbers(f"{name}: {what}")
