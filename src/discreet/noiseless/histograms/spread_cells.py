"""What a truncated count tells for any law of sizes and any share of the cell: upper bounds."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property

from attrs import frozen

from discreet.core.rounding import Ends, exp_down, exp_up, log_down, log_up, short_up
from discreet.noiseless.histograms.cell_terms import (
    capped,
    log_factorial,
    poisson_term_up,
    sum_of_products_down,
)
from discreet.noiseless.histograms.poisson_cells import NOTHING_HIDDEN, TwoSides, poisson_sides
from discreet.noiseless.histograms.size_laws import OtherRows

_PARTS = tuple(Fraction(step, 20) for step in (1, 2, 4, 6, 8, 10))


def spread_sides(
    epsilon: Fraction, truncation: int, sizes: OtherRows | Sequence[OtherRows], *, known: int = 0
) -> TwoSides:
    r"""Return both δ of a cell of independent rows, for the worst share of the cell.

    ``sizes`` counts all rows, of which at most ``known`` are known to the adversary; ``truncation``
    is what is left of k without them.

    Guarantee:
        An upper bound for every probability :math:`p` of the cell. Let :math:`q, q'` be the laws of
        the number of others, in truth and simulated; :math:`B_n` binomial with :math:`n` and
        :math:`p`, :math:`\mu = np`. Released is :math:`P(m, r) = q(n-1) \frac{m}{\mu} B_n(m)` and
        simulated :math:`Q(m, r) = q'(n) B_n(m)`, with :math:`n = m + r`. For any η:

        *The release beside the simulator, counts from k on.* If
        :math:`q'(n) \ge e^{-\eta} q(n-1)`, the sum over :math:`m` is at most :math:`q(n-1)` times
        that of Poisson cells at :math:`\epsilon - \eta`; else at most :math:`q(n-1)`. Proof. For
        fixed :math:`n` the divergence is the largest of
        :math:`P[1 + Bin(n-1, p) \ge a] - e^\epsilon P[Bin(n, p) \ge a]`, :math:`a \ge k`. Its
        derivative in :math:`p` has the sign of :math:`(a-1) - e^\epsilon np`, and one more order
        statistic multiplies the distance to 1 by an independent factor that is the same for
        both terms, so as for Poisson cells the worst is :math:`a = k`,
        :math:`np = (k-1)e^{-\epsilon}`. There it is :math:`E[(m - k + 1)_+]/\mu`, a convex function
        of a binomial count, and no larger for it than for the Poisson count of the same mean
        [Hoe56]. *Less than k*: at most :math:`\sum_s (q(s) - e^\epsilon q'(s))_+`, as the person
        only makes it less likely.

        *The simulator beside the release, counts from k on.* Likewise, with
        :math:`q(n-1) \ge e^{-\eta} q'(n)`: only means above :math:`k e^{\epsilon-\eta}` matter,
        where :math:`E[(1 - e^{\epsilon-\eta} m/\mu)_+]` is convex in :math:`m`, no larger than for
        the Poisson count, and falls in the mean (thinning keeps :math:`m/\mu` on average). *Less
        than k*: with :math:`q(s) \ge e^{-\kappa} q'(s)` the difference at :math:`r` is
        at most :math:`q'(n) B_n(k-1) - (e^{\epsilon-\kappa} - 1) \sum_{j<k-1} q'(j+r) B_{j+r}(j)`,
        :math:`n = k-1+r`. A term of the sum is the one above it times
        :math:`\frac{q'(n-1)}{q'(n)} \frac{j}{(j+r)p} \ge e^{-\eta} j/\mu`. So the difference is at
        most :math:`q'(n) B_n(k-1)(1 - (e^{\epsilon-\kappa}-1) R(\mu e^\eta))_+` with
        :math:`R(x) = \sum_i (k-1)\cdots(k-i) x^{-i}`, over as many terms as there are sizes
        below :math:`n` that are smooth. And :math:`B_n(k-1)` is at most
        :math:`c_n Po_\mu(k-1)`, where the largest quotient is at :math:`\mu = k-1` and falls in
        :math:`n`. The largest over :math:`\mu` is enclosed in small cells of :math:`\mu`. ∎

        *Known rows.* If :math:`\nu` rows are known, all of this is about the others: :math:`n` is a
        size less :math:`\nu`, and quotients of neighbouring sizes are what they were. Only where
        the proof asks for :math:`n \ge 2k`, sizes below :math:`2k` plus all known rows are given
        up, so that it holds for every number of known rows up to ``known``, in one cell or in many.

        *Several laws of sizes.* If ``sizes`` are several, they are parts of one: with which part it
        is, the adversary is told something more, and divergences of parts add up. The Poisson cells
        are then counted once, for all parts have the probability 1 together.

        η and the number of terms are chosen from a few; each choice is a bound.

    Example:
        >>> from discreet.noiseless import two_sided_geometric
        >>> sides = spread_sides(Fraction(3, 2), 40, two_sided_geometric(1000, "0.3"))
        >>> float(sides.worst) < 1e-5
        True
    """
    at = capped(epsilon)
    if truncation <= 1:
        return NOTHING_HIDDEN
    laws = (sizes,) if isinstance(sizes, OtherRows) else tuple(sizes)
    present = absent = Fraction(1)
    for part in _PARTS:
        found = _Smooth.of(laws, at * part)
        present = min(present, _present(at, truncation, found))
        for terms in sorted({min(truncation - 1, count) for count in (8, 20, 50, truncation)}):
            rough = found.rough_for(terms, 2 * truncation + known)
            if rough < absent:
                absent = min(absent, rough + _absent(at, truncation, found, terms))
    return TwoSides(short_up(present), short_up(absent))


@frozen
class _Smooth:
    """Which sizes are smooth enough for an η, of a law of sizes that has one part or several.

    Attributes:
        eta: η.
        laws: The parts.
        ahead: The probability that the size above is too rare for the simulator.
    """

    eta: Fraction
    laws: tuple[OtherRows, ...]
    ahead: Fraction

    @classmethod
    def of(cls, laws: tuple[OtherRows, ...], eta: Fraction) -> "_Smooth":
        ahead = Fraction(0)
        for sizes in laws:
            least, rare = exp_up(-eta + 4 * sizes.rounded), sizes.beyond
            for place, weight in enumerate(sizes.real):
                if sizes.simulated_at(sizes.first + place + 1) < least * weight:
                    rare += weight
            ahead += _scaled(rare, sizes)
        return cls(eta, laws, ahead)

    @property
    def kappa(self) -> Fraction:
        """Return κ; it is 0 if truth and simulator have the same sizes."""
        is_moved = any(sizes.real != sizes.simulated for sizes in self.laws)
        return self.eta if is_moved else Fraction(0)

    @cached_property
    def _runs(self) -> list[list[tuple[int, int, Fraction]]]:
        """By part and size: how many sizes up to it are smooth, the size, its probability.

        The first number is -1 if the size itself is too rare in truth.
        """
        found = []
        for sizes in self.laws:
            least, run = exp_up(-self.eta + 4 * sizes.rounded), 0
            runs = []
            for place, weight in enumerate(sizes.simulated):
                size = sizes.first + place
                is_close = sizes.real_at(size - 1) >= least * weight
                below = sizes.simulated_at(size - 1)
                is_step = below >= least * weight and sizes.real_at(size - 1) >= least * below
                run = run + 1 if is_step else 0
                runs.append((run if is_close else -1, size, weight))
            found.append(runs)
        return found

    def rough_for(self, terms: int, fewest: int) -> Fraction:
        """Return the simulator's probability of sizes that are too small, or not smooth below."""
        total = Fraction(0)
        for sizes, runs in zip(self.laws, self._runs, strict=True):
            rough = (weight for run, size, weight in runs if run < terms or size < fewest)
            total += _scaled(sum(rough, start=sizes.beyond), sizes)
        return min(Fraction(1), total)


