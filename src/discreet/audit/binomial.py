"""Certified binomial tails, and the exact confidence bounds of Clopper and Pearson."""

from fractions import Fraction

from discreet.core.check import whole
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact

_BITS = 128
_ONE = 1 << _BITS
_SEARCH_STEPS = 40


def upper_tail_bound(successes: int, trials: int, probability: Fraction) -> Fraction:
    r"""Return a number that is certainly not below :math:`P[Bin(n, p) \ge k]`.

    Guarantee:
        Proof. Let :math:`t_i` be the probability of :math:`i` successes over that of the most
        likely number. The tail is :math:`\sum_{i \ge k} t_i / \sum_i t_i`. Neighbouring terms have
        the rational ratio :math:`t_{i+1}/t_i = (n-i)p / ((i+1)(1-p))`, so integers in units of
        :math:`2^{-128}`, rounded up, bound the terms above the line, and rounded down, some of the
        terms below it; leaving terms out below the line only raises the quotient. Above the line
        the ratios fall, so once a ratio is :math:`r < 1` the rest is at most
        :math:`t_i r / (1 - r)`.

    Example:
        >>> float(upper_tail_bound(2, 2, Fraction(1, 2)))
        0.25
    """
    if successes <= 0 or probability >= 1:
        return Fraction(1)
    if successes > trials or probability <= 0:
        return Fraction(0)
    yes, no = probability.numerator, probability.denominator - probability.numerator
    mode = min(trials, (trials + 1) * yes // (yes + no))
    if successes <= mode:
        return Fraction(1)
    reached = _ONE
    for index in range(mode, successes):
        reached = -(-reached * (trials - index) * yes // ((index + 1) * no))
    tail = reached + _rest(reached, successes, trials, yes, no)
    whole_sum = _ONE + _sum_down(mode, trials, yes, no) + _sum_down(trials - mode, trials, no, yes)
    return min(Fraction(1), Fraction(tail, whole_sum))


def _sum_down(mode: int, trials: int, yes: int, no: int) -> int:
    """Add the terms above the mode, rounded down, while they still matter."""
    term, added = _ONE, 0
    for index in range(mode, trials):
        term = term * (trials - index) * yes // ((index + 1) * no)
        added += term
        if not term >> (_BITS - 40):
            break
    return added


def _rest(term: int, index: int, trials: int, yes: int, no: int) -> int:
    """Bound from above the sum of all terms after ``index``, whose own term is at most ``term``."""
    added, start = 0, term
    while index < trials:
        above, divisor = (trials - index) * yes, (index + 1) * no
        if term << 40 <= start and above < divisor:
            return added - (-term * above // (divisor - above))
        term = -(-term * above // divisor)
        added += term
        index += 1
    return added


def lower_confidence(successes: int, trials: int, failure: Number) -> Fraction:
    r"""Return a lower confidence bound on a probability [CP34].

    Guarantee:
        Whatever the true :math:`p`, the bound exceeds it with probability at most ``failure``.

        Proof. A value :math:`b` is returned for :math:`k` successes only if
        :math:`P[Bin(n, b) \ge k] \le \beta`, by a certified tail. The tail grows with its
        probability, so if :math:`b > p` then :math:`P[Bin(n, p) \ge k] \le \beta`. The numbers
        :math:`k` with that property are the top ones, and together have probability at most
        :math:`\beta` under :math:`p`. The search affects how tight the bound is, never its truth.

    Example:
        >>> float(lower_confidence(10, 10, "0.05")) < 0.05 ** 0.1
        True
    """
    failure = _checked(successes, trials, failure)
    if successes == 0:
        return Fraction(0)
    guess = Fraction(successes, trials)
    good = guess
    while upper_tail_bound(successes, trials, good) > failure:
        good /= 2
    bad = min(guess, 2 * good)
    for _ in range(_SEARCH_STEPS):
        middle = _between(good, bad)
        if upper_tail_bound(successes, trials, middle) <= failure:
            good = middle
        else:
            bad = middle
    return good


def upper_confidence(successes: int, trials: int, failure: Number) -> Fraction:
    """Return an upper confidence bound: the true probability exceeds it at most ``failure`` often.

    Proof. The failures are binomial too: one minus a lower bound on their probability. The search
    runs on the probability itself, so that a small bound is as tight as a large one.

    Example:
        >>> float(upper_confidence(0, 100, "0.05")) > 1 - 0.05 ** 0.01
        True
    """
    failure = _checked(successes, trials, failure)
    misses = trials - successes
    if misses == 0:
        return Fraction(1)
    bad = Fraction(successes, trials)
    good = min(Fraction(1), 2 * bad + Fraction(1, trials))
    while upper_tail_bound(misses, trials, 1 - good) > failure:
        bad, good = good, min(Fraction(1), 2 * good)
    for _ in range(_SEARCH_STEPS):
        middle = _between(good, bad)
        if upper_tail_bound(misses, trials, 1 - middle) <= failure:
            good = middle
        else:
            bad = middle
    return good


def _between(first: Fraction, second: Fraction) -> Fraction:
    """Return a number near the middle with few digits, so that the search stays quick."""
    middle = (first + second) / 2
    gap = abs(first - second)
    shift = max(1, gap.denominator.bit_length() - gap.numerator.bit_length() + 4)
    return Fraction(middle.numerator * (1 << shift) // middle.denominator, 1 << shift)


def _checked(successes: int, trials: int, failure: Number) -> Fraction:
    if not 0 <= whole(successes) <= whole(trials) or whole(trials) < 1:
        raise InvalidArgument(
            "The counts are out of range", must="have 0 <= successes <= trials and trials above 0"
        )
    failure = exact(failure)
    if not 0 < failure < 1:
        raise InvalidArgument(
            "failure is out of range", must="lie strictly between 0 and 1", got=str(failure)
        )
    return failure
