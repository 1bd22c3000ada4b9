"""The Rényi curve of a mechanism that sees a sample."""

import json
import math
from fractions import Fraction
from functools import lru_cache

from attrs import field, frozen
from attrs.validators import instance_of

from discreet.accounting.curves.curve import CurvePiece, RenyiCurve, require_order
from discreet.core import check
from discreet.core.numbers import exact
from discreet.core.rounding import BITS, exp_up, log_up, short_up

LARGEST_ORDER = 513
"""Sums have as many terms as the order; beyond this nothing is said."""


@frozen
class SampledPiece(CurvePiece):
    r"""``inner`` on a secret sample into which a unit comes with probability ``rate``.

    Guarantee:
        Let :math:`W = 1 - r + re^Z` with :math:`Z = \ln(dP/dQ)`. At a whole order :math:`n` a
        removal has :math:`e^{(n-1)D_n} = E_Q[W^n] = \sum_k \binom nk (1-r)^{n-k} r^k
        e^{(k-1)D_k(P\|Q)}`, a sum of terms that grow with the curve of ``inner`` [MTZ19].

        An addition has :math:`E_Q[W^{1-\alpha}]`, which is no more if the pair is *symmetric*: if
        :math:`Z` has the law under :math:`P` that :math:`-Z` has under :math:`Q`. Proof. Put
        :math:`x = e^z`, :math:`A = 1 - r + rx`, :math:`B = 1 - r + r/x`. As
        :math:`Q(-dz) = xQ(dz)`, it is enough that :math:`A^\alpha - A^{1-\alpha} \ge x(B^{1-\alpha}
        - B^\alpha)` for :math:`x > 1`. With :math:`u = \ln A`, :math:`v = -\ln B` and
        :math:`c = \alpha - \frac12` that is :math:`e^{u/2}\sinh(cu) \ge x e^{-v/2}\sinh(cv)`. At
        :math:`\alpha = 1` both sides are :math:`r(x-1)/2`, and :math:`u \ge v` because
        :math:`AB \ge 1`, so :math:`\sinh(cu)/\sinh(cv)` grows with :math:`c`.

        Between whole orders :math:`(\alpha-1)D_\alpha`, a logarithm of moments, is convex and 0 at
        1, so the chord is above it.

    Assumes:
        Both directions of ``inner`` have a symmetric pair with this curve, as additive noise has.

    Example:
        >>> from discreet.accounting import GaussianPiece
        >>> inner = RenyiCurve.of(GaussianPiece(mu_squared=1))
        >>> round(float(SampledPiece(inner=inner, rate="0.01").upper(Fraction(2))), 8)
        0.00017181
    """

    kind = "sampled"
    inner: RenyiCurve = field(validator=instance_of(RenyiCurve))
    rate: Fraction = field(converter=exact, validator=check.probability)

    @property
    def limit(self) -> Fraction:
        """The largest order, or the least at which ``inner`` says nothing."""
        limit = self.inner.limit
        return Fraction(LARGEST_ORDER) if limit is None else min(limit, Fraction(LARGEST_ORDER))

    def upper(self, order: Fraction) -> Fraction:
        """Return the chord between the whole orders around, and no more than the whole has."""
        require_order(order, self.limit)
        whole = self.inner.upper(order)
        below = math.floor(order)
        if order == 1 or (self.inner.limit is not None and below + 1 >= self.inner.limit):
            return whole
        share = order - below
        height = (1 - share) * _moment(self, below)
        if share:
            height += share * _moment(self, below + 1)
        return min(whole, short_up(height / (order - 1), BITS))

    def estimate(self, order: float) -> float:
        """Return about the same."""
        if not 1 < order < self.limit:
            return math.inf
        below = math.floor(order)
        share = order - below
        height = (1 - share) * _moment_estimate(self, below)
        if share:
            height += share * _moment_estimate(self, below + 1)
        return min(self.inner.estimate(order), height / (order - 1))

    def to_json(self) -> dict[str, str]:
        """Return the kind, the inner curve and the rate as text."""
        inner = json.dumps(self.inner.to_json())
        return {"kind": self.kind, "inner": inner, "rate": str(self.rate)}


