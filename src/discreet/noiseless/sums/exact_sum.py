"""Exact sums and means: what may be published of rows that an adversary does not know."""

from collections.abc import Mapping
from enum import Enum
from fractions import Fraction
from typing import Any

from attrs import field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument, RefusedQuery
from discreet.core.numbers import Number, exact
from discreet.core.rounding import log_up, short_up
from discreet.noiseless.certifiable import BreakingPoint, NoiseInstead, PrivacyTarget, Way
from discreet.noiseless.counted_rows import meets
from discreet.noiseless.laws.hidden import RowLaw, spelt
from discreet.noiseless.laws.law_family import law_from_json
from discreet.noiseless.sums.breaking_points import least_density, least_rows
from discreet.noiseless.sums.ways import delta_by, ways_of

MOST_ROWS = 10**15
"""Nobody has more rows, and what is computed with floats on the way stays within them."""


class Chosen(Enum):
    """When law, clamps and statistic were chosen."""

    BEFOREHAND = "beforehand"
    """Before anybody looked at the data."""
    FROM_DATA = "from the data"
    """After a look: refused, because the choice itself tells something."""


class KnownRows(Enum):
    """Which rows the adversary may know."""

    UNRELATED = "unrelated to their values"
    """Any, chosen without regard to values: the others still follow the law."""
    BY_VALUE = "by their values"
    """Such as the largest: the others follow another law, given those."""


def _chosen(value: Chosen | str) -> Chosen:
    found = check.chosen(Chosen, value, noun="time of choice")
    if found is Chosen.FROM_DATA:
        raise RefusedQuery(
            "The law was chosen from the data",
            must="be asserted beforehand, from public or prior knowledge",
            next="Which box or law was chosen would itself tell something of the rows. Assert one "
            "that needs no look at them, or add noise",
        )
    return found


def _known_rows(value: KnownRows | str) -> KnownRows:
    found = check.chosen(KnownRows, value, noun="choice of known rows")
    if found is KnownRows.BY_VALUE:
        raise RefusedQuery(
            "The known rows depend on their values",
            must="be chosen independently of values, or else the other rows follow another law",
            next="Assert the law of the other rows given what is known (of rows above a public "
            "number that are all known: law.at_most(number)), with so many rows and known=0",
        )
    return found


