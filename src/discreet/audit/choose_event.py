"""How the sampling auditor picks an event: from one half of the samples alone."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import partial
from numbers import Real
from statistics import NormalDist
from typing import Any

import numpy as np
from attrs import evolve, frozen
from numpy.typing import NDArray

from discreet.audit.features import UNLABELLED, Feature, Labels, battery
from discreet.audit.learn_score import learn_score
from discreet.audit.output_event import HalfLine, LabelSet, OutcomeSet, OutputEvent, PartEvent
from discreet.audit.outputs import OutputColumn, OutputPart, parts_of

Reals = NDArray[np.float64]
_Integers = NDArray[np.int64]

RATIOS = np.exp(np.geomspace(0.01, 12, 64))
"""The least likelihood ratios, all above 1, by which sets of labels are tried."""

_FOLDS = (0, 1)


@frozen(kw_only=True, eq=False)
class LabelCounts:
    """How often each label was seen, by data set and by half of the sample.

    A set learnt from labels that were seen looks perfect on the same labels and may foretell
    nothing: in the limit every label is new. So a set that is learnt on one half of the sample is
    weighed on the other half, both ways round.
    """

    labels: Labels
    counts: _Integers
    """By data set, half and label."""
    trials: _Integers
    """By data set and half."""

    def totals(self) -> _Integers:
        """Return how often each label was seen, by data set."""
        counts: _Integers = self.counts.sum(axis=1)
        return counts

    def held_out(self, likely: int) -> tuple[Reals, Reals]:
        """Return, for each of the ratios, how often the sets learnt on the other half happen.

        The first numbers are of the data set on which the sets are to be likelier.
        """
        hits, others = np.zeros(len(RATIOS)), np.zeros(len(RATIOS))
        for learnt, held in (_FOLDS, _FOLDS[::-1]):
            ratios = self._ratios(self.counts[:, learnt], self.trials[:, learnt], likely)
            steps = np.searchsorted(RATIOS, ratios, side="right")
            hits += _reached(steps, self.counts[likely, held])
            others += _reached(steps, self.counts[1 - likely, held])
        return hits, others

    def likelier(self, likely: int, ratio: float) -> Labels:
        """Return the labels whose likelihood ratio, on the whole sample, is at least this."""
        ratios = self._ratios(self.totals(), self.trials.sum(axis=1), likely)
        return self.labels[ratios >= ratio]

    @staticmethod
    def _ratios(counts: _Integers, trials: _Integers, likely: int) -> Reals:
        """Estimate likelihood ratios; one more of each makes that of an unseen label 1."""
        shares = counts / trials[:, None] + 1 / trials.min()
        ratios: Reals = shares[likely] / shares[1 - likely]
        return ratios


def tally(samples: Sequence[Labels]) -> LabelCounts:
    """Count the labels of two samples; what is not labelled counts only as a trial.

    Example:
        >>> counted = tally([np.array([5, 5, 7, 5]), np.array([7, 7])])
        >>> counted.labels.tolist(), counted.totals().tolist()
        ([5, 7], [[3, 1], [0, 2]])
    """
    labels, places = np.unique(np.concatenate(samples), return_inverse=True)
    first, second = (len(sample) for sample in samples)
    quarters = np.split(places, [first // 2, first, first + second // 2])
    counts = np.array([np.bincount(quarter, minlength=len(labels)) for quarter in quarters])
    counts[:, labels == UNLABELLED] = 0
    return LabelCounts(
        labels=labels,
        counts=counts.reshape(2, 2, -1),
        trials=np.array([len(quarter) for quarter in quarters]).reshape(2, 2),
    )


def _reached(steps: NDArray[Any], counts: _Integers) -> Reals:
    """Add the counts of all labels that reach each of the ratios."""
    sums = np.bincount(steps, weights=counts.astype(np.float64), minlength=len(RATIOS) + 1)
    reached: Reals = np.cumsum(sums[:0:-1], dtype=np.float64)[::-1]
    return reached


SIDES = ("first", "second")
"""What the two data sets are called."""

MOST_LOOKED_AT = 1 << 18
"""How many numbers of each data set the choice looks at; the entries of a vector share them."""

_SUREST, _LEAST_SURE = 1e-15, 1e-3


@frozen(kw_only=True)
class Bet:
    """An event, the data set on which it looks likelier, and how well it tells the two apart."""

    score: float
    likelier_on: str
    _event: Callable[[], OutputEvent]

    @property
    def event(self) -> OutputEvent:
        """The event. It is made when asked for: only one of hundreds is."""
        return self._event()


@frozen(kw_only=True)
class Stakes:
    """What the bound will be asked for: at which δ, and with which chance to fail."""

    delta: float
    failure: float

    def scores(self, hits: Any, trials: int, others: Any, other_trials: int) -> Reals:
        r"""Return *approximate* lower bounds on :math:`\varepsilon` (Wilson's interval).

        With hundreds of candidates some look good by luck. Where little confidence is asked for,
        they are still weighed as if it were much: else the luckiest would win.
        """
        failure = min(max(self.failure, _SUREST), _LEAST_SURE)
        z = NormalDist().inv_cdf(1 - failure / 2)
        low, high = _wilson(hits, trials, -z), _wilson(others, other_trials, z)
        scores: Reals = np.log(np.maximum(low - self.delta, 1e-300) / np.maximum(high, 1e-300))
        return scores


def choose_event(first: Sequence[Hashable], second: Sequence[Hashable], stakes: Stakes) -> Bet:
    r"""Return the event that best tells the two samples apart.

    Candidates are, for numbers, the half-lines; the sets of outputs whose estimated likelihood
    ratio is at least some value; and the same for the labels of each feature of the
    :func:`~discreet.audit.features.battery`. Where outputs have entries, each entry and each
    difference of two entries in a row is a candidate for all of that too.

    The scores only have to rank, because the bound that is reported comes from fresh samples. So
    the number of candidates costs no confidence. It could cost power, if a poor event looked good
    by luck; therefore sets are weighed on samples from which they were not learnt.
    """
    # The first of the best wins: plain events come before strange ones.
    return max(_all_bets(first, second, stakes), key=lambda bet: bet.score)


def _all_bets(
    first: Sequence[Hashable], second: Sequence[Hashable], stakes: Stakes
) -> Iterator[Bet]:
    """Yield bets on the whole output, and then on its parts."""
    parts = parts_of([*first, *second])
    looked_at = MOST_LOOKED_AT // (1 + len(parts))
    first, second = first[:looked_at], second[:looked_at]
    yield from _bets(first, second, stakes)
    for part in parts:
        on_first, on_second = ([part.of(o) for o in side] for side in (first, second))
        for bet in _bets(on_first, on_second, stakes):
            yield evolve(bet, event=partial(_about, part, bet))
    if parts:
        yield from _learnt_bets(first, second, stakes)


def _learnt_bets(
    first: Sequence[Hashable], second: Sequence[Hashable], stakes: Stakes
) -> Iterator[Bet]:
    """Yield half-lines of a score: learnt on one half of the sample, weighed on the other."""
    halves = [(side[: len(side) // 2], side[len(side) // 2 :]) for side in (first, second)]
    score = learn_score(halves[0][0], halves[1][0])
    if score is None:
        return
    values = [score.scores(held) for _, held in halves]
    outcomes, codes = np.unique(np.concatenate(values), return_inverse=True)
    counted = tally(np.split(codes.astype(np.int64), [len(values[0])]))
    for bet in _half_lines(outcomes.tolist(), counted, stakes):
        yield evolve(bet, event=partial(_about, score, bet))


def _bets(first: Sequence[Hashable], second: Sequence[Hashable], stakes: Stakes) -> Iterator[Bet]:
    codes: dict[Hashable, int] = {}
    coded = [
        np.array([codes.setdefault(output, len(codes)) for output in side], dtype=np.int64)
        for side in (first, second)
    ]
    outcomes, counted = list(codes), tally(coded)
    yield from _half_lines(outcomes, counted, stakes)
    yield from _sets(counted, stakes, partial(_outcome_set, outcomes))
    columns = OutputColumn(first), OutputColumn(second)
    for feature in battery(*columns):
        labels = [feature.look(column) for column in columns]
        yield from _sets(tally(labels), stakes, partial(_label_set, feature))


def _half_lines(outcomes: list[Any], counted: LabelCounts, stakes: Stakes) -> Iterator[Bet]:
    """Yield the best half-line of each kind; NaN is on none."""
    places = [i for i, outcome in enumerate(outcomes) if isinstance(outcome, Real)]
    places = sorted((i for i in places if outcomes[i] == outcomes[i]), key=outcomes.__getitem__)
    totals, trials = counted.totals(), counted.trials.sum(axis=1)
    for kind, order in (("high", places), ("low", places[::-1])):
        reached = np.cumsum(totals[:, order], axis=1)
        for likely in range(2 * bool(order)):
            sure = stakes.scores(
                reached[likely], trials[likely], reached[1 - likely], trials[1 - likely]
            )
            top = int(np.argmax(sure))
            event = partial(HalfLine, **{kind: outcomes[order[top]]})
            yield Bet(score=float(sure[top]), likelier_on=SIDES[likely], event=event)


def _sets(
    counted: LabelCounts, stakes: Stakes, event_of: Callable[[LabelCounts, int, float], OutputEvent]
) -> Iterator[Bet]:
    """Yield the best set of labels for each data set on which it may be likelier."""
    trials = counted.trials.sum(axis=1)
    for likely, side in enumerate(SIDES):
        hits, others = counted.held_out(likely)
        scores = stakes.scores(hits, trials[likely], others, trials[1 - likely])
        # The last of the best is the smallest set: it has the fewest labels that are there by luck.
        top = len(scores) - 1 - int(np.argmax(scores[::-1]))
        event = partial(event_of, counted, likely, RATIOS[top])
        yield Bet(score=float(scores[top]), likelier_on=side, event=event)


def _outcome_set(
    outcomes: list[Hashable], counted: LabelCounts, likely: int, ratio: float
) -> OutputEvent:
    return OutcomeSet(frozenset(outcomes[code] for code in counted.likelier(likely, ratio)))


def _label_set(feature: Feature, counted: LabelCounts, likely: int, ratio: float) -> OutputEvent:
    return LabelSet(feature=feature, labels=frozenset(counted.likelier(likely, ratio).tolist()))


def _about(part: OutputPart, bet: Bet) -> OutputEvent:
    return PartEvent(part=part, event=bet.event)


def _wilson(hits: Any, trials: int, z: float) -> Reals:
    share = hits / trials
    spread = np.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    ends: Reals = (share + z * z / (2 * trials) + z * spread) / (1 + z * z / trials)
    return ends
