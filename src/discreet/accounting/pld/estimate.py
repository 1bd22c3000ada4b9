"""A quick look at the curve of a composed law: guesses that a certified curve then checks."""

import math

import numpy as np
from attrs import frozen

from discreet.accounting.pld.bump import SPREAD, bump
from discreet.accounting.pld.composed import Composed
from discreet.accounting.pld.grid import FloatArray

_WIDE = 9.0
_FAR = 600.0


@frozen(eq=False)
class Estimate:
    r"""Suffix sums: between two grid points :math:`\delta = S - e^\varepsilon T`."""

    law: Composed
    masses: FloatArray
    """The masses, no longer tilted."""
    above: FloatArray
    """S, from each index on."""
    weighted: FloatArray
    r"""T, from each index on, times :math:`e^{centre}`."""
    centre: float
    scale: float

    @staticmethod
    def of(law: Composed, shift: float) -> "Estimate":
        """Sum up the masses of ``law``, each moved by ``shift`` before the tilt is undone."""
        losses = law.losses()
        tilted = np.maximum(law.masses + shift, 0.0)
        centre = float(losses[int(np.argmax(tilted))])
        over = losses - centre
        masses = tilted * np.exp(np.clip(-law.theta * over, -_FAR, _FAR))
        above = np.cumsum(masses[::-1])[::-1]
        tilted *= np.exp(np.clip(-(1 + law.theta) * over, -_FAR, _FAR))
        weighted = np.cumsum(tilted[::-1])[::-1]
        scale = law.log_scale - law.theta * centre
        return Estimate(law, masses, above, weighted, centre, scale)

    def crossing(self, delta: float) -> float:
        """Return about the ε at which δ is ``delta``, infinite masses left out."""
        wanted = math.exp(min(700.0, math.log(max(delta, 1e-320)) - self.scale))
        losses = self.law.losses()
        push = np.exp(np.minimum(losses - self.centre, _FAR))
        values = self.above - push * self.weighted
        enough = np.nonzero(values <= wanted)[0]
        place = int(enough[0]) if len(enough) else len(losses) - 1
        top, rate = self.above[place], self.weighted[place]
        if not 0 < rate < math.inf or not 0 < top - wanted < math.inf:
            return float(losses[place])
        return min(float(losses[place]), self.centre + math.log((top - wanted) / rate))

    def delta(self, epsilon: float, noise: float) -> float:
        """Return about δ at ``epsilon``, with the bump of ``noise`` taken off."""
        law = self.law
        place = min(max(0, math.floor(epsilon / law.step) + 1 - law.first), len(self.above) - 1)
        push = math.exp(min(700.0, epsilon - self.centre))
        value = float(self.above[place] - push * self.weighted[place])
        reach = _WIDE * math.sqrt(SPREAD) * noise
        low = max(0, math.floor((epsilon - reach) / law.step) - law.first)
        high = max(low, math.ceil((epsilon + reach) / law.step) + 1 - law.first)
        masses = self.masses[low:high]
        losses = law.losses()[low:high]
        value -= float((masses * bump(losses - epsilon, noise)).sum())
        return value * math.exp(min(700.0, self.scale))
