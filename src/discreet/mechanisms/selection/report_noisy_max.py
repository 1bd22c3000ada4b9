"""Report noisy max, by the law of the noise."""

from enum import Enum

from discreet.core.check import chosen
from discreet.core.numbers import Number, exact
from discreet.mechanisms.selection.exponential_mechanism import ExponentialMechanism
from discreet.mechanisms.selection.laplace_noisy_max import LaplaceNoisyMax
from discreet.mechanisms.selection.permute_and_flip import PermuteAndFlip
from discreet.mechanisms.selection.scores import Scores


class MaxNoise(Enum):
    """The law of the noise that is added to each score before the largest is reported."""

    GUMBEL = "gumbel"
    """The exponential mechanism: composes best."""

    EXPONENTIAL = "exponential"
    """Permute-and-flip: the smallest error in one choice."""

    LAPLACE = "laplace"
    """Discrete Laplace: the only one that also tells by how much the winner won."""


NoisyMax = ExponentialMechanism | PermuteAndFlip | LaplaceNoisyMax

_MECHANISMS: dict[MaxNoise, type[NoisyMax]] = {
    MaxNoise.GUMBEL: ExponentialMechanism,
    MaxNoise.EXPONENTIAL: PermuteAndFlip,
    MaxNoise.LAPLACE: LaplaceNoisyMax,
}


def max_noise_of(value: MaxNoise | str) -> MaxNoise:
    """Return the law that is meant, also by its name; refuse any other."""
    return chosen(MaxNoise, value, noun="law of noise")


def report_noisy_max(
    noise: MaxNoise | str, *, scale: Number, scores: Scores | str = Scores.GENERAL
) -> NoisyMax:
    r"""Return the mechanism that reports the largest of the scores plus noise of this law.

    Guarantee:
        With any of the three, :math:`\varepsilon = 2\Delta/scale`, or :math:`\Delta/scale` for
        monotone scores: each noise ``Z`` has
        :math:`P[Z \ge t + d] \ge e^{-d/scale} P[Z \ge t]`, and one unit moves the noise that a
        candidate needs to win by at most the spread of the changes.

    Example:
        >>> report_noisy_max(MaxNoise.EXPONENTIAL, scale=4)
        PermuteAndFlip(scale=Fraction(4, 1), scores=<Scores.GENERAL: 'general'>)
    """
    return _MECHANISMS[max_noise_of(noise)](scale=exact(scale), scores=scores)
