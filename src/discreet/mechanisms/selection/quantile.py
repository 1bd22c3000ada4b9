"""One quantile of integers from a bounded domain, by the exponential mechanism over intervals."""

from typing import ClassVar, Self

import numpy as np
from attrs import frozen

from discreet.core.contribution import Contribution
from discreet.core.loss import Pure, Zcdp
from discreet.core.numbers import Number, exact
from discreet.core.protocols import IntArray, Rng
from discreet.mechanisms.selection.rank_choice import choose_by_rank
from discreet.mechanisms.selection.rank_mechanism import RankMechanism, in_domain, rank_spread
from discreet.mechanisms.selection.scores import bounded_range_scale


@frozen(kw_only=True)
class Quantile(RankMechanism):
    r"""Choose an integer ``v`` of a bounded domain with weight :math:`e^{-error(v)/scale}`.

    The *rank error* of ``v`` is how far :math:`qn` is from the interval
    :math:`[\#\{x < v\}, \#\{x \le v\}]`, in rows. ``scale`` is in rows too.

    Guarantee:
        If one unit adds or takes away at most ``d_in.l1`` rows, the choice is ε-DP with
        :math:`\varepsilon = 2 \max(q, 1-q) \cdot d_{in}.l1 / scale`, and
        :math:`\varepsilon^2/8`-zCDP. For the median that is :math:`d_{in}.l1 / scale`.

        Proof. :math:`error = \max(0,\; qn - \#\{x \le v\},\; \#\{x < v\} - qn)`. A row changes
        :math:`n` by 1 and each count by 0 or 1, so it changes both expressions by at most
        :math:`\max(q, 1-q)`, and so the error. Errors of two integers may move in opposite
        directions (rows far above help the larger candidates and harm the smaller), so this is
        the general price, :math:`spread = 2\Delta`, for every :math:`q`. The rest is the proof of
        the exponential mechanism, with the lengths of intervals as public weights (Smith,
        STOC 2011). ``n`` is not assumed to be known.

    Assumes:
        ``d_in.l1`` bounds the rows of one unit; if a unit is changed rather than added, it bounds
        the rows taken away plus those put in their place. The domain is public; values outside
        are moved to its ends. Real numbers go to a declared grid first: over an undivided interval
        no private quantile exists (Blum, Ligett and Roth, STOC 2008).

    Utility:
        Some integer has error 0, so of the ``D`` integers of the domain one with error above
        :math:`scale \cdot \ln(D/\beta)` is chosen with probability at most :math:`\beta`;
        ``error_quantile`` is the exact worst case.

    Example:
        >>> median = Quantile(quantile="1/2", lower=0, upper=120, scale=10)
        >>> median.loss(Contribution(l1=1))
        Pure(ε = 0.1)
        >>> float(median.error_quantile("0.05"))
        77.0
    """

    law: ClassVar[str] = "quantile"

    @classmethod
    def calibrate(
        cls,
        *,
        d_in: Contribution,
        loss: Pure | Zcdp,
        quantile: Number,
        lower: int,
        upper: int,
    ) -> Self:
        """Return the mechanism that spends ``loss``; for zCDP the scale is rounded up."""
        spread = rank_spread(exact(quantile)) * d_in.bound("l1")
        scale = bounded_range_scale([spread], loss)
        return cls(quantile=exact(quantile), lower=lower, upper=upper, scale=scale)

    def release(self, values: IntArray, rng: Rng) -> int:
        """Return the chosen integer. The gate already holds the loss."""
        return choose_by_rank(
            np.sort(in_domain(values, self.lower, self.upper)),
            lower=self.lower,
            upper=self.upper,
            share=self.quantile,
            scale=self.scale,
            rng=rng,
        )
