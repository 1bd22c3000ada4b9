"""The loss of one of several mechanisms, chosen by lot in public."""

from functools import reduce

import numpy as np
from attrs import frozen

from discreet.accounting.pld.grid import FloatArray
from discreet.accounting.pld.laws.law import Law
from discreet.accounting.pld.tails import Tails


@frozen
class MixtureLaw(Law):
    r"""Laws with weights that add up to 1.

    Guarantee:
        The outcome tells which mechanism was drawn, so :math:`\delta(\varepsilon) = \sum w_i
        \delta_i(\varepsilon)`: the loss is drawn in the same way.
    """

    laws: tuple[Law, ...]
    weights: tuple[float, ...]

    @property
    def infinite(self) -> FloatArray:
        """The mean."""
        pairs = zip(self.weights, self.laws, strict=True)
        return np.asarray(sum(weight * law.infinite for weight, law in pairs))

    @property
    def dropped(self) -> float:
        """At most the largest one."""
        return max(law.dropped for law in self.laws)

    def span(self, tail: float) -> tuple[float, float]:
        """Return the union."""
        spans = [law.span(tail) for law in self.laws]
        return min(low for low, _ in spans), max(high for _, high in spans)

    def slack(self) -> float:
        """Return the largest one."""
        return max(law.slack() for law in self.laws)

    def tails(self, losses: FloatArray) -> Tails:
        """Return the mean."""
        zero = Tails(*(np.zeros((1, 1)),) * 4)
        pairs = zip(self.weights, self.laws, strict=True)
        return reduce(
            lambda total, pair: total.mixed((1.0, pair[0]), pair[1].tails(losses)), pairs, zero
        )
