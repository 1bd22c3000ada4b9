"""One test of fit for integer samples: the whole distribution function, and the middle cells."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.core.numbers import exact
from discreet.core.protocols import IntArray, Rng
from discreet.randomness.bernoulli import bernoulli
from tests.support.statistics import cells_p_value, dkw_p_value


class Reference(Protocol):
    def pmf(self, z: int, /) -> float: ...
    def cdf(self, z: int, /) -> float: ...


def fit_p_value(sample: IntArray, law: Reference, middle: int = 3) -> float:
    """A valid p-value: the smaller of two, doubled."""
    cells = {z: law.pmf(z) for z in range(-middle, middle + 1)}
    return min(1.0, 2 * min(dkw_p_value(sample, law.cdf), cells_p_value(sample, cells)))


def double_zero(sample: IntArray, zero: float, rng: Rng) -> IntArray:
    """The broken twin that counts +0 and -0: a sample of the law with the weight of 0 doubled."""
    return np.where(zero_again(sample.size, zero, rng), 0, sample)


def zero_again(count: int, zero: float, rng: Rng) -> NDArray[np.bool_]:
    return bernoulli(exact(zero / (1 + zero)), count, rng)