@frozen
class ExactSum:
    r"""The exact sum of rows that follow an asserted law.

    Attributes:
        law: What is asserted of each row.
        rows: How many rows there are; public.
        known: Of how many of them an adversary may know everything.
        known_rows: How these were chosen.
        chosen: When law and clamps were chosen.

    Guarantee:
        For every row i and every value of it, the sum is within (ε, δ) of what the simulator
        publishes without that row: distributional differential privacy [Gro14, definition 5.3],
        for all laws that are asserted. :class:`~discreet.noiseless.certifiable.Way` names three
        bounds of δ, and each has its proof: :class:`~.source_bound.SourceBound`,
        :func:`~.mixture.mixture_delta` and :func:`~.shift_divergence.shift_delta`.

    Assumes:
        All of :attr:`assumptions`. Nothing here reads a row.

    Utility:
        The number that is published is exact.

    Example:
        >>> from discreet.noiseless import uniform_rows
        >>> total = ExactSum(uniform_rows(0, 40), rows=1000)
        >>> {way.value: f"{float(delta):.1e}" for way, delta in total.deltas("0.25").items()}
        {'source': '7.0e-06', 'mixture': '3.4e-08', 'tight': '3.4e-08'}
        >>> print(total.simulator)
        It adds the other rows and 20 in place of the missing one.
    """

    law: RowLaw
    rows: int = field(converter=check.whole, validator=check.between(1, MOST_ROWS), kw_only=True)
    known: int = field(default=0, converter=check.whole, validator=check.non_negative, kw_only=True)
    known_rows: KnownRows = field(default=KnownRows.UNRELATED, converter=_known_rows, kw_only=True)
    chosen: Chosen = field(default=Chosen.BEFOREHAND, converter=_chosen, kw_only=True)

    def __attrs_post_init__(self) -> None:
        if not hasattr(self.law, "members"):
            raise InvalidArgument(
                "That is no law of rows",
                must="be one such as BoxDensity",
                got=type(self.law).__name__,
            )
        if self.known >= self.rows:
            raise InvalidArgument(
                "The adversary knows all rows",
                must="leave at least one row unknown",
                got=f"{self.known} of {self.rows}",
                next="Nothing exact is private from somebody who knows everything: add noise",
            )

    @property
    def unknown(self) -> int:
        """How many rows the adversary does not know: n - ν, which is all that matters."""
        return self.rows - self.known

    @property
    def statistic(self) -> str:
        """What is released, in words."""
        return f"The exact sum of {self.rows} rows on {spelt(self.law.clamps)}."

    @property
    def simulator(self) -> str:
        """What imitates the release without one person's row, in words."""
        inserted = ", ".join(str(one) for one in self.law.simulator)
        return f"It adds the other rows and {inserted} in place of the missing one."

    @property
    def assumptions(self) -> tuple[str, ...]:
        """All that is assumed, a sentence each."""
        return (
            self.law.words(),
            f"Every row lies on {spelt(self.law.clamps)}, or is moved there before it is added.",
            f"There are {self.rows} rows, and everybody may know that number.",
            (
                f"The adversary knows at most {self.known} of the rows, chosen without regard to "
                "their values; who knows the largest ones, say, needs another certificate."
            ),
            "The law holds given all that was released of these rows before, in any version.",
            "Law, clamps and statistic were chosen before anybody looked at the data.",
        )

    def deltas(self, epsilon: Number) -> Mapping[Way, Fraction]:
        """Return upper bounds of δ at an ε, by each way that there is for this law.

        They are made to fall from way to way: each is also a bound for the next.
        """
        at = _epsilon(epsilon)
        found: dict[Way, Fraction] = {}
        best = Fraction(1)
        for way in ways_of(self.law):
            best = min(best, delta_by(way, self.law, self.unknown, at))
            found[way] = best
        return found

    def delta(self, epsilon: Number) -> Fraction:
        """Return the least of the bounds of δ at an ε."""
        at = _epsilon(epsilon)
        return delta_by(ways_of(self.law)[-1], self.law, self.unknown, at)

    def breaking_points(self, target: PrivacyTarget) -> tuple[BreakingPoint, ...]:
        """Return how many rows may be known, how many are needed, and how little density."""
        needed = least_rows(self.law, target, start=self.unknown)
        # Limits are searched for with fewer blocks, but what is asserted is as good as the curve.
        is_rough = needed is None or needed > self.unknown
        is_met = is_rough and meets(self, target)
        needed = self.unknown if is_met else needed
        found = [_known_limit(self, needed), _rows_limit(self, needed)]
        density = least_density(self.law, target, self.unknown, is_met=is_met)
        return (*found, density) if density else tuple(found)

    @property
    def span(self) -> Fraction:
        """How far apart the least and the largest sum are; of several numbers, the widest."""
        return self.rows * max(high - low for low, high in self.law.clamps)

    def noise_instead(self, target: PrivacyTarget) -> NoiseInstead | None:
        """Return the discrete Laplace noise that differential privacy would add to the sum."""
        return _noise(self, target, Fraction(1))

    def to_json(self) -> dict[str, Any]:
        """Return all that is asserted."""
        return {"statistic": "sum", **_asserted(self)}


