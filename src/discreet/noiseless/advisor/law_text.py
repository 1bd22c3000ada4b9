"""A law as people write it: ``normal(mean=70, deviation=10)``, ``discrete(0: 0.7, 1: 0.3)``."""

import re
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from attrs import field, frozen

from discreet.core.errors import InvalidArgument
from discreet.core.numbers import exact, written

_DEEPEST = 4
_LONGEST = 20_000
_CALL = re.compile(r"\s*([a-z][a-z_]*)\s*\((.*)\)\s*", re.DOTALL)
_NAMED = re.compile(r"\s*([^=:()]+?)\s*[=:](.*)", re.DOTALL)

KIND = "kind"
WITHIN = "within"
"""Two ends, as a list in a table: ``[0, 40]``."""


def _values(
    values: Iterable["Fraction | WrittenLaw"],
) -> tuple["Fraction | WrittenLaw", ...]:
    return tuple(values)


def _named(
    values: Mapping[str, "Fraction | WrittenLaw"],
) -> Mapping[str, "Fraction | WrittenLaw"]:
    return dict(values)


@frozen
class WrittenLaw:
    """A kind of law with what stands in its brackets; what it means is decided elsewhere.

    Attributes:
        kind: Its name.
        values: What has no name, in order: numbers, or laws.
        named: What has one.
    """

    kind: str
    values: tuple["Fraction | WrittenLaw", ...] = field(default=(), converter=_values)
    named: Mapping[str, "Fraction | WrittenLaw"] = field(factory=dict, converter=_named)

    def __str__(self) -> str:
        """Return a text that is read as the same law.

        Example:
            >>> print(read_law("normal( 70,deviation = 1e1 )"))
            normal(70, deviation=10)
        """
        parts = [_shown(value) for value in self.values]
        parts += [f"{name}={_shown(value)}" for name, value in self.named.items()]
        return f"{self.kind}({', '.join(parts)})"

    def numbers(self, *names: str) -> dict[str, Fraction]:
        """Return the numbers of these names, which stand there in this order or by name.

        Example:
            >>> read_law("uniform(0, high=100)").numbers("low", "high")
            {'low': Fraction(0, 1), 'high': Fraction(100, 1)}
        """
        given = dict(zip(names, self.values, strict=False))
        if len(self.values) > len(names) or given.keys() & self.named.keys():
            raise self._wrong(names)
        given |= self.named
        found = {name: value for name, value in given.items() if isinstance(value, Fraction)}
        if found.keys() != set(names) or len(found) != len(given):
            raise self._wrong(names)
        return {name: found[name] for name in names}

    def _wrong(self, names: tuple[str, ...]) -> InvalidArgument:
        return InvalidArgument(
            f"The law {self.kind!r} is not written as it must be",
            must=f"be {self.kind}({', '.join(names)}), each a number",
            got=str(self),
        )


def numbers_of(law: WrittenLaw) -> list[Fraction]:
    """Return all that stands in the brackets, in order, if it is numbers.

    Example:
        >>> numbers_of(read_law("shares(1/2, blue=1/2)"))
        [Fraction(1, 2), Fraction(1, 2)]
    """
    parts = [*law.values, *law.named.values()]
    found = [one for one in parts if isinstance(one, Fraction)]
    if len(found) < len(parts):
        raise InvalidArgument(
            f"The law {law.kind!r} lists numbers", must=f"be written as {law.kind}(0.5, 0.3, 0.2)"
        )
    return found


def read_law(text: str) -> WrittenLaw:
    """Return a law that is written as a text.

    Example:
        >>> read_law("uniform(0, 100)").values
        (Fraction(0, 1), Fraction(100, 1))
        >>> read_law("mixture(bernoulli(0.4), bernoulli(0.6))").values[1].kind
        'bernoulli'
    """
    if len(text) > _LONGEST:
        raise InvalidArgument("The law is too long", must=f"have at most {_LONGEST:,} characters")
    return _read(text, text, _DEEPEST)


def law_of_table(table: Mapping[str, Any]) -> WrittenLaw:
    """Return a law that is written as a table, as in a file: its kind, and numbers with names.

    Example:
        >>> print(law_of_table({"kind": "uniform", "low": 0, "high": 100}))
        uniform(low=0, high=100)
    """
    kind = table.get(KIND)
    if not isinstance(kind, str):
        raise InvalidArgument("The law has no kind", must=f"have a {KIND}, such as 'uniform'")
    named = {name: value for name, value in table.items() if name != KIND}
    return WrittenLaw(kind, (), {name: _of_table(value) for name, value in named.items()})


def _of_table(value: Any) -> "Fraction | WrittenLaw":
    if isinstance(value, Mapping):
        return law_of_table(value)
    if isinstance(value, list) and len(value) == 2:
        return WrittenLaw(WITHIN, [exact(one) for one in value])
    if isinstance(value, str) and "(" in value:
        return read_law(value)
    return exact(value)


def _read(text: str, whole: str, depth: int) -> WrittenLaw:
    found = _CALL.fullmatch(text)
    if found is None or not depth:
        raise InvalidArgument(
            "The law cannot be read",
            must="be a name with numbers in brackets, such as uniform(0, 100)",
            got=whole[:80],
        )
    values: list[Fraction | WrittenLaw] = []
    named: dict[str, Fraction | WrittenLaw] = {}
    for item in _items(found[2]):
        pair = _NAMED.fullmatch(item)
        if pair is None:
            values.append(_value(item, whole, depth))
        elif pair[1] in named:
            raise InvalidArgument(f"The law says {pair[1]!r} twice", must="say it once")
        else:
            named[pair[1]] = _value(pair[2], whole, depth)
    return WrittenLaw(found[1], values, named)


def _value(text: str, whole: str, depth: int) -> "Fraction | WrittenLaw":
    return _read(text, whole, depth - 1) if "(" in text else exact(text)


def _items(text: str) -> Iterator[str]:
    """Yield what commas separate, but for commas within brackets."""
    depth, start = 0, 0
    for index, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            yield text[start:index]
            start = index + 1
    if text[start:].strip():
        yield text[start:]


def _shown(value: "Fraction | WrittenLaw") -> str:
    return written(value) if isinstance(value, Fraction) else str(value)
