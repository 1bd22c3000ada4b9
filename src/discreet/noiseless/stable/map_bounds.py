"""How often one row changes which law is the most likely one: bounds, and exact enumeration."""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache

from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact
from discreet.core.rounding import exp_down, exp_up, log_up, short_up
from discreet.noiseless.stable.row_families import RowFamily, affinity_up

_POWERS = tuple(Fraction(step, 20) for step in range(1, 20))
MOST_WORK = 120_000
"""So many combinations of rows are enumerated at most."""


def uniform(family: RowFamily) -> tuple[Fraction, ...]:
    """Return equal weights."""
    return (Fraction(1, family.size),) * family.size


@lru_cache(maxsize=512)
def log_affinity_up(family: RowFamily, first: int, second: int, power: Fraction) -> Fraction:
    """Return a number not below the logarithm of the affinity, and not above 0."""
    return min(Fraction(0), log_up(affinity_up(family, first, second, power)))


def source_instability(
    family: RowFamily,
    others: int,
    *,
    weights: Sequence[Fraction] | None = None,
    power: Number = "1/2",
) -> Fraction:
    r"""Return :math:`(k-1)\,\tau\,(M+1)\,e^{-nu}`, rounded up [Gro14, theorem 6.3].

    Guarantee:
        An upper bound of the instability of the MAP release if no row is known. Here
        :math:`u = \min_{i \ne j} -\ln E_{f_j}[(f_i/f_j)^s]` and :math:`\tau` is the largest ratio
        of two weights. The expectation is under :math:`f_j`, which the source does not say, and
        the laws must differ, which its theorem leaves out: a :class:`RowFamily` has no two alike.

    Example:
        >>> from discreet.noiseless.stable.row_families import finite_family
        >>> coins = finite_family({"a": ["0.4", "0.6"], "b": ["0.6", "0.4"]})
        >>> round(float(source_instability(coins, 100)), 3)
        0.325
    """
    prior = weights or uniform(family)
    at = exact(power)
    largest = max(log_affinity_up(family, i, j, at) for i, j in _pairs(family.size))
    tau = max(prior) / min(prior)
    bound = (family.size - 1) * tau * (family.ratio + 1) * exp_up(others * largest)
    return min(Fraction(1), short_up(bound))


def chernoff_instability(
    family: RowFamily, others: int, known: int, weights: Sequence[Fraction]
) -> Fraction:
    r"""Return an upper bound of the instability, with the best exponents.

    Guarantee:
        Let :math:`h = n - L` of the :math:`n` other rows be hidden, and :math:`f_j` be true. The
        outcome can change only if it is not :math:`j` with the row or without it. Law :math:`i`
        beats :math:`j` only if :math:`\frac{\pi_i}{\pi_j} \prod \frac{f_i}{f_j} \ge 1`, over known
        rows, hidden rows and, with the person, :math:`x_i`. Known factors are at most :math:`M`
        each, so by Markov's inequality for the power :math:`s` the chance is at most
        :math:`(\pi_i M^L/\pi_j)^s E_{f_j}[(f_i/f_j)^s]^h`, and with the person :math:`M^s` times
        that. Add over :math:`i \ne j`, and take the worst :math:`j`; each pair has its own best
        :math:`s`. ∎

        The source subtracts known rows from :math:`n` and leaves :math:`M^L` out
        [Gro14, corollary 6.1]. That is wrong: known rows take part in the release, and the
        adversary knows which way they push it.
    """
    ratio = log_up(family.ratio)
    worst = Fraction(0)
    for j in range(family.size):
        added = Fraction(0)
        for i in range(family.size):
            if i != j:
                pushed = log_up(weights[i] / weights[j]) + known * ratio
                added += min(
                    exp_up(_short(s * pushed + (others - known) * log_affinity_up(family, i, j, s)))
                    * (1 + exp_up(_short(s * ratio)))
                    for s in _POWERS
                )
        worst = max(worst, added)
    return min(Fraction(1), short_up(worst))


def _short(value: Fraction) -> Fraction:
    """Round an exponent up, and keep it where exponentials are computed."""
    return min(short_up(value, 96), Fraction(1000))


def pure_growth(
    family: RowFamily, others: int, known: int, weights: Sequence[Fraction], share: Fraction
) -> Fraction | None:
    r"""Return an upper bound of :math:`e^\epsilon` with δ = 0, or None if there is none.

    Guarantee:
        If every law is true with probability at least λ (``share``), then
        :math:`e^\epsilon = \frac{1 + (M^{L+1}/\lambda - 1)\beta}{1 - (k-1)\beta}` with
        :math:`\beta = \max_{i \ne j} \min_s (\pi_i M^{L+1}/\pi_j)^s E_{f_j}[(f_i/f_j)^s]^{n-L}`.
        Proof. Given what is known, law :math:`j` has some probability
        :math:`\hat p_j \ge \lambda / M^{L+1}`. Both with the row and without it, outcome :math:`j`
        has a probability between :math:`\hat p_j(1 - (k-1)\beta)` and
        :math:`\hat p_j + (1 - \hat p_j)\beta`. The quotient of these, with the *same*
        :math:`\hat p_j` in both, is the bound [Gro14, theorem 6.4, with its proof mended].

    Example:
        >>> from discreet.noiseless.stable.row_families import finite_family
        >>> coins = finite_family({"a": ["0.4", "0.6"], "b": ["0.6", "0.4"]})
        >>> growth = pure_growth(coins, 500, 0, uniform(coins), Fraction(1, 10))
        >>> math.log(growth) < 8.3e-4
        True
    """
    ratio = log_up(family.ratio)
    beta = max(
        min(
            exp_up(
                _short(
                    s * (log_up(weights[i] / weights[j]) + (known + 1) * ratio)
                    + (others - known) * log_affinity_up(family, i, j, s)
                )
            )
            for s in _POWERS
        )
        for i, j in _pairs(family.size)
    )
    return growth_from(beta, family, known, share)


