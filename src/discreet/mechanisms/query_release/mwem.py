"""MWEM: measure the worst query, learn from it, and measure the next one."""

from fractions import Fraction
from typing import Self

import numpy as np
from attrs import field, frozen

from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.errors import Unsupported
from discreet.core.event import ComposedEvent
from discreet.core.loss import Pure, Zcdp
from discreet.core.numbers import Number
from discreet.core.protocols import IntArray, Rng
from discreet.core.rounding import sqrt_up
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.query_release.drawn_scales import require_drawable
from discreet.mechanisms.query_release.linear_queries import (
    LinearQueries,
    RealArray,
    histogram_of,
)
from discreet.mechanisms.query_release.public_weights import (
    PublicWeights,
    first_entropy,
    whole_answers,
)
from discreet.mechanisms.query_release.row_total import (
    CountNoise,
    RowTotal,
    public_total,
    row_total_of,
    total_bound,
    total_events,
)
from discreet.mechanisms.selection.exponential_mechanism import ExponentialMechanism


def first_guess(queries: LinearQueries, total: int) -> PublicWeights:
    """Return the guess before anything was measured: all cells alike."""
    return PublicWeights(cells=queries.cells, total=total, width=queries.width)


class MeasuredGuess:
    """A guess, and all measurements that it has learnt from."""

    def __init__(self, queries: LinearQueries, *, total: int, passes: int) -> None:
        self.guess = first_guess(queries, total)
        self._table = queries.table
        self._passes = passes
        self._known: list[tuple[int, int]] = []

    def learn(self, index: int, value: int) -> None:
        """Learn from a measurement, and then ``passes`` times from all of them again."""
        self._known.append((index, value))
        for told, noisy in [(index, value), *(self._known * self._passes)]:
            self.guess.learn(self._table[told], noisy)


@frozen(kw_only=True)
class MwemRelease:
    """What became public: the total, which queries were measured, and their noisy answers.

    The histograms are computed from these alone, so they may be computed again, or in another way,
    for nothing.
    """

    queries: LinearQueries
    total: int
    passes: int
    chosen: tuple[int, ...]
    values: tuple[int, ...] = field(validator=check.non_empty)

    @property
    def histogram(self) -> RealArray:
        """The mean of the guesses before each measurement: what the error bound is about."""
        history = MeasuredGuess(self.queries, total=self.total, passes=self.passes)
        total = np.zeros(self.queries.cells, dtype=np.float64)
        for index, value in zip(self.chosen, self.values, strict=True):
            total += history.guess.histogram
            history.learn(index, value)
        return total / float(len(self.values))

    @property
    def latest(self) -> RealArray:
        """The guess after the last measurement. It mostly errs less, and no theorem says so."""
        history = MeasuredGuess(self.queries, total=self.total, passes=self.passes)
        for index, value in zip(self.chosen, self.values, strict=True):
            history.learn(index, value)
        return history.guess.histogram

    def answers(self) -> IntArray:
        """Return the answers of ``histogram`` to all queries, in whole numbers."""
        return whole_answers(self.queries, self.histogram)

    def latest_answers(self) -> IntArray:
        """Return the answers of ``latest`` to all queries, in whole numbers."""
        return whole_answers(self.queries, self.latest)