@lru_cache(maxsize=4096)
def _moment(piece: SampledPiece, order: int) -> Fraction:
    r"""Return :math:`(n-1)D_n`, rounded up."""
    rate = piece.rate
    if order <= 1 or rate == 0:
        return Fraction(0)
    if rate == 1:
        return (order - 1) * piece.inner.upper(Fraction(order))
    often, seldom = log_up(1 - rate), log_up(rate)
    terms = []
    for k in range(order + 1):
        height = (k - 1) * piece.inner.upper(Fraction(k)) if k > 1 else Fraction(0)
        chance = log_up(Fraction(math.comb(order, k))) + (order - k) * often + k * seldom
        terms.append(chance + height)
    top = max(terms)
    total = sum((exp_up(term - top) for term in terms), Fraction(0))
    return max(Fraction(0), short_up(top + log_up(short_up(total, 2 * BITS)), BITS))


@lru_cache(maxsize=4096)
def _moment_estimate(piece: SampledPiece, order: int) -> float:
    rate = float(piece.rate)
    if order <= 1 or rate == 0.0:
        return 0.0
    if rate == 1.0:
        return (order - 1) * piece.inner.estimate(float(order))
    often, seldom = math.log1p(-rate), math.log(rate)
    first = math.lgamma(order + 1)
    terms = [
        first - math.lgamma(k + 1) - math.lgamma(order - k + 1) + (order - k) * often + k * seldom
        for k in range(order + 1)
    ]
    gains = [(k - 1) * piece.inner.estimate(float(k)) if k > 1 else 0.0 for k in range(order + 1)]
    # The chances add up to 1, so what the gains add is a sum of small numbers.
    top = max(term + gain for term, gain in zip(terms, gains, strict=True))
    if top < 1.0:
        pairs = zip(terms, gains, strict=True)
        return math.log1p(sum(math.exp(term) * math.expm1(gain) for term, gain in pairs))
    pairs = zip(terms, gains, strict=True)
    return top + math.log(sum(math.exp(term + gain - top) for term, gain in pairs))


@frozen
class ToldPiece(CurvePiece):
    r"""``inner`` with probability ``rate``, else nothing; which of both is told.

    Guarantee:
        :math:`e^{(\alpha-1)D_\alpha}` is jointly convex, so a mixture of pairs with weights
        :math:`r` and :math:`1 - r` has at most :math:`1 - r + re^{(\alpha-1)D_\alpha}`. It is what
        is left of a Poisson sample if a unit is changed and only changes are protected.

    Example:
        >>> from discreet.accounting import Line
        >>> piece = ToldPiece(inner=RenyiCurve.of(Line(rho="1/2")), rate="1/10")
        >>> round(float(piece.upper(Fraction(2))), 6)
        0.158565
    """

    kind = "told"
    inner: RenyiCurve = field(validator=instance_of(RenyiCurve))
    rate: Fraction = field(converter=exact, validator=check.probability)

    @property
    def limit(self) -> Fraction | None:
        """That of ``inner``."""
        return self.inner.limit

    def upper(self, order: Fraction) -> Fraction:
        """Return the value, rounded up."""
        require_order(order, self.limit)
        whole = self.inner.upper(order)
        if order == 1:
            return short_up(self.rate * whole, BITS)
        if (order - 1) * whole > _LARGEST_EXPONENT:
            return whole
        grown = 1 + self.rate * (exp_up((order - 1) * whole) - 1)
        return min(whole, short_up(log_up(grown) / (order - 1), BITS))

    def estimate(self, order: float) -> float:
        """Return about the same."""
        whole = self.inner.estimate(order)
        height = (order - 1) * whole
        if height > 600:
            return whole + math.log(max(float(self.rate), 1e-300)) / (order - 1)
        return math.log1p(float(self.rate) * math.expm1(height)) / max(order - 1, 1e-12)

    def to_json(self) -> dict[str, str]:
        """Return the kind, the inner curve and the rate as text."""
        inner = json.dumps(self.inner.to_json())
        return {"kind": self.kind, "inner": inner, "rate": str(self.rate)}


_LARGEST_EXPONENT = 5_000
