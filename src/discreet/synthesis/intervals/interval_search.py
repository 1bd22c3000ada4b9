"""Intervals by private binary search: boundaries one after the other, and what lies between."""

import math
from fractions import Fraction
from typing import Self

import numpy as np
from attrs import field, frozen

from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.event import ComposedEvent
from discreet.core.loss import Approximate, PrivacyLoss, Pure, Zcdp
from discreet.core.numbers import Number, exact, log_bounds
from discreet.core.protocols import IntArray, Rng
from discreet.synthesis.counted.counted_rows import CountedRows
from discreet.synthesis.counted.integer_noise import (
    IntegerNoise,
    loss_of,
    noise_for,
    require_rows,
    share_of,
    whole_cells,
)
from discreet.synthesis.counted.usefulness import Usefulness
from discreet.synthesis.intervals.box_counts import BoxCounts


@frozen(kw_only=True)
class IntervalSearch:
    r"""Cut a row of cells into pieces of about ``target`` rows, and measure each piece.

    From the end of the last piece on, a binary search looks for the first cell at which a noisy
    count reaches ``target``. That cell is measured alone, and the cells before it together: so a
    value that many rows share (a heavy atom) has a count of its own, whatever it weighs. What is
    published are *measured* counts, not nominal ones. After ``most_pieces`` all that is left is one
    piece.

    Guarantee:
        On ``b``-bit cells and with :math:`k` pieces at most :math:`(k - 1)(b + 2) + 1` noisy counts
        are asked for, each chosen by the noisy answers before it. A unit with at most :math:`m`
        kept rows moves each by at most :math:`m`. The loss is that of so many uses of the noise,
        whether they are needed or not. No count is divided by the number of rows, which is
        private: the :math:`1/n` of the printed mechanism holds for a public :math:`n` only.

    Assumes:
        The cells are public. ``rng`` is unpredictable.

    Utility:
        If all noises are at most :math:`\tau`, a piece has fewer than ``target`` :math:`+ \tau`
        rows before its last cell, and at least ``target`` :math:`- \tau` in all. A query is off by
        at most :math:`\tau` for each count inside it, which add up along the line, and by at most
        ``target`` :math:`+ 2\tau` at each of its two ends: :meth:`usefulness`
        [BLR13, with the constants of a search on counts].
        :class:`~discreet.synthesis.intervals.box_search.BoxSearch` asks all pieces at once and
        needs far fewer questions; for a domain that fits into memory, the tree and the prefix sums
        beside this are better still.

    Example:
        >>> search = IntervalSearch.calibrate(
        ...     cells=1024, target=500, most_pieces=21, loss=Pure(1), rows_per_unit=1
        ... )
        >>> search.questions, search.loss(rows_per_unit=1)
        (241, Pure(ε = 1))
    """

    cells: int = field(converter=whole_cells)
    target: int = field(converter=check.whole, validator=check.positive)
    most_pieces: int = field(converter=check.whole, validator=check.positive)
    noise: IntegerNoise

    @classmethod
    def calibrate(
        cls, *, cells: int, target: int, most_pieces: int, loss: PrivacyLoss, rows_per_unit: int
    ) -> Self:
        """Return the search that spends exactly ``loss``, an equal part on each count."""
        pieces = check.whole(most_pieces)
        if pieces < 1:
            raise InvalidArgument("most_pieces is out of range", must="be at least 1")
        questions = _questions(whole_cells(cells), pieces)
        part = share_of(loss, Fraction(1, questions))
        noise = noise_for(part, _one_count(rows_per_unit))
        return cls(cells=cells, target=target, most_pieces=most_pieces, noise=noise)

    @property
    def questions(self) -> int:
        """The most noisy counts that are asked for, and those that are paid."""
        return _questions(self.cells, self.most_pieces)

    def event(self, rows_per_unit: int) -> ComposedEvent:
        """Describe one search, of units with at most so many kept rows."""
        return self.noise.event(_one_count(rows_per_unit)) * self.questions

    def loss(self, *, rows_per_unit: int) -> Pure | Zcdp | Approximate:
        """Return the loss of one search."""
        return loss_of(self.event(rows_per_unit), self.noise)

    def measure(self, rows: CountedRows, rng: Rng) -> IntArray:
        """Return a line for each run of cells: its first, its last, and its noisy count.

        The gate already holds the loss.
        """
        if rows.sizes != (self.cells,):
            raise InvalidArgument(
                "The rows are not of this axis", must=f"have one column of {self.cells} cells"
            )
        counts = _RunCounts.of(rows, self.noise, rng)
        found: list[tuple[int, int, int]] = []
        start, last = 0, self.cells - 1
        for _ in range(self.most_pieces - 1):
            end = self._search(counts, start)
            if end > start:
                found.append((start, end - 1, counts.ask(start, end - 1)))
            found.append((end, end, counts.ask(end, end)))
            start = end + 1
            if start > last:
                break
        else:
            found.append((start, last, counts.ask(start, last)))
        return np.array(found, dtype=np.int64)

    def estimate(self, measured: IntArray) -> BoxCounts:
        """Return the pieces, of which any interval may be asked."""
        return BoxCounts(measured, self.noise)

    def all_within(self, beta: Number) -> Fraction:
        r"""Return the :math:`\tau` that all noises keep but for a probability of ``beta``."""
        return self.noise.error_quantile(check.level(beta) / self.questions)

    def usefulness(self, *, rows: int, beta: Number) -> Usefulness:
        r"""Return what is promised of all intervals at once, for a *declared* number of rows.

        With :math:`\tau` as in :meth:`all_within` each finished piece has at least
        ``target`` :math:`- \tau` rows, so the pieces suffice if
        :math:`(k - 1)(target - \tau) \ge n`. Then an interval holds at most :math:`2k - 1` counts
        and cuts two: its error is at most :math:`(2k - 1)\tau + 2(target + 2\tau)` rows.
        """
        size, tau = check.whole(rows), self.all_within(beta)
        if size < 1 or (self.most_pieces - 1) * (self.target - tau) < size:
            raise InvalidArgument(
                "Nothing is promised for so many rows",
                must=f"be at most (most_pieces - 1) (target - {tau}), and at least 1",
                got=str(rows),
                next="Take more pieces, or larger ones, or spend more",
            )
        error = (2 * self.most_pieces - 1) * tau + 2 * (self.target + 2 * tau)
        return Usefulness(error=error / size, failure=exact(beta))

    def _search(self, counts: "_RunCounts", start: int) -> int:
        """Return the first cell at which a noisy count from ``start`` on reaches the target."""
        low, high = start, self.cells - 1
        while low < high:
            middle = (low + high) // 2
            if counts.ask(start, middle) >= self.target:
                high = middle
            else:
                low = middle + 1
        return low


