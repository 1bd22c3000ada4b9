"""Rounding: what it can do to a number that values are moved to a public grid before they count."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction

from attrs import define, evolve, field, frozen

from discreet.core.loss import short
from discreet.releases.body import Body
from discreet.releases.estimates.estimate import (
    Estimate,
    MeanOf,
    QuantileOf,
    TotalOf,
    indices,
    parts,
)
from discreet.releases.estimates.groups import Groups
from discreet.releases.estimates.linear import linear
from discreet.releases.estimates.margins import AnyMargins, Coarse, Margin, Margins
from discreet.releases.estimates.rules import intervals_of, intervals_within
from discreet.releases.left_out import Ends
from discreet.tables.arithmetic.ratios import Ratios, larger


@frozen(kw_only=True)
class Rounded:
    """A value that is rounded, as a query writes it, and by how much."""

    text: str
    step: Fraction
    most: Fraction
    """By how much a value moves at most, what floating point adds included."""
    is_summed: bool
    is_countable: bool = True
    """Whether a count of rows in the same question bounds how many are added up."""
    is_told: bool = True
    """Whether people know the value; they do not know products of two others."""
    counted: int | None = None
    """Which aggregate counts the rows that are added up, or more; None if none does."""
    rows: Callable[[Fraction], Fraction | None] | None = field(default=None, eq=False)
    """How many there are in a group at most by what else is known, except with a probability."""


@frozen(kw_only=True)
class RoundedOutput:
    """An output to whose numbers rounding matters."""

    name: str
    estimate: Estimate
    is_seen: bool
    """Whether an interval that is shown takes account of it."""
    needs_count: bool = False
    """Whether one would if the rows were counted."""


Roundings = tuple[Rounded | None, ...]
"""For each aggregate of a plan how its value is rounded; None if it surely is not."""

MostRows = Callable[[int, Fraction], Ratios]
"""How many rows an aggregate adds up in each group at most, except with a probability; nothing
where that is not known."""

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
        rows, of which these are a part. So does a quantile: rounding keeps the order of values, so
        each of them in order moves by at most ``h``, and so does what is between two. A sum of
        ``n`` rows that count moves by at most :math:`nh`.
        Where the answer has the number of these rows as well, ``n`` is at most the upper end of an
        interval for it, which fails with a quarter of the probability. The other intervals have
        the other three quarters, and by the union bound both hold. Of a population the same holds
        of what is expected. Other bounds on ``n`` are what is declared of the table and what its
        profile says; they share the quarter. Where there is none, nothing is known of the sum.

        What is worked out of several numbers has such a margin for each
        (:class:`~discreet.releases.estimates.margins.Coarse`), and by interval arithmetic over
        them an interval for the number of values as they are.
        :func:`~discreet.releases.estimates.moments.within_noise` has the rule for what is made of
        means.
    """

    roundings: Roundings
    body: Body

    def touches(self, estimate: Estimate) -> bool:
        """Tell whether an estimate is made of rounded values."""
        return any(self.roundings[i] for i in indices(estimate)) if self.roundings else False

    def is_known(self, estimate: Estimate) -> bool:
        """Tell whether it can be bounded how far rounding has moved an estimate."""
        return not self._without_rows(estimate)

    def needs_count(self, estimate: Estimate) -> bool:
        """Tell whether it could be bounded if the answer had the number of rows as well."""
        found = self._without_rows(estimate)
        return bool(found) and all(one.is_countable for one in found)

    def _without_rows(self, estimate: Estimate) -> list[Rounded]:
        """Return the rounded values that are added up over nobody knows how many rows."""
        totals = (part.index for part in parts(estimate) if isinstance(part, TotalOf))
        pairs = ((i, self.roundings[i]) for i in totals) if self.roundings else ()
        return [
            rounded
            for index, rounded in pairs
            if rounded is not None and self._count(index) is None and rounded.rows is None
        ]

    def margins(self, plain: Margins) -> AnyMargins:
        """Return margins that say what rounding does besides."""

        def margin(index: int, beta: Fraction) -> Margin:
            rounded = self.roundings[index] if self.roundings else None
            return plain(index, beta) if rounded is None else self._coarse(index, plain, beta)

        return margin

    def _coarse(self, index: int, plain: Margins, beta: Fraction) -> Coarse:
        rounded, count = self.roundings[index], self._count(index)
        assert rounded is not None
        part = beta / 8
        return Coarse(
            margin=plain(index, beta - 2 * part),
            most=rounded.most,
            count=count,
            count_margin=Fraction(0) if count is None else plain(count, part),
            rows=None if rounded.rows is None else rounded.rows(part),
        )

    def most_rows(self, groups: Groups, plain: Margins) -> MostRows:
        """Return what finds how many rows of the table an aggregate adds up."""
        return lambda index, beta: self._coarse(index, plain, 4 * beta).most_rows(groups)

    def expected_rows(self, groups: Groups, counted: MostRows) -> MostRows:
        """Return what finds how many are expected, given how many of those that are counted are."""

        def rows(index: int, beta: Fraction) -> Ratios:
            count = self._count(index)
            return groups.constant(None) if count is None else counted(count, beta)

        return rows

    def is_plain(self, estimate: Estimate) -> bool:
        """Tell whether an estimate is a mean, a quantile or a sum of multiples, and no more."""
        return isinstance(estimate, MeanOf | QuantileOf) or linear(estimate) is not None

    def ends(
        self,
        estimate: Estimate,
        groups: Groups,
        rows: MostRows,
        find: Callable[[Fraction], Ends],
        beta: Fraction,
    ) -> Ends:
        """Return ends that ``find`` finds for a probability, moved outwards by the worst rounding.

        It is for a mean, a quantile, or a sum of multiples. Where nobody knows how many rows there
        are, nothing is known.
        """
        if not self.touches(estimate):
            return find(beta)
        is_one = isinstance(estimate, MeanOf | QuantileOf)
        rest = beta if is_one else beta * Fraction(3, 4)
        found, worst = find(rest), self._worst(estimate, groups, rows, beta - rest)
        return Ends(found.lows.minus(worst), found.highs.plus(worst))

    def matters(self, estimate: Estimate, groups: Groups, plain: Margins, beta: Fraction) -> bool:
        """Tell whether rounding makes an interval of noise wider by more than a twentieth.

        It does too if that is known and the wider one is not: a divisor may be 0, for example, once
        it may have moved.
        """
        if not self.touches(estimate):
            return False
        shown = noise = intervals_of(estimate, groups, plain, beta=beta)
        if self.is_plain(estimate):
            worst = self._worst(estimate, groups, self.most_rows(groups, plain), beta / 4)
            added = worst.plus(worst)
        else:
            coarse = self.margins(plain)
            noise, wide = (
                intervals_within(estimate, groups, margins, beta=beta)
                for margins in (_unmoved(coarse), coarse)
            )
            added = wide.highs.minus(wide.lows).minus(noise.highs.minus(noise.lows))
        width = noise.highs.minus(noise.lows)
        are_known = width.known & added.known
        is_lost = bool((shown.known & ~added.known).any())
        return is_lost or bool((added.floats() > float(_HARDLY) * width.floats())[are_known].any())

    def notes(self, shown: Iterable[RoundedOutput]) -> list[str]:
        """Say which values are rounded, unless it hardly matters to what is shown of them.

        Of a value it is said once, however many outputs are made of it.
        """
        told: dict[str, _Told] = {}
        for output in shown:
            for index in sorted(indices(output.estimate)):
                rounded = self.roundings[index] if self.roundings else None
                if rounded is not None and rounded.is_told:
                    told.setdefault(rounded.text, _Told()).add(rounded, output)
        by_how: dict[tuple[str, bool], dict[str, _Told]] = {}
        for text, one in told.items():
            by_how.setdefault((one.how(), one.needs_count), {})[text] = one
        return [
            _on_rounding(some, how) + (_COUNT_THEM if needs_count else "")
            for (how, needs_count), some in by_how.items()
        ]

    def _count(self, index: int) -> int | None:
        """Return the place of a count of at least the rows that an aggregate adds up."""
        made, rounded = self.body.made, self.roundings[index]
        if rounded is None or made is None or made.bounding < _ONE_SAMPLE:
            return None
        return rounded.counted

    def _worst(self, estimate: Estimate, groups: Groups, rows: MostRows, beta: Fraction) -> Ratios:
        if isinstance(estimate, MeanOf):
            return groups.constant(_most(self.roundings[estimate.total]))
        if isinstance(estimate, QuantileOf):
            return groups.constant(_most(self.roundings[estimate.index]))
        coefficients = linear(estimate)
        if coefficients is None:
            return groups.constant(None)
        summed = [index for index in coefficients if self.roundings[index] is not None]
        worst, zero = groups.constant(0), groups.constant(0)
        for index in summed:
            found = rows(index, beta / len(summed))
            most = larger(found, zero).where_known(found.known)
            each = abs(coefficients[index]) * _most(self.roundings[index])
            worst = worst.plus(most.times(groups.constant(each)))
        return worst


