"""What a scheme is: how a person's value becomes a report, and reports an estimate."""

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core import check
from discreet.core.contribution import Metric
from discreet.core.errors import InvalidArgument
from discreet.core.event import ComposedEvent
from discreet.core.protocols import IntArray, Rng
from discreet.core.stated_event import PureEvent
from discreet.local.coins import loss_of_odds
from discreet.local.device.draws import SecureDraws
from discreet.local.device.randomise import randomise
from discreet.local.device.recipe import Recipe
from discreet.local.report_numbers import Reports, as_numbers


class Scheme(ABC):
    r"""A way to report one value, and to estimate from many reports.

    A subclass is a frozen noun of whole numbers. Its ``recipe`` is all that a device needs; what
    the device then does is :func:`discreet.local.device.randomise.randomise`, of which
    ``randomise_many`` is the same law for arrays.

    Guarantee:
        ``odds`` is the largest ratio of the probabilities of one report under two values, exactly,
        as a rational number; ``worst_pair`` attains it. One report is :math:`\ln(\text{odds})`-DP
        for any two values of one person, and not less; ``event`` has that number, rounded up.

    Assumes:
        A person's reports are independent. Of several reports the losses add up: ``lifetime``.
    """

    kind: ClassVar[str]

    @property
    @abstractmethod
    def size(self) -> int:
        """How many bytes a report has, whatever it says."""

    @abstractmethod
    def recipe(self) -> Recipe:
        """Return the public part of the scheme, as plain JSON values."""

    @abstractmethod
    def odds(self) -> Fraction:
        """Return how many times as likely a report can be under one value as under another."""

    @abstractmethod
    def worst_pair(self) -> tuple[Any, Any]:
        """Return two values for which some report attains the odds."""

    @abstractmethod
    def randomise_many(self, values: Any, rng: Rng) -> Reports:
        """Return the report of each of many people."""

    @abstractmethod
    def tally(self, reports: Reports) -> IntArray:
        """Return what an estimate needs of the reports; tallies of two batches add up."""

    def randomise(self, value: Any, rng: Rng) -> bytes:
        """Return the report of one person who holds ``value``, as a device makes it."""
        return randomise(self.recipe(), value, SecureDraws(lambda size: _bytes(size, rng)))

    def event(self) -> PureEvent:
        """Describe one report for the accountants."""
        return PureEvent(epsilon=loss_of_odds(self.odds()), metric=Metric.CHANGE_ONE)

    def kept_event(self) -> PureEvent:
        """Describe all reports of one value by a device that keeps what it drew for it.

        It is the report itself, so one tells all; RAPPOR keeps a response, and reports it anew.
        """
        return self.event()

    def variation(self) -> Fraction | None:
        """Return the total variation between the reports of two values, if all pairs have one."""
        return None

    def lifetime(self, reports: int) -> ComposedEvent:
        """Describe so many independent reports of one person together."""
        return self.event() * check.whole(reports)

    def told_below(self) -> int | None:
        """Return how many different reports there are, if a report is one number below that."""
        return None

    def possible(self, reports: Reports) -> NDArray[np.bool_]:
        """Tell which reports an honest device can make: all, where a scheme says nothing else."""
        array, numbers = self.check_reports(reports), self.told_below()
        if numbers is None:
            return np.ones(len(array), dtype=np.bool_)
        return np.asarray(as_numbers(array) < numbers)

    def check_possible(self, reports: Reports) -> Reports:
        """Return the reports, refusing them if no honest device can have made one of them."""
        possible = self.possible(reports)
        if not possible.all():
            raise InvalidArgument(
                "No device makes some of these reports",
                must="be dropped where `possible` is false",
                got=f"{int((~possible).sum())} of {len(possible)}",
            )
        return reports

    def check_reports(self, reports: Reports) -> Reports:
        """Return the reports, refusing arrays of another form or without any."""
        array = np.asarray(reports)
        if array.dtype != np.uint8 or array.ndim != 2 or array.shape[1] != self.size:
            raise InvalidArgument(
                "The reports have another form",
                must=f"be an array of bytes with {self.size} in each row",
                got=f"{array.dtype} of shape {array.shape}",
            )
        if not len(array):
            raise InvalidArgument("There are no reports", must="give at least one report")
        return array


def _bytes(size: int, rng: Rng) -> bytes:
    words = rng.words(-(-size // 8)).astype("<u8")
    return words.tobytes()[:size]
