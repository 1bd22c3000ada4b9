"""Schemes for shares, small enough that the law of a report can be enumerated."""

import itertools
from fractions import Fraction

from discreet.local.coins import most_odds
from discreet.local.frequency.hadamard import hadamard_response
from discreet.local.frequency.hadamard_sketch import HadamardSketch
from discreet.local.frequency.k_ary import KaryResponse, truth_of
from discreet.local.frequency.local_hashing import LocalHashing
from discreet.local.frequency.subset_selection import SubsetSelection
from discreet.local.frequency.unary import UnaryEncoding
from tests.local.case import Case

TENTH = Fraction(1, 10)


def sketch_of_all_maps(categories: int, rows: int, epsilon: Fraction) -> HadamardSketch:
    """A sketch that has every map once: what holds over the choice of maps holds for its device."""
    below = 2 ** (categories - 1).bit_length()
    return HadamardSketch(
        categories=categories,
        maps=tuple(itertools.product(range(below), repeat=rows)),
        truth=truth_of(2, most_odds(epsilon)),
    )


CASES = [
    Case("k-ary, a bit", KaryResponse.calibrate(categories=2, epsilon=1), (0, 1)),
    Case("k-ary, five", KaryResponse.calibrate(categories=5, epsilon=TENTH), (0, 1, 4)),
    Case("k-ary, 300", KaryResponse.calibrate(categories=300, epsilon=8), (0, 255, 299)),
    Case("unary, optimised", UnaryEncoding.optimised(categories=5, epsilon=1), (0, 1, 4)),
    Case("unary, symmetric", UnaryEncoding.symmetric(categories=4, epsilon=TENTH), (0, 1, 2, 3)),
    Case("unary, two bytes", UnaryEncoding.optimised(categories=9, epsilon=5), (0, 1, 8)),
    Case("hashing, one bit", hadamard_response(categories=5, epsilon=1), (0, 1, 2, 3, 4)),
    Case("hashing, four places", LocalHashing.calibrate(categories=7, epsilon=1), (0, 1, 3, 6)),
    Case(
        "hashing, more places than values",
        LocalHashing.calibrate(categories=2, epsilon=2, bits=3),
        (0, 1),
    ),
    Case("subset, two of six", SubsetSelection.calibrate(categories=6, epsilon=1), (0, 1, 5)),
    Case(
        "subset, all but one",
        SubsetSelection.calibrate(categories=4, epsilon=TENTH, count=3),
        (0, 1, 2, 3),
    ),
    Case("subset, one", SubsetSelection.calibrate(categories=9, epsilon=4), (0, 1, 8)),
    Case("sketch, all maps", sketch_of_all_maps(4, 2, Fraction(4)), (0, 1, 2, 3)),
    Case("sketch, all rows", sketch_of_all_maps(5, 1, Fraction(1)), (0, 1, 4)),
]