def _scaled(mass: Fraction, sizes: OtherRows) -> Fraction:
    return short_up(mass * exp_up(sizes.rounded))


def _present(epsilon: Fraction, truncation: int, smooth: _Smooth) -> Fraction:
    shown = poisson_sides(epsilon - smooth.eta, truncation).present
    return shown + smooth.ahead + sum((_surplus(epsilon, one) for one in smooth.laws), Fraction(0))


def _surplus(epsilon: Fraction, sizes: OtherRows) -> Fraction:
    """Return what the truth has of sizes of which the simulator has too little."""
    growth = exp_down(epsilon - 2 * sizes.rounded) if epsilon else Fraction(1)
    surplus = Fraction(0)
    for real, simulated in zip(sizes.real, sizes.simulated, strict=True):
        surplus += max(Fraction(0), real - growth * simulated)
    return _scaled(surplus, sizes)


def _absent(epsilon: Fraction, truncation: int, smooth: _Smooth, terms: int) -> Fraction:
    shown = poisson_sides(epsilon - smooth.eta, truncation + 1).absent
    last = truncation - 1
    hidden = _hidden(epsilon - smooth.kappa, smooth.eta, last, terms)
    return shown + quotient_up(2 * truncation, last) * hidden


def quotient_up(trials: int, count: int) -> Fraction:
    r"""Return the most that a binomial probability of ``count`` is above the Poisson one.

    At :math:`p = count/n` it is :math:`\frac{n!}{(n-j)!\,n^j}(\frac{n-j}{n})^{n-j} e^j`, about
    :math:`1/\sqrt{1 - j/n}`. It falls in :math:`n`, as :math:`\sum_{i<j} 1/(n-i) < \ln(n/(n-j))`.

    Example:
        >>> round(float(quotient_up(200, 100)), 2)
        1.41
    """
    exponent = log_factorial(trials)[1] - log_factorial(trials - count)[0] + count
    exponent -= count * log_down(Fraction(trials))
    if trials > count:
        exponent += (trials - count) * log_up(Fraction(trials - count, trials))
    return exp_up(short_up(exponent, 96))


def _hidden(epsilon: Fraction, eta: Fraction, last: int, terms: int) -> Fraction:
    """Return the most of Po_μ(k-1)(1 - (e^ε - 1) R(μ e^η)), over cells of μ.

    From a mean on at which the first factor is tiny, that is a bound for all larger ones.
    """
    if epsilon <= 0:
        return poisson_term_up(Fraction(last), last)
    less, tilt = exp_down(epsilon) - 1, exp_up(eta)
    worst = Fraction(0)
    for low, high in _means(last):
        likeliest = min(max(Fraction(last), low), high)
        term = poisson_term_up(likeliest, last)
        if low > last and term <= max(worst, _TINY):
            return max(worst, term)
        at = high * tilt
        above, below = at.denominator, at.numerator
        products = sum_of_products_down(lambda i, a=above, b=below: ((last + 1 - i) * a, b), terms)  # type: ignore[misc]
        worst = max(worst, term * max(Fraction(0), 1 - less * products))
    raise AssertionError


_TINY = Fraction(1, 1 << 200)


def _means(last: int) -> Iterator[Ends]:
    """Yield cells of means: what is below the first is in it, and widths grow with the mean."""
    low, step = Fraction(0), 0
    width = Fraction(1, 8 * max(1, round(last**0.5)))
    high = Fraction(max(1, last), 2)
    while True:
        yield low, high
        low, high, step = high, high + max(1, last) * width, step + 1
