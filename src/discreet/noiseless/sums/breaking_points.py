"""How far an assumption can be wrong: the least rows and the least density for a target."""

import math
from collections.abc import Callable
from fractions import Fraction

from attrs import evolve

from discreet.noiseless.certifiable import BreakingPoint, PrivacyTarget, Way
from discreet.noiseless.laws.box_density import BoxDensity, TriangleDensity
from discreet.noiseless.laws.grid_block import GridBlock
from discreet.noiseless.laws.grid_law import GridFloor
from discreet.noiseless.laws.hidden import RowLaw
from discreet.noiseless.laws.kernel_density import KernelDensity
from discreet.noiseless.sums.ways import delta_by, ways_of

MOST_ROWS = 10**8
_COARSE = 24
_NARROW = Fraction(1, 100)


def holds(law: RowLaw, rows: int, target: PrivacyTarget) -> bool:
    """Tell whether a target certainly is met with so many unknown rows."""
    way = ways_of(law)[-1]
    return delta_by(way, law, rows, target.epsilon, blocks=_COARSE) <= target.delta


def least_rows(law: RowLaw, target: PrivacyTarget, *, start: int) -> int | None:
    """Return a number of unknown rows that certainly is enough; None if none was found.

    It is the least one for a law that is known throughout, and else within a hundredth of the
    least that is found with a few blocks. More rows are never worse.
    """
    low, high = 0, max(1, start)
    while not holds(law, high, target):
        if high >= MOST_ROWS:
            return None
        low, high = high, min(MOST_ROWS, 4 * high)
    is_quick = ways_of(law)[-1] is Way.TIGHT
    narrow = _NARROW if len(law.clamps) == 1 else 4 * _NARROW
    while high - low > (1 if is_quick else max(1, math.floor(high * narrow))):
        middle = math.isqrt(low * high) if low > 1 else (low + high) // 2
        middle = min(max(middle, low + 1), high - 1)
        low, high = (low, middle) if holds(law, middle, target) else (middle, high)
    return high


def least_density(
    law: RowLaw, target: PrivacyTarget, rows: int, *, is_met: bool = False
) -> BreakingPoint | None:
    """Return how low a density or a floor may be; None for laws that have none.

    ``is_met`` says that the target is known to be met with the law as it is asserted, even if a few
    blocks do not show it.
    """
    found = _density_of(law)
    if found is None:
        return None
    what, full, law_at = found
    least = _least_part(full, law_at, target, rows) or (full if is_met else None)
    if least is None:
        words = f"Even with {float(full):.4g}, as asserted, the target may fail."
        return BreakingPoint(what, None, words)
    words = f"The target holds down to {float(least):.4g}; below that it may fail."
    return BreakingPoint(what, least, words)


def _density_of(law: RowLaw) -> tuple[str, Fraction, Callable[[Fraction], RowLaw]] | None:
    """Return what is asserted of a law that can be lowered: its name, its value, and how."""
    if isinstance(law, BoxDensity):
        return "density on the box", law.density, lambda h: evolve(law, density=h)
    if isinstance(law, TriangleDensity):
        return "peak of the triangle", law.peak, lambda h: evolve(law, peak=h)
    if isinstance(law, KernelDensity):
        return "peak of the kernel", law.peak, lambda h: evolve(law, peak=h)
    if isinstance(law, GridFloor | GridBlock):
        return "floor on the block", law.floor, lambda q: evolve(law, floor=q)
    return None


def _least_part(
    full: Fraction, law_at: Callable[[Fraction], RowLaw], target: PrivacyTarget, rows: int
) -> Fraction | None:
    """Return a part that certainly will do, near the least; None if all of it is not enough."""
    if not holds(law_at(full), rows, target):
        return None
    low, high = 0, 256
    while high - low > max(1, high // 64):
        middle = (low + high) // 2
        if holds(law_at(full * middle / 256), rows, target):
            high = middle
        else:
            low = middle
    return full * high / 256
