"""Which schemes a question may name, what they are made from, and whether answers can be kept."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from attrs import field, frozen

from discreet.core.errors import InvalidArgument
from discreet.local.frequency.choose_frequency import choose_frequency
from discreet.local.frequency.hadamard import hadamard_response
from discreet.local.frequency.k_ary import KaryResponse
from discreet.local.frequency.local_hashing import LocalHashing
from discreet.local.frequency.subset_selection import SubsetSelection
from discreet.local.frequency.unary import UnaryEncoding
from discreet.local.numbers.hybrid import HybridMean
from discreet.local.numbers.local_laplace import LocalLaplace
from discreet.local.numbers.number_scheme import NumberScheme
from discreet.local.numbers.one_bit_mean import OneBitMean
from discreet.local.numbers.piecewise import PiecewiseMean
from discreet.local.numbers.square_wave import SquareWave
from discreet.local.rappor.rappor import Rappor
from discreet.local.rappor.rappor_coins import RapporCoins
from discreet.local.scheme import Scheme
from discreet.local.survey.survey import Answers, ListedValues, NumberRange, Text
from discreet.local.words.hashed_words import HashedWords

AUTOMATIC = "auto"
"""What a question says, or leaves out, to get the scheme that errs least."""


@frozen(kw_only=True)
class Asked:
    """What a question says that a scheme is made from."""

    name: str
    answers: Answers
    epsilon: Fraction
    people: int
    """How many people are expected: it decides nothing but which scheme errs least."""


@frozen(kw_only=True)
class SchemeKind:
    """One name for a scheme in a declaration."""

    goes_with: type
    """The kind of answers that it is for."""
    make: Callable[[Asked], Scheme]
    keeps: Mapping[str, Callable[[Any], int | None]] = field(factory=dict)
    """How answers can be kept, and how many are kept; None if nobody can list them."""


def _of_values(make: Callable[..., Scheme]) -> SchemeKind:
    """Return the kind of schemes for one of a list of values."""
    return SchemeKind(
        goes_with=ListedValues,
        make=lambda asked: make(categories=_categories(asked), epsilon=asked.epsilon),
        keeps=_KEPT_VALUES,
    )


def _of_numbers(make: Callable[..., Scheme]) -> SchemeKind:
    """Return the kind of schemes for a number on a grid."""
    return SchemeKind(
        goes_with=NumberRange,
        make=lambda asked: make(most=_most(asked), epsilon=asked.epsilon),
        keeps=_KEPT_PLACES,
    )


def _categories(asked: Asked) -> int:
    assert isinstance(asked.answers, ListedValues)
    return len(asked.answers.labels)


def _most(asked: Asked) -> int:
    assert isinstance(asked.answers, NumberRange)
    return asked.answers.most


def _rappor(asked: Asked) -> Scheme:
    """Return RAPPOR for one time, with filters that can tell the candidates apart."""
    assert isinstance(asked.answers, Text)
    if not asked.answers.candidates:
        raise InvalidArgument(
            "RAPPOR finds texts on a list alone",
            must='have candidates, such as candidates = ["example.com"]',
            next='Or take scheme = "words", which finds texts that nobody listed',
        )
    bits = min(max(16, 2 * len(asked.answers.looked_for)), _MOST_BITS)
    coins = RapporCoins.calibrate(epsilon=asked.epsilon, hashes=_HASHES)
    cohorts = max(_LEAST_COHORTS, min(_MOST_COHORTS, _FILTERS // bits))
    return Rappor(bits=bits, hashes=_HASHES, cohorts=cohorts, salt=asked.name, coins=coins)


def _words(asked: Asked) -> Scheme:
    assert isinstance(asked.answers, Text)
    return HashedWords.calibrate(
        epsilon=asked.epsilon, longest=asked.answers.longest, salt=asked.name
    )


_HASHES, _MOST_BITS = 2, 2048
"""Of RAPPOR: two hash functions keep the loss of a report low."""

_LEAST_COHORTS, _MOST_COHORTS, _FILTERS = 8, 256, 2**13
"""Cohorts keep texts apart, also those that nobody listed; up to so many are named by one byte.

With so many bits in all filters of a text decoding is quick.
"""

_KEPT_TEXTS: dict[str, Callable[[Any], int | None]] = {
    "no": lambda _: 0,
    "permanent": lambda _: None,
}
_KEPT_VALUES: dict[str, Callable[[Any], int | None]] = {
    "no": lambda _: 0,
    "permanent": lambda answers: len(answers.labels),
}
_KEPT_PLACES: dict[str, Callable[[Any], int | None]] = {
    "no": lambda _: 0,
    "permanent": lambda answers: answers.most + 1,
}

SCHEMES: dict[str, SchemeKind] = {
    "k_ary": _of_values(KaryResponse.calibrate),
    "unary": _of_values(UnaryEncoding.optimised),
    "local_hashing": _of_values(LocalHashing.calibrate),
    "hadamard": _of_values(hadamard_response),
    "subset_selection": _of_values(SubsetSelection.calibrate),
    "one_bit_mean": SchemeKind(
        goes_with=NumberRange,
        make=lambda asked: OneBitMean.calibrate(most=_most(asked), epsilon=asked.epsilon),
        keeps={**_KEPT_PLACES, "rounded": lambda _: 2},
    ),
    "piecewise_mean": _of_numbers(PiecewiseMean.calibrate),
    "hybrid_mean": _of_numbers(HybridMean.calibrate),
    "local_laplace": _of_numbers(LocalLaplace.calibrate),
    "square_wave": _of_numbers(SquareWave.calibrate),
    "rappor": SchemeKind(goes_with=Text, make=_rappor, keeps=_KEPT_TEXTS),
    "words": SchemeKind(goes_with=Text, make=_words, keeps=_KEPT_TEXTS),
}


def best_scheme(asked: Asked) -> str:
    """Return the name of the scheme that errs least, looking at public numbers alone.

    For one of a list of values it has the shortest reports among those that hardly err more; for
    the mean of a number the least error whatever people answer. Texts have one scheme for a list of
    candidates, and one without.
    """
    if isinstance(asked.answers, ListedValues):
        chosen = choose_frequency(
            categories=_categories(asked), epsilon=asked.epsilon, people=asked.people
        ).scheme
        kinds = [name for name, kind in SCHEMES.items() if kind.goes_with is ListedValues]
        return next(name for name in kinds if SCHEMES[name].make(asked) == chosen)
    if isinstance(asked.answers, Text):
        return "rappor" if asked.answers.candidates else "words"
    return min(("one_bit_mean", "piecewise_mean", "hybrid_mean"), key=lambda n: _worst(n, asked))


def _worst(name: str, asked: Asked) -> Fraction:
    scheme = SCHEMES[name].make(asked)
    assert isinstance(scheme, NumberScheme)
    return scheme.worst_variance()
