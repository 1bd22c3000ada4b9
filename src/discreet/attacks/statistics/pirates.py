"""Pirates: what a coalition publishes of the words that its members hold.

A pirate takes the members' signs, one row a member and one column a position, and answers one sign
a position. Where all members have one sign an honest copy has it too; only ``noisy`` breaks that.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.statistics.sign_data import Floats, uniforms
from discreet.core.errors import InvalidArgument
from discreet.core.protocols import Rng

Signs = NDArray[np.int8]
Pirate = Callable[[Signs, Rng], Signs]
"""Takes the members' signs and coins, and answers with the signs of the copy."""


def majority(held: Signs, rng: Rng) -> Signs:
    """Answer what most members have; a coin decides a tie."""
    total = held.sum(axis=0, dtype=np.int64)
    return np.where(total == 0, coin_signs(held.shape[1], rng), np.sign(total)).astype(np.int8)


def minority(held: Signs, rng: Rng) -> Signs:
    """Answer what fewest members have, where they differ."""
    return np.where(_agree(held), held[0], -majority(held, rng)).astype(np.int8)


def random_member(held: Signs, rng: Rng) -> Signs:
    """Answer what a member has who is drawn anew for each position: interleaving."""
    chosen = (uniforms((held.shape[1],), rng) * len(held)).astype(np.int64)
    return np.asarray(held[chosen, np.arange(held.shape[1])], dtype=np.int8)


def dictator(held: Signs, rng: Rng) -> Signs:
    """Answer what the first member has."""
    del rng
    return np.array(held[0], dtype=np.int8)


def all_ones(held: Signs, rng: Rng) -> Signs:
    """Answer +1 wherever some member has it."""
    del rng
    return np.asarray(held.max(axis=0), dtype=np.int8)


def coin(held: Signs, rng: Rng) -> Signs:
    """Toss a coin wherever members differ."""
    return np.where(_agree(held), held[0], coin_signs(held.shape[1], rng)).astype(np.int8)


def noisy(pirate: Pirate, errors: float) -> Pirate:
    """Return a pirate that flips a share of another's answers, agreed ones included."""
    if not 0 <= errors <= 1:
        raise InvalidArgument("errors is out of range", must="be from 0 to 1")

    def answer(held: Signs, rng: Rng) -> Signs:
        flipped = uniforms((held.shape[1],), rng) < errors
        return np.where(flipped, -pirate(held, rng), pirate(held, rng)).astype(np.int8)

    return answer


def mechanism_pirate(mechanism: Callable[[Floats], NDArray[Any]]) -> Pirate:
    """Return a mechanism as a pirate: it publishes means, and their signs are the copy.

    A mechanism that answers means of signs to within less than 1 is an honest pirate, so a code
    that traces pirates traces the data of every such mechanism.
    """

    def answer(held: Signs, rng: Rng) -> Signs:
        means = np.asarray(mechanism(held.mean(axis=0, dtype=np.float64)), dtype=np.float64)
        if means.shape != (held.shape[1],) or not np.isfinite(means).all():
            raise InvalidArgument("The mechanism gave no means", must="be one number a position")
        return np.where(means == 0, coin_signs(held.shape[1], rng), np.sign(means)).astype(np.int8)

    return answer


PIRATES: dict[str, Pirate] = {
    "majority": majority,
    "minority": minority,
    "random member": random_member,
    "dictator": dictator,
    "all ones": all_ones,
    "coin": coin,
}
"""The honest pirates by name; ``noisy`` and ``mechanism_pirate`` make more."""


def _agree(held: Signs) -> NDArray[np.bool_]:
    return np.asarray((held == held[0]).all(axis=0), dtype=np.bool_)


def coin_signs(count: int, rng: Rng) -> Signs:
    """Return so many signs, each by a fair coin."""
    return np.where(uniforms((count,), rng) < 0.5, 1, -1).astype(np.int8)
