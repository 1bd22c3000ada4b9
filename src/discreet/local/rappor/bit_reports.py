"""Bits of reports, eight in a byte, and how they are drawn for many people."""

import numpy as np
from numpy.typing import NDArray

from discreet.core.protocols import Rng
from discreet.local.rappor.rappor_coins import RapporCoins
from discreet.local.report_numbers import Reports
from discreet.randomness.samplers import bernoulli

Bits = NDArray[np.bool_]


def told_bits(coins: RapporCoins, held: Bits, rng: Rng) -> Bits:
    """Return the bits that are told of filters, each by one coin of the same law as both steps."""
    ones = bernoulli(coins.told_one, held.shape, rng)
    zeros = bernoulli(coins.told_zero, held.shape, rng)
    return np.where(held, ones, zeros)


def packed(bits: Bits) -> Reports:
    """Return bits as bytes, the first bit lowest."""
    return np.packbits(bits, axis=1, bitorder="little")


def unpacked(reports: Reports, bits: int) -> Bits:
    """Return the bits of each report."""
    return np.unpackbits(reports, axis=1, count=bits, bitorder="little").astype(np.bool_)
