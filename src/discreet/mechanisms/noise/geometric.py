"""The two-sided geometric noise of ε, which is discrete Laplace noise by another name."""

from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace


def geometric(epsilon: Number) -> DiscreteLaplace:
    r"""Return the mechanism that is written :math:`DGeo(\varepsilon)`.

    Its law, :math:`P(z) = \frac{1 - e^{-\varepsilon}}{1 + e^{-\varepsilon}} e^{-\varepsilon |z|}`,
    is that of :class:`DiscreteLaplace` with ``scale = 1 / epsilon``, so it has no class of its
    own: one law, one proof, one sampler.

    Guarantee:
        On integers at L1 distance 1 it is exactly ε-DP [GRS12, section 2]. The argument is ε:
        noise of :math:`DGeo(1/\varepsilon)`, as [Das22, Theorem 9.6] prints in one place, would
        be :math:`1/\varepsilon`-DP only.

    Example:
        >>> geometric("1/2")
        DiscreteLaplace(scale=Fraction(2, 1))
    """
    value = exact(epsilon)
    if value <= 0:
        raise InvalidArgument("epsilon is out of range", must="be greater than 0", got=str(epsilon))
    return DiscreteLaplace(scale=1 / value)
