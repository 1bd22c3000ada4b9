"""Rounding: what it can do to a number that values are moved to a public grid before they count."""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from attrs import frozen

from discreet.core.loss import short
from discreet.releases.body import Body
from discreet.releases.estimates.estimate import Estimate, MeanOf, indices
from discreet.releases.estimates.groups import Groups
from discreet.releases.estimates.linear import Coefficients, linear
from discreet.releases.estimates.ratios import Ratios, larger
from discreet.releases.left_out import Ends


@frozen(kw_only=True)
class Rounded:
    """A value that is rounded, as a query writes it, and by how much."""

    text: str
    step: Fraction
    most: Fraction
    """By how much a value moves at most, what floating point adds included."""
    is_summed: bool


Roundings = tuple[Rounded | None, ...]
"""For each aggregate of a plan how its value is rounded; None if it surely is not."""

MostRows = Callable[[int, Fraction], Ratios]
"""How many rows an aggregate counts in each group at most, except with a probability."""

_ONE_SAMPLE = 2
"""Since which version of the rules of bounding one sample of rows serves all aggregates."""

_HARDLY = Fraction(1, 20)
"""Up to which part of the width of an interval rounding is not worth a word."""


@frozen(kw_only=True)
class RoundingBound:
    r"""How far the roundings of an answer can have moved its numbers.

    Utility:
        A value moves by at most ``h``: half a step, and what floating point adds. So a mean of the
        rows that count moves by at most ``h``, however many there are; and so does one of all
        rows, of which these are a part. A sum of ``n`` rows that count moves by at most :math:`nh`.
        Where the answer has the number of these rows as well, ``n`` is at most the upper end of an
        interval for it, which fails with a quarter of the probability. The other intervals have
        the other three quarters, and by the union bound both hold. Of a population the same holds
        of what is expected.
    """

    roundings: Roundings
    body: Body

    def touches(self, estimate: Estimate) -> bool:
        """Tell whether an estimate is made of rounded values."""
        return any(self.roundings[i] for i in indices(estimate)) if self.roundings else False

    def is_known(self, estimate: Estimate) -> bool:
        """Tell whether it can be bounded how far rounding has moved an estimate."""
        if not self.touches(estimate) or isinstance(estimate, MeanOf):
            return True
        found = linear(estimate)
        return found is not None and None not in map(self._count, self._summed(found))

    def ends(
        self,
        estimate: Estimate,
        groups: Groups,
        rows: MostRows,
        find: Callable[[Fraction], Ends],
        beta: Fraction,
    ) -> Ends:
        """Return ends that ``find`` finds for a probability, moved outwards by the worst rounding.

        Where that is not known, they stay as they are.
        """
        if not self.touches(estimate) or not self.is_known(estimate):
            return find(beta)
        rest = beta if isinstance(estimate, MeanOf) else beta * Fraction(3, 4)
        found, worst = find(rest), self._worst(estimate, groups, rows, beta - rest)
        return Ends(found.lows.minus(worst), found.highs.plus(worst))

    def matters(
        self, estimate: Estimate, groups: Groups, rows: MostRows, noise: Ends, beta: Fraction
    ) -> bool:
        """Tell whether rounding makes an interval of noise wider by more than a twentieth."""
        if not self.touches(estimate) or not self.is_known(estimate):
            return False
        width = noise.highs.minus(noise.lows)
        added = self._worst(estimate, groups, rows, beta / 4).floats() * 2
        return bool((added > float(_HARDLY) * width.floats())[width.known].any())

    def notes(self, shown: Iterable[tuple[Estimate, bool]]) -> list[str]:
        """Say which values are rounded, unless it hardly matters to what is shown of them.

        Of each estimate it is said whether its interval is wider because of it.
        """
        touched = [(one, is_wider) for one, is_wider in shown if self.touches(one)]
        unseen = {i for one, _ in touched if not self.is_known(one) for i in indices(one)}
        seen = {i for one, is_wider in touched if is_wider for i in indices(one)} - unseen
        parts = [
            [one if i in places else None for i, one in enumerate(self.roundings)]
            for places in (unseen, seen)
        ]
        return [*_on_rounding(parts[0], _UNSEEN), *_on_rounding(parts[1], _SEEN)]

    def _summed(self, coefficients: Coefficients) -> list[int]:
        return [i for i in coefficients if self.roundings[i] is not None]

    def _count(self, index: int) -> int | None:
        """Return the place of a count of at least the rows that an aggregate adds up."""
        made = self.body.made
        if made is None or made.bounding < _ONE_SAMPLE or self.body.aggregates[index].kind != "sum":
            return None
        names = ("COUNT(*)", f"COUNT({self.body.aggregates[index].value})")
        counts = (i for i, one in enumerate(self.body.aggregates) if one.kind == "count")
        return next((i for i in counts if self.body.aggregates[i].text in names), None)

    def _worst(self, estimate: Estimate, groups: Groups, rows: MostRows, beta: Fraction) -> Ratios:
        if isinstance(estimate, MeanOf):
            return groups.constant(_most(self.roundings[estimate.total]))
        coefficients = linear(estimate)
        assert coefficients is not None
        summed, worst, zero = self._summed(coefficients), groups.constant(0), groups.constant(0)
        for index in summed:
            count = self._count(index)
            assert count is not None
            most = larger(rows(count, beta / len(summed)), zero)
            each = abs(coefficients[index]) * _most(self.roundings[index])
            worst = worst.plus(most.times(groups.constant(each)))
        return worst


def _most(rounded: Rounded | None) -> Fraction:
    return Fraction(0) if rounded is None else rounded.most


_UNSEEN = "which no interval shows"
_SEEN = "which [… to …] takes account of"


def _on_rounding(roundings: Sequence[Rounded | None], how: str) -> list[str]:
    """Say which values are rounded, and how an interval shows it."""
    found: dict[str, Fraction] = {}
    for one in roundings:
        if one is not None:
            found[one.text] = max(one.step, found.get(one.text, one.step))
    is_summed = any(one.is_summed for one in roundings if one is not None)
    if not found:
        return []
    if len(found) > 1:
        listed = _listed([f"{text} to steps of {short(step)}" for text, step in found.items()])
        moved = ", so a sum over n rows by up to n times that" if is_summed else ""
        said = f"{how}: each value moves by up to half a step"
        return [f"values are rounded, {listed}, {said}{moved}"]
    ((text, step),) = found.items()
    moved = f", so a sum over n rows by up to {short(step / 2)} n" if is_summed else ""
    said = f"{how}: each value moves by up to {short(step / 2)}"
    return [f"{text} is rounded to steps of {short(step)}, {said}{moved}"]


def _listed(texts: Sequence[str]) -> str:
    *first, last = texts
    return f"{', '.join(first)} and {last}" if first else last
