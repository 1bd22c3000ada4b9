"""Laws of the loss of continuous noise, and of selections of bounded range."""

import math

import numpy as np
from attrs import frozen

from discreet.accounting.pld.laws.float_assumptions import RELATIVE
from discreet.accounting.pld.laws.grid import FloatArray, Tails
from discreet.accounting.pld.laws.law import LossLaw, column
from discreet.core.optional import load


@frozen
class GaussianLaw(LossLaw):
    r"""Two normal laws whose centres are :math:`\mu` deviations apart.

    Guarantee:
        :math:`Z = \mu x + \mu^2/2` with :math:`x` standard normal under :math:`P` and centred at
        :math:`-\mu` under :math:`Q` [BW18]; the pair is symmetric. Moves of several
        entries with an L2 norm of at most :math:`\mu` are no easier to tell [DRS22, section 2].
    """

    mu: FloatArray

    @property
    def infinite(self) -> FloatArray:
        """No outcome has an infinite loss."""
        return np.zeros(len(self.mu))

    def span(self, tail: float) -> tuple[float, float]:
        """Return the quantiles of the widest row."""
        mu = float(self.mu.max())
        far = -float(load("scipy.special").ndtri(max(tail, 1e-300)))
        high = mu * max(far, 0.0) + mu * mu / 2
        return -high, high

    def tails(self, losses: FloatArray) -> Tails:
        """Return normal tails."""
        ndtr = load("scipy.special").ndtr
        mu = column(self.mu)
        x = losses / mu - mu / 2
        return Tails(ndtr(-x), ndtr(-x - mu), ndtr(x), ndtr(x + mu))


@frozen
class LaplaceLaw(LossLaw):
    r"""Two Laplace laws whose centres are :math:`t` scales apart.

    Guarantee:
        The loss is :math:`t` with probability 1/2 and :math:`-t` with probability
        :math:`e^{-t}/2`; between, :math:`P[Z \le z] = e^{-(t-z)/2}/2`. The pair is symmetric. A
        vector of independent entries that moves by :math:`t` in the L1 norm is no easier to tell:
        moving the entries one after the other is a group of moves, and in one entry a group of
        moves is one move [DRS22, section 2.5].
    """

    shift: FloatArray

    @property
    def infinite(self) -> FloatArray:
        """No outcome has an infinite loss."""
        return np.zeros(len(self.shift))

    @property
    def lattice(self) -> float | None:
        """Both atoms are multiples of the shift, if it is the same in all rows."""
        first = float(self.shift[0])
        return first if (self.shift == first).all() else None

    def span(self, tail: float) -> tuple[float, float]:
        """Return the support of the widest row."""
        high = float(self.shift.max())
        return -high, high

    def tails(self, losses: FloatArray) -> Tails:
        """Return exponential tails between the two atoms."""
        shift = column(self.shift)
        inside = np.clip(losses, -shift, shift)
        left_p = np.exp((inside - shift) / 2) / 2
        right_q = np.exp(-(inside + shift) / 2) / 2
        below, beyond = losses < -shift, losses >= shift
        left_p = np.where(below, 0.0, np.where(beyond, 1.0, left_p))
        right_q = np.where(below, 1.0, np.where(beyond, 0.0, right_q))
        return Tails(1 - left_p, right_q, left_p, 1 - right_q)


_LARGE = 30.0
"""Above this :math:`\\operatorname{arsinh} e^w` is :math:`w + \\ln 2`, to all digits."""


