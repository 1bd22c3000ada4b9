r"""Choices through the gate: which outcome numbers have, and what is certified of it.

Guarantee:
    *What is certified is what the gate computes.* A row that is not there, or has no value, is not
    counted, and the threshold does not move with the rows: a majority is more than half of the
    *declared* number. So the release of the rows without one person is the comparison of the other
    rows with the same threshold, which is the simulator of both certificates.

    *The number of rows is asserted exactly.* A sum hides a row the better the more rows there are,
    because what is independent is added to both worlds. Nothing of that kind is true here: the
    certificate is about how likely it is that the *other* rows stand exactly where one more
    decides, and more rows can bring them there.

    *A total that is compared* is certified as the total is: yes or no is a function of it, so no
    divergence grows. There more rows do no harm.
"""

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from attrs import evolve, frozen

from discreet.core.errors import InvalidArgument
from discreet.core.numbers import written
from discreet.noiseless.advisor.law_text import WrittenLaw, numbers_of
from discreet.noiseless.certifiable import BreakingPoint, NoiseInstead, PrivacyTarget, Way
from discreet.noiseless.counted_rows import meets
from discreet.noiseless.exact.exact_feature import ExactFeature, count_text
from discreet.noiseless.stable.most_common import MostCommonRelease
from discreet.noiseless.stable.threshold_release import MOST_ROWS, ThresholdRelease
from discreet.noiseless.sums.exact_sum import ExactSum
from discreet.tables.column import Key
from discreet.tables.exact_declaration import ExactDeclaration, ExactKind
from discreet.tables.plans.aggregate import CountRows

_PLACES = 16
"""At so many numbers of rows it is looked whether the target fails."""

TIES = "the key that is declared first, of several that as many rows have"
"""The public rule by which a tie is broken."""


@frozen(kw_only=True)
class CountedThreshold(ThresholdRelease):
    """Whether at least a number of exactly so many rows say yes, as the gate compares them.

    Guarantee:
        That of :class:`~discreet.noiseless.stable.threshold_release.ThresholdRelease` with a
        threshold that does not depend on the rows.

    Example:
        >>> vote = CountedThreshold(rows=1001, threshold=501, low="0.6")
        >>> target = PrivacyTarget(Fraction(0), Fraction(1, 10**6))
        >>> [int(point.limit) for point in vote.breaking_points(target)]
        [52, 949]
    """

    @property
    def assumptions(self) -> tuple[str, ...]:
        """All that is assumed, a sentence each."""
        none = "A row without a value says no, and the probability of a yes has that in it."
        return (*super().assumptions, none)

    def breaking_points(self, target: PrivacyTarget) -> tuple[BreakingPoint, ...]:
        """Return the most rows that may be known, and how wrong the number of rows may be."""
        return (*super().breaking_points(target), *self._rows_limit(target))

    def _rows_limit(self, target: PrivacyTarget) -> tuple[BreakingPoint, ...]:
        """Return the number of rows at which the target begins to fail, towards the threshold."""
        assert self.threshold is not None
        others = self.known + 1
        most = Fraction(MOST_ROWS)
        many = others + (self.threshold - 1) / self.low + 1 if self.low else most
        few = others + max(0, self.threshold - others) / self.most if self.most else Fraction(0)
        side = int(many if self.rows > many else min(few, most))
        is_clear = self.rows > many or self.rows < few
        if not is_clear or not self._will_do(self.rows, target):
            return ()
        good, places = self.rows, _between(self.rows, side)
        bad = next((one for one in places if not self._will_do(one, target)), None)
        if bad is None:
            return ()
        while abs(good - bad) > 1:
            middle = (good + bad) // 2
            good, bad = (middle, bad) if self._will_do(middle, target) else (good, middle)
        what = "the number of rows, if there are " + ("fewer" if bad < good else "more")
        words = "Nearer to the threshold a single row may decide, and the answer tells of it."
        return (BreakingPoint(what, Fraction(good), words),)

    def _will_do(self, rows: int, target: PrivacyTarget) -> bool:
        return meets(evolve(self, rows=rows), target)