@frozen(kw_only=True)
class Mwem:
    r"""Answer many queries: ``rounds`` times choose one that the guess answers badly, and measure.

    The name is short for multiplicative weights and the exponential mechanism. A public guess
    (:class:`~discreet.mechanisms.query_release.public_weights.PublicWeights`) starts uniform. In
    each round the exponential mechanism chooses a query by how far the guess is off, the query is
    measured with fresh noise, and the guess learns from that, and ``passes`` times from all
    measurements so far [HLM12].

    Guarantee:
        Let one unit move the histogram by at most :math:`l_1`, and let :math:`w` be the largest
        coefficient. The loss is that of ``rounds`` choices whose scores move by
        :math:`\Delta = w\,l_1`, ``rounds`` noisy counts that move by :math:`\Delta`, and one that
        moves by :math:`l_1` if the total is measured.

        Proof. Before a round, the guess is a function of what was published. Its answers are
        rounded to integers :math:`g_j`, so the scores :math:`|q_j(x) - g_j|` are integers, and each
        moves by at most :math:`\Delta`, some up and some down. So a round is one choice at spread
        :math:`2\Delta` and one noisy count, both chosen in the light of earlier outputs, and their
        losses compose. What the guess makes of it reads nothing private.

        The usual statement divides by the number of rows [HLM12]. Here units come and go, so that
        number is private: it is declared (and may be wrong) or measured.

    Assumes:
        A public universe and public queries; the caller proved ``d_in.l1``, which is the most rows
        that one unit has; ``rng`` is unpredictable to the reader.

    Utility:
        ``error_quantile``: with ``N`` cells, ``T`` rounds and :math:`n` rows, all answers of
        ``histogram`` are within about :math:`nR\sqrt{\ln N/(2T)}` and the errors of choice and
        noise. It is a worst case; ``latest`` mostly errs far less. For few cells and many rows a
        plain noisy histogram is better.

    Example:
        >>> queries = LinearQueries(np.tril(np.ones((64, 64), dtype=np.int64)))
        >>> one = Contribution(l1=1)
        >>> mechanism = Mwem.calibrate(
        ...     queries=queries, rounds=10, d_in=one, loss=Pure(1), rows=100_000
        ... )
        >>> from discreet import SystemRng, account
        >>> print(account(mechanism.event(one), delta=0))
        ε = 1, δ = 0 (basic: DR14, Theorem 3.14)
        >>> release = mechanism.release(np.full(64, 1500), SystemRng())
        >>> len(release.values), release.histogram.shape
        (10, (64,))
    """

    queries: LinearQueries
    rounds: int = field(converter=check.whole, validator=check.positive)
    choice: ExponentialMechanism
    noise: CountNoise
    total: RowTotal = field(converter=row_total_of)
    passes: int = field(default=10, converter=check.whole, validator=check.non_negative)

    def __attrs_post_init__(self) -> None:
        """Refuse noise that cannot be drawn, before anything is spent."""
        measured = [] if isinstance(self.total, int) else [self.total]
        require_drawable([self.choice.scale, self.noise, *measured])

    @classmethod
    def calibrate(
        cls,
        *,
        queries: LinearQueries,
        rounds: int,
        d_in: Contribution,
        loss: Pure | Zcdp,
        rows: int | None = None,
        passes: int = 10,
    ) -> Self:
        """Return the mechanism that spends ``loss``, in equal shares for all choices and counts.

        ``rows`` is a public number of rows that the owner declares; without it the number is
        measured, for one share more.
        """
        one = queries.one_answer(d_in)
        count = check.whole(rounds)
        share = _share(loss, 2 * count + (rows is None))
        row = Contribution(l0=1, linf=d_in.bound("l1"), metric=d_in.metric)
        return cls(
            queries=queries,
            rounds=count,
            choice=ExponentialMechanism.calibrate(d_in=one, loss=share),
            noise=_noise(one, share),
            total=_noise(row, share) if rows is None else rows,
            passes=passes,
        )

    def event(self, d_in: Contribution) -> ComposedEvent:
        """Describe one use for the accountants; ``d_in`` is how one unit moves the histogram."""
        one = self.queries.one_answer(d_in)
        rounds = [self.choice.event(one) * self.rounds, self.noise.event(one) * self.rounds]
        return ComposedEvent.of([*total_events(self.total, d_in), *rounds])

    def release(self, histogram: IntArray, rng: Rng) -> MwemRelease:
        """Return what was measured, round by round. The gate already holds the loss."""
        rows = histogram_of(histogram, cells=self.queries.cells, largest=self.queries.largest)
        exact = self.queries.table @ rows
        total = public_total(self.total, rows, rng)
        history = MeasuredGuess(self.queries, total=total, passes=self.passes)
        chosen, values = [], []
        for _ in range(self.rounds):
            scores = np.abs(exact - history.guess.answers(self.queries))
            index = self.choice.select(scores, rng)
            value = int(self.noise.release(exact[index : index + 1], rng)[0])
            history.learn(index, value)
            chosen.append(index)
            values.append(value)
        return MwemRelease(
            queries=self.queries,
            total=total,
            passes=self.passes,
            chosen=tuple(chosen),
            values=tuple(values),
        )

    def error_quantile(self, beta: Number, *, rows: int) -> Fraction:
        r"""Return a bound on all errors of the release's ``answers``, but for ``beta``.

        ``rows`` is how many there are (at most, if the total is measured). With probability
        :math:`1 - \beta` every choice is within :math:`\alpha_1` of the worst query, every
        measurement within :math:`\alpha_2` of the truth, and the total :math:`\hat n` within
        :math:`\alpha_3`. Compare with the truth scaled to the public total, which differs by at
        most :math:`w\alpha_3` in each answer: by the lemma of ``PublicWeights`` the squares of the
        errors of the measured queries add up to at most :math:`(\hat n R)^2 \ln N / 2 + Se^2`,
        where :math:`e = \alpha_2 + w\alpha_3` and :math:`S` counts how often the guess learns:
        :math:`T`, and :math:`T(T + 1)/2` for each pass. So their mean is at most
        :math:`\sqrt{(\hat n R)^2 \ln N/(2T) + Se^2/T}`; the worst query of a round is worse by
        :math:`\alpha_1 + w\alpha_3` at most; and the error of a mean of guesses is at most the mean
        of their errors [HLM12, without passes].
        Two more are for guesses in whole numbers and in floats.
        """
        third = check.level(beta) / 3
        each = third / self.rounds
        choice = self.choice.error_quantile(each, candidates=self.queries.count)
        noise = self.noise.error_quantile(each)
        total = total_bound(
            self.total, third, rows=rows, size=self.queries.cells * self.queries.largest
        )
        drift = self.queries.largest * total.error
        times = self.rounds + self.passes * self.rounds * (self.rounds + 1) // 2
        learning = (total.most * self.queries.width) ** 2 * first_entropy(self.queries.cells) / 2
        mean = sqrt_up((learning + times * (noise + drift) ** 2) / self.rounds)
        return mean + choice + drift + 2


def _share(loss: Pure | Zcdp, parts: int) -> Pure | Zcdp:
    if isinstance(loss, Pure):
        return Pure(loss.epsilon / parts)
    if isinstance(loss, Zcdp) and not loss.xi:
        return Zcdp(rho=loss.rho / parts)
    raise Unsupported(
        "MWEM cannot be calibrated to this measure",
        must="be pure, or zCDP with ξ = 0",
        got=str(loss),
    )


def _noise(d_in: Contribution, share: Pure | Zcdp) -> CountNoise:
    if isinstance(share, Pure):
        return DiscreteLaplace.calibrate(d_in=d_in, loss=share)
    return DiscreteGaussian.calibrate(d_in=d_in, loss=share)
