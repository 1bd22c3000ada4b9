"""What is compared: given a private value and a knowledge, what is released and what is left."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import Any

from attrs import frozen

from discreet.audit.finite_divergence import FiniteLaw
from discreet.core.errors import Unsupported
from discreet.noiseless.finite.coupled_pairs import CoupledPair
from discreet.noiseless.finite.finite_model import FiniteModel

MOST_ENTRIES = 1 << 22
"""So many entries are enumerated at most: laws, times their support, times pairs."""


@frozen(eq=False)
class WorldCondition:
    """One private value and one knowledge, under one law.

    Attributes:
        law: Which law of the class.
        pair: Which pair.
        value: The private value that is given.
        known: What is known.
        mass: The probability of both, under the law.
        released: The law of what the mechanism releases, given both.
        left: The law of what the simulator sees, given both; alternatives are tagged with the
            pair if the simulator knows whose data are private.
    """

    law: int
    pair: CoupledPair
    value: Hashable
    known: Hashable
    mass: Fraction
    released: FiniteLaw
    left: FiniteLaw


def conditions_of(
    model: FiniteModel, pairs: Sequence[CoupledPair], *, is_position_known: bool = True
) -> list[WorldCondition]:
    """Return every condition of positive probability, in the order of laws and pairs."""
    entries = len(pairs) * sum(len(law) for law in model.laws)
    if entries > MOST_ENTRIES:
        raise Unsupported(
            f"The model has {entries} entries to enumerate",
            must=f"have at most {MOST_ENTRIES}: laws, times their support, times pairs",
            next="Take fewer rows, a smaller universe or fewer laws",
        )
    found = []
    for number, law in enumerate(model.laws):
        for index, pair in enumerate(pairs):
            tag = index if is_position_known else None
            found.extend(_conditions(model, number, law, pair, tag))
    return found


def _conditions(
    model: FiniteModel, number: int, law: Any, pair: CoupledPair, tag: int | None
) -> list[WorldCondition]:
    masses: defaultdict[Any, Fraction] = defaultdict(Fraction)
    released: defaultdict[Any, defaultdict[Any, Fraction]] = defaultdict(
        lambda: defaultdict(Fraction)
    )
    left: defaultdict[Any, defaultdict[Any, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    for (x, known), mass in law.items():
        key = pair.private(x), known
        masses[key] += mass
        for outcome, share in model.mechanism[x].items():
            if share:
                released[key][outcome] += mass if share == 1 else mass * share
        for seen, share in pair.alternative(x).items():
            if share:
                left[key][tag, seen] += mass if share == 1 else mass * share
    return [
        WorldCondition(
            law=number,
            pair=pair,
            value=value,
            known=known,
            mass=mass,
            released=_given(released[value, known], mass),
            left=_given(left[value, known], mass),
        )
        for (value, known), mass in masses.items()
    ]


def _given(law: FiniteLaw, mass: Fraction) -> dict[Any, Fraction]:
    return {outcome: share / mass for outcome, share in law.items()}