@frozen
class ComparedTotal:
    """Whether an exact total is at least a number: certified as the total itself.

    Guarantee:
        Post-processing: for every law, ε and direction the divergence is at most that of the total.
    """

    total: ExactSum
    threshold: Fraction

    @property
    def statistic(self) -> str:
        """What is released, in words."""
        return f"whether this is at least {written(self.threshold)}: {self.total.statistic}"

    @property
    def simulator(self) -> str:
        """What imitates the release without one person's row, in words."""
        return f"the same comparison of what imitates the total: {self.total.simulator}"

    @property
    def assumptions(self) -> tuple[str, ...]:
        """All that is assumed, a sentence each."""
        fixed = "The threshold was fixed before anyone saw the rows."
        return (*self.total.assumptions, fixed)

    def deltas(self, epsilon: Fraction) -> Mapping[Way, Fraction]:
        """Return upper bounds of δ at an ε: those of the total."""
        return self.total.deltas(epsilon)

    def breaking_points(self, target: PrivacyTarget) -> tuple[BreakingPoint, ...]:
        """Return how far each assumption can be wrong, for the total."""
        return self.total.breaking_points(target)

    def noise_instead(self, target: PrivacyTarget) -> NoiseInstead | None:
        """Return the noise on the total before it is compared."""
        return self.total.noise_instead(target)

    def to_json(self) -> dict[str, Any]:
        """Return all that is asserted."""
        return {
            "statistic": "compared_total",
            "threshold": written(self.threshold),
            "total": self.total.to_json(),
        }


def _between(start: int, end: int) -> list[int]:
    """Return some numbers after ``start`` up to ``end``, the nearest first.

    Example:
        >>> _between(10, 7)
        [9, 8, 7]
    """
    gap = end - start
    steps = range(1, min(_PLACES, abs(gap)) + 1)
    return [start + gap * step // len(steps) for step in steps]


def counted_threshold(declared: ExactDeclaration, law: WrittenLaw) -> CountedThreshold:
    """Return what is certified of a count that is compared; the law says how likely a yes is."""
    if law.kind not in ("yes", "bernoulli"):
        raise InvalidArgument(
            "There is no such law for a count that is compared",
            must="be bernoulli(share), or yes(low, high) if each row has its own share",
            got=law.kind,
        )
    names = ("low", "high") if len(law.values) + len(law.named) > 1 else ("share",)
    low, *high = law.numbers(*names).values()
    return CountedThreshold(
        rows=declared.rows,
        known=declared.known,
        threshold=int(declared.least_yes),
        low=low,
        high=high[0] if high else None,
    )


def most_common_key(
    declared: ExactDeclaration, keys: Sequence[Key], law: WrittenLaw
) -> MostCommonRelease:
    """Return what is certified of the most common key; the law has a share for each of them."""
    if law.kind != "shares":
        raise InvalidArgument(
            "There is no such law for the most common key",
            must="be shares(...), with the probability of each key",
            got=law.kind,
        )
    found = numbers_of(law)
    names = [str(key) for key in keys]
    if law.named and not law.values and set(law.named) == set(names):
        by_name = dict(zip(law.named, found, strict=True))
        found = [by_name[name] for name in names]
    elif law.named or len(found) != len(names):
        raise InvalidArgument(
            "The law has other keys than the column",
            must=f"have a share for each of {', '.join(names)}, in this order or by name",
            got=str(law),
        )
    return MostCommonRelease(shares=found, rows=declared.rows, known=declared.known)


def compared(base: ExactFeature, declared: ExactDeclaration) -> ExactFeature:
    """Return whether a count or a total is large enough, as what is released."""
    least = written(declared.least_yes)
    rows = "" if declared.is_choice_by_counts else f" of {declared.rows} rows"
    return evolve(
        base,
        text=f"whether {base.text}{rows} is at least {least}",
        shown=f"{_shown(base, declared)} {least} or more",
    )


def _shown(base: ExactFeature, declared: ExactDeclaration) -> str:
    return f"rows with {base.shown}:" if declared.is_choice_by_counts else f"total {base.shown}:"


def commonest(column: str, keys: Sequence[Key]) -> ExactFeature:
    """Return which key most rows have, as what is released. Their order breaks ties."""
    listed = json.dumps([str(key) for key in keys], ensure_ascii=False)
    return ExactFeature(
        text=f"which of {listed} is the first that most rows have as {column}",
        shown=f"{column} of most rows",
        aggregate=CountRows(),
    )


def said_of_choice(
    declared: ExactDeclaration, base: Sequence[str], keys: Sequence[Key]
) -> dict[str, Any]:
    """Return what the ledger says of a choice besides: what it is a function of, and by which rule.

    A choice is a function of numbers whose names are ``of``, if they are public.
    """
    if declared.kind is ExactKind.ARGMAX:
        (column,) = declared.columns
        of = [count_text(column, [key]) for key in keys]
        return {"of": of, "rows_exact": True, "ties": TIES}
    return {
        "of": list(base),
        "rows_exact": declared.has_exact_rows,
        "least": written(declared.least_yes),
    }
