"""The gate in ``discreet.toml``: what failures do, how many at once, and when answers come."""

from fractions import Fraction

from discreet.core.errors import DeclarationError
from discreet.core.numbers import Number, exact
from discreet.tables.declarations.section import NUMBER, WHOLE, Section, located
from discreet.tables.gate_settings import GateSettings
from discreet.tables.keyset import LARGEST_KEYSET

MOST_FAILURES = 1_000
MOST_IN_FLIGHT = 1_000
LONGEST_DEADLINE = 86_400

SHORTEST_DEADLINE = 5
"""What one unit can cost is about a second at most (:mod:`discreet.tables.plans.contain`): beside a
deadline that is shorter than this, it would decide too often whether an answer comes."""


def read_gate(section: Section) -> GateSettings:
    """Return what is declared about the gate; nothing of it has to be."""
    suspend_after = _whole(section, "suspend_after", MOST_FAILURES)
    suspend_all_after = _whole(section, "suspend_all_after", MOST_FAILURES)
    most_in_flight = _whole(section, "most_in_flight", MOST_IN_FLIGHT)
    deadline = section.get_or("deadline", None, NUMBER)
    most_groups = _whole(section, "most_groups", LARGEST_KEYSET)
    section.finish()
    if suspend_after and suspend_all_after and suspend_all_after < suspend_after:
        raise DeclarationError(
            f"{section.place('suspend_all_after')} is below gate.suspend_after",
            must=f"be at least {suspend_after}, because the failures of one count for all",
            got=str(suspend_all_after),
        )
    return GateSettings(
        suspend_after=suspend_after,
        suspend_all_after=suspend_all_after,
        most_in_flight=most_in_flight,
        most_groups=most_groups,
        deadline=None if deadline is None else _seconds(section.place("deadline"), deadline),
    )


def _whole(section: Section, key: str, most: int) -> int | None:
    said = section.get_or(key, None, WHOLE) is not None
    return section.whole(key, most) if said else None


def _seconds(place: str, value: Number) -> Fraction:
    seconds = located(place, lambda: exact(value))
    if not SHORTEST_DEADLINE <= seconds <= LONGEST_DEADLINE:
        raise DeclarationError(
            f"{place} is out of range",
            must=f"be {SHORTEST_DEADLINE} to {LONGEST_DEADLINE:,} seconds",
            got=str(value),
        )
    return seconds
