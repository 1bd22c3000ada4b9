r"""What is composed: (ε, δ) losses, each a number of times, with the sums that theorems ask for."""

from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cached_property

from attrs import define, field

from discreet.core import check
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Approximate, Pure
from discreet.core.numbers import Number, exact, exp_bounds, log_bounds

Losses = Iterable[Pure | Approximate] | Mapping[Pure | Approximate, int]
"""The losses one by one, or each loss with the number of times that it is spent."""

LARGEST_COUNT = 10**9
_EXACT_BITS = 20_000


@define(frozen=True, slots=False)
class Workload:
    r"""Losses :math:`(\varepsilon_i, \delta_i)` that were fixed beforehand, with their counts.

    The mechanisms may be chosen adaptively; the losses may not (see ``accounting.filters.rules``).

    Example:
        >>> work = Workload.read({Approximate("0.1", "1e-8"): 100, Pure("0.5"): 2})
        >>> work.count, work.epsilon_sum, work.delta_sum
        (102, Fraction(11, 1), Fraction(1, 1000000))
    """

    parts: tuple[tuple[Fraction, Fraction, int], ...] = field(validator=check.non_empty)
    """The triples of ε, δ and count."""

    @staticmethod
    def read(losses: Losses) -> "Workload":
        """Count equal losses together; refuse other measures, bad counts, and nothing at all."""
        pairs: Iterable[tuple[Pure | Approximate, int]]
        pairs = losses.items() if isinstance(losses, Mapping) else ((loss, 1) for loss in losses)
        counts: Counter[tuple[Fraction, Fraction]] = Counter()
        for loss, count in pairs:
            counts[_numbers(loss)] += _count(count)
        if not counts.total():
            raise InvalidArgument(
                "There is nothing to compose",
                must="give at least one loss",
                got="none",
                next="Give Pure or Approximate losses, or a mapping from losses to counts",
            )
        _count(counts.total())
        return Workload(tuple((e, d, n) for (e, d), n in sorted(counts.items()) if n))

    @cached_property
    def count(self) -> int:
        """How many losses there are."""
        return sum(n for _, _, n in self.parts)

    @cached_property
    def epsilon_sum(self) -> Fraction:
        r""":math:`\sum \varepsilon_i`."""
        return sum((n * e for e, _, n in self.parts), Fraction(0))

    @cached_property
    def square_sum(self) -> Fraction:
        r""":math:`\|\varepsilon\|_2^2 = \sum \varepsilon_i^2`."""
        return sum((n * e * e for e, _, n in self.parts), Fraction(0))

    @cached_property
    def delta_sum(self) -> Fraction:
        r""":math:`\sum \delta_i`."""
        return sum((n * d for _, d, n in self.parts), Fraction(0))

    @cached_property
    def responses(self) -> dict[Fraction, int]:
        """The positive ε, each with its count."""
        counts: Counter[Fraction] = Counter()
        for e, _, n in self.parts:
            if e:
                counts[e] += n
        return dict(counts)

    @cached_property
    def kept(self) -> tuple[Fraction, Fraction]:
        r"""An enclosure of :math:`\prod (1 - \delta_i)`; exact while that is short."""
        low = high = Fraction(1)
        for _, d, n in self.parts:
            one_low, one_high = _power(1 - d, n)
            low, high = low * one_low, high * one_high
        return low, high

    def rest(self, delta: Fraction) -> Fraction:
        r"""Return what of ``delta`` remains after :math:`\sum \delta_i`, or refuse."""
        if delta < self.delta_sum:
            raise _too_small(delta, self.delta_sum, "the sum of the deltas")
        return delta - self.delta_sum

    def pure_part(self, delta: Fraction) -> tuple[Fraction, Fraction]:
        r"""Enclose the :math:`\delta'` with :math:`\delta = 1 - (1 - \delta') \prod (1-\delta_i)`.

        Refuse if it would be negative, or if the product is as good as 0.
        """
        if not self.kept[0]:
            raise _too_small(delta, 1 - self.kept[1], "1 - ∏(1 - δᵢ)")
        low, high = (1 - (1 - delta) / kept for kept in self.kept)
        if high < 0 or (low < 0 and low != high and self.delta_sum > delta):
            raise _too_small(delta, 1 - self.kept[0], "1 - ∏(1 - δᵢ)")
        return max(Fraction(0), low), max(Fraction(0), high)

    def total_delta(self, delta: Fraction) -> Fraction:
        r"""Return :math:`1 - (1 - \delta') \prod (1 - \delta_i)` for a pure part, rounded up."""
        return 1 - (1 - delta) * self.kept[0]

    def least_delta(self, delta: Fraction) -> Fraction:
        """Return the same, rounded down."""
        return 1 - (1 - delta) * self.kept[1]


def read_delta(delta: Number) -> Fraction:
    """Return a δ that is at least 0 and below 1, or refuse."""
    value = exact(delta)
    if not 0 <= value < 1:
        raise InvalidArgument(
            "delta is out of range",
            must="be at least 0 and below 1",
            got=str(delta),
            next="A delta far below one over the number of units is usual",
        )
    return value


def read_epsilon(epsilon: Number) -> Fraction:
    """Return an ε that is at least 0, or refuse."""
    value = exact(epsilon)
    if value < 0:
        raise InvalidArgument("epsilon is out of range", must="be at least 0", got=str(epsilon))
    return value


def _numbers(loss: object) -> tuple[Fraction, Fraction]:
    if isinstance(loss, Pure):
        return loss.epsilon, Fraction(0)
    if isinstance(loss, Approximate):
        return loss.epsilon, loss.delta
    raise Unsupported(
        "Only (ε, δ) losses are composed here",
        must="be Pure or Approximate",
        got=getattr(getattr(loss, "measure", None), "value", type(loss).__name__),
        next="Compose losses of one other measure with composition.basic.compose, then convert",
    )


def _count(count: int) -> int:
    number = check.whole(count)
    if not 0 <= number <= LARGEST_COUNT:
        raise InvalidArgument(
            "count is out of range",
            must=f"lie between 0 and {LARGEST_COUNT}",
            got=str(count),
            next="Compose a batch first, and count the batches",
        )
    return number


def _power(base: Fraction, count: int) -> tuple[Fraction, Fraction]:
    """Enclose ``base**count`` for a base in (0, 1]."""
    if base == 1 or count * base.denominator.bit_length() <= _EXACT_BITS:
        return base**count, base**count
    log_low, log_high = log_bounds(base, 256 + count.bit_length())
    return exp_bounds(count * log_low, 256)[0], exp_bounds(count * log_high, 256)[1]


def _too_small(delta: Fraction, least: Fraction, what: str) -> Unsupported:
    return Unsupported(
        "The deltas of the losses use up this delta",
        must=f"be at least {what}, about {float(least):.3g}",
        got=f"{float(delta):.3g}",
        next="Ask at a larger delta",
    )