@frozen(eq=False, repr=False)
class _RunCounts:
    """How many rows are in a run of cells, asked with noise. Holds private numbers."""

    places: IntArray
    below: IntArray
    noise: IntegerNoise
    rng: Rng

    @staticmethod
    def of(rows: CountedRows, noise: IntegerNoise, rng: Rng) -> "_RunCounts":
        order = np.argsort(rows.codes[:, 0], kind="stable")
        below = np.concatenate([[0], np.cumsum(rows.counts[order])]).astype(np.int64)
        return _RunCounts(rows.codes[order, 0], below, noise, rng)

    def ask(self, first: int, last: int) -> int:
        """Return the noisy number of rows from one cell to another."""
        start, end = np.searchsorted(self.places, [first, last + 1])
        count = self.below[end] - self.below[start]
        return int(self.noise.release(np.array([count]), self.rng)[0])


def paper_rows(*, bits: int, error: Number, failure: Number, epsilon: Number) -> Fraction:
    r"""Return the number of rows that the printed mechanism needs, which knows :math:`n`.

    With :math:`\alpha' = \varepsilon\alpha/(4b)` for each of :math:`4b/\varepsilon` questions and
    errors of :math:`\varepsilon^2/8` each, it is :math:`(\varepsilon, \delta)`-useful if
    :math:`n \ge \frac{32 b}{\alpha \varepsilon^3} \ln \frac{4b}{\varepsilon\delta}`, rounded up
    here; :math:`\alpha` is the loss [BLR13; the constants follow from the printed parameters].

    Example:
        >>> float(paper_rows(bits=10, error="0.1", failure="0.05", epsilon=1)) // 1000
        2875.0
    """
    share, level, loss = exact(error), check.level(failure), exact(epsilon)
    if not (0 < share <= 1 and loss > 0 and check.whole(bits) > 0):
        raise InvalidArgument("There is no such search", must="have bits, an error and a loss")
    return 32 * bits / (loss * share**3) * log_bounds(4 * bits / (share * level), bits=96)[1]


def _questions(cells: int, pieces: int) -> int:
    return (pieces - 1) * ((cells - 1).bit_length() + 2) + 1


def _one_count(rows_per_unit: int) -> Contribution:
    return Contribution(l0=1, linf=require_rows(rows_per_unit))


def declared_target(*, rows: int, error: Number) -> tuple[int, int]:
    """Return a target and a number of pieces for a declared number of rows and an error.

    A quarter of the error is for each of the two ends, and pieces may be a ninth smaller.

    Example:
        >>> declared_target(rows=100_000, error="0.1")
        (2500, 46)
    """
    share = exact(error)
    if not 0 < share < 1 or check.whole(rows) < 1:
        raise InvalidArgument("An error is a share of the rows", must="lie between 0 and 1")
    target = max(1, math.floor(share * rows / 4))
    return target, math.ceil(Fraction(9, 8) * rows / target) + 1
