"""The distribution under known noise, by expectation and maximisation."""

from collections.abc import Sequence

import numpy as np

from discreet.core.errors import InvalidArgument
from discreet.core.protocols import IntArray
from discreet.local.tails import Floats

_ENOUGH = 1e-4
_MOST_ROUNDS = 10_000


def reconstruct(
    law: Floats, tally: IntArray, *, smooth: bool = False, rounds: int = _MOST_ROUNDS
) -> Floats:
    r"""Return the distribution of values for which the reports are most likely.

    The rule of Agrawal and Srikant [AS00]: every report is shared among the values by how likely
    each made it, under the distribution so far; what a value gets is its next share. That is
    expectation and maximisation [AA01], so the likelihood never falls. With ``smooth``, neighbours
    are averaged with weights 1, 2, 1 after each round [LWLLS20], which keeps the result from
    following noise. It ends when the logarithm of the likelihood moves by less than 0.0001.

    Utility:
        No interval is known for the result: it is not unbiased, and how far it is off depends on
        the distribution. For intervals use
        :meth:`~discreet.local.numbers.square_wave.SquareWave.cumulative`.

    Example:
        >>> law = added_noise_law(3, [0.25, 0.5, 0.25])
        >>> reconstruct(law, np.array([25, 50, 25, 0, 0])).round(2).tolist()
        [1.0, 0.0, 0.0]
    """
    if law.ndim != 2 or tally.shape != law.shape[1:] or not tally.sum():
        raise InvalidArgument(
            "The tally does not belong to the law",
            must=f"have a number for each of {law.shape[-1]} kinds of reports, and not be empty",
            got=f"shape {tally.shape}",
        )
    counted = tally.astype(np.float64)
    found = np.full(len(law), 1.0 / len(law))
    reached = -np.inf
    for _ in range(rounds):
        likely = np.maximum(found @ law, np.finfo(np.float64).tiny)
        fit = float(counted @ np.log(likely))
        if abs(fit - reached) < _ENOUGH:
            break
        reached = fit
        found = found * (law @ (counted / likely)) / counted.sum()
        if smooth:
            ends = np.concatenate([found[:1], found, found[-1:]])
            found = (ends[:-2] + 2.0 * found + ends[2:]) / 4.0
        found = found / found.sum()
    return found


def added_noise_law(values: int, noise: Sequence[float]) -> Floats:
    """Return the law of a value plus noise, which is ``0, 1, ..`` with these probabilities.

    It is the input perturbation of [AS00]. Noise of bounded reach, such as uniform noise, has no
    finite loss: some reports are possible under one value and not under another.
    """
    law = np.zeros((values, values + len(noise) - 1))
    for value in range(values):
        law[value, value : value + len(noise)] = noise
    return law
