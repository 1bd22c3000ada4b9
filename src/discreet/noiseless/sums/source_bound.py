"""The bounds of the source, as corrected: two tails of the hidden sum, and a chance of failure."""

import math
from collections.abc import Sequence
from fractions import Fraction

from attrs import field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact
from discreet.core.rounding import exp_up, log_up, short_up
from discreet.noiseless.laws.hidden import Hidden
from discreet.noiseless.sums.shift_divergence import crossing, estimated_crossing, log_density
from discreet.noiseless.sums.uniform_sums import UniformSum, saddle, uniform_at

_COARSE = 8
_SHARES = tuple(1 - Fraction(round(2 ** (k / 12) * 64), 1 << 16) for k in range(110))
"""The shares r that are tried, from nearly 1 downwards."""
_SMALLEST = 2
_LARGE = 700.0


@frozen
class SourceBound:
    r"""What [Gro14, theorems 6.6 and 6.7, corollary 6.2] say of rows, of which some are hidden.

    With :math:`m = \lceil r v n \rceil` and any a between D and :math:`(m - 1)/2 - D`,

    .. math:: \varepsilon = \sum_j \ln \frac{f_{m-1}(a_j)}{f_{m-1}(a_j - D_j)}, \qquad
        \delta = 2 \sum_j F_{m-1}(a_j + D_j) + (1 + e^\varepsilon) e^{-2 n v^2 (1 - r)^2}.

    Attributes:
        rows: n, known rows left out.
        hidden: What of a row is uniform: v, and the shifts D.

    Guarantee:
        The proof of :func:`~discreet.noiseless.sums.mixture.mixture_delta` gives :math:`\delta \le
        \delta_{m-1}(\varepsilon) + P[Bin(n, v) < m]`, and the formula is at least that: by
        Hoeffding's bound, and because from a on the ratio of densities is at most
        :math:`e^\varepsilon`. If v is 1, nothing can fail, r is 1 and the last term is absent;
        for rows that are uniform between the clamps, :math:`\delta = F(a) + F(a + 1/2)`, which is
        theorem 6.6 with its a written as a + 1/2.

    Example:
        >>> uniform = SourceBound(100, Hidden(1, (None,), (Fraction(1, 2),)))
        >>> epsilon, delta = uniform.at([Fraction("39.5")])
        >>> round(float(epsilon), 4), round(float(delta), 6)
        (0.6339, 0.000683)
    """

    rows: int = field(converter=check.whole, validator=check.positive)
    hidden: Hidden

    def _law(self, place: int, share: Fraction) -> UniformSum:
        count = self.hidden.terms * (self._hidden_rows(share) - 1)
        return UniformSum(max(0, count), self.hidden.points[place])

    def _hidden_rows(self, share: Fraction) -> int:
        return math.ceil(share * self.hidden.mass * self.rows)

    @property
    def _is_theorem_for_uniform(self) -> bool:
        return self.hidden.mass == 1 and self.hidden.shifts == (Fraction(1, 2),)

    def _failure(self, epsilon: Fraction, share: Fraction) -> Fraction:
        if self.hidden.mass == 1:
            return Fraction(0)
        exponent = 2 * self.rows * self.hidden.mass**2 * (1 - share) ** 2
        return (1 + exp_up(epsilon)) * exp_up(-short_down_exponent(exponent))

    def at(self, a: Sequence[Number], r: Number = 1) -> tuple[Fraction, Fraction]:
        """Return ε and δ, rounded up, for an a in each dimension and a share r.

        Raises:
            InvalidArgument: If an a is outside its range, which [Gro14] prints too wide.
        """
        share = exact(r)
        if not 0 < share <= 1 or len(a) != self.hidden.dimensions:
            raise InvalidArgument("r or a is out of range", must="have r in (0, 1] and each a")
        epsilon = tails = Fraction(0)
        for place, (point, shift) in enumerate(zip(a, self.hidden.shifts, strict=True)):
            law, point = self._law(place, share), exact(point)
            if not shift < point <= Fraction(law.largest, 2):
                raise InvalidArgument(
                    "a is out of range",
                    must=f"be above {shift} and at most {Fraction(law.largest, 2)}",
                    got=str(point),
                )
            here, there = uniform_at(law, point).density, uniform_at(law, point - shift).density
            epsilon += log_up(here.high / there.low)
            tails += self._tails(law, point, shift)
        delta = tails + self._failure(epsilon, share)
        return short_up(epsilon), min(Fraction(1), short_up(delta))

    def _tails(self, law: UniformSum, point: Fraction, shift: Fraction) -> Fraction:
        far = uniform_at(law, point + shift).below.high
        if self._is_theorem_for_uniform:
            return far + uniform_at(law, point).below.high
        return 2 * far

    def delta(self, epsilon: Fraction) -> Fraction:
        """Return the least δ that the formula gives at an ε, over a and over some shares r."""
        if not all(self.hidden.shifts):
            return Fraction(0) if not any(self.hidden.shifts) else Fraction(1)
        if self.hidden.mass == 1:
            return self._at_share(epsilon, Fraction(1))
        shares = [share for share in _SHARES if self._hidden_rows(share) > _SMALLEST]
        if not shares:
            return Fraction(1)
        # Coarsely first, and then around the best: each share is a bound.
        best = min(range(0, len(shares), _COARSE), key=lambda at: self._about(epsilon, shares[at]))
        near = shares[max(0, best - _COARSE + 1) : best + _COARSE]
        return self._at_share(epsilon, min(near, key=lambda one: self._about(epsilon, one)))

    def _parts(self, epsilon: Fraction) -> list[Fraction]:
        """Divide ε among the dimensions, by their shifts: then their tails are about alike."""
        total = sum(self.hidden.shifts, Fraction(0))
        return [epsilon * shift / total for shift in self.hidden.shifts]

    def _about(self, epsilon: Fraction, share: Fraction) -> float:
        """Return about the logarithm of δ."""
        exponent = 2 * self.rows * float(self.hidden.mass) ** 2 * float(1 - share) ** 2
        logs = [float(epsilon) - exponent]
        for place, part in enumerate(self._parts(epsilon)):
            law, shift = self._law(place, share), float(self.hidden.shifts[place])
            if shift >= law.largest / 2:
                return 0.0
            point = estimated_crossing(law, shift, float(part))[0] + shift
            logs.append(_log_tails(law, point) if 2 * point < law.largest else 0.0)
        return math.log(sum(math.exp(min(max(one, -_LARGE), _LARGE)) for one in logs))

    def _at_share(self, epsilon: Fraction, share: Fraction) -> Fraction:
        tails = Fraction(0)
        for place, part in enumerate(self._parts(epsilon)):
            law, shift = self._law(place, share), self.hidden.shifts[place]
            if 2 * shift >= law.largest:
                return Fraction(1)
            point = crossing(law, shift, part)
            if point is None:
                return Fraction(1)
            after = point if law.points is None else point + 1
            if 2 * (after + shift) > law.largest:
                return Fraction(1)
            tails += self._tails(law, after, shift)
        return min(Fraction(1), short_up(tails + self._failure(epsilon, share)))


def _log_tails(law: UniformSum, point: float) -> float:
    """Return about the logarithm of twice what lies below."""
    return log_density(law, point) - math.log(max(-saddle(law, point), 1e-12)) + math.log(2)


def short_down_exponent(exponent: Fraction) -> Fraction:
    """Return a short number that is not above the exponent of a failure, nor above 50000."""
    return min(Fraction(int(exponent * (1 << 64)), 1 << 64), Fraction(50_000))
