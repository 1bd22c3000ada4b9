"""The battery: what the sampling auditor looks at without being asked."""

from collections.abc import Iterator
from fractions import Fraction

from discreet.audit.feature import Feature, Residue, TrailingZeros
from discreet.audit.float_feature import FloatShape, LowestBit, Remainder, Significand
from discreet.audit.output_column import OutputColumn, common_unit

MODULI = (
    *range(2, 17),
    *(2**bits for bits in range(5, 17)),
    *(2**bits for bits in (20, 24, 32, 48)),
    *(25, 27, 60, 125, 255),
    *(10**digits for digits in range(2, 7)),
)
"""What whole numbers are reduced by: every small one, low bits, bytes and last digits."""

ODD_MODULI = (3, 5, 7, 9, 11, 13, 15, 25, 27, 125, 625, 3125, 15625)
"""What the digits of floats are reduced by; powers of two are in the lowest bit already."""

LATTICES = (0, -8, -16, -24, -32, -40, -48)
"""The powers of two by which floats are divided."""


def battery(first: OutputColumn, second: OutputColumn) -> Iterator[Feature]:
    """Yield features that may tell the outputs on two neighbouring data sets apart.

    Half-lines and frequent outputs see faults of *size*: too little noise, no noise, noise that is
    cut off. These features see faults of *grain*: noise that leaves some numbers out, or favours
    some. Adding it to the true value moves the favoured ones, and their residues, low bits and gaps
    tell by how much. They are computed from the outputs, as is the unit in which they count: the
    auditor knows nothing about the mechanism.

    Example:
        >>> first, second = OutputColumn([0, 2]), OutputColumn([1, 3])
        >>> [feature.describe("it") for feature in battery(first, second)]
        ['it modulo 2', 'it modulo 3', 'the number of zero bits at the end of it']
    """
    unit = common_unit(first, second)
    if unit is not None:
        yield from _whole_number_features(first, second, unit)
    if first.has_floats or second.has_floats:
        yield LowestBit()
        yield FloatShape()
        yield from (Significand(modulus=modulus) for modulus in ODD_MODULI)
        yield from (Remainder(exponent=exponent) for exponent in LATTICES)


def _whole_number_features(
    first: OutputColumn, second: OutputColumn, unit: Fraction
) -> Iterator[Feature]:
    """Yield residues, also by the steps that the outputs have: there a lattice with holes shows.

    A modulus beyond the spread of the outputs would only tell apart all of them, as the outputs
    themselves do.
    """
    known = [counts[fits] for counts, fits in (side.in_units(unit) for side in (first, second))]
    ends = [int(end) for counts in known if counts.size for end in (counts.min(), counts.max())]
    spread = max(ends) - min(ends)
    found = {*first.steps(unit), *second.steps(unit)}
    for modulus in sorted({*MODULI, *found}):
        if 1 < modulus <= min(spread, 1 << 62):
            yield Residue(modulus=modulus, unit=unit)
    yield TrailingZeros(unit=unit)
