"""What a machine that halts between two thresholds loses, in integers and with every constant."""

import math
from fractions import Fraction

from discreet.core.errors import Unsupported
from discreet.core.mechanism_event import BetweenThresholdsEvent
from discreet.core.rounding import exp_down, exp_up, log_up


def between_delta(event: BetweenThresholdsEvent) -> Fraction:
    r"""Return the δ at the event's ε, rounded up.

    Guarantee:
        Write :math:`s`, :math:`r` for the scales of the thresholds' and the queries' noise,
        :math:`\Delta` for the distance and :math:`q = e^{-1/r}`. For every whole :math:`z^*` with
        :math:`n = gap - 2 z^* - 2\Delta + 1 \ge 1` the machine is :math:`(\varepsilon, \delta)`-DP
        with

        .. math:: \varepsilon = \frac{\Delta}{s} + \frac{2\Delta}{r}
            + \ln \frac{1 - q^{n + 2\Delta}}{1 - q^n}, \qquad \delta = P[\mu > z^*].

        Proof. Fix the thresholds' noise :math:`\mu = z \le z^*` on one data set and
        :math:`z + \Delta` on its neighbour. A query's values differ by at most :math:`\Delta`, so
        what is below the lower threshold stays below it, and what is above the upper one stays
        above it: the two do not cross, because :math:`n \ge 1` integers are left between them. Only
        the last answer can become rarer, whose interval loses :math:`2\Delta` integers, some on
        each side. For a left part of :math:`i` integers next to an interval of :math:`n` the ratio
        of masses is largest far to the right (shifts have a monotone likelihood ratio), where it
        is :math:`(q^{-i} - 1)/(1 - q^n)`; the right part is alike. As
        :math:`(u - 1) + (v - 1) \le uv - 1` for :math:`u, v \ge 1`, the longer interval has at
        most :math:`1 + (q^{-2\Delta} - 1)/(1 - q^n)` times the mass, which is the quotient above
        times :math:`q^{-2\Delta}`. The noise itself costs :math:`\Delta/s`, and :math:`\mu > z^*`
        costs its probability. The number of queries does not matter.

        In [Ste16, Lemma 7.5.9] :math:`s = 2/\varepsilon` and :math:`r = 6/\varepsilon`, and the gap
        must be :math:`(12/\varepsilon)(\ln(10/\varepsilon) + \ln(1/\delta) + 1)`; here about
        :math:`(4/\varepsilon)\ln(1/\delta) + (6/\varepsilon)\ln(6/\varepsilon)` is enough.

    Example:
        >>> event = BetweenThresholdsEvent(
        ...     threshold_scale=2, query_scale=6, distance=1, gap=80, epsilon=1
        ... )
        >>> 5.7e-9 < between_delta(event) < 5.8e-9
        True
    """
    if event.distance == 0:
        return Fraction(0)
    rest = (event.gap - 2 * event.distance + 1 - _least_between(event)) // 2
    return _tail(event.threshold_scale, rest + 1)


def _least_between(event: BetweenThresholdsEvent) -> int:
    r"""Return the least :math:`n` for which the loss is within ε.

    With :math:`b = \varepsilon - \Delta/s` that is
    :math:`q^n \le (e^b - q^{-2\Delta})/(e^b - 1)`.
    """
    left = event.epsilon - event.distance / event.threshold_scale
    shift = 2 * event.distance / event.query_scale
    room = exp_down(left) - exp_up(shift)
    if room <= 0:
        least = event.distance / event.threshold_scale + shift
        raise Unsupported(
            "This machine is not private at that ε",
            must=f"ask at an ε above {float(least):.6g}",
            got=str(event.epsilon),
            next="Raise ε or the scales",
        )
    return max(1, math.ceil(event.query_scale * log_up((exp_up(left) - 1) / room)))


def _tail(scale: Fraction, start: int) -> Fraction:
    r"""Return :math:`P[\mu \ge start]` of discrete Laplace noise, rounded up."""
    if start >= 1:
        return exp_up(-start / scale) / (1 + exp_down(-1 / scale))
    return 1 - exp_down((start - 1) / scale) / (1 + exp_up(-1 / scale))
