"""Choose limits that cut few units, privately, and say how many they cut."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from attrs import frozen

from discreet.core.contribution import Contribution
from discreet.core.event import ComposedEvent
from discreet.core.protocols import IntArray, Rng
from discreet.core.rounding import log_up
from discreet.mechanisms.noise_json import Noise
from discreet.mechanisms.selection.exponential_mechanism import ExponentialMechanism

ONE_UNIT = Contribution(l0=1, linf=1)
"""What one unit moves of a histogram of units, and of the number of units that limits cut."""


@frozen(kw_only=True)
class FewestCut:
    r"""The choice of one of several limits by a histogram of units, and a noisy count after it.

    Candidate ``c`` has the score :math:`-\#\{\text{units that } c \text{ cuts}\} - h_c` with a
    public handicap :math:`h_c` that grows with its noise. The exponential mechanism chooses one,
    and noise is added to the number of units that it cuts.

    Guarantee:
        The law of both has the loss of :meth:`event`.

        Proof. A unit is in one cell of the histogram, which says of each limit of each candidate
        whether the unit is beyond it. So adding one raises the number of units that a candidate
        cuts by 1 if the cell is beyond its limits, and by 0 else, whatever limits it has. All
        scores
        fall by 0 or 1: they are monotone and differences move by at most 1, which is the loss
        :math:`1/scale` of the exponential mechanism. Handicaps move with no unit. Given the
        candidate that was chosen, the number of units that it cuts moves by at most 1, which the
        noise is for. The second step looks at what the first made public: losses add up, as for
        any adaptive choice [DR14, Theorem 3.16].

        The *error* of a candidate would be the natural score, and has no bounded sensitivity: one
        unit can have any number of rows beyond a limit. That is why units are counted.

    Utility:
        A score :math:`-|\#\{\text{units cut}\} - t|` has a spread of 2, and all candidates that are
        wide enough are as good as one another. Here the wider of two that cut the same units is
        always the worse.
    """

    shape: tuple[int, ...]
    """How many limits there are of each kind: the histogram has one bin more of each, beyond."""
    places: tuple[int, ...]
    """Where each candidate is among all combinations of limits, in their order. If there are open
    ends, no limit of a kind comes after all limits of that kind."""
    handicaps: tuple[int, ...]
    """For each candidate how many units more it would have to spare."""
    choice: ExponentialMechanism
    noise: Noise
    has_open_ends: bool = False
    """Whether a candidate need not limit all that the histogram tells apart."""

    def event(self, d_in: Contribution) -> ComposedEvent:
        """Describe one use, on a histogram of which one unit moves ``d_in``."""
        return ComposedEvent.of([self.choice.event(d_in), self.noise.event(d_in)])

    def scores(self, units: IntArray) -> IntArray:
        """Return the score of each candidate. Private."""
        return -self._cut(units) - np.array(self.handicaps, dtype=np.int64)

    def _cut(self, units: IntArray) -> IntArray:
        """Return how many units each candidate cuts: those beyond one of its limits. Private."""
        cells = units.reshape([size + 1 for size in self.shape])
        within = cells
        for axis in range(len(self.shape)):
            within = within.cumsum(axis=axis, dtype=np.int64)
        ends = within if self.has_open_ends else within[tuple(slice(size) for size in self.shape)]
        kept = ends.ravel()
        cut: IntArray = units.sum(dtype=np.int64) - kept[list(self.places)]
        return cut

    def release(self, exact_values: IntArray, rng: Rng) -> IntArray:
        """Return the number of the chosen candidate, and about how many units it cuts."""
        chosen = self.choice.select(self.scores(exact_values), rng)
        cut = self._cut(exact_values)[chosen : chosen + 1]
        return np.array([chosen, *self.noise.release(cut, rng)], dtype=np.int64)

    def error_quantile(self, beta: Fraction) -> Fraction:
        """Return how far the noisy number of units is from the exact one, but for ``beta``."""
        return self.noise.error_quantile(beta)

    def to_json(self) -> dict[str, Any]:
        """Return the mechanism as public values, for the name of what it chooses."""
        return {
            "shape": list(self.shape),
            "places": list(self.places),
            "handicaps": list(self.handicaps),
            "scale": str(self.choice.scale),
            "noise": self.noise.to_json(),
            **({"open_ends": True} if self.has_open_ends else {}),
        }


def handicaps(widths: Sequence[int], usual: int, worth: Fraction) -> tuple[int, ...]:
    r"""Return :math:`t \ln(1 + w/u)` for each width :math:`w` of limits.

    That is how many rows of a unit count.

    Up to about the ``usual`` width :math:`u` noise matters little. Beyond, each factor of e is
    ``worth`` :math:`t` units: where :math:`\#\{units > r\} \sim r^{-\alpha}`, the best limits cut
    about :math:`t/\alpha` units, however large they are. That is the :math:`k/\varepsilon` at which
    one row more of everybody is not worth its noise.

    Example:
        >>> handicaps([1, 2, 4, 100], 2, Fraction(10))
        (5, 7, 11, 40)
    """
    return tuple(math.ceil(worth * log_up(1 + Fraction(width, usual))) for width in widths)
