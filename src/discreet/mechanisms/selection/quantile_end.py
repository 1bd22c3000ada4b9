"""One end of an interval of values that holds a quantile: a value chosen some ranks beside it."""

from enum import StrEnum
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np
from attrs import Attribute, field, frozen

from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Pure, Zcdp
from discreet.core.numbers import Number, exact
from discreet.core.protocols import IntArray, Rng
from discreet.mechanisms.selection.rank_choice import choose_by_rank
from discreet.mechanisms.selection.rank_mechanism import (
    RankMechanism,
    in_domain,
    rank_error,
    rank_spread,
)
from discreet.mechanisms.selection.scores import bounded_range_scale

FARTHEST = 2**61
"""Distances times the denominator of the share stay below it, so that ranks fit 64 bits."""


class EndSide(StrEnum):
    """On which side of a quantile an end lies."""

    LOW = "low"
    HIGH = "high"


def _side(value: EndSide | str) -> EndSide:
    return check.chosen(EndSide, value, noun="side of a quantile")


def _require_distance(
    instance: "QuantileEnd", attribute: "Attribute[Fraction]", value: Fraction
) -> None:
    scaled = value * instance.quantile.denominator
    if not 0 < scaled < FARTHEST or scaled.denominator != 1:
        raise InvalidArgument(
            f"{attribute.name} is out of range",
            must="be above 0 rows and below 2**61 over the denominator of the quantile, and a"
            " multiple of one over that denominator",
            got=str(value),
        )


@frozen(kw_only=True)
class QuantileEnd(RankMechanism):
    r"""Choose an integer that is almost surely on one side of a quantile, and not far from it.

    The low end has weight :math:`e^{-error(v)/scale}`, where the *rank error* of ``v`` is how far
    :math:`qn - distance` is from the interval :math:`[\#\{x < v\}, \#\{x \le v\}]`, in rows. The
    interval of the lowest integer of the domain has no lower end: a rank below 0 is its own. The
    high end is the low one of the negated values, at :math:`1 - q`.

    Guarantee:
        If one unit adds or takes away at most ``d_in.l1`` rows, the choice is ε-DP with
        :math:`\varepsilon = 2 \max(q, 1-q) \cdot d_{in}.l1 / scale`, and
        :math:`\varepsilon^2/8`-zCDP: as much as one
        :class:`~discreet.mechanisms.selection.quantile.Quantile` of that scale.

        Proof. :math:`error = \max(0,\; qn - distance - \#\{x \le v\},\; \#\{x < v\} - qn +
        distance)`, without the last part for the lowest integer. The distance is a public
        constant, so a row changes each part by at most :math:`\max(q, 1-q)`, and the rest is as
        for one quantile. Negating values is a bijection of the data and of the domain.

    Utility:
        Where ``holds(beta)``, the low end is at most as large as the quantile, except with
        probability ``beta``, whatever the data are and however few: at most as large as every
        integer of rank error 0 at :math:`q`, and as what PERCENTILE_CONT and PERCENTILE_DISC are.

        Proof. Some integer has an error of 0: the lowest if :math:`qn < distance`. So by the
        utility theorem of the exponential mechanism [DR14, Theorem 3.11] with exact candidates the
        error is at most ``t``, ``error_quantile(beta)``, except with probability ``beta``; let
        :math:`t \le distance - 1`. The lowest integer of the domain is below everything. Any other
        that is chosen has :math:`\#\{x < v\} \le qn - distance + t \le qn - 1`. So at most
        :math:`\lfloor qn \rfloor - 1` values are below ``v``, and the
        :math:`\lfloor qn \rfloor`-th smallest value is not. Every quantile is at least as large
        as that value: an integer ``w`` of rank error 0 has :math:`\#\{x \le w\} \ge qn`, and
        PERCENTILE_CONT lies between the values at the whole numbers around :math:`qn + 1 - q`.

    Assumes:
        As for one quantile. Of no rows at all there is no quantile, and the end then is near the
        end of the domain: with probability :math:`1 - beta` it is that.

    Example:
        >>> low = QuantileEnd.calibrate(
        ...     d_in=Contribution(l1=1), loss=Pure("0.1"), beta="0.01",
        ...     quantile="1/2", side="low", lower=0, upper=120,
        ... )
        >>> float(low.distance), low.loss(Contribution(l1=1))
        (94.5, Pure(ε = 0.1))
    """

    law: ClassVar[str] = "quantile_end"
    side: EndSide = field(converter=_side)
    distance: Fraction = field(converter=exact, validator=_require_distance)
    """How many ranks beside the quantile the end is looked for, in rows."""

    @classmethod
    def calibrate(
        cls,
        *,
        d_in: Contribution,
        loss: Pure | Zcdp,
        beta: Number,
        quantile: Number,
        side: EndSide | str,
        lower: int,
        upper: int,
    ) -> Self:
        """Return the end nearest to the quantile that spends ``loss`` and fails with ``beta``."""
        share = exact(quantile)
        scale = bounded_range_scale([rank_spread(share) * d_in.bound("l1")], loss)
        distance = 1 + rank_error(share, scale, upper - lower + 1, beta)
        return cls(
            quantile=share,
            side=_side(side),
            lower=lower,
            upper=upper,
            scale=scale,
            distance=distance,
        )

    def release(self, values: IntArray, rng: Rng) -> int:
        """Return the chosen integer. The gate already holds the loss."""
        rows = in_domain(values, self.lower, self.upper)
        if self.side is EndSide.LOW:
            return self._low_end(rows, self.quantile, (self.lower, self.upper), rng)
        return -self._low_end(-rows, 1 - self.quantile, (-self.upper, -self.lower), rng)

    def _low_end(self, rows: IntArray, share: Fraction, domain: tuple[int, int], rng: Rng) -> int:
        lower, upper = domain
        return choose_by_rank(
            np.sort(rows),
            lower=lower,
            upper=upper,
            share=share,
            scale=self.scale,
            rng=rng,
            below=self.distance,
        )

    def holds(self, beta: Number) -> bool:
        """Tell whether it is on the wrong side of the quantile with at most ``beta``."""
        return self.error_quantile(beta) + 1 <= self.distance
