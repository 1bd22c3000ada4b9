"""Read a model file: a universe, rows, laws, a mechanism, what is known, and what is asked."""

from collections.abc import Hashable, Mapping
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any

from attrs import frozen

from discreet.core.errors import DeclarationError, InvalidArgument
from discreet.core.numbers import exact
from discreet.noiseless.finite.checked_delta import LARGEST_EPSILON
from discreet.noiseless.finite.compared_laws import Secret
from discreet.noiseless.finite.coupled_pairs import CoupledPair
from discreet.noiseless.finite.finite_model import FiniteModel, independent_rows
from discreet.noiseless.finite.model_parts import (
    read_known,
    read_laws,
    read_mechanism,
    read_pairs,
    read_secrets,
    read_universe,
    read_value,
)
from discreet.tables.declarations.section import (
    LIST,
    NUMBER,
    TEXT,
    YES_OR_NO,
    Section,
    located,
    top_section,
)
from discreet.tables.declarations.toml_lines import TomlLines

MOST_ROWS = 64


class PrivacyDefinition(Enum):
    """The definitions that a model file can ask for."""

    DIFFERENTIAL = "differential"
    SIMULATED = "simulated"
    DISTRIBUTIONAL = "distributional"
    INFERENCE = "inference"
    NOISELESS = "noiseless"
    PUFFERFISH = "pufferfish"
    SEMANTIC = "semantic"


WORST_CASE = (PrivacyDefinition.DIFFERENTIAL, PrivacyDefinition.SIMULATED)
"""Definitions for which no law is asserted."""


@frozen(eq=False, kw_only=True)
class DeclaredModel:
    """What a model file says."""

    definition: PrivacyDefinition
    model: FiniteModel
    pairs: tuple[CoupledPair, ...]
    rows: int
    values: int
    statistic: str
    known: str
    private: str
    epsilons: tuple[Fraction, ...]
    delta: Fraction | None
    is_position_known: bool
    secrets: tuple[Secret, ...]
    default: Hashable


def read_model(source: str | Path | Mapping[str, Any]) -> DeclaredModel:
    """Return what a model file, or a mapping with the same keys, says.

    Every complaint names the key and its line. See ``check_model``.
    """
    if isinstance(source, Mapping):
        return _declared(Section((), _as_toml(source), TomlLines.of("")))
    try:
        text = Path(source).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as cause:
        raise InvalidArgument(
            "The model file cannot be read", must="be a file of TOML", got=type(cause).__name__
        ) from None
    return _declared(top_section(text, Path(source).name))


def _as_toml(value: Any) -> Any:
    """Return plain Python as the reader of TOML would have given it."""
    if isinstance(value, Mapping):
        return {str(key): _as_toml(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_as_toml(one) for one in value]
    if isinstance(value, float):
        return Decimal(repr(value))
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, bool | int | Decimal | str):
        return value
    raise InvalidArgument(
        "A model is made of texts, numbers, lists and tables",
        must="have nothing else in it",
        got=type(value).__name__,
    )


def _declared(top: Section) -> DeclaredModel:
    definition = PrivacyDefinition(
        top.choice("definition", [one.value for one in PrivacyDefinition])
    )
    universe = located(top.place("universe"), lambda: read_universe(top.get("universe", LIST)))
    rows = top.whole("rows", MOST_ROWS)
    alike = [Fraction(1, len(universe))] * len(universe)
    uniform = located(top.place("rows"), lambda: independent_rows(universe, rows, alike))
    statistic, mechanism = read_mechanism(top.sub("mechanism"), list(uniform))
    known_words, known = read_known(top.sub_or_empty("known"), rows)
    private, pairs = read_pairs(top.sub_or_empty("private"), rows, universe)
    has_laws = _has_laws(top, definition)
    laws = read_laws(top, universe, rows, known) if has_laws else []
    is_secret = definition is PrivacyDefinition.PUFFERFISH
    declared = DeclaredModel(
        definition=definition,
        model=located(top.place("law"), lambda: FiniteModel(mechanism, laws)),
        pairs=pairs,
        rows=rows,
        values=len(universe),
        statistic=statistic,
        known=known_words,
        private=private,
        epsilons=_epsilons(top),
        delta=_delta(top),
        is_position_known=bool(top.get_or("is_position_known", True, YES_OR_NO)),
        secrets=read_secrets(top, rows) if is_secret else (),
        default=_default(top, definition, universe),
    )
    top.finish()
    return declared


def _has_laws(top: Section, definition: PrivacyDefinition) -> bool:
    if definition not in WORST_CASE:
        return True
    for key in ("law", "known"):
        if top.has(key):
            raise DeclarationError(
                f"{top.place(key)} is not asked for",
                must=f"be left out: {definition.value} privacy holds whatever is believed or known",
            )
    return False


def _epsilons(top: Section) -> tuple[Fraction, ...]:
    raw = top.get("epsilon", NUMBER, TEXT, LIST)
    found = located(
        top.place("epsilon"),
        lambda: tuple(map(exact, raw if isinstance(raw, list) else [raw])),
    )
    if not 1 <= len(found) <= _MOST_EPSILONS or any(
        not 0 <= one <= LARGEST_EPSILON for one in found
    ):
        raise DeclarationError(
            f"{top.place('epsilon')} is out of range",
            must=f"be from 1 to {_MOST_EPSILONS} numbers from 0 to {LARGEST_EPSILON}",
        )
    return found


_MOST_EPSILONS = 100


def _delta(top: Section) -> Fraction | None:
    if not top.has("delta"):
        return None
    delta = located(top.place("delta"), lambda: exact(top.get("delta", NUMBER, TEXT)))
    if not 0 <= delta <= 1:
        raise DeclarationError(f"{top.place('delta')} is out of range", must="be from 0 to 1")
    return delta


def _default(top: Section, definition: PrivacyDefinition, universe: list[Any]) -> Hashable:
    if definition is not PrivacyDefinition.SEMANTIC:
        return None
    value = located(
        top.place("default"), lambda: read_value(top.get("default", NUMBER, TEXT, LIST))
    )
    if value not in universe:
        raise DeclarationError(f"{top.place('default')} is no value", must="be in the universe")
    return value  # type: ignore[no-any-return]
