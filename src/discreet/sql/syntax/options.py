"""Privacy options in the text: SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (...), as BigQuery has it.

The clause is recognised in the tokens, before the query is parsed: no parser of SQL knows it.
"""

from collections.abc import Callable
from enum import Enum
from fractions import Fraction
from typing import Any

from attrs import evolve, frozen

from discreet.core.errors import BadSyntax, InvalidArgument, RefusedQuery
from discreet.core.loss import Approximate, PrivacyLoss, Pure, Zcdp
from discreet.core.numbers import exact
from discreet.sql.syntax.nodes import Token
from discreet.tables.catalog import LARGEST_LIMIT


class GroupSelection(Enum):
    """Where the groups come from."""

    LAPLACE_THRESHOLD = "laplace_threshold"
    """From the data: groups with too few units are not shown."""
    PUBLIC_GROUPS = "public_groups"
    """From public keys: every group is shown."""


@frozen(kw_only=True)
class Options:
    """What the query itself says about its price, its limits and its groups.

    Example:
        >>> Options(epsilon=Fraction(1), delta=Fraction(1, 10**6)).price()
        Approximate(ε = 1, δ = 0.000001)
    """

    epsilon: Fraction | None = None
    delta: Fraction | None = None
    rho: Fraction | None = None
    groups_per_unit: int | None = None
    """From max_groups_contributed: how many groups of one unit count."""
    rows_per_group: int | None = None
    """From max_rows_contributed: how many rows of one unit count, in each of its groups."""
    rows_per_unit: int | None = None
    """How many rows of one unit count over all groups together."""
    unit_column: str | None = None
    group_selection: GroupSelection | None = None

    def price(self) -> PrivacyLoss | None:
        """Return the price that the options give, if they do."""
        if self.rho is not None:
            if self.epsilon is not None or self.delta is not None:
                raise RefusedQuery("Two prices are given", must="be epsilon (and delta), or rho")
            return Zcdp(self.rho)
        if self.epsilon is None:
            if self.delta is not None:
                raise RefusedQuery(
                    "delta is given without epsilon", next="Add epsilon = ... to the OPTIONS"
                )
            return None
        if self.delta is None:
            return Pure(self.epsilon)
        return Approximate(self.epsilon, self.delta)


NO_OPTIONS = Options()


def read_options(tokens: list[Token]) -> Options:
    """Return the options that the tokens between the brackets say."""
    options, seen = NO_OPTIONS, set()
    for part in _split(tokens):
        if len(part) < _SHORTEST or part[1].text != "=":
            raise BadSyntax("The OPTIONS cannot be read", must="be name = value, ...")
        name = part[0].text.lower()
        if name not in _READERS:
            raise RefusedQuery(
                f"No option is called '{name}'", next=f"Options: {', '.join(_READERS)}"
            )
        field, read = _READERS[name]
        if field in seen:
            raise RefusedQuery(f"The option '{name}' is given twice", next="Give it once")
        seen.add(field)
        text = "".join(token.text for token in part[2:])
        options = evolve(options, **{field: read(name, text)})
    return options


_SHORTEST = 3


def _split(tokens: list[Token]) -> list[list[Token]]:
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if token.text == ",":
            parts.append([])
        else:
            parts[-1].append(token)
    return [] if parts == [[]] else parts


def _number(name: str, text: str) -> Fraction:
    try:
        return exact(text)
    except InvalidArgument:
        raise RefusedQuery(f"{name} is not a number", got=text[:40]) from None


def _whole(name: str, text: str) -> int:
    number = _number(name, text)
    if number.denominator != 1:
        raise RefusedQuery(f"{name} is not a whole number", got=text[:40])
    if not 1 <= number <= LARGEST_LIMIT:
        raise RefusedQuery(
            f"The option '{name}' is out of range",
            must=f"lie between 1 and {LARGEST_LIMIT:,}",
            got=text[:40],
        )
    return number.numerator


def _word(_: str, text: str) -> str:
    return text.rpartition(".")[2]


def _selection(name: str, text: str) -> GroupSelection:
    try:
        return GroupSelection(text.lower())
    except ValueError:
        names = " or ".join(choice.name for choice in GroupSelection)
        raise RefusedQuery(f"{name} is unknown", must=f"be {names}", got=text[:40]) from None


_READERS: dict[str, tuple[str, Callable[[str, str], Any]]] = {
    "epsilon": ("epsilon", _number),
    "delta": ("delta", _number),
    "rho": ("rho", _number),
    "max_groups_contributed": ("groups_per_unit", _whole),
    "max_rows_contributed": ("rows_per_group", _whole),
    "groups_per_unit": ("groups_per_unit", _whole),
    "rows_per_group": ("rows_per_group", _whole),
    "rows_per_unit": ("rows_per_unit", _whole),
    "privacy_unit_column": ("unit_column", _word),
    "group_selection_strategy": ("group_selection", _selection),
}
