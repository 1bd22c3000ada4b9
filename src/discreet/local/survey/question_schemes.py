"""Which schemes a question may name, what they are made from, and whether answers can be kept."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from attrs import field, frozen

from discreet.local.frequency.k_ary import KaryResponse
from discreet.local.numbers.hybrid import HybridMean
from discreet.local.numbers.local_laplace import LocalLaplace
from discreet.local.numbers.one_bit_mean import OneBitMean
from discreet.local.numbers.piecewise import PiecewiseMean
from discreet.local.numbers.square_wave import SquareWave
from discreet.local.scheme import Scheme
from discreet.local.survey.survey import Answers, ListedValues, NumberRange


@frozen(kw_only=True)
class Asked:
    """What a question says that a scheme is made from."""

    answers: Answers
    epsilon: Fraction
    people: int
    """How many people are expected: it decides nothing but which scheme errs least."""


@frozen(kw_only=True)
class SchemeKind:
    """One name for a scheme in a declaration."""

    goes_with: type
    """The kind of answers that it is for."""
    make: Callable[[Any], Scheme]
    keeps: Mapping[str, Callable[[Any], int]] = field(factory=dict)
    """How answers can be kept, and how many are kept."""


def _listed(make: Callable[[int, Asked], Scheme]) -> Callable[[Asked], Scheme]:
    def made(asked: Asked) -> Scheme:
        return make(len(asked.answers.form()["values"]) + 1, asked)

    return made


def _k_ary(categories: int, asked: Asked) -> Scheme:
    return KaryResponse.calibrate(categories=categories, epsilon=asked.epsilon)


def _number(make: Callable[..., Scheme]) -> Callable[[Asked], Scheme]:
    def made(asked: Asked) -> Scheme:
        return make(most=asked.answers.form()["most"], epsilon=asked.epsilon)

    return made


_OF_VALUES: dict[str, Callable[[Any], int]] = {
    "no": lambda _: 0,
    "permanent": lambda answers: len(answers.values) + 1,
}

_OF_PLACES: dict[str, Callable[[Any], int]] = {
    "no": lambda _: 0,
    "permanent": lambda answers: answers.most + 1,
}

_OF_ENDS: dict[str, Callable[[Any], int]] = {**_OF_PLACES, "rounded": lambda _: 2}

SCHEMES: dict[str, SchemeKind] = {
    "k_ary": SchemeKind(goes_with=ListedValues, make=_listed(_k_ary), keeps=_OF_VALUES),
    "one_bit_mean": SchemeKind(
        goes_with=NumberRange, make=_number(OneBitMean.calibrate), keeps=_OF_ENDS
    ),
    "piecewise_mean": SchemeKind(
        goes_with=NumberRange, make=_number(PiecewiseMean.calibrate), keeps=_OF_PLACES
    ),
    "hybrid_mean": SchemeKind(
        goes_with=NumberRange, make=_number(HybridMean.calibrate), keeps=_OF_PLACES
    ),
    "local_laplace": SchemeKind(
        goes_with=NumberRange, make=_number(LocalLaplace.calibrate), keeps=_OF_PLACES
    ),
    "square_wave": SchemeKind(
        goes_with=NumberRange, make=_number(SquareWave.calibrate), keeps=_OF_PLACES
    ),
}
"""The first that goes with the answers is taken if a question names none."""