@frozen
class ExactMean(ExactSum):
    """The exact mean of rows: their sum, divided by a public number.

    Guarantee:
        That of the sum: dividing by n is post-processing, and can be undone.

    Example:
        >>> from discreet.noiseless import uniform_rows
        >>> mean = ExactMean(uniform_rows(0, 1), rows=100)
        >>> mean.deltas(1) == ExactSum(uniform_rows(0, 1), rows=100).deltas(1)
        True
    """

    @property
    def statistic(self) -> str:
        """What is released, in words."""
        return f"The exact mean of {self.rows} rows on {spelt(self.law.clamps)}."

    @property
    def simulator(self) -> str:
        """What imitates the release without one person's row, in words."""
        inserted = ", ".join(str(one) for one in self.law.simulator)
        return (
            f"It adds the other rows and {inserted} in place of the missing one, and divides by "
            f"{self.rows}."
        )

    @property
    def span(self) -> Fraction:
        """How far apart the clamps are; of several numbers, the widest."""
        return max(high - low for low, high in self.law.clamps)

    def noise_instead(self, target: PrivacyTarget) -> NoiseInstead | None:
        """Return the noise that differential privacy would add to the mean."""
        return _noise(self, target, Fraction(1, self.rows))

    def to_json(self) -> dict[str, Any]:
        """Return all that is asserted."""
        return {"statistic": "mean", **_asserted(self)}


def sum_from_json(value: Mapping[str, Any]) -> ExactSum:
    """Return the sum or mean that was written with ``to_json``.

    Example:
        >>> from discreet.noiseless import uniform_rows
        >>> mean = ExactMean(uniform_rows(0, 1), rows=100)
        >>> sum_from_json(mean.to_json()) == mean
        True
    """
    kinds = {"sum": ExactSum, "mean": ExactMean}
    kind = kinds.get(str(value.get("statistic")))
    if kind is None:
        raise InvalidArgument(
            "There is no such statistic here",
            must="be sum or mean",
            got=str(value.get("statistic"))[:64],
        )
    return kind(
        law_from_json(value["law"]),
        rows=value["rows"],
        known=value["known"],
        known_rows=value["known_rows"],
        chosen=value["chosen"],
    )


def _asserted(total: ExactSum) -> dict[str, Any]:
    return {
        "law": total.law.to_json(),
        "rows": total.rows,
        "known": total.known,
        "known_rows": total.known_rows.value,
        "chosen": total.chosen.value,
    }


_LARGEST_EPSILON = 1000


def _epsilon(value: Number) -> Fraction:
    epsilon = exact(value)
    if not 0 <= epsilon <= _LARGEST_EPSILON:
        raise InvalidArgument(
            "epsilon is out of range", must=f"be from 0 to {_LARGEST_EPSILON}", got=str(value)[:64]
        )
    return epsilon


def _known_limit(total: ExactSum, needed: int | None) -> BreakingPoint:
    what = "rows that the adversary knows"
    if needed is None or needed > total.rows:
        words = "Even an adversary who knows no other row may learn more than the target allows."
        return BreakingPoint(what, None, words)
    most = total.rows - needed
    words = f"Somebody who knows more than {most} of the {total.rows} rows may learn more."
    return BreakingPoint(what, Fraction(most), words)


def _rows_limit(total: ExactSum, needed: int | None) -> BreakingPoint:
    if needed is None:
        return BreakingPoint("rows", None, "No number of rows that was tried is enough.")
    least = needed + total.known
    words = f"With fewer than {least} rows, {total.known} of them known, the target may fail."
    return BreakingPoint("rows", Fraction(least), words)


def _noise(total: ExactSum, target: PrivacyTarget, unit: Fraction) -> NoiseInstead | None:
    if target.epsilon <= 0:
        return None
    moved = sum((high - low for low, high in total.law.clamps), Fraction(0))
    scale = moved * unit / target.epsilon
    error = short_up(scale * log_up(Fraction(20)))
    words = (
        f"Differential privacy with ε = {float(target.epsilon):.4g} adds noise of scale "
        f"{float(scale):.4g}, which stays within {float(error):.4g} in 95 of 100 releases; it "
        "assumes nothing of the rows or of what is known."
    )
    return NoiseInstead(scale, error, words)
