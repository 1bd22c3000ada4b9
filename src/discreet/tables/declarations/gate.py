"""The gate in ``discreet.toml``: when failures suspend, and when answers are handed over."""

from fractions import Fraction

from discreet.core.errors import DeclarationError
from discreet.core.numbers import Number, exact
from discreet.tables.declarations.section import NUMBER, WHOLE, Section, located
from discreet.tables.gate_settings import GateSettings
from discreet.tables.keyset import LARGEST_KEYSET

MOST_FAILURES = 1_000
LONGEST_DEADLINE = 86_400

SHORTEST_DEADLINE = 5
"""What one unit can cost is about a second at most (:mod:`discreet.tables.plans.contain`): beside a
deadline that is shorter than this, it would decide too often whether an answer comes."""


def read_gate(section: Section) -> GateSettings:
    """Return what is declared about the gate; nothing of it has to be."""
    suspend_after = section.get_or("suspend_after", None, WHOLE)
    deadline = section.get_or("deadline", None, NUMBER)
    most_groups = section.get_or("most_groups", None, WHOLE)
    section.finish()
    if most_groups is not None:
        section.whole("most_groups", LARGEST_KEYSET)
    if suspend_after is not None:
        section.whole("suspend_after", MOST_FAILURES)
    return GateSettings(
        suspend_after=suspend_after,
        most_groups=most_groups,
        deadline=None if deadline is None else _seconds(section.place("deadline"), deadline),
    )


def _seconds(place: str, value: Number) -> Fraction:
    seconds = located(place, lambda: exact(value))
    if not SHORTEST_DEADLINE <= seconds <= LONGEST_DEADLINE:
        raise DeclarationError(
            f"{place} is out of range",
            must=f"be {SHORTEST_DEADLINE} to {LONGEST_DEADLINE:,} seconds",
            got=str(value),
        )
    return seconds