def _unmoved(margins: AnyMargins) -> AnyMargins:
    """Return the same margins of values that are not rounded."""

    def margin(index: int, beta: Fraction) -> Margin:
        found = margins(index, beta)
        return evolve(found, most=Fraction(0)) if isinstance(found, Coarse) else found

    return margin


def _most(rounded: Rounded | None) -> Fraction:
    return Fraction(0) if rounded is None else rounded.most


CHOICE = "the choice of rows"
"""What stands for an output where rounded values decide which rows are shown."""

_UNSEEN = "which no interval shows"
_CHOOSES = "which may change what rows are shown"
_SEEN = "which [… to …] takes account of"
_COUNT_THEM = "; ask for COUNT(*) as well, and [… to …] takes account of that"


@define
class _Told:
    """What is said of one value that is rounded."""

    step: Fraction = Fraction(0)
    is_summed: bool = False
    seen: list[str] = field(factory=list)
    unseen: list[str] = field(factory=list)
    needs_count: bool = False

    def add(self, rounded: Rounded, output: RoundedOutput) -> None:
        self.needs_count |= output.needs_count
        self.step = max(self.step, rounded.step)
        self.is_summed |= rounded.is_summed
        names = self.seen if output.is_seen else self.unseen
        if output.name not in names:
            names.append(output.name)

    def how(self) -> str:
        if self.seen and self.unseen:
            return f"{_SEEN} for {_listed(self.seen)}, and not for {_listed(self.unseen)}"
        if self.unseen == [CHOICE]:
            return _CHOOSES
        return _SEEN if self.seen else _UNSEEN


def _on_rounding(told: Mapping[str, _Told], how: str) -> str:
    """Say which values are rounded, and how an interval shows it."""
    is_summed = any(one.is_summed for one in told.values())
    if len(told) > 1:
        listed = _listed([f"{text} to steps of {short(one.step)}" for text, one in told.items()])
        moved = ", so a sum over n rows by up to n times that" if is_summed else ""
        return f"values are rounded, {listed}, {how}: each value moves by up to half a step{moved}"
    ((text, one),) = told.items()
    half = short(one.step / 2)
    moved = f", so a sum over n rows by up to {half} n" if is_summed else ""
    said = f"{how}: each value moves by up to {half}{moved}"
    return f"{text} is rounded to steps of {short(one.step)}, {said}"


def _listed(texts: Sequence[str]) -> str:
    *first, last = texts
    return f"{', '.join(first)} and {last}" if first else last
