"""Families of laws, and laws from JSON."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from attrs import field, frozen

from discreet.core.errors import InvalidArgument
from discreet.noiseless.laws.box_density import BoxDensity, DisjointBoxes, TriangleDensity
from discreet.noiseless.laws.grid_block import GridBlock
from discreet.noiseless.laws.grid_law import DiscreteLaw, GridFloor
from discreet.noiseless.laws.hidden import Hidden, Interval, RowLaw
from discreet.noiseless.laws.independent_columns import IndependentColumns
from discreet.noiseless.laws.kernel_density import LaplaceKernel, NormalKernel
from discreet.noiseless.laws.parametric import (
    BetaRows,
    ExponentialRows,
    LaplaceRows,
    NormalRows,
)


def _members(values: Iterable[RowLaw]) -> tuple[RowLaw, ...]:
    return tuple(one for value in values for one in value.members())


@frozen
class LawFamily:
    r"""Rows are drawn independently from *one* of several laws, and nobody needs to know which.

    Guarantee:
        A bound for the worst member holds for each, and for every mixture: rows that depend on one
        another through an unknown member only.

        Proof. All members have one simulator, and the hockey-stick divergence is jointly convex
        [Gro14, theorem 5.4]. [Gro14, corollary 6.3] takes the maximum without asking for a common
        simulator; without one the definition does not hold, so members with different clamps are
        refused.

    Example:
        >>> law = LawFamily([BoxDensity("0.4", box=(k, k + 2), clamps=(0, 4)) for k in (0, 1, 2)])
        >>> len(law.members())
        3
    """

    laws: tuple[RowLaw, ...] = field(converter=_members)

    def __attrs_post_init__(self) -> None:
        if not self.laws:
            raise InvalidArgument("The family is empty", must="have a member")
        first = self.laws[0]
        if any(one.clamps != first.clamps or one.simulator != first.simulator for one in self.laws):
            raise InvalidArgument(
                "The members have different simulators",
                must="have the same clamps, and the same grid if they have one",
                next="Fix public clamps that suit all members: a bound needs one simulator for all",
            )

    @property
    def clamps(self) -> tuple[Interval, ...]:
        """The clamps that all members share."""
        return self.laws[0].clamps

    @property
    def simulator(self) -> tuple[Fraction, ...]:
        """What all members insert."""
        return self.laws[0].simulator

    def members(self) -> tuple[RowLaw, ...]:
        """Return the laws, families among them taken apart."""
        return self.laws

    def hidden(self) -> Hidden:
        """Return the uniform part of the member with the least of it, for a first look."""
        return min((one.hidden() for one in self.laws), key=lambda part: part.mass)

    def words(self) -> str:
        """Return the assertion in a sentence."""
        one = self.laws[0].words()
        return (
            f"All rows follow the same one of {len(self.laws)} laws, or a mixture of these; which "
            f"one need not be known. The first: {one}"
        )

    def to_json(self) -> dict[str, Any]:
        """Return what is asserted."""
        return {"law": "family", "members": [one.to_json() for one in self.laws]}


_PARAMETRIC = {one.kind: one for one in (NormalRows, LaplaceRows, ExponentialRows)}
_KERNELS = {one.kind: one for one in (NormalKernel, LaplaceKernel)}


def law_from_json(value: Mapping[str, Any]) -> RowLaw:
    """Return the law that was written with ``to_json``; refuse an unknown kind.

    Example:
        >>> law = BoxDensity("0.1", box=(0, 4), clamps=(0, 8))
        >>> law_from_json(law.to_json()) == law
        True
    """
    rest = {name: part for name, part in value.items() if name != "law"}
    kind = value.get("law")
    try:
        return _of_kind(kind, rest)
    except (KeyError, TypeError) as error:
        raise InvalidArgument(
            "This is no law",
            must="have the fields of its kind",
            got=f"{kind} with {', '.join(sorted(map(str, rest)))}"[:200],
        ) from error


def _of_kind(kind: object, rest: Mapping[str, Any]) -> RowLaw:
    match kind:
        case "box_density":
            return BoxDensity(rest["density"], box=rest["box"], clamps=rest["clamps"])
        case "disjoint_boxes":
            return DisjointBoxes(rest["densities"], boxes=rest["boxes"], clamps=rest["clamps"])
        case "triangle_density":
            return TriangleDensity(rest["peak"], base=rest["base"], clamps=rest["clamps"])
        case "grid_floor":
            return GridFloor(
                rest["floor"], block=rest["block"], clamps=rest["clamps"], step=rest["step"]
            )
        case "grid_block":
            return GridBlock(
                rest["floor"], blocks=rest["blocks"], clamps=rest["clamps"], steps=rest["steps"]
            )
        case "independent_columns":
            return IndependentColumns(tuple(law_from_json(one) for one in rest["laws"]))
        case "discrete":
            return DiscreteLaw(**rest)
        case "beta":
            return BetaRows(rest["first"], rest["second"], clamps=rest["clamps"])
        case "family":
            return LawFamily([law_from_json(one) for one in rest["members"]])
        case str() if kind in _KERNELS:
            return _KERNELS[kind](
                rest["peak"], base=rest["base"], scale=rest["scale"], clamps=rest["clamps"]
            )
        case str() if kind in _PARAMETRIC:
            return _PARAMETRIC[kind](rest["centre"], rest["scale"], clamps=rest["clamps"])
    raise InvalidArgument(
        "There is no such law",
        must="be one of box_density, disjoint_boxes, triangle_density, normal_kernel, "
        "laplace_kernel, grid_floor, grid_block, discrete, normal, laplace, exponential, beta, "
        "independent_columns or family",
        got=str(kind)[:64],
    )
