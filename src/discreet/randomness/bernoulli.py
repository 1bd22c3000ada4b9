"""Bernoulli variables with a rational probability."""

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact
from discreet.core.protocols import Rng
from discreet.randomness.coins import toss
from discreet.randomness.size import Size


def bernoulli(p: Number, size: Size, rng: Rng) -> NDArray[np.bool_]:
    """Return independent coins that are true with probability ``p``.

    Guarantee:
        Given ideal words the probability is exactly ``p`` (proof:
        :func:`discreet.randomness.coins.toss`, with the enclosure ``[p, p]``).

    Example:
        >>> from discreet.randomness.rng import SystemRng
        >>> bernoulli(1, 3, SystemRng()).tolist()
        [True, True, True]
    """
    probability = exact(p)
    if not 0 <= probability <= 1:
        raise InvalidArgument("p is out of range", must="lie between 0 and 1", got=str(p))
    return toss(lambda _: (probability, probability), size, rng)
