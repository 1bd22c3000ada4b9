"""Columns of exact numbers as texts, rounded for people: the same as one by one, but in bulk."""

from fractions import Fraction

import numpy as np

from discreet.releases.cell import text
from discreet.releases.estimates.ratios import Integers, Ratios, add, times, whole


def texts(values: Ratios) -> list[str]:
    """Return numbers without an error bar, as :mod:`discreet.releases.cell` has them."""
    if values.is_whole():
        found = zip(values.rounded_down().tolist(), values.known.tolist(), strict=True)
        return [str(number) if known else "NULL" for number, known in found]
    return [text(Fraction(top, low)) if known else "NULL" for top, low, known in values.pairs()]


def nearest_texts(values: Ratios, decimals: int) -> list[str]:
    """Return the nearest numbers of so many decimals, without zeros at the end.

    Example:
        >>> nearest_texts(Ratios.of([Fraction(5, 2), Fraction(-1, 3)]), 2)
        ['2.5', '-0.33']
    """
    tops = add(times(values.tops, whole([2 * 10**decimals])), values.bottoms)
    return _written(tops // times(values.bottoms, whole([2])), decimals)


def lower_texts(values: Ratios, decimals: int) -> list[str]:
    """Return the largest numbers of so many decimals that are not above."""
    return _written(times(values.tops, whole([10**decimals])) // values.bottoms, decimals)


def upper_texts(values: Ratios, decimals: int) -> list[str]:
    """Return the smallest numbers of so many decimals that are not below.

    Example:
        >>> third = Ratios.of([Fraction(1, 3)])
        >>> upper_texts(third, 2), lower_texts(third, 2), upper_texts(third.negative(), 2)
        (['0.34'], ['0.33'], ['-0.33'])
    """
    return _written(-(times(-values.tops, whole([10**decimals])) // values.bottoms), decimals)


def _written(units: Integers, decimals: int) -> list[str]:
    if not decimals:
        return list(map(str, units.tolist()))
    sizes, unit = abs(units), 10**decimals
    wholes, parts = sizes // unit, sizes % unit
    signs = np.where(units < 0, "-", "").tolist()
    found = zip(signs, wholes.tolist(), parts.tolist(), strict=True)
    return [
        f"{sign}{one}.{part:0{decimals}d}".rstrip("0") if part else f"{sign}{one}"
        for sign, one, part in found
    ]
