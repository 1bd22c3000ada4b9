"""The first lines of an answer: what must be read before its numbers.

Where limits or clamps change a number by more than a tenth, or may do so as far as is known, the
answer says so before anything else. How far single numbers may have moved is what their total
interval has beyond that of noise.
"""

from collections.abc import Sequence

import numpy as np
from attrs import frozen

from discreet.core.unit_words import A_UNIT, UNITS
from discreet.releases.left_out import Clamping, Ends, LeftOut
from discreet.tables.arithmetic.enclosures import Intervals
from discreet.tables.unit_name import UNIT, UnitName

DISTORTED = 0.1
"""From which part on of rows, people or a number an answer says in its first line what is cut."""


@frozen(kw_only=True)
class Moved:
    """One output, and in how many of its rows limits or clamps may have moved it far."""

    name: str
    rows: int
    of: int
    is_choice: bool = False
    """Whether it is a value that noisy counts chose: another one may be right."""


def moved_far(name: str, noise: Intervals, totals: Ends) -> Moved:
    """Return in how many rows a total interval reaches far beyond that of noise.

    It does if the number without limits and clamps may differ from the one with them by more than
    a tenth of the larger, or if nobody knows how far that is.

    Example:
        >>> from fractions import Fraction
        >>> noise = Intervals.of([(Fraction(90), Fraction(110))] * 2)
        >>> highs = Intervals.of([(Fraction(90), Fraction(end)) for end in (115, 200)])
        >>> moved_far("n", noise, Ends.of(highs))
        Moved(name='n', rows=1, of=2, is_choice=False)
    """
    lows, highs = totals.lows.floats(), totals.highs.floats()
    beyond = np.maximum(highs - noise.highs.floats(), noise.lows.floats() - lows)
    is_far = beyond > DISTORTED * np.maximum(abs(lows), abs(highs))
    is_open = ~(totals.lows.known & totals.highs.known)
    found = (is_far | is_open) & noise.known
    return Moved(name=name, rows=int(found.sum()), of=len(found))


def headline(
    left_out: LeftOut | None, moved: Sequence[Moved] = (), called: UnitName = UNIT
) -> list[str]:
    """Return what must be read before the numbers: that they are not those of all rows."""
    if left_out is None or left_out.is_nothing:
        return []
    on_clamps = [_on_cut(one) for one in left_out.clampings() if _matters(one)]
    found = [*_on_rows(left_out), *_on_totals(left_out), *on_clamps]
    return [called.said(line) for line in found or _on_moved(left_out, moved)]


def _on_rows(left_out: LeftOut) -> list[str]:
    share, of_table = left_out.share, left_out.of_table
    if not left_out.by_limits:
        return []
    if share is not None and share.about >= DISTORTED:
        return [
            f"Limits left out {share.told()} of the rows: these are numbers of the rows that count"
        ]
    if of_table is not None and of_table.about >= DISTORTED:
        whole = f"they leave out {of_table.told()} of all rows of {left_out.table}"
        return [f"Limits may leave out rows: {whole}, and of those asked about more or fewer"]
    if not left_out.is_known:
        return [f"Limits may leave out rows, and {left_out.reason}"]
    return []


def _on_totals(left_out: LeftOut) -> list[str]:
    if left_out.clamps_totals and _on_rows(left_out):
        return [f"The clamp may cut totals of {A_UNIT} as well"]
    if left_out.by_limits or not left_out.reason or any(left_out.clampings()):
        return []
    return [f"The clamp may cut totals of {A_UNIT}, and {left_out.reason}"]


def _on_moved(left_out: LeftOut, moved: Sequence[Moved]) -> list[str]:
    """Say which numbers may be far from those of all rows, where nothing else says it."""
    found = [one for one in moved if one.rows]
    if not found:
        return []
    named = ", ".join(one.name for one in found)
    rows, of = max(one.rows for one in found), found[0].of
    where = f" in {rows:,} of {of:,} rows" if of > 1 else ""
    known = left_out.share or left_out.of_table
    table = f" of {left_out.table}" if left_out.share is None else ""
    size = "" if known is None else f" (limits leave out {known.told()} of all rows{table})"
    is_choice = all(one.is_choice for one in found)
    done = f"changed {named}" if is_choice else f"moved {named} by more than a tenth"
    return [f"{_what(left_out)} may have {done}{where}{size}"]


def _what(left_out: LeftOut) -> str:
    if not left_out.by_limits:
        return "Clamps"
    if left_out.clamps_totals:
        return "Limits and the clamp of totals"
    return "Limits and clamps" if any(left_out.clamps) else "Limits"


def _matters(clamping: Clamping) -> bool:
    units = clamping.units
    return bool(clamping.reason) or (units is not None and units.about >= DISTORTED)


def _on_cut(clamping: Clamping) -> str:
    units = clamping.units
    if units is None or units.about < DISTORTED:
        return f"The clamp may cut values of {clamping.text}, and {clamping.reason}"
    because = f", and {clamping.reason}" if clamping.reason else ""
    return f"The clamp cuts values of {clamping.text} for {units.told()} of the {UNITS}{because}"
