"""The public keys of an expression: every value that it can have, by the declarations alone."""

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import product

from attrs import define, field, frozen

from discreet.tables.column import Bounds, ColumnType, DateRange, Key, whole_numbers
from discreet.tables.expression import Call, Expression, FieldValue, Literal
from discreet.tables.functions.call import CALLED
from discreet.tables.functions.dates import days_listed
from discreet.tables.functions.function import Keys, Mapped, Result, Without
from discreet.tables.functions.proposal import propose_dates
from discreet.tables.relations.relation import Computed, Field, OnBothSides

MOST_WORKED_OUT = 250_000
"""How many values of functions are worked out for the keys of one question."""

MOST_CHARACTERS = 10_000_000
"""How many characters of text those values may have together."""


_WRITTEN = (ColumnType.INTEGER, ColumnType.BOOLEAN, ColumnType.DATE)
"""What always has a text."""


@define(eq=False)
class Enumeration:
    """What working out the keys of one question has cost; all that it groups by shares it.

    Guarantee:
        However expressions stand in each other, at most ``MOST_WORKED_OUT`` values are worked out
        and ``MOST_CHARACTERS`` characters are kept, before anything is charged. How a field is made
        is followed once, though many expressions use it.

    Example:
        >>> enumeration = Enumeration()
        >>> enumeration.allows(200_000), enumeration.allows(200_000), enumeration.is_cut
        (True, False, True)
    """

    _values: int = MOST_WORKED_OUT
    _characters: int = MOST_CHARACTERS
    is_cut: bool = field(default=False, init=False)
    """Whether some keys were not worked out because they are too many."""
    takes_ranges: bool = field(default=False, init=False)
    """Whether whole numbers with a declared range and no keys have those of the range as keys,
    from now on."""
    ranges: dict[str, Bounds] = field(factory=dict, init=False)
    """The columns of which that was asked for, and their ranges."""
    _known: dict[tuple[int, bool], tuple[object, Keys | None]] = field(factory=dict, init=False)

    def allows(self, values: int) -> bool:
        """Count so many values, and tell whether they may be worked out."""
        if values > self._values:
            self.is_cut = True
            return False
        self._values -= values
        return True

    def holds(self, text: str) -> bool:
        """Count the characters of a value, and tell whether it may be kept."""
        self._characters -= len(text)
        if self._characters >= 0:
            return True
        self.is_cut = True
        return False

    def once(self, made: object, work_out: Callable[[], Keys | None]) -> Keys | None:
        """Return the keys of something, worked out the first time that it is asked for."""
        # The object stays in the table, so that no other one gets its identity.
        place = (id(made), self.takes_ranges)
        if place not in self._known:
            self._known[place] = (made, work_out())
        return self._known[place][1]

    def begin(self) -> "Enumeration":
        """Return what the next question shares with those before it: all but its ranges."""
        self.takes_ranges, self.ranges = False, {}
        return self

    def with_ranges(self) -> "Enumeration":
        """Return what takes ranges from now on, for this question."""
        self.takes_ranges = True
        return self

    def range_of(self, known: Field) -> Keys | None:
        """Return the whole numbers of a field's range, if ranges are taken and it is no unit."""
        is_whole = known.type is ColumnType.INTEGER and known.bounds is not None
        if not self.takes_ranges or not is_whole or known.unit_part is not None:
            return None
        assert known.bounds is not None
        found = whole_numbers(known.bounds)
        if found is not None:
            self.ranges[known.name] = known.bounds
        return found


