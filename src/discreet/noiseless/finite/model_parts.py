"""The parts of a model file: values, laws, the mechanism, what is known and what is private."""

from collections.abc import Callable, Hashable, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

from discreet.audit.finite_divergence import FiniteLaw
from discreet.core.errors import DeclarationError, InvalidArgument
from discreet.core.numbers import exact
from discreet.noiseless.finite.compared_laws import Secret
from discreet.noiseless.finite.coupled_pairs import (
    CoupledPair,
    individuals,
    members_of_groups,
    private_attributes,
)
from discreet.noiseless.finite.finite_model import (
    Database,
    JointLaw,
    deterministic,
    independent_rows,
)
from discreet.noiseless.finite.named_statistics import STATISTICS, RowStatistic, count_of
from discreet.tables.declarations.section import (
    LIST,
    NUMBER,
    TABLE,
    TEXT,
    YES_OR_NO,
    Section,
    located,
)

Known = Callable[[Database, int], Hashable]
"""What the adversary knows of a database, and of the number of the part that it was drawn from."""


def read_value(raw: Any) -> Any:
    """Return a value of the universe: numbers are exact, and a list is a row with columns."""
    if isinstance(raw, list):
        return tuple(read_value(one) for one in raw)
    if isinstance(raw, bool) or not isinstance(raw, int | Decimal | str):
        raise InvalidArgument(
            "A value is none", must="be a number, a text, or a list of them", got=str(raw)[:40]
        )
    number = raw if isinstance(raw, str) else exact(raw)
    return number.numerator if isinstance(number, Fraction) and number.denominator == 1 else number


def read_universe(raw: list[Any]) -> list[Any]:
    """Return the values that a row can have."""
    values = [read_value(one) for one in raw]
    if not values or len(set(values)) != len(values):
        raise InvalidArgument("The universe is none", must="have values, and each of them once")
    return values


def read_laws(
    top: Section,
    universe: list[Any],
    rows: int,
    known: Known,
) -> list[JointLaw]:
    """Return the class of joint laws."""
    raw = top.get("law", LIST, TABLE)
    several = raw if isinstance(raw, list) else [raw]
    laws = []
    for one in several:
        if not isinstance(one, dict):
            raise DeclarationError(f"{top.place('law')} is no table", must="be written as [law]")
        section = Section(("law",), one, top.lines)
        laws.append(located(top.place("law"), partial(_law, section, universe, rows, known)))
    return laws


def _law(
    section: Section,
    universe: list[Any],
    rows: int,
    known: Known,
) -> JointLaw:
    if section.has("table"):
        parts = [(Fraction(1), _table(section.get("table", LIST), rows))]
    elif section.has("part"):
        parts = [
            (exact(one["weight"]), independent_rows(universe, rows, one["probabilities"]))
            for one in section.get("part", LIST)
            if _has_keys(one, {"weight", "probabilities"})
        ]
    else:
        parts = [
            (Fraction(1), independent_rows(universe, rows, section.get("probabilities", LIST)))
        ]
    section.finish()
    joint: dict[tuple[Database, Hashable], Fraction] = {}
    for number, (weight, law) in enumerate(parts, start=1):
        for x, mass in law.items():
            key = x, known(x, number)
            joint[key] = joint.get(key, Fraction(0)) + weight * mass
    return joint


def _table(raw: list[Any], rows: int) -> dict[Database, Fraction]:
    law: dict[Database, Fraction] = {}
    for one in raw:
        _has_keys(one, {"database", "probability"})
        x = read_value(one["database"])
        if not isinstance(x, tuple) or len(x) != rows or x in law:
            raise InvalidArgument(
                "A database of the table is none", must=f"be a list of {rows} rows, each once"
            )
        law[x] = exact(one["probability"])
    return law


def _has_keys(one: Any, keys: set[str]) -> bool:
    if not isinstance(one, dict) or set(one) != keys:
        raise InvalidArgument(
            "An entry is not complete", must=f"have {' and '.join(sorted(keys))}, and nothing else"
        )
    return True


