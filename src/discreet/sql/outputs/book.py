"""The book of aggregates: each is made once, and gets its part of the price."""

from fractions import Fraction

from attrs import define, field

from discreet.core.canonical import canonical, described
from discreet.core.errors import RefusedQuery
from discreet.releases.estimates.estimate import Estimate
from discreet.releases.view import ClampSource
from discreet.tables.aggregate import Aggregate

MOST_AGGREGATES = 200
"""How many different aggregates one query may ask for, conditions included: an engine takes longer
than in proportion for many, and each gets its part of the price."""


@define
class Book:
    """What the outputs of one query have asked for so far."""

    _clamps: dict[Aggregate, ClampSource | None] = field(factory=dict)
    _asked: dict[Estimate, dict[int, Fraction]] = field(factory=dict)
    _places: dict[Aggregate, int] = field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        """Number the aggregates that are known already."""
        self._places.update((aggregate, i) for i, aggregate in enumerate(self._clamps))

    def index(self, aggregate: Aggregate, clamp: ClampSource | None = None) -> int:
        """Return the place of an aggregate; the same one twice is one."""
        self._clamps.setdefault(aggregate, clamp)
        if len(self._clamps) > MOST_AGGREGATES:
            raise RefusedQuery(
                "The query asks for too many aggregates",
                must=f"ask for at most {MOST_AGGREGATES}",
                next="Ask in parts. The same one twice is one; AVG counts as two, a variance as"
                " three",
            )
        return self._places.setdefault(aggregate, len(self._places))

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