def public_keys(
    expression: Expression, fields: Sequence[Field], enumeration: Enumeration | None = None
) -> tuple[Key, ...] | None:
    """Return the public keys of an expression in order, or None if they are not known.

    The expressions of one question share an ``enumeration``, so that all of them together are
    little work; it says whether some keys are not known only because they are too many.

    Guarantee:
        They come from the declarations and the query, never from rows; rows whose value is not
        among them are in no group. So privacy does not depend on their being right.

    Assumes:
        For its use: columns with declared keys have no other values, or rows that do may be left
        out. Bounds of a number are for clamping what lies outside, so they are keys only where the
        ``enumeration`` takes ranges: then what lies outside is in no group.

    Example:
        >>> from discreet.tables.functions.call import call
        >>> urgent = FieldValue(ColumnType.BOOLEAN, 0)
        >>> known = [Field(name="urgent", type=urgent.type)]
        >>> yes, no = Literal(ColumnType.TEXT, "now"), Literal(ColumnType.TEXT, "later")
        >>> public_keys(call("case", [urgent, yes, no]), known)
        ('now', 'later')
    """
    return _Listing(fields, enumeration or Enumeration()).keys(expression) or None


@frozen
class _Listing:
    """The fields that expressions are over, and what enumerating keys has cost so far."""

    fields: Sequence[Field]
    enumeration: Enumeration

    def keys(self, expression: Expression) -> Keys | None:
        if isinstance(expression, FieldValue):
            return self._field_keys(self.fields[expression.index])
        if isinstance(expression, Literal):
            if expression.value is None:
                return ()
            return None if expression.type is ColumnType.REAL else (expression.value,)
        return self._call_keys(expression) if isinstance(expression, Call) else None

    def _field_keys(self, known: Field) -> Keys | None:
        keys = self.own(known)
        if keys is not None:
            return keys
        if known.type is ColumnType.BOOLEAN:
            return (False, True)
        if known.dates is None or known.type is not ColumnType.DATE:
            return None
        return days_listed("day", known.dates, self)

    def own(self, known: Field) -> Keys | None:
        """Return the keys that are declared for a field, or that follow from how it is made."""
        if known.keys is not None:
            return known.keys
        if known.made is None:
            return self.enumeration.range_of(known)
        made = known.made
        return self.enumeration.once(made, lambda: _of_made(made, self.enumeration))

    def _call_keys(self, node: Call) -> Keys | None:
        if node.type is ColumnType.BOOLEAN:
            return (False, True)
        function = CALLED.get(node.function)
        if node.type is ColumnType.REAL or function is None or isinstance(function.keys, Without):
            return None
        return function.keys(node, self)

    def dates(self, expression: Expression) -> DateRange | None:
        return propose_dates(expression, self.fields)

    def may_be_null(self, expression: Expression) -> bool:
        if isinstance(expression, Literal):
            return expression.value is None
        if isinstance(expression, FieldValue):
            return self.fields[expression.index].nullable
        if not isinstance(expression, Call):
            return True
        if expression.function == "cast" and expression.arguments[0].type in _WRITTEN:
            return expression.type is not ColumnType.TEXT or self.may_be_null(
                expression.arguments[0]
            )
        return expression.function != "concat"

    def allows(self, values: int) -> bool:
        return self.enumeration.allows(values)

    def mapped(self, node: Call, found: Sequence[Keys] | None) -> Keys | None:
        function = CALLED[node.function].on_keys
        if found is None or isinstance(function, Without):
            return None
        if not self.allows(math.prod(map(len, found))):
            return None
        values = _worked_out((function(node, *keys) for keys in product(*found)), self.enumeration)
        return None if values is None else tuple(values)


def _of_made(made: Computed | OnBothSides, enumeration: Enumeration) -> Keys | None:
    if isinstance(made, Computed):
        return public_keys(made.value, made.fields, enumeration)
    nothing = _Listing((), enumeration)
    first, second = (nothing.own(side) for side in (made.first, made.second))
    return first if first == second else None


def _worked_out(results: Iterable[Result], enumeration: Enumeration) -> dict[Key, None] | None:
    """Return the keys among some results, each once; None if one is unknown or they are long."""
    values: dict[Key, None] = {}
    for value in results:
        if isinstance(value, Mapped):
            return None
        if value is None or value in values:
            continue
        if isinstance(value, str) and not enumeration.holds(value):
            return None
        values[value] = None
    return values
