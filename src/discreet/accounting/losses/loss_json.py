"""Losses that were written down: the table of every kind, and the way back from JSON.

What is stored names its measure, and a piece of a curve its kind. Both are looked up here and
nowhere else, so that reading does not depend on what happens to be imported.
"""

import json
from decimal import ROUND_CEILING
from fractions import Fraction
from functools import lru_cache
from typing import Any

from attrs import fields

from discreet.accounting.curves.bounded import (
    BinaryPiece,
    BoundedRangePiece,
    CategoricalPiece,
    TightPure,
)
from discreet.accounting.curves.curve import CurvePiece, RenyiCurve
from discreet.accounting.curves.halting import HaltingPiece
from discreet.accounting.curves.line import BoundedLine, CountedLine, Line, StatedPiece
from discreet.accounting.curves.noise import DiscreteLaplacePiece, GaussianPiece, LaplacePiece
from discreet.accounting.curves.sampled import SampledPiece, ToldPiece
from discreet.core import check
from discreet.core.errors import Unsupported
from discreet.core.loss import (
    Approximate,
    ApproximateZcdp,
    BoundedZcdp,
    GaussianDp,
    MeanConcentrated,
    PrivacyLoss,
    Pure,
    Zcdp,
)
from discreet.core.numbers import exact, float_down, float_up

LOSSES: tuple[type[PrivacyLoss], ...] = (
    Pure,
    Approximate,
    Zcdp,
    ApproximateZcdp,
    BoundedZcdp,
    GaussianDp,
    MeanConcentrated,
    RenyiCurve,
)
"""Every kind of loss."""

PIECES: tuple[type[CurvePiece], ...] = (
    BinaryPiece,
    BoundedLine,
    BoundedRangePiece,
    CategoricalPiece,
    CountedLine,
    DiscreteLaplacePiece,
    GaussianPiece,
    HaltingPiece,
    LaplacePiece,
    Line,
    SampledPiece,
    StatedPiece,
    TightPure,
    ToldPiece,
)
"""Every kind of piece of a Rényi curve."""

_LOSSES = {cls.measure.value: cls for cls in LOSSES}
_PIECES = {cls.kind: cls for cls in PIECES}


def loss_from_json(data: dict[str, str]) -> PrivacyLoss:
    """Read a loss that :meth:`~discreet.core.loss.PrivacyLoss.to_json` wrote.

    Example:
        >>> loss_from_json(Pure("1/4").to_json())
        Pure(ε = 0.25)
    """
    try:
        return _loss_of(tuple(data.items()))
    except TypeError:
        raise Unsupported("This is not a loss that we know", must="have numbers as text") from None


@lru_cache(maxsize=256)
def _loss_of(items: tuple[tuple[str, str], ...]) -> PrivacyLoss:
    """Read a loss. A ledger says the same ones again and again, and they never change."""
    numbers = {name: value for name, value in items if name != "measure"}
    cls = _LOSSES.get(dict(items).get("measure", ""))
    if cls is None or set(numbers) != {a.name for a in fields(cls)}:
        raise Unsupported("This is not a loss that we know", must="carry a known measure")
    return _curve_of(numbers["pieces"]) if cls is RenyiCurve else cls(**numbers)


def _curve_of(text: str) -> RenyiCurve:
    pieces = []
    for data in json.loads(text):
        # It was called "count" before there were pieces with a count of their own.
        times = data.pop("times") if "times" in data else data.pop("count")
        pieces.append((piece_from_json(data), check.whole(times)))
    return RenyiCurve(pieces)


def piece_from_json(data: dict[str, Any]) -> CurvePiece:
    """Read a piece that :meth:`~discreet.accounting.curves.curve.CurvePiece.to_json` wrote."""
    parts = {name: value for name, value in data.items() if name != "kind"}
    cls = _PIECES.get(str(data.get("kind", "")))
    if cls is None or set(parts) != {a.name for a in fields(cls)}:
        raise Unsupported("This is not a piece of a curve that we know", must="carry a known kind")
    if "inner" in parts:
        parts["inner"] = loss_from_json(json.loads(parts["inner"]))
    return cls(**parts)


def decimals(loss: PrivacyLoss, *, rounding: str = ROUND_CEILING) -> dict[str, float]:
    """Return the numbers of a loss as floats, to stand beside the exact ones.

    A cost is rounded up; what is left must be rounded down (``ROUND_FLOOR``). A curve has no such
    numbers.

    Example:
        >>> decimals(Approximate("1/3", "1e-6")), decimals(Pure("1/2"))
        ({'epsilon': 0.33333333333333337, 'delta': 1e-06}, {'epsilon': 0.5})
    """
    if isinstance(loss, RenyiCurve):
        return {}
    is_up = rounding == ROUND_CEILING
    # An order up to which a bound holds is rounded the other way: there more is the stronger claim.
    return {
        a.name: _rounded(getattr(loss, a.name), is_up=is_up != (a.name == "order"))
        for a in fields(type(loss))
    }


def _rounded(value: Fraction, *, is_up: bool) -> float:
    """Return the nearest float if its shortest decimal is on the safe side, else the next one."""
    nearest = float(value)
    is_safe = exact(nearest) >= value if is_up else exact(nearest) <= value
    if is_safe:
        return nearest
    return float_up(value) if is_up else float_down(value)
