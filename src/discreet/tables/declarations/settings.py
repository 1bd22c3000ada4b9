"""Analysts, the gate and the ledger in ``discreet.toml``."""

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

from discreet.core.errors import DeclarationError
from discreet.core.loss import GaussianDp, PrivacyLoss
from discreet.core.numbers import Number, exact
from discreet.tables.analyst import Analyst
from discreet.tables.catalog import IdSpace
from discreet.tables.declarations.losses import read_loss
from discreet.tables.declarations.section import NUMBER, TEXT, WHOLE, Section, located
from discreet.tables.gate_settings import GateSettings
from discreet.tables.keyset import LARGEST_KEYSET


def read_analysts(section: Section, id_spaces: tuple[IdSpace, ...]) -> tuple[Analyst, ...]:
    """Return the analysts; each has a share of at least one budget, in its measure."""
    if not section.data:
        return ()
    spaces = {space.name: space for space in id_spaces}
    return tuple(_analyst(name, section.sub(name), spaces) for name in section.names())


def _analyst(name: str, section: Section, spaces: Mapping[str, IdSpace]) -> Analyst:
    if not name:
        raise DeclarationError(f"{section.place()} has an empty name", must="have a name")
    shares = section.sub("allocations")
    section.finish()
    allocations = {space: _share(shares, space, spaces) for space in shares.names()}
    return Analyst(name=name, allocations=allocations)


def _share(shares: Section, space: str, spaces: Mapping[str, IdSpace]) -> PrivacyLoss:
    if space not in spaces:
        raise DeclarationError(
            f"{shares.place(space)} names no id space",
            must=f"be one of {', '.join(sorted(spaces))}",
            got=space,
        )
    loss, cap = read_loss(shares.sub(space)), spaces[space].cap
    if loss.measure is not cap.measure:
        raise DeclarationError(
            f"{shares.place(space)} is measured in another way than the budget",
            must=f"have {' and '.join(_names(cap))}, like the budget of {space}",
            got=" and ".join(_names(loss)),
        )
    return loss


def _names(loss: PrivacyLoss) -> list[str]:
    if isinstance(loss, GaussianDp):
        return ["mu"]
    return [name for name in ("epsilon", "rho", "delta") if hasattr(loss, name)]


# ---- The gate in ``discreet.toml``: what failures do, how many at once, and when answers come.

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


# ---- The ledger in ``discreet.toml``: where it is, and where else it is noted how far it is.

DEFAULT_LEDGER = Path(".discreet") / "ledger.sqlite"


def read_ledger(section: Section, file: Path) -> tuple[Path, tuple[Path, ...]]:
    """Return the place of the ledger and those of its anchors.

    One anchor is always beside the declaration, and not in the folder of the ledger: what removes
    the one should not remove the other.
    """
    root = file.parent
    path = root / section.get_or("path", str(DEFAULT_LEDGER), TEXT)
    beside = file.with_suffix(".anchor")
    second = section.get_or("anchor", None, TEXT)
    section.finish()
    if second is None:
        return path, (beside,)
    if root / second in (path, beside, file):
        raise DeclarationError(
            f"{section.place('anchor')} is in use already",
            must="be a file of its own, best on another disk",
            got=second,
        )
    return path, (beside, root / second)
