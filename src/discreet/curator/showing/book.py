"""The book of aggregates: each is made once, and gets its part of the price."""

from fractions import Fraction

from attrs import define, field

from discreet.core.canonical import canonical, described
from discreet.curator.estimates.estimate import Estimate
from discreet.curator.showing.clamp_source import ClampSource
from discreet.tables.aggregate import Aggregate


@define
class Book:
    """What the outputs of one query have asked for so far."""

    _clamps: dict[Aggregate, ClampSource | None] = field(factory=dict)
    _asked: dict[Estimate, dict[int, Fraction]] = field(factory=dict)

    def index(self, aggregate: Aggregate, clamp: ClampSource | None = None) -> int:
        """Return the place of an aggregate; the same one twice is one."""
        self._clamps.setdefault(aggregate, clamp)
        return list(self._clamps).index(aggregate)

    def ask(self, estimate: Estimate, parts: dict[int, Fraction]) -> Estimate:
        """Note that an estimate is asked for, and how its part of the price is split."""
        self._asked[estimate] = parts
        return estimate

    def in_order(self) -> "Book":
        """Return the same aggregates in canonical order, and nothing asked for.

        The order of the outputs is presentation, so it must not make another plan.
        """
        ordered = sorted(self._clamps.items(), key=lambda item: canonical(described(item[0])))
        return Book(clamps=dict(ordered))

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        """The aggregates, each once."""
        return tuple(self._clamps)

    @property
    def clamps(self) -> tuple[ClampSource | None, ...]:
        """Who chose the clamp of each aggregate."""
        return tuple(self._clamps.values())

    def weights(self) -> tuple[Fraction, ...]:
        """Return the part of the price of each aggregate; together they are 1.

        Every different estimate that is asked for gets an equal part, split among the aggregates
        that it is made from; an aggregate that several estimates share has all of its parts.
        """
        weights = [Fraction(0)] * len(self._clamps)
        for parts in self._asked.values():
            for index, part in parts.items():
                weights[index] += part / len(self._asked)
        return tuple(weights)
