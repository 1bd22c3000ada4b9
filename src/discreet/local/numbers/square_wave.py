"""The distribution of a number, from a place near each value."""

from fractions import Fraction
from typing import Self

import numpy as np
from attrs import frozen

from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact
from discreet.core.protocols import IntArray
from discreet.local.coins import most_odds
from discreet.local.frequency.share_estimate import CONFIDENCE
from discreet.local.numbers.linear import decoder, linear_estimate
from discreet.local.numbers.number_scheme import grid
from discreet.local.numbers.quantiles import CumulativeEstimate
from discreet.local.numbers.reconstruct import reconstruct
from discreet.local.numbers.window_scheme import WindowScheme, inside_below
from discreet.local.report_numbers import Reports
from discreet.local.tails import Floats

MOST_FOR_LAW = 2048


@frozen(kw_only=True)
class SquareWave(WindowScheme):
    r"""Report a place, with the window that suits distributions [LWLLS20].

    Guarantee:
        That of :class:`~discreet.local.numbers.window_scheme.WindowScheme`. Calibration takes the
        largest threshold that keeps the odds below :math:`e^\varepsilon`.

    Utility:
        The window's share of the grid,
        :math:`(\varepsilon e^\varepsilon - e^\varepsilon + 1)/(e^\varepsilon(e^\varepsilon - 1 -
        \varepsilon))`, is the one at which a report tells most about a value of which nothing is
        known. ``distribution`` has no interval; ``cumulative`` has.

    Example:
        >>> scheme = SquareWave.calibrate(most=99, epsilon=1)
        >>> scheme.width, scheme.outcomes
        (51, 150)
    """

    @classmethod
    def calibrate(cls, *, most: int, epsilon: Number) -> Self:
        """Return the scheme whose reports tell as much as ``epsilon`` allows."""
        loss, odds = exact(epsilon), most_odds(epsilon)
        # Below the digits of the odds nothing is left of the difference; its limit is a half.
        gap = odds - 1 - loss
        share = (loss * odds - odds + 1) / (odds * gap) if gap > 0 else Fraction(1, 2)
        every = grid(most)
        width = min(max(1, round(share * (every + 1))), every + 1)
        return cls(most=every, width=width, inside=inside_below(odds, every, width))

    def distribution(self, reports: Reports, *, smooth: bool = True) -> Floats:
        """Return the share of each value, by expectation and maximisation; no interval is known."""
        return self.distribution_of_tally(self.tally(reports), smooth=smooth)

    def distribution_of_tally(self, tally: IntArray, *, smooth: bool = True) -> Floats:
        """Return the same from the tally of reports."""
        return reconstruct(self._small_law(), tally, smooth=smooth)

    def cumulative(
        self, reports: Reports, *, confidence: Number = CONFIDENCE
    ) -> CumulativeEstimate:
        """Return the share of people at or below each value, with intervals that hold at once.

        Utility:
            Unbiased, by weights that invert the law of reports; they vary much more than what
            ``distribution`` gives.
        """
        return self.cumulative_of_tally(self.tally(reports), confidence=confidence)

    def cumulative_of_tally(
        self, tally: IntArray, *, confidence: Number = CONFIDENCE, repeats: int = 1
    ) -> CumulativeEstimate:
        """Return the same from the tally of reports.

        Up to ``repeats`` of them may be of one device and repeat an answer that it keeps.
        """
        found = linear_estimate(
            self._small_law(),
            self._below(),
            tally,
            confidence=confidence,
            together=True,
            repeats=repeats,
        )
        return CumulativeEstimate(
            shares=np.append(found.means, 1.0),
            low=np.append(found.low, 1.0),
            high=np.append(found.high, 1.0),
            people=found.people,
            confidence=Fraction(found.confidence),
        )

    def weights_below(self) -> Floats:
        """Return what each report (rows) adds to the share at or below each value but the last."""
        return decoder(self._small_law(), self._below())

    def _below(self) -> Floats:
        return np.tri(self.most + 1).T[:, :-1]

    def _small_law(self) -> Floats:
        if self.most > MOST_FOR_LAW:
            raise InvalidArgument(
                "The grid is too long for a distribution",
                must=f"have a most of at most {MOST_FOR_LAW}",
                got=str(self.most),
            )
        return self.law()