def growth_from(beta: Fraction, family: RowFamily, known: int, share: Fraction) -> Fraction | None:
    """Return the quotient of the theorem from β, or None where it says nothing."""
    below = 1 - (family.size - 1) * beta
    if below <= 0:
        return None
    return short_up((1 + (family.ratio ** (known + 1) / share - 1) * beta) / below)


def _pairs(size: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(size) for j in range(size) if i != j]


def compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Yield every way to write ``total`` as so many counts.

    Example:
        >>> list(compositions(2, 2))
        [(0, 2), (1, 1), (2, 0)]
    """
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in compositions(total - first, parts - 1):
            yield (first, *rest)


def work_of(family: RowFamily, others: int, known: int) -> int:
    """Return how many combinations an enumeration looks at."""
    values = len(family.masses[0])

    def kinds(n: int) -> int:
        return math.comb(n + values - 1, values - 1)

    return kinds(others - known) * kinds(known) * values * family.size


def exact_deltas(
    family: RowFamily,
    others: int,
    known: int,
    weights: Sequence[Fraction],
    epsilon: Fraction,
) -> tuple[Fraction, Fraction]:
    r"""Return the exact instability, and δ at an ε rounded up, by enumeration.

    Guarantee:
        The worst over the true law, the person's value and the values of the known rows. Rows are
        interchangeable, so counts of values are enumerated, with whole numbers throughout; ties go
        to the first law. Which law is true may be random: δ is convex, so no mixture is worse.
    """
    if not family.is_exact or work_of(family, others, known) > MOST_WORK:
        raise InvalidArgument("Too much to enumerate", must="have finitely many values, and fewer")
    growth = exp_down(epsilon)
    values = len(family.masses[0])
    hidden = list(compositions(others - known, values))
    winner = _Winner(family, weights)
    flips = delta = Fraction(0)
    for law in range(family.size):
        chances = [winner.chance(law, counts) for counts in hidden]
        whole = sum(chances)
        for pushed in compositions(known, values):
            outcomes = [_Outcomes(winner, counts, pushed) for counts in hidden]
            for value in range(values):
                with_row, without, changed = [0] * family.size, [0] * family.size, 0
                for chance, outcome in zip(chances, outcomes, strict=True):
                    first, second = outcome.with_row(value), outcome.without
                    with_row[first] += chance
                    without[second] += chance
                    changed += chance if first != second else 0
                flips = max(flips, Fraction(changed, whole))
                delta = max(delta, _divergence(with_row, without, whole, growth))
    return flips, short_up(delta)


def _divergence(first: list[int], second: list[int], whole: int, growth: Fraction) -> Fraction:
    """Return the larger of both hockey-stick divergences of two laws, given as weights."""
    one = sum((max(Fraction(0), a - growth * b) for a, b in zip(first, second, strict=True)))
    two = sum((max(Fraction(0), b - growth * a) for a, b in zip(first, second, strict=True)))
    return max(Fraction(one), Fraction(two)) / whole


class _Winner:
    """Which law is the most likely one, by exact products; and how likely counts are."""

    def __init__(self, family: RowFamily, weights: Sequence[Fraction]) -> None:
        scale = math.lcm(*(value.denominator for law in family.masses for value in law))
        self._laws = [[int(value * scale) for value in law] for law in family.masses]
        scale = math.lcm(*(weight.denominator for weight in weights))
        self._weights = [int(weight * scale) for weight in weights]
        self._found: dict[tuple[int, ...], int] = {}

    def of(self, counts: tuple[int, ...]) -> int:
        if counts not in self._found:
            scores = [
                weight * self._product(law, counts) for law, weight in enumerate(self._weights)
            ]
            self._found[counts] = scores.index(max(scores))
        return self._found[counts]

    def _product(self, law: int, counts: tuple[int, ...]) -> int:
        return math.prod(pow(v, count) for v, count in zip(self._laws[law], counts, strict=True))

    def chance(self, law: int, counts: tuple[int, ...]) -> int:
        left, ways = sum(counts), 1
        for count in counts:
            ways *= math.comb(left, count)
            left -= count
        return ways * self._product(law, counts)


class _Outcomes:
    """What is released of hidden and known rows, with a row more and without."""

    def __init__(self, winner: _Winner, hidden: tuple[int, ...], known: tuple[int, ...]) -> None:
        self._winner = winner
        self._counts = tuple(a + b for a, b in zip(hidden, known, strict=True))
        self.without = winner.of(self._counts)

    def with_row(self, value: int) -> int:
        counts = self._counts
        return self._winner.of((*counts[:value], counts[value] + 1, *counts[value + 1 :]))
