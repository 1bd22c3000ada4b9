r"""The Gaussian accountant: events to :math:`\mu^2`, each by a theorem; others are refused."""

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache, singledispatch

from discreet.accounting.accountants.pure import epsilon
from discreet.accounting.conversions.from_pure import pure_to_gaussian
from discreet.core.errors import Unsupported
from discreet.core.event import ComposedEvent, Event, require_one_metric
from discreet.core.loss import GaussianDp, Pure
from discreet.core.mechanism_event import DiscreteGaussianEvent
from discreet.core.rounding import exp_up, short_up
from discreet.core.stated_event import GaussianEvent


def gaussian_loss(events: Iterable[Event]) -> GaussianDp:
    r"""Return the Gaussian loss of all ``events`` together.

    Guarantee:
        The squares :math:`\mu_i^2` add up, also for mechanisms chosen adaptively
        [DRS22, section 3]; :func:`square` bounds each. An event with a δ of its own has none.

    Example:
        >>> noise = DiscreteGaussianEvent(sigma_squared=100, distance_squared=1, entries=1)
        >>> round(float(gaussian_loss([noise, noise]).mu_squared), 4)
        0.0201
    """
    found = require_one_metric(events)
    return GaussianDp(mu_squared=sum((square(event) for event in found), Fraction(0)))


@singledispatch
def square(event: Event) -> Fraction:
    r"""Return a :math:`\mu^2` such that one event is :math:`\mu`-Gaussian DP, or refuse.

    Guarantee:
        An event with a pure loss: by that loss
        (:func:`~discreet.accounting.conversions.from_pure.pure_to_gaussian`).
    """
    try:
        pure = Pure(epsilon(event))
    except Unsupported:
        raise Unsupported(
            "No Gaussian bound is known for this event",
            must="be Gaussian noise, or have a pure loss",
            got=getattr(event, "kind", type(event).__name__),
        ) from None
    return _square_of(pure)


@square.register
def _(event: ComposedEvent) -> Fraction:
    return sum((count * square(part) for part, count in event.parts), Fraction(0))


@square.register
def _(event: GaussianEvent) -> Fraction:
    """Return the square of the distance over the scale: the definition [DRS22, section 2]."""
    return (event.distance / event.scale) ** 2


@square.register
def _(event: DiscreteGaussianEvent) -> Fraction:
    r"""Return the least square that follows from some :math:`\tau^2` of :func:`smoothed_square`.

    Of the entries only those that change count: the others have the same law on both sides, and are
    independent. Integers that differ differ by at least 1, so there are at most
    ``distance_squared`` of them.
    """
    entries = math.floor(event.distance_squared)
    if event.entries is not None:
        entries = min(entries, event.entries)
    if not entries:
        return Fraction(0)
    widths = [width for width in _WIDTHS if width < event.sigma_squared]
    found = [smoothed_square(event, width, entries) for width in widths]
    known = [one for one in found if one is not None]
    if not known:
        raise Unsupported(
            "This noise is too small for a Gaussian bound",
            must="have a larger σ",
            got=f"σ² = {float(event.sigma_squared):.3g}",
            next="Use discrete Laplace noise",
        )
    return short_up(min(known))


