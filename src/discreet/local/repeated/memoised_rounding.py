"""The mean of a number that is asked again and again: rounded once and for all on each device."""

import numpy as np
from attrs import frozen

from discreet.core.contribution import Metric
from discreet.core.errors import InvalidArgument
from discreet.core.event import ComposedEvent
from discreet.core.numbers import Number
from discreet.core.protocols import IntArray, Rng
from discreet.core.stated_event import PureEvent
from discreet.local.coins import part
from discreet.local.frequency.share_estimate import CONFIDENCE
from discreet.local.numbers.number_scheme import MeanEstimate
from discreet.local.numbers.one_bit_mean import OneBitMean
from discreet.local.report_numbers import Reports
from discreet.randomness.samplers import bernoulli, uniform_integers


@frozen(kw_only=True)
class MemoisedRounding:
    r"""Report the kept answer of the end to which the kept offset rounds the value.

    A device draws once an offset :math:`a`, uniform in :math:`0 \dots m-1`, and one answer of the
    one-bit scheme for each end. From then on it reports the answer for :math:`m` if
    :math:`x + a \ge m`, else the answer for 0 [DKY17, section 4]:
    :func:`discreet.local.device.memory.rounded_report`.

    Guarantee:
        A person whose value never changes always sends one and the same bit, of the law of
        :class:`~discreet.local.numbers.one_bit_mean.OneBitMean`: the loss of one report, ``event``,
        is the loss of all. If two histories are such that any offset splits their times alike into
        those of one end and those of the other, then two answers are told at most, whatever the
        offset is, so also on average over offsets: twice that, ``at_most``.

        **When a value crosses the offset is not hidden, with any finite loss.** Two different bits
        show that it crossed in between, and a value that stays never shows them. If a change says
        more than the value, do not ask again.

    Utility:
        Exactly :math:`x` of the :math:`m` offsets round up, so the rounded value has mean
        :math:`x`, and each report has the law of the one-bit scheme: the same estimate, with the
        same interval, for each time of asking. (With an offset of :math:`1 \dots m-1` that must
        be exceeded, as is printed elsewhere, :math:`x - 1` of :math:`m - 1` offsets round up: that
        is biased.) Errors at different times are not independent: averaging over time
        does not make them small.

    Example:
        >>> scheme = MemoisedRounding(bit=OneBitMean.calibrate(most=24, epsilon=1))
        >>> round(float(scheme.event().epsilon), 9), scheme.at_most() == scheme.bit.lifetime(2)
        (1.0, True)
    """

    bit: OneBitMean

    def event(self) -> PureEvent:
        """Describe all reports of a person whose value never changes."""
        return PureEvent(epsilon=self.bit.event().epsilon, metric=Metric.CHANGE_ONE)

    def at_most(self) -> ComposedEvent:
        """Describe all reports, if nothing about when a value is rounded otherwise is counted."""
        return self.event() * 2

    def randomise_histories(self, histories: IntArray, rng: Rng) -> Reports:
        """Return the reports (time, device, byte) of devices (rows) over their times (columns)."""
        held = np.asarray(histories)
        if held.dtype != np.int64 or held.ndim != 2:
            raise InvalidArgument(
                "The histories have another form",
                must="be an array of 64-bit integers with a row a device and a column a time",
            )
        self.bit.check_values(held.ravel())
        devices = len(held)
        up = held + uniform_integers(self.bit.most, devices, rng)[:, None] >= self.bit.most
        truth = part(self.bit.truth)
        of_zero, of_most = ~bernoulli(truth, devices, rng), bernoulli(truth, devices, rng)
        told = np.where(up, of_most[:, None], of_zero[:, None])
        return told.T.astype(np.uint8)[:, :, None]

    def estimate(self, reports: Reports, *, confidence: Number = CONFIDENCE) -> MeanEstimate:
        """Return the mean at one time of asking."""
        return self.bit.estimate(reports, confidence=confidence)
