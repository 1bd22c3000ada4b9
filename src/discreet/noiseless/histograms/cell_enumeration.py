r"""What a truncated count and all other rows tell, for one cell and any law of sizes: exact sums.

Of the released histogram, only the count :math:`m` of the person's cell and the number :math:`r` of
rows elsewhere matter: given both, all other cells have the same law with the person and without.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction

from attrs import field, frozen

from discreet.core.check import at_least_one
from discreet.core.errors import InvalidArgument
from discreet.core.rounding import exp_down, exp_up, short_down, short_up
from discreet.noiseless.histograms.cell_terms import capped
from discreet.noiseless.histograms.poisson_cells import TwoSides
from discreet.noiseless.histograms.size_laws import OtherRows

_BITS = 100
_ONE = 1 << _BITS
MOST_PAIRS = 3_000_000

Step = Callable[[int, int], tuple[int, int]]
"""From the number of others and a count, the ratio of the next probability to this one."""


@frozen
class CellLaw:
    """How many of a number of others are in the person's cell.

    Attributes:
        step: The ratio of the probabilities of ``count + 1`` and ``count``, above and below.
        least: The least count there can be among a number of others.
        most: The largest.
        top: Near the likeliest.
    """

    step: Step
    least: Callable[[int], int]
    most: Callable[[int], int]
    top: Callable[[int], int]


def share_of_rows(share: Fraction) -> CellLaw:
    """Return the law for independent rows, each in the cell with a given probability."""
    if not 0 < share < 1:
        raise InvalidArgument(
            "The share of a cell is out of range", must="lie between 0 and 1", got=str(share)
        )
    yes, no = share.numerator, share.denominator - share.numerator
    return CellLaw(
        lambda others, count: ((others - count) * yes, (count + 1) * no),
        lambda others: 0,
        lambda others: others,
        lambda others: (others + 1) * yes // (yes + no),
    )


def part_of_population(population: int, cell: int) -> CellLaw:
    """Return the law for a sample without replacement: of all but the person, who is in the cell.

    One person of the population and of the cell is the person, so one fewer of each is left.
    """
    people = at_least_one(population, "population") - 1
    here = at_least_one(cell, "cell") - 1
    if here > people:
        raise InvalidArgument("The cell is larger than the population", must="be a part of it")
    elsewhere = people - here
    return CellLaw(
        lambda others, count: (
            (here - count) * (others - count),
            (count + 1) * (elsewhere - others + count + 1),
        ),
        lambda others: max(0, others - elsewhere),
        lambda others: min(here, others),
        lambda others: (others + 1) * (here + 1) // (people + 2),
    )


@frozen
class CountLine:
    """Probabilities of counts for one number of others, in units that cancel.

    Attributes:
        first: The count of the first entry.
        terms: Each is below the true multiple, by at most ``error``.
        total: The sum of the true multiples is between this and ``total_up``.
    """

    first: int
    terms: list[int]
    error: int
    total: int
    total_up: int

    def down(self, count: int) -> int:
        """Return the multiple of a count, rounded down."""
        place = count - self.first
        return self.terms[place] if 0 <= place < len(self.terms) else 0


def count_line(law: CellLaw, others: int) -> CountLine:
    """Return the line of a number of others; outwards from the top, ratios are at most 1.

    Each floor loses less than one unit, and earlier losses shrink, so a term is too small by at
    most as many units as there are steps. What is not listed is as small as that.
    """
    least, most = law.least(others), law.most(others)
    if least > most:
        raise InvalidArgument(
            "The law of sizes does not fit the population",
            must="have no size above that of the population",
        )
    top = min(max(law.top(others), least), most)
    up, down = [_ONE], []
    for count in range(top, most):
        above, below = law.step(others, count)
        up.append(up[-1] * above // below)
        if not up[-1]:
            break
    term = _ONE
    for count in range(top, least, -1):
        above, below = law.step(others, count - 1)
        term = term * below // above
        if not term:
            break
        down.append(term)
    terms = down[::-1] + up
    # The top may be one off the likeliest, where a ratio is above 1 and a loss grows: hence twice.
    error = 2 * len(terms) + 2
    total = sum(terms)
    return CountLine(top - len(down), terms, error, total, total + error * (most - least + 1))


@frozen
class CellEnumeration:
    """The sums over counts and numbers of rows elsewhere, for a law of sizes and of the cell."""

    sizes: OtherRows
    law: CellLaw
    lines: dict[int, CountLine] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        pairs = 0
        for place in range(len(self.sizes.real)):
            others = self.sizes.first + place
            self.lines[others] = count_line(self.law, others)
            pairs += len(self.lines[others].terms)
            if pairs > MOST_PAIRS:
                raise InvalidArgument(
                    "There is too much to add up", must=f"be at most {MOST_PAIRS} pairs of counts"
                )

    def sides(self, epsilon: Fraction, truncation: int) -> TwoSides:
        r"""Return both δ, rounded up.

        With :math:`O_s` the law of the count among :math:`s` others and :math:`q, q'` the laws of
        sizes, released is :math:`P(m, r) = q(m+r-1)\,O_{m+r-1}(m-1)`, simulated
        :math:`Q(m, r) = q'(m+r)\,O_{m+r}(m)`; counts below k are one outcome for each r.
        """
        slack = self.sizes.rounded
        bound = exp_down(capped(epsilon) - 2 * slack)
        growth = (bound.numerator << _BITS) // bound.denominator
        present = absent = 0
        for real, real_up, simulated, simulated_up in self._outcomes(truncation):
            present += max(0, (real_up << _BITS) - growth * simulated)
            absent += max(0, (simulated_up << _BITS) - growth * real)
        scale = exp_up(slack) / (_ONE << _BITS)
        beyond = self.sizes.beyond
        return TwoSides(short_up(present * scale + beyond), short_up(absent * scale + beyond))

    def _outcomes(self, truncation: int) -> Iterator[tuple[int, int, int, int]]:
        """Yield, for each outcome, its probability in both worlds, rounded down and up."""
        hidden: dict[int, list[int]] = {}
        for others, line in self.lines.items():
            real, real_up = self._weights(self.sizes.real_at(others), line)
            simulated, simulated_up = self._weights(self.sizes.simulated_at(others), line)
            after = self.lines.get(others + 1)
            next_up = next_down = 0
            if after is not None:
                next_down, next_up = self._weights(self.sizes.simulated_at(others + 1), after)
            for count, term in enumerate(line.terms, line.first):
                one, one_up = term * real >> _BITS, ((term + line.error) * real_up >> _BITS) + 1
                if count + 1 >= truncation:
                    low = high = 0
                    if after is not None:
                        seen = after.down(count + 1)
                        low = seen * next_down >> _BITS
                        high = ((seen + after.error) * next_up >> _BITS) + 1
                    yield one, one_up, low, high
                else:
                    kept = hidden.setdefault(others - count, [0, 0, 0, 0])
                    kept[0] += one
                    kept[1] += one_up
                if count < truncation:
                    kept = hidden.setdefault(others - count, [0, 0, 0, 0])
                    kept[2] += term * simulated >> _BITS
                    kept[3] += ((term + line.error) * simulated_up >> _BITS) + 1
                elif others - 1 not in self.lines or self.lines[others - 1].down(count - 1) == 0:
                    yield 0, 0, 0, ((term + line.error) * simulated_up >> _BITS) + 1
        for real, real_up, simulated, simulated_up in hidden.values():
            yield real, real_up, simulated, simulated_up

    @staticmethod
    def _weights(weight: Fraction, line: CountLine) -> tuple[int, int]:
        scaled = weight.numerator << (2 * _BITS)
        low = scaled // (weight.denominator * line.total_up)
        return low, -(-scaled // (weight.denominator * line.total))


def cell_sides(epsilon: Fraction, truncation: int, sizes: OtherRows, law: CellLaw) -> TwoSides:
    r"""Return both δ of one cell, for a law of sizes, rounded up.

    Guarantee:
        The divergence of (count or "less than k", rows elsewhere) with the person and without. It
        is that of the whole histogram if all other cells are shown, and an upper bound if not, for
        what is shown is a function of them. Proof. Given the rows elsewhere, who they are does not
        depend on the cell of the person, in both worlds alike.

    Example:
        >>> from discreet.noiseless import two_sided_geometric
        >>> nearly_all = part_of_population(20000, 200)
        >>> sizes = two_sided_geometric(19900, "0.2", largest=20000)
        >>> round(float(cell_sides(Fraction(3, 5), 2, sizes, nearly_all).worst), 3)
        0.368
    """
    return CellEnumeration(sizes, law).sides(epsilon, truncation)


def any_simulator_delta(
    epsilon: Fraction, sizes: OtherRows, *, population: int, cell: int
) -> Fraction:
    r"""Return a lower bound of δ for *every* simulator, rounded down.

    Guarantee:
        Let the person be in this cell, or else elsewhere with a population that has one fewer here
        and one more there. All others have the same law in both cases, so a simulator says the same
        in both. If it is :math:`(\epsilon, \delta)`-close to both releases, these are
        :math:`(2\epsilon, (1 + e^\epsilon)\delta)`-close to one another. So
        :math:`\delta \ge D_{2\epsilon}(P \| P') / (1 + e^\epsilon)`, and :math:`D` is computed for
        the count here and the number elsewhere: a function of the histogram, if all is shown.

        This refutes [Gro14, theorem 6.5] as it is stated: no k helps if nearly everyone of the
        cell is in the sample.

    Example:
        >>> from discreet.noiseless import two_sided_geometric
        >>> sizes = two_sided_geometric(19900, "0.2", largest=20000)
        >>> bound = any_simulator_delta(Fraction(3, 5), sizes, population=20000, cell=200)
        >>> round(float(bound), 3)
        0.13
    """
    law = part_of_population(population, cell)
    growth = exp_up(2 * epsilon)
    found = Fraction(0)
    for place, weight in enumerate(sizes.real):
        line = count_line(law, sizes.first + place)
        inside = 0
        for count, term in enumerate(line.terms, line.first):
            moved = line.down(count + 1) + line.error
            gap = term - growth * moved
            inside += max(0, gap.numerator // gap.denominator)
        found += weight * inside / line.total_up
    lowest = exp_down(-sizes.rounded) * found / (1 + exp_up(epsilon))
    return max(Fraction(0), short_down(lowest))
