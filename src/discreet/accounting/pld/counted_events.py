"""What is composed: events, each a number of times, as batches of laws in one direction."""

from collections.abc import Iterable, Mapping
from enum import Enum
from fractions import Fraction
from functools import lru_cache

import numpy as np
from attrs import frozen

from discreet.accounting.accountants.renyi import renyi
from discreet.accounting.curves.curve import RenyiCurve
from discreet.accounting.pld.laws.atomic import AtomicLaw
from discreet.accounting.pld.laws.continuous import GaussianLaw, LaplaceLaw
from discreet.accounting.pld.laws.float_assumptions import LARGEST_MU
from discreet.accounting.pld.laws.grid import FloatArray
from discreet.accounting.pld.laws.law import LossLaw, Pair
from discreet.accounting.pld.pair_of import is_known_by_its_curve, pair_of
from discreet.accounting.pld.pairs import parts_of, stated_pair
from discreet.core import check
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.event import Event
from discreet.core.rounding import sqrt_up
from discreet.core.stated_event import GaussianEvent

Events = Event | Iterable[Event] | Mapping[Event, int]
"""One event, events one by one, or each event with the number of times that it is used."""

MOST_USES = 10**7
_FEW_ATOMS = 8


class Direction(Enum):
    """From which of two neighbours to which."""

    REMOVAL = 0
    ADDITION = 1


@frozen(eq=False)
class Batch:
    """Laws of one kind, a row an event: what dominates, what is attained, and how often."""

    upper: LossLaw
    lower: LossLaw | None
    counts: FloatArray


def count_events(events: Events) -> dict[Event, int]:
    """Count equal events together; refuse mixed neighbours, and nothing at all.

    Example:
        >>> from discreet.events import LaplaceEvent
        >>> noise = LaplaceEvent(scale=2)
        >>> count_events([noise * 3, noise])[noise]
        4
    """
    if isinstance(events, Event):
        events = [events]
    pairs: Iterable[tuple[Event, int]]
    pairs = events.items() if isinstance(events, Mapping) else ((event, 1) for event in events)
    counts: dict[Event, int] = {}
    for event, count in pairs:
        for part, times in parts_of(event):
            counts[part] = counts.get(part, 0) + times * _whole(count)
    counts = {event: count for event, count in counts.items() if count}
    if not counts:
        raise InvalidArgument("There is nothing to compose", must="give at least one event")
    if len({event.metric for event in counts}) > 1:
        raise Unsupported(
            "These events are about different neighbours", must="all be about the same ones"
        )
    return counts


def _whole(count: int) -> int:
    number = check.whole(count)
    if number < 0:
        raise InvalidArgument("count is out of range", must="be at least 0", got=str(count))
    return number


@lru_cache(maxsize=4096)
def _pair(event: Event) -> Pair:
    return pair_of(event)


@frozen(eq=False)
class Uses:
    """The pairs of all uses; continuous Gaussians are one, because their squares add up.

    So are events that are known by their Rényi curves alone: the curves add up.
    """

    pairs: tuple[tuple[Pair, int], ...]
    gaussian_squared: Fraction

    @staticmethod
    def of(counts: Mapping[Event, int]) -> "Uses":
        """Look up the pair of every event that moves anything."""
        _require_few(counts)
        pairs, squares = [], []
        curve, lost = RenyiCurve([]), Fraction(0)
        for event, count in counts.items():
            if isinstance(event, GaussianEvent):
                squares.append(count * (event.distance / event.scale) ** 2)
            elif is_known_by_its_curve(event):
                piece, chance = renyi(event)
                curve, lost = curve + RenyiCurve([(piece, count)]), lost + count * chance
            else:
                pair = _pair(event)
                _require_hidden(event, pair)
                if not _is_nothing(pair):
                    pairs.append((pair, count * pair.uses))
        if curve.pieces:
            pairs.append((stated_pair(curve, lost), 1))
        return Uses(tuple(pairs), _sum(squares))

    @property
    def is_symmetric(self) -> bool:
        """Whether both directions are the same."""
        return all(pair.is_symmetric for pair, _ in self.pairs)

    def lattice(self) -> float | None:
        """Return the unit of which every loss is a whole multiple, if there is one."""
        units = {batch.upper.lattice for batch in self.batches(Direction.REMOVAL)}
        return units.pop() if len(units) == 1 else None

    def batches(self, direction: Direction) -> list[Batch]:
        """Return the laws in one direction, alike ones together."""
        groups: dict[object, list[tuple[LossLaw, LossLaw | None, int]]] = {}
        if self.gaussian_squared:
            mu = _mu(self.gaussian_squared)
            law = GaussianLaw(np.array([mu]))
            groups["gaussian"] = [(law, law, 1)]
        for number, (pair, count) in enumerate(self.pairs):
            upper = pair.removal if direction is Direction.REMOVAL else pair.addition
            lower = None if pair.attained is None else pair.attained[direction.value]
            key = _likeness(upper) if lower is upper else None
            groups.setdefault(number if key is None else key, []).append((upper, lower, count))
        return [_batch(group) for group in groups.values()]


