"""How many rows there are, as somebody is uncertain of it: laws of sizes, exact or enclosed."""

from collections.abc import Mapping
from fractions import Fraction

from attrs import frozen

from discreet.core.check import at_least_one, whole
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact, written
from discreet.core.rounding import dyadic_up, exp_down, exp_up, short_up
from discreet.noiseless.histograms.cell_terms import poisson_term_up

_BITS = 96
_CUT = Fraction(1, 1 << 70)
_ROUNDED = Fraction(1, 1 << 60)
MOST_SIZES = 20_000


@frozen(cache_hash=True)
class OtherRows:
    r"""How many rows other than the person's are counted: in truth, and as the simulator has it.

    Attributes:
        first: The least number of other rows that is listed.
        real: The probability of each number from ``first`` on, if the person is among the rows.
        simulated: What the simulator has for the same numbers; it counts the others alone.
        beyond: At least the probability of what is not listed.
        rounded: Each probability is within :math:`e^{\pm rounded}` of the true one.
        words: The law of sizes, in words.
    """

    first: int
    real: tuple[Fraction, ...]
    simulated: tuple[Fraction, ...]
    beyond: Fraction
    rounded: Fraction
    words: str

    def real_at(self, others: int) -> Fraction:
        """Return the probability of a number of other rows."""
        place = others - self.first
        return self.real[place] if 0 <= place < len(self.real) else Fraction(0)

    def simulated_at(self, others: int) -> Fraction:
        """Return the simulator's probability of a number of rows."""
        place = others - self.first
        return self.simulated[place] if 0 <= place < len(self.simulated) else Fraction(0)


def size_law(sizes: Mapping[int, Number], words: str = "a given law of sizes") -> OtherRows:
    """Return the law of the others if all rows together have a given law of sizes.

    The person has a row, so size 0 is left out, and the rest is scaled to 1. The simulator counts
    the others: one fewer.

    Example:
        >>> size_law({9: "1/2", 10: "1/2"}).real
        (Fraction(1, 2), Fraction(1, 2))
    """
    law = {whole(size): exact(weight) for size, weight in sizes.items()}
    if not law or min(law) < 0 or min(law.values()) < 0 or sum(law.values()) != 1:
        raise InvalidArgument(
            "The law of sizes cannot be true",
            must="give sizes from 0 on probabilities that add up to 1 exactly",
        )
    return _of_weights({size: weight for size, weight in law.items() if weight}, words)


def _of_weights(
    law: Mapping[int, Fraction],
    words: str,
    *,
    beyond: Fraction = Fraction(0),
    rounded: Fraction = Fraction(0),
) -> OtherRows:
    """Return the law of the others from weights of sizes; size 0 is left out."""
    kept = {size - 1: weight for size, weight in law.items() if size >= 1}
    if not kept:
        raise InvalidArgument("There is never a row", must="have a size of at least 1")
    if max(kept) - min(kept) > MOST_SIZES:
        raise InvalidArgument("The sizes spread too far", must=f"span at most {MOST_SIZES}")
    total = sum(kept.values()) + (beyond if rounded else 0)
    first, last = min(kept), max(kept)
    real = tuple(kept.get(size, Fraction(0)) / total for size in range(first, last + 1))
    return OtherRows(first, real, real, short_up(beyond / total), rounded, words)


def two_sided_geometric(centre: int, epsilon: Number, *, largest: int | None = None) -> OtherRows:
    r"""Return sizes with probability proportional to :math:`e^{-\epsilon|n - centre|}`, from 1 on.

    No size is above ``largest``, such as the number of people that there are.

    Neighbouring sizes differ by a factor of :math:`e^\epsilon` everywhere: this is the law that a
    released size with discrete Laplace noise leaves.

    Example:
        >>> two_sided_geometric(100, "0.5").first < 50
        True
    """
    middle, slope = at_least_one(centre, "centre"), _slope(epsilon)
    law, step = {}, 0
    while (weight := exp_up(-slope * step)) > _CUT * min(Fraction(1), slope):
        for size in {middle - step, middle + step}:
            if size >= 1 and (largest is None or size <= largest):
                law[size] = dyadic_up(weight, _BITS)
        step += 1
    beyond = 2 * exp_up(-slope * step) / (1 - exp_up(-slope))
    words = f"about {middle} rows, with two-sided geometric uncertainty of ε = {written(slope)}"
    return _of_weights(law, words, beyond=beyond, rounded=_ROUNDED)


def _slope(epsilon: Number) -> Fraction:
    slope = exact(epsilon)
    if not Fraction(1, 100) <= slope <= 20:
        raise InvalidArgument("epsilon is out of range", must="be from 0.01 to 20", got=str(slope))
    return slope


def poisson_sizes(mean: Number) -> OtherRows:
    """Return a Poisson number of rows, as a law of sizes: that of the others is moved by one.

    Example:
        >>> poisson_sizes(4).first
        0
    """
    average = exact(mean)
    if not 0 < average <= 1_000_000:
        raise InvalidArgument("mean is out of range", must="be above 0, at most 1e6", got=str(mean))
    middle = average.numerator // average.denominator
    top = dyadic_up(poisson_term_up(average, middle), 2 * _BITS)
    law, beyond = {middle: top}, Fraction(0)
    for step in (1, -1):
        weight, size = top, middle
        while weight > _CUT and size + step >= 0:
            weight = dyadic_up(
                weight * (average / (size + 1) if step > 0 else size / average), 2 * _BITS
            )
            size += step
            law[size] = weight
        ratio = average / (size + 1) if step > 0 else size / average
        beyond += weight * ratio / (1 - ratio) if ratio < 1 else weight
    return _of_weights(
        law, f"a Poisson number of rows, {average} on average", beyond=beyond, rounded=_ROUNDED
    )


def unsmooth_mass(sizes: OtherRows, epsilon: Number, *, both: bool = True) -> Fraction:
    r"""Return how likely a size is whose neighbour is not within :math:`e^{\pm\epsilon}`.

    The source looks at the size below, for a size that is drawn [Gro14, definition 6.1]. The
    simulator needs the size above as well (``both``): with all of the uncertainty on one side, the
    largest size is possible with the person alone. The sum is rounded up; the printed lemmas on
    Poisson and binomial sizes [Gro14, lemmas 6.3 and 6.4] are too small, and not used.

    Example:
        >>> float(unsmooth_mass(poisson_sizes(100), "0.3", both=False)) > 4e-3
        True
    """
    at = exact(epsilon)
    low, high = exp_down(-at - 2 * sizes.rounded), exp_up(at + 2 * sizes.rounded)
    mass = sizes.beyond
    for place, weight in enumerate(sizes.real):
        size = sizes.first + place
        below, above = sizes.real_at(size - 1), sizes.real_at(size + 1)
        is_smooth = low * below <= weight <= high * below
        if both:
            is_smooth = is_smooth and low * weight <= above <= high * weight
        mass += 0 if is_smooth else weight
    return min(Fraction(1), short_up(mass))
