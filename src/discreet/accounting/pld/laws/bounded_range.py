"""The worst loss of a selection of bounded range, such as the exponential mechanism."""

import numpy as np
from attrs import frozen

from discreet.accounting.pld.grid import FloatArray
from discreet.accounting.pld.laws.law import Law, column
from discreet.accounting.pld.tails import Tails


@frozen
class BoundedRangeLaw(Law):
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
