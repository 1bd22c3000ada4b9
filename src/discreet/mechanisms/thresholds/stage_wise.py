"""Stage-wise sparse vector: many queries above, in stages that are accounted for one by one."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.event import ComposedEvent, Event
from discreet.core.numbers import Number
from discreet.core.protocols import IntArray, Rng
from discreet.mechanisms.thresholds.halting_sparse_vector import HaltingSparseVector
from discreet.mechanisms.thresholds.interactive import Machine, Queries, one_integer
from discreet.mechanisms.thresholds.sparse_vector import SparseVector, SparseVectorRun

SparseStage = SparseVector | HaltingSparseVector


@frozen(kw_only=True)
class StageWise:
    r"""Run ``stage`` again and again until ``most_above`` queries were above in all.

    A stage ends when its own number of queries is above, or at its own limit of queries; the last
    one may be asked for fewer. *Capped* stages limit their length; *adaptive* ones are a
    :class:`HaltingSparseVector`, which needs no limit [Das22, Algorithm 10].

    Guarantee:
        The stages compose, also adaptively. Each has its Rényi curve, and the curves add
        [Mir17, Proposition 1]. [Das22, Theorems 9.13 and 9.14] turn each stage into an
        :math:`(\varepsilon, \delta')` first and compose those, under conditions
        (:math:`c'\binom{k'}{c'} \le 1/\delta'` or :math:`k_\gamma^{c'} \le 1/\delta'`) that only
        make the result small; nothing is assumed here. The printed
        :math:`\varepsilon = a + \sqrt{2a(\ln(1/\delta) + \ln N)}` of a stage is too small: it is
        :math:`a + 2\sqrt{a(\ln(1/\delta) + \ln N)}`, and :math:`N` must count all transcripts,
        which :math:`c\binom{k}{c}` does not for ``c = 1``.

    Assumes:
        As :class:`~discreet.mechanisms.thresholds.sparse_vector.SparseVector`.

    Utility:
        ``error_quantile``, over all stages.

    Example:
        >>> from discreet import DiscreteGaussian
        >>> stage = SparseVector(
        ...     threshold_noise=DiscreteGaussian(sigma_squared=400),
        ...     query_noise=DiscreteGaussian(sigma_squared=1600),
        ...     most_above=3,
        ...     most_queries=100,
        ... )
        >>> [count for count in StageWise(stage=stage, most_above=8).counts()]
        [3, 3, 2]
    """

    stage: SparseStage
    most_above: int = field(converter=check.whole, validator=check.positive)

    def counts(self) -> list[int]:
        """Return how many queries may be above in each stage."""
        full, rest = divmod(self.most_above, self.stage.most_above)
        return [self.stage.most_above] * full + [rest] * bool(rest)

    def event(self, d_in: Contribution) -> Event:
        """Describe the whole life of one machine."""
        events = [self.stage.with_most_above(count).event(d_in) for count in self.counts()]
        return ComposedEvent.of(events)

    def open(self, *, threshold: int, d_in: Contribution, rng: Rng) -> "StageWiseRun":
        """Return a machine in its first state. The gate already holds the loss of its event."""
        return StageWiseRun(self, threshold=threshold, d_in=d_in, rng=rng)

    def error_quantile(self, beta: Number, *, queries: int) -> Fraction:
        """Return a bound on all errors of the first ``queries`` answers."""
        share = check.level(beta) / len(self.counts())
        return self.stage.error_quantile(share, queries=queries)


class StageWiseRun(Machine):
    """One life of a :class:`StageWise`; see there for what it promises."""

    def __init__(
        self, mechanism: StageWise, *, threshold: int, d_in: Contribution, rng: Rng
    ) -> None:
        super().__init__()
        self._event = mechanism.event(d_in)
        self._threshold = one_integer(threshold, "The threshold")
        stages = [mechanism.stage.with_most_above(count) for count in mechanism.counts()]
        self._stages: Iterator[SparseVectorRun] = (
            stage.open(threshold=threshold, d_in=d_in, rng=rng) for stage in stages
        )
        self._stage = next(self._stages)

    def event(self) -> Event:
        """Describe the whole life of the machine."""
        return self._event

    def ask(self, query: int, *, threshold: int | None = None) -> bool:
        """Tell whether the query is above its threshold."""
        value = one_integer(query, "The query")
        against = None if threshold is None else [one_integer(threshold, "The threshold")]
        return bool(self.ask_many(np.array([value]), thresholds=against)[0])

    def ask_many(
        self, values: IntArray, *, thresholds: IntArray | list[int] | None = None
    ) -> NDArray[np.bool_]:
        """Answer the queries in turn until the last stage ends: there may be fewer answers."""
        self._require_open()
        asked = Queries.of(values, [self._threshold] if thresholds is None else thresholds)
        parts: list[NDArray[np.bool_]] = []
        start = 0
        while start < asked.values.size and not self.ended:
            part = self._stage.ask_many(asked.values[start:], thresholds=asked.thresholds[start:])
            parts.append(part)
            start += part.size
            if self._stage.ended:
                following = next(self._stages, None)
                if following is None:
                    self._end()
                else:
                    self._stage = following
        return np.concatenate([*parts, np.zeros(0, dtype=np.bool_)])