def read_mechanism(
    section: Section, databases: list[Database]
) -> tuple[str, Mapping[Database, FiniteLaw]]:
    """Return what is released, in words and by database."""
    if section.has("table"):
        laws = located(section.place("table"), lambda: _table_of_laws(section.get("table", LIST)))
        section.finish()
        missing = [x for x in databases if x not in laws]
        if missing:
            raise DeclarationError(
                f"{section.place('table')} lacks {len(missing)} of {len(databases)} databases",
                must="say what is released for every database",
                got=f"nothing for {list(missing[0])}",
            )
        return "a table of releases", laws
    name, statistic = _statistic(section, "name")
    section.finish()
    return name, located(section.place("name"), lambda: deterministic(statistic, databases))


def _statistic(section: Section, key: str) -> tuple[str, RowStatistic]:
    name = section.choice(key, [*STATISTICS, "count"])
    if name != "count":
        return f"the {name} of all rows", STATISTICS[name]
    raw = section.get("of", TEXT, NUMBER)
    return f"the count of {raw}", count_of(read_value(raw))


def _table_of_laws(raw: list[Any]) -> dict[Database, FiniteLaw]:
    laws: dict[Database, FiniteLaw] = {}
    for one in raw:
        _has_keys(one, {"database", "released"})
        released = one["released"]
        laws[read_value(one["database"])] = (
            {text: exact(mass) for text, mass in released.items()}
            if isinstance(released, dict)
            else {read_value(released): Fraction(1)}
        )
    return laws


def read_known(section: Section, rows: int) -> tuple[str, Known]:
    """Return what the adversary knows beside the law, in words and as a function."""
    numbers = _row_numbers(section, "rows", rows) if section.has("rows") else ()
    words = [f"row {i + 1}" for i in numbers]
    parts: list[Known] = [lambda x, _, i=i: x[i] for i in numbers]  # type: ignore[misc]
    if section.has("statistic"):
        name, statistic = _statistic(section, "statistic")
        words.append(name)
        parts.append(lambda x, _: statistic(x))
    if section.get_or("part", False, YES_OR_NO):
        words.append("which part of the law is true")
        parts.append(lambda _, number: number)
    section.finish()
    if not parts:
        return "nothing beside the law", lambda _, __: None
    return ", ".join(words), lambda x, number: tuple(part(x, number) for part in parts)


def _row_numbers(section: Section, key: str, rows: int) -> tuple[int, ...]:
    return _within(section.get(key, LIST), rows, section.place(key))


def _within(raw: Any, most: int, place: str) -> tuple[int, ...]:
    is_list = isinstance(raw, list) and all(type(i) is int and 1 <= i <= most for i in raw)
    if not is_list or len(set(raw)) != len(raw):
        raise DeclarationError(
            f"{place} is out of range", must=f"be a list of different numbers from 1 to {most}"
        )
    return tuple(i - 1 for i in raw)


def read_pairs(
    section: Section, rows: int, universe: list[Any]
) -> tuple[str, tuple[CoupledPair, ...]]:
    """Return what is private, in words and as pairs; without a word, each row is."""
    if section.has("groups"):
        groups = section.get("groups", LIST)
        place = section.place("groups")
        found = [_within(group, rows, place) for group in groups]
        section.finish()
        return "each row, and a simulator lacks its group", located(
            place, partial(members_of_groups, found)
        )
    if section.has("columns"):
        widths = {len(row) if isinstance(row, tuple) else 0 for row in universe}
        place = section.place("columns")
        if len(widths) != 1 or 0 in widths:
            raise DeclarationError(
                f"{place} needs rows with columns",
                must="have a universe of lists that are equally long",
            )
        columns = _within(section.get("columns", LIST), widths.pop(), place)
        section.finish()
        return "some columns of each row", private_attributes(rows, columns)
    section.finish()
    return "each row", individuals(rows)


def read_secrets(top: Section, rows: int) -> tuple[Secret, ...]:
    """Return the secrets of Pufferfish: of a row, which values mean 0 and which mean 1."""
    found = []
    for one in top.get("secret", LIST):
        section = Section(("secret",), one if isinstance(one, dict) else {}, top.lines)
        row = section.whole("row", rows) - 1
        zeros, ones = (
            frozenset(map(read_value, section.get(key, LIST))) for key in ("zero", "one")
        )
        section.finish()
        if zeros & ones or not zeros or not ones:
            raise DeclarationError(
                f"{section.place()} is no secret", must="have values for zero, and others for one"
            )
        found.append(_secret(row, zeros, ones))
    return tuple(found)


def _secret(row: int, zeros: frozenset[Any], ones: frozenset[Any]) -> Secret:
    return lambda x: 0 if x[row] in zeros else 1 if x[row] in ones else None
