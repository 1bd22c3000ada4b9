"""What the theorem on halfspaces asks for, and why nobody builds it."""

import math
from typing import Self

from attrs import frozen

from discreet.core.errors import InvalidArgument
from discreet.synthesis.halfspaces.direction_net import MOST_DIRECTIONS


@frozen(kw_only=True)
class PaperHalfspaces:
    r"""The parameters that make the printed mechanism :math:`(\varepsilon, \delta, \gamma)`-useful.

    Projections to :math:`k \ge 4 \ln(8/\varepsilon_1) / ((\gamma/16)^2 - (\gamma/16)^3)`
    dimensions, :math:`m \ge 12 (\ln(1/\delta_1) + bd \ln 2)` of them, a net of about
    :math:`\gamma^{-(k - 1)}` halfspaces in each, and Laplace noise for all :math:`m|N|` of them
    (the text says so of one projection, which has :math:`|N|`), with
    :math:`\varepsilon_1 = \varepsilon/2` and :math:`\delta_1 = \delta/2` [BLR13]. It knows
    :math:`n`; with a unit added or removed, :math:`n` must be declared.

    Example:
        >>> plan = PaperHalfspaces.of(
        ...     error=0.2, failure=0.05, nearness=0.5, bits=16, dimension=10, epsilon=1
        ... )
        >>> plan.across, plan.projections, plan.is_feasible
        (18528, 1376, False)
        >>> print(plan)
        The theorem asks for 1376 projections to 18528 dimensions, each with a net of about 10^5577
        halfspaces, and about 10^5585 rows. Nobody can build that: take a net of few dimensions.
    """

    across: int
    """The dimensions of a projection."""
    projections: int
    log10_net: float
    """The logarithm of the number of halfspaces in a net."""
    log10_rows: float
    """The logarithm of the number of rows that make the noise small enough."""

    @classmethod
    def of(
        cls,
        *,
        error: float,
        failure: float,
        nearness: float,
        bits: int,
        dimension: int,
        epsilon: float,
    ) -> Self:
        """Return the parameters for a usefulness, ``bits`` for each coordinate, and a loss."""
        inside = 0 < error < 1 and 0 < failure < 1 and 0 < nearness < 1
        if not (inside and bits >= 1 and dimension >= 1 and epsilon > 0):
            raise InvalidArgument(
                "There is no plan for these numbers",
                must="have an error, a failure and a nearness between 0 and 1, and a loss above 0",
            )
        small = nearness / 16
        across = math.ceil(4 * math.log(16 / error) / (small**2 - small**3))
        projections = math.ceil(12 * (math.log(2 / failure) + bits * dimension * math.log(2)))
        log10_net = (across - 1) * math.log10(1 / nearness)
        log10_all = math.log10(projections) + log10_net
        # All noises are at most half of the error: n ≥ (all/(ε · error/2)) ln(2 all/δ).
        logarithm = math.log(2 / failure) + log10_all * math.log(10)
        log10_rows = log10_all + math.log10(2 * logarithm / (epsilon * error))
        return cls(
            across=across, projections=projections, log10_net=log10_net, log10_rows=log10_rows
        )

    @property
    def is_feasible(self) -> bool:
        """Whether all nets together are few enough to be measured."""
        return self.log10_net + math.log10(self.projections) <= math.log10(MOST_DIRECTIONS)

    def __str__(self) -> str:
        asked = (
            f"The theorem asks for {self.projections} projections to {self.across} dimensions, each"
            f" with a net of about 10^{self.log10_net:.0f}\nhalfspaces, and about"
            f" 10^{self.log10_rows:.0f} rows."
        )
        if self.is_feasible:
            return asked
        return f"{asked} Nobody can build that: take a net of few dimensions."