def _require_hidden(event: Event, pair: Pair) -> None:
    """Refuse what always gives itself away: no loss of it is finite."""
    if max(float(law.infinite.max()) for law in (pair.removal, pair.addition)) >= 1.0:
        raise Unsupported(
            "This event tells everything",
            must="hide something with some chance",
            got=event.kind,
        )


def _require_few(counts: Mapping[Event, int]) -> None:
    """Refuse more uses than a grid can hold; Gaussians, and curves, are one however many."""
    uses = sum(
        count
        for event, count in counts.items()
        if not (isinstance(event, GaussianEvent) or is_known_by_its_curve(event))
    )
    if uses > MOST_USES:
        raise Unsupported(
            "There are too many uses for a grid",
            must=f"be at most {MOST_USES}",
            got=str(uses),
            next="Account for them by another measure",
        )


def _sum(values: list[Fraction]) -> Fraction:
    """Add up in pairs, which keeps the denominators short for longest."""
    while len(values) > 1:
        values = [
            values[place] + values[place + 1] if place + 1 < len(values) else values[place]
            for place in range(0, len(values), 2)
        ]
    return values[0] if values else Fraction(0)


def _mu(squared: Fraction) -> float:
    mu = float(sqrt_up(squared))
    if mu > LARGEST_MU:
        raise Unsupported("Together this noise is too small for a grid", got=f"μ = {mu:g}")
    return mu


def _is_nothing(pair: Pair) -> bool:
    low, high = pair.removal.span(0.0)
    return low == high == 0.0 and not pair.removal.infinite.any()


def _likeness(law: LossLaw) -> object | None:
    """Return what laws that fit into one batch have in common: kind, shape, and about the size."""
    if isinstance(law, LaplaceLaw):
        return "laplace", int(np.log2(law.span(0.0)[1]) // 2)
    if isinstance(law, AtomicLaw) and law.losses.shape[1] <= _FEW_ATOMS and not law.left_out:
        size = max(abs(end) for end in law.span(0.0))
        return "atoms", law.losses.shape[1], int(np.log2(size or 1.0) // 2)
    return None


def _batch(group: list[tuple[LossLaw, LossLaw | None, int]]) -> Batch:
    counts = np.array([count for _, _, count in group], dtype=np.float64)
    laws = [law for law, _, _ in group]
    if len(laws) == 1:
        return Batch(laws[0], group[0][1], counts)
    if isinstance(laws[0], LaplaceLaw):
        shifts = [law.shift for law in laws if isinstance(law, LaplaceLaw)]
        merged: LossLaw = LaplaceLaw(np.concatenate(shifts))
    else:
        merged = _stacked([law for law in laws if isinstance(law, AtomicLaw)])
    return Batch(merged, merged, counts)


def _stacked(laws: list[AtomicLaw]) -> AtomicLaw:
    units = {law.unit for law in laws}
    return AtomicLaw(
        np.concatenate([law.losses for law in laws]),
        np.concatenate([law.masses for law in laws]),
        np.concatenate([law.at_infinity for law in laws]),
        units.pop() if len(units) == 1 else None,
    )
