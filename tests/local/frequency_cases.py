"""Schemes for shares, small enough that the law of a report can be enumerated."""

from fractions import Fraction

from discreet.local.frequency.k_ary import KaryResponse
from tests.local.case import Case

CASES = [
    Case("k-ary, a bit", KaryResponse.calibrate(categories=2, epsilon=1), (0, 1)),
    Case("k-ary, five", KaryResponse.calibrate(categories=5, epsilon=Fraction(1, 10)), (0, 1, 4)),
    Case("k-ary, 300", KaryResponse.calibrate(categories=300, epsilon=8), (0, 255, 299)),
]