def smoothed_square(event: DiscreteGaussianEvent, width: Fraction, entries: int) -> Fraction | None:
    r"""Return a :math:`\mu^2` of discrete Gaussian noise, or ``None`` if ``width`` is too small.

    Guarantee:
        Let :math:`\sigma^2 = s^2 + \tau^2` with ``width`` :math:`\tau^2`. Discrete Gaussian noise
        on integers at distance :math:`d` is :math:`\mu'`-Gaussian DP with
        :math:`\mu' = e^{L g}\, d/s`, where :math:`n` entries change,
        :math:`q = e^{-2\pi^2\tau^2}`, :math:`g = 2nq/(1-q)` and
        :math:`L = 1 + \sqrt{\pi/2}\,\mu' e^{\mu'^2/8}`.

        Proof. *One entry.* Let :math:`y` be drawn from :math:`N(x, s^2)`, :math:`x` an integer,
        and then an integer :math:`z` be said with probability
        :math:`e^{-(z-y)^2/2\tau^2}/\theta_\tau(0)`, and nothing with what remains of 1. That is a
        law, because :math:`\theta_\tau(y) = \sum_z e^{-(z-y)^2/2\tau^2} = \tau\sqrt{2\pi}\,
        \sum_m e^{-2\pi^2\tau^2m^2}\cos(2\pi m y)` (Poisson) is largest at 0. Convolving two
        Gaussians, :math:`z` is said with a probability in proportion to
        :math:`e^{-(z-x)^2/2\sigma^2}`: with some probability :math:`\kappa` the output is discrete
        Gaussian noise on :math:`x`, and otherwise nothing. As :math:`x` is whole, :math:`\kappa`
        does not depend on it; it is :math:`(\theta_\sigma(0)/\sigma) / (\theta_\tau(0)/\tau) \ge
        1/(1 + 2\sum_{m \ge 1} q^{m^2})`, so :math:`\ln(1/\kappa) \le 2q/(1-q)`.

        *All entries.* Do so in each entry that changes, and say nothing unless all say something.
        That is a post-processing of continuous noise, so at every :math:`\varepsilon \ge 0` its δ
        is at most :math:`\delta_\mu(\varepsilon)`, :math:`\mu = d/s`. Nothing is equally likely on
        both sides, so its δ is :math:`\kappa^n` times that of discrete Gaussian noise, which
        therefore is at most :math:`e^g\,\delta_\mu(\varepsilon)`.

        *The factor.* With :math:`x = \varepsilon/\mu - \mu/2` and the Mills ratio :math:`R`,
        :math:`\partial\delta_\mu/\partial\mu = \varphi(x)` and :math:`\delta_\mu = \varphi(x)
        (R(x) - R(x + \mu))`. As :math:`R` is convex, the difference is at most
        :math:`\mu\,(-R'(x)) \le \mu\,(-R'(-\mu/2)) = \mu\,(1 + \frac\mu2 R(-\frac\mu2)) \le \mu L`.
        So :math:`\ln\delta_\mu` grows by at least :math:`1/L` times the growth of :math:`\ln\mu`,
        and a growth of :math:`Lg` makes up for the factor. With the bound at all
        :math:`\varepsilon \ge 0`, and both directions alike, it is Gaussian DP
        [DRS22, Corollary 1].

    Example:
        >>> noise = DiscreteGaussianEvent(sigma_squared=4, distance_squared=1, entries=1)
        >>> found = smoothed_square(noise, Fraction(1), 1)
        >>> round(float(found), 6), smoothed_square(noise, Fraction(1, 100), 1)
        (0.333333, None)
    """
    base = event.distance_squared / (event.sigma_squared - width)
    chance = exp_up(-_TWICE_PI_SQUARED * width)
    if 2 * chance > 1:
        return None
    lost = 2 * entries * chance / (1 - chance)
    largest = base * _MOST_GROWTH
    if largest > _LARGEST_SQUARE:
        return None
    slowness = 1 + _ROOT * (1 + largest) * exp_up(largest / 8)
    exponent = 2 * slowness * lost
    found = base * exp_up(exponent) if exponent < 1 else largest + 1
    return found if found <= largest else None


@lru_cache(maxsize=4096)
def _square_of(loss: Pure) -> Fraction:
    found = pure_to_gaussian(loss).loss
    assert isinstance(found, GaussianDp)
    return found.mu_squared


_TWICE_PI_SQUARED = Fraction("19.7392")
r"""Below :math:`2\pi^2 = 19.73920...`"""
_ROOT = Fraction("1.2534")
r"""Above :math:`\sqrt{\pi/2} = 1.25331...`; and :math:`\mu \le 1 + \mu^2`."""
_MOST_GROWTH = Fraction(3, 2)
_LARGEST_SQUARE = 100
_WIDTHS = tuple(Fraction(k, 10) for k in (1, 2, 3, 4, 5, 7, 10, 13, 16, 20, 25, 30))
r"""The :math:`\tau^2` that are tried: any is valid, a larger one loses more of :math:`\sigma^2`."""
