"""Quantiles of a number of a survey, if its scheme tells the distribution."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from attrs import frozen

from discreet.core.errors import InvalidArgument
from discreet.core.protocols import IntArray
from discreet.local.numbers.square_wave import MOST_FOR_LAW, SquareWave
from discreet.local.survey.survey import NumberRange

_QUANTILES = {
    "a quarter is at or below": Fraction(1, 4),
    "half is at or below": Fraction(1, 2),
    "three quarters are at or below": Fraction(3, 4),
}


@frozen(kw_only=True)
class SurveyQuantile:
    """A quantile in the unit of the question, and the ends that it lies between."""

    name: str
    value: float
    low: float
    high: float


def survey_quantiles(
    scheme: SquareWave,
    answers: NumberRange,
    tally: IntArray,
    *,
    confidence: Fraction,
    repeats: int,
) -> Iterator[SurveyQuantile]:
    """Yield the quartiles; their intervals hold at once.

    The interval is that of the shares at or below each value, which are unbiased. The value is that
    of the distribution by expectation and maximisation, which varies less; where it is out of the
    interval, the nearer end. If the grid is too long, or so small a loss cannot be inverted with
    enough digits, there are none: that depends on the declaration alone.
    """
    if scheme.most > MOST_FOR_LAW:
        return
    try:
        below = scheme.cumulative_of_tally(tally, confidence=confidence, repeats=repeats)
    except InvalidArgument:
        return
    likely = np.cumsum(scheme.distribution_of_tally(tally))
    for name, share in _QUANTILES.items():
        found = below.quantile(share)
        place = int(np.argmax(np.append(likely[:-1], 1.0) >= float(share)))
        yield SurveyQuantile(
            name=name,
            value=answers.at(min(max(place, found.low), found.high)),
            low=answers.at(found.low),
            high=answers.at(found.high),
        )
