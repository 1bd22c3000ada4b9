r"""The cumulant of a privacy loss, :math:`K(t) = \ln \sum_o P(o)\,(P(o)/Q(o))^t`, certified."""

from fractions import Fraction

from attrs import frozen

from discreet.audit.dyadic import dyadic_down, dyadic_up
from discreet.audit.exponential_sum import exp_bounds_relative
from discreet.audit.law import EnclosedLaw, Law, enclosed
from discreet.core.numbers import log_bounds

Ends = tuple[Fraction, Fraction]
"""A lower and an upper end."""


@frozen
class Cumulant:
    r"""The cumulants of the loss from ``p`` to ``q``; :math:`K(t) = t\,D_{1+t}(P \| Q)`.

    It holds what is known of each outcome: its probability, and the logarithm of its ratio.
    """

    cells: tuple[tuple[Ends, Ends], ...]
    bits: int

    @classmethod
    def of(cls, p: Law, q: Law, *, bits: int) -> "Cumulant | None":
        """Return the cumulants, or ``None`` where some ratio has no upper bound."""
        first, second = enclosed(p, bits=bits), enclosed(q, bits=bits)
        masses = {outcome: ends for outcome, ends in first.masses.items() if ends[1] > 0}
        others = [second.masses.get(outcome, (Fraction(0), Fraction(0))) for outcome in masses]
        if first.outside or any(not low > 0 for low, _ in (*masses.values(), *others)):
            return None
        cells: dict[Ends, Ends] = {}  # outcomes of the same ratio are one
        for (low, high), (other_low, other_high) in zip(masses.values(), others, strict=True):
            ratio = (
                _log(low / (other_high + second.outside), bits)[0],
                _log(high / other_low, bits)[1],
            )
            before = cells.get(ratio, (Fraction(0), Fraction(0)))
            cells[ratio] = before[0] + low, before[1] + high
        return cls(tuple((mass, ratio) for ratio, mass in cells.items()), bits)

    @classmethod
    def below(cls, p: EnclosedLaw, q: EnclosedLaw, *, bits: int) -> "Cumulant | None":
        """Return cumulants below those of laws with unlisted mass; ``None`` if they are infinite.

        No term of the sum is negative, so what is not listed of ``p`` is left out; what is not
        listed of ``q`` could be anywhere, so it is added to each outcome.
        """
        cells: dict[Fraction, Fraction] = {}
        for outcome, (low, _) in p.masses.items():
            above = q.masses.get(outcome, (Fraction(0), Fraction(0)))[1] + q.outside
            if low > 0 and above == 0:
                return None
            if low > 0:
                ratio = _log(low / above, bits)[0]
                cells[ratio] = cells.get(ratio, Fraction(0)) + low
        return cls(tuple(((mass, mass), (ratio, ratio)) for ratio, mass in cells.items()), bits)

    @property
    def largest(self) -> Fraction:
        """The largest loss of any outcome, rounded up."""
        return max(ratio[1] for _, ratio in self.cells)

    def at(self, t: Fraction) -> Ends:
        """Enclose the cumulant at ``t > 0``. The largest loss is taken out of the sum first."""
        top = dyadic_up(self.largest, self.bits)
        low = high = Fraction(0)
        for mass, ratio in self.cells:
            low += dyadic_down(mass[0] * _exp(t * (ratio[0] - top), self.bits)[0], self.bits)
            high += dyadic_up(mass[1] * _exp(t * (ratio[1] - top), self.bits)[1], self.bits)
        return t * top + _log(low, self.bits)[0], t * top + _log(high, self.bits)[1]


def _log(value: Fraction, bits: int) -> Ends:
    low, _ = log_bounds(dyadic_down(value, bits), bits)
    _, high = log_bounds(dyadic_up(value, bits), bits)
    return dyadic_down(low, bits), dyadic_up(high, bits)


def _exp(exponent: Fraction, bits: int) -> Ends:
    if exponent < -bits:
        return Fraction(0), exp_bounds_relative(Fraction(-bits), bits)[1]
    return (
        exp_bounds_relative(dyadic_down(exponent, bits), bits)[0],
        exp_bounds_relative(dyadic_up(exponent, bits), bits)[1],
    )