@frozen
class ExchangedGaussianLaw(LossLaw):
    r"""A sampled unit moves the centre by at most :math:`\mu`; it is exchanged for another.

    Guarantee:
        Given the rest of the sample, the two laws are :math:`(1-r)N(0) + rN(u)` and
        :math:`(1-r)N(0) + rN(v)` with :math:`\|u\|, \|v\| \le \mu`, in any dimension. Their curve
        is nowhere above that of :math:`v = -u`, :math:`|u| = \mu` in one dimension
        [SSKG24]. Proof in ``docs/proofs/pld.md``. It is attained by two units that move
        the centre in opposite directions, among others that do not move it.

        With :math:`\kappa = \frac{1-r}{r} e^{\mu^2/2}` the loss :math:`z` is at :math:`x` with
        :math:`\mu x = \frac z2 + \operatorname{arsinh}(\kappa \sinh\frac z2)`, an odd function, so
        that the pair is symmetric.
    """

    mu: float
    rate: float
    """Above 0 and below 1."""

    @property
    def infinite(self) -> FloatArray:
        """No outcome has an infinite loss."""
        return np.zeros(1)

    @property
    def _log_kappa(self) -> float:
        return math.log1p(-self.rate) - math.log(self.rate) + self.mu * self.mu / 2

    def span(self, tail: float) -> tuple[float, float]:
        """Return the losses at the quantiles of the outer normal law."""
        far = max(0.0, -float(load("scipy.special").ndtri(max(tail, 1e-300))))
        high = self._loss(self.mu * (far + self.mu))
        return -high, high

    def _loss(self, place: float) -> float:
        r"""Return the loss at :math:`\mu x`, at least 0, without overflow."""
        shift = -self._log_kappa
        return float(np.logaddexp(0.0, place + shift) - np.logaddexp(0.0, shift - place))

    def slack(self) -> float:
        r"""Return how wrong :math:`\mu x` can be, twice: the loss grows no faster than that."""
        far = 37.1 * self.mu + self.mu * self.mu
        return 16 * RELATIVE * (far + (abs(self._log_kappa) if far > _LARGE / 2 else 0.0))

    def tails(self, losses: FloatArray) -> Tails:
        """Return mixtures of normal tails, at the place of each loss."""
        ndtr = load("scipy.special").ndtr
        x = np.atleast_2d(self._place(losses)) / self.mu
        r, mu = self.rate, self.mu
        right, left = (1 - r) * ndtr(-x), (1 - r) * ndtr(x)
        return Tails(
            right + r * ndtr(mu - x),
            right + r * ndtr(-mu - x),
            left + r * ndtr(x - mu),
            left + r * ndtr(x + mu),
        )

    def _place(self, losses: FloatArray) -> FloatArray:
        half = np.abs(losses) / 2
        with np.errstate(divide="ignore", over="ignore"):
            grown = self._log_kappa + half + np.log(-np.expm1(-2 * half) / 2)
            small = np.exp(np.minimum(self._log_kappa, 600.0)) * np.sinh(np.minimum(half, 600.0))
        above = np.where(grown > _LARGE, grown + math.log(2.0), np.arcsinh(small))
        return np.asarray(np.sign(losses) * (half + above))


@frozen
class BoundedRangeLaw(LossLaw):
    r"""A loss that stays in some interval of width :math:`\varepsilon`, wherever that lies.

    Guarantee:
        If :math:`t - \varepsilon \le Z \le t`, moving :math:`e^{-Z}` to the two ends keeps its mean
        and can only raise the curve, to :math:`(e^{-t} - e^{-\varepsilon})(e^t - e)/(1 -
        e^{-\varepsilon})` for :math:`e = e^{\varepsilon'}` between the ends [DDR20]. The
        largest over :math:`t` is at :math:`t = (\varepsilon + \varepsilon')/2`:

        .. math:: \delta(\varepsilon') = \frac{(1 - e^{(\varepsilon'-\varepsilon)/2})^2}{1 -
            e^{-\varepsilon}},\qquad |\varepsilon'| \le \varepsilon.

        A largest of convex curves is convex, hence the curve of a pair: its
        :math:`P[Z > z] = (1 - e^{(z - \varepsilon)/2}) / (1 - e^{-\varepsilon})` and
        :math:`Q[Z > z] = (e^{-(z+\varepsilon)/2} - e^{-\varepsilon}) / (1 - e^{-\varepsilon})`.
    """

    epsilon: FloatArray

    @property
    def infinite(self) -> FloatArray:
        """No outcome has an infinite loss."""
        return np.zeros(len(self.epsilon))

    def span(self, tail: float) -> tuple[float, float]:
        """Return the support of the widest row."""
        high = float(self.epsilon.max())
        return -high, high

    def tails(self, losses: FloatArray) -> Tails:
        """Return the tails above; every difference is an ``expm1``."""
        epsilon = column(self.epsilon)
        z = np.clip(losses, -epsilon, epsilon)
        whole = -np.expm1(-epsilon)
        small = np.exp(-epsilon) / whole
        return Tails(
            -np.expm1((z - epsilon) / 2) / whole,
            small * np.expm1((epsilon - z) / 2),
            small * np.expm1((z + epsilon) / 2),
            -np.expm1(-(z + epsilon) / 2) / whole,
        )
