"""How often one row changes which law is the most likely one: bounds by Chernoff."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache

from discreet.core.numbers import Number, exact, log_bounds
from discreet.core.rounding import exp_up, log_up, short_up
from discreet.noiseless.stable.row_enumeration import Counts
from discreet.noiseless.stable.row_families import RowFamily, affinity_up

_LOG_BITS = 160
_POWERS = tuple(Fraction(step, 20) for step in range(1, 20))


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
        >>> from discreet.noiseless import finite_family
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
        >>> from discreet.noiseless import finite_family
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


def likeliest(family: RowFamily, weights: Sequence[Fraction]) -> Callable[[Counts], int]:
    """Return the function that says which law is the most likely one; ties go to the first.

    Logarithms are enclosed, and where they do not decide, whole numbers do.
    """
    scale = math.lcm(*(value.denominator for law in family.masses for value in law))
    laws = [[int(value * scale) for value in law] for law in family.masses]
    scale = math.lcm(*(weight.denominator for weight in weights))
    starts = [int(weight * scale) for weight in weights]
    logs = [
        [_log_within(start), *map(_log_within, law)]
        for start, law in zip(starts, laws, strict=True)
    ]

    def decide(counts: Counts) -> int:
        times = (1, *counts)
        lows = [sum(n * low for n, (low, _) in zip(times, law, strict=True)) for law in logs]
        best = lows.index(max(lows))
        most = max(
            sum(n * high for n, (_, high) in zip(times, law, strict=True))
            for place, law in enumerate(logs)
            if place != best
        )
        return best if lows[best] > most else exactly(counts)

    def exactly(counts: Counts) -> int:
        scores = [
            start * math.prod(v**count for v, count in zip(law, counts, strict=True))
            for start, law in zip(starts, laws, strict=True)
        ]
        return scores.index(max(scores))

    return decide


def _log_within(value: int) -> tuple[int, int]:
    """Enclose the logarithm of a whole number, in units of a tiny size."""
    low, high = log_bounds(Fraction(value), _LOG_BITS)
    return math.floor(low * (1 << _LOG_BITS)), math.ceil(high * (1 << _LOG_BITS))
