"""Schemes for numbers, small enough that the law of a report can be enumerated."""

from discreet.local.condensed.condensed_response import CondensedResponse
from discreet.local.condensed.distance import Distance
from discreet.local.numbers.d_bit_flip import DBitFlip
from discreet.local.numbers.hybrid import HybridMean
from discreet.local.numbers.local_laplace import LocalLaplace
from discreet.local.numbers.one_bit_mean import OneBitMean
from discreet.local.numbers.piecewise import PiecewiseMean
from discreet.local.numbers.square_wave import SquareWave
from tests.local.case import Case

_OCTAGON = [[min(abs(x - y), 8 - abs(x - y)) for y in range(8)] for x in range(8)]

CASES = [
    Case("one bit, a bit", OneBitMean.calibrate(most=1, epsilon=2), (0, 1)),
    Case("one bit, ten", OneBitMean.calibrate(most=10, epsilon=1), (0, 1, 5, 10)),
    Case("piecewise", PiecewiseMean.calibrate(most=6, epsilon=1), (0, 1, 3, 6)),
    Case("piecewise, two bytes", PiecewiseMean.calibrate(most=253, epsilon=8), (0, 7, 253)),
    Case("hybrid", HybridMean.calibrate(most=5, epsilon=2), (0, 2, 5)),
    Case("hybrid, small loss", HybridMean.calibrate(most=4, epsilon="0.5"), (0, 1, 4)),
    Case("Laplace", LocalLaplace.calibrate(most=4, epsilon="1.5"), (0, 1, 2, 4)),
    Case("Laplace, quick decay", LocalLaplace.calibrate(most=6, epsilon=5), (0, 3, 6)),
    Case("square wave", SquareWave.calibrate(most=7, epsilon=1), (0, 4, 7)),
    Case("one flipped bit", DBitFlip.calibrate(categories=5, bits=1, epsilon=1), (0, 1, 4)),
    Case("two flipped bits", DBitFlip.calibrate(categories=4, bits=2, epsilon=3), (0, 1, 3)),
    Case(
        "condensed, numbers",
        CondensedResponse.calibrate(distance=Distance.numeric(5, step="0.5"), alpha=2),
        (0, 1, 2, 3, 4),
    ),
    Case(
        "condensed, levels",
        CondensedResponse.calibrate(distance=Distance.ordinal([0, 1, 4]), alpha="0.7"),
        (0, 1, 2),
    ),
    Case(
        "condensed, a circle",
        CondensedResponse.calibrate(distance=Distance(_OCTAGON), alpha=1),
        (0, 1, 4),
    ),
]
