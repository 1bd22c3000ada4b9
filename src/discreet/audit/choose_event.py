"""How the sampling auditor picks an event: from one half of the samples alone."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import partial
from numbers import Real
from statistics import NormalDist
from typing import Any

import numpy as np
from attrs import evolve, frozen

from discreet.audit.battery import battery
from discreet.audit.feature import Feature
from discreet.audit.output_column import OutputColumn
from discreet.audit.output_event import HalfLine, LabelSet, OutcomeSet, OutputEvent, PartEvent
from discreet.audit.output_part import OutputPart, parts_of
from discreet.audit.tally import RATIOS, Reals, Tally, tally

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
    :func:`~discreet.audit.battery.battery`. Where outputs have entries, each entry and each
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


def _half_lines(outcomes: list[Any], counted: Tally, stakes: Stakes) -> Iterator[Bet]:
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
    counted: Tally, stakes: Stakes, event_of: Callable[[Tally, int, float], OutputEvent]
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
    outcomes: list[Hashable], counted: Tally, likely: int, ratio: float
) -> OutputEvent:
    return OutcomeSet(frozenset(outcomes[code] for code in counted.likelier(likely, ratio)))


def _label_set(feature: Feature, counted: Tally, likely: int, ratio: float) -> OutputEvent:
    return LabelSet(feature=feature, labels=frozenset(counted.likelier(likely, ratio).tolist()))


def _about(part: OutputPart, bet: Bet) -> OutputEvent:
    return PartEvent(part=part, event=bet.event)


def _wilson(hits: Any, trials: int, z: float) -> Reals:
    share = hits / trials
    spread = np.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    ends: Reals = (share + z * z / (2 * trials) + z * spread) / (1 + z * z / trials)
    return ends
