"""How far an estimate of a question is off, and which loss is needed for what is wanted."""

import math
from fractions import Fraction
from functools import lru_cache

from attrs import evolve

from discreet.core.errors import InvalidArgument
from discreet.local.frequency.frequency_scheme import FrequencyScheme
from discreet.local.numbers.number_scheme import NumberScheme
from discreet.local.rappor.decode import decoder
from discreet.local.rappor.rappor import Rappor
from discreet.local.scheme import Scheme
from discreet.local.survey.question_schemes import AUTOMATIC, SCHEMES, Asked, best_scheme
from discreet.local.survey.survey import Answers, NumberRange, Text
from discreet.local.words.hashed_words import HashedWords, words_error

_STEPS = 100
"""Losses are looked for in steps of one part in this."""

MOST_EPSILON = 8
"""No larger loss is chosen for anybody: with it hardly anything is hidden."""


def scheme_error(scheme: Scheme, answers: Answers, people: int) -> float:
    """Return the standard error of a rare value's share, or of a mean in its own unit."""
    if isinstance(scheme, FrequencyScheme):
        return math.sqrt(scheme.variance(people))
    if isinstance(scheme, Rappor) and isinstance(answers, Text):
        return math.sqrt(_text_variance(scheme, answers.looked_for) / people)
    if isinstance(scheme, HashedWords):
        return words_error(scheme, people)
    assert isinstance(scheme, NumberScheme)
    assert isinstance(answers, NumberRange)
    return float(answers.step) * math.sqrt(scheme.worst_variance() / people)


@lru_cache(maxsize=1)
def _text_variance(scheme: Rappor, candidates: tuple[str, ...]) -> float:
    """Return the largest variance of what a person adds; it does not depend on their number."""
    return float(decoder(scheme, candidates).variance.max())


def least_epsilon(asked: Asked, declared: str, wanted: Fraction) -> Fraction:
    """Return the least loss, in hundredths, with which a question errs no more than is wanted.

    It is worked out from the declaration alone, for the number of people that are expected; what
    ``asked`` says of the loss is not looked at. Errors fall as losses rise.
    """
    if wanted <= 0:
        raise InvalidArgument("error is out of range", must="be above 0", got=str(wanted))

    def error(steps: int) -> float:
        one = evolve(asked, epsilon=Fraction(steps, _STEPS))
        name = best_scheme(one) if declared == AUTOMATIC else declared
        return scheme_error(SCHEMES[name].make(one), one.answers, one.people)

    low, high = 0, MOST_EPSILON * _STEPS
    if error(high) > wanted:
        raise InvalidArgument(
            "error is out of reach",
            must=f"be at least {error(high):.3g}, which ε = {MOST_EPSILON} gives "
            f"for {asked.people:,} people",
            got=f"{float(wanted):.6g}",
            next="Expect more people, or want less",
        )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if error(middle) <= wanted else (middle, high)
    return Fraction(high, _STEPS)
