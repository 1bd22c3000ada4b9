"""How a holdout for several kinds of questions answers those that are no means."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.adaptive.answering_modes import GivenShare, cut
from discreet.adaptive.guarantee import STEPS
from discreet.adaptive.question_mix import SLACK, MixedAnswers, QuestionMix
from discreet.adaptive.row_values import DeclaredRange, RowValues
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact
from discreet.core.protocols import Rng


def value_share(function: Callable[[Any], Any], rows: Any, within: DeclaredRange) -> Fraction:
    """Return a value as a share of its range; the middle if it is none.

    Example:
        >>> value_share(max, [1, 2, 6], DeclaredRange(0, 4))
        Fraction(1, 1)
        >>> value_share(lambda rows: 1 / 0, [1, 2, 6], DeclaredRange(0, 4))
        Fraction(1, 2)
    """
    try:
        value = float(function(rows))
    except Exception:  # whatever it does with the rows, the error must not tell about them
        value = math.nan
    if math.isnan(value):
        return Fraction(1, 2)
    if math.isinf(value):
        return Fraction(int(value > 0))
    return cut((Fraction(value) - within.low) / within.width)


def noisy_value(share: Fraction, answers: MixedAnswers, rng: Rng) -> GivenShare:
    """Return a value with noise for its declared width, cut to the range."""
    unit = STEPS * answers.rows
    exact_steps = np.array([round(share * unit)], dtype=np.int64)
    return GivenShare(cut(Fraction(int(answers.value_noise.release(exact_steps, rng)[0]), unit)))


def chosen(losses: Sequence[RowValues], answers: MixedAnswers, rng: Rng) -> int:
    """Return the place of a loss that is nearly the least, by the exponential mechanism."""
    scores = np.array([-int(one.steps.sum()) for one in losses], dtype=np.int64)
    return answers.choice.select(scores, rng)


def require_a_width(
    sensitivity: Number | None, within: DeclaredRange, rows: int, mix: QuestionMix
) -> None:
    """Refuse a value that has no declared sensitivity, or a larger one than was declared."""
    most = mix.value_width * within.width / rows
    if sensitivity is None:
        raise InvalidArgument(
            "A value of all rows needs a declared sensitivity",
            must="say by how much the replacement of one row moves it at most",
            next="Nothing was asked. AUC, R² and F1 are no means over rows: prove a bound first",
        )
    if not 0 < exact(sensitivity) <= most * SLACK:
        raise InvalidArgument(
            "The sensitivity of a value is out of range",
            must=f"be above 0 and at most {float(most):.3g}, for which the holdout was made",
            got=str(sensitivity),
            next="Nothing was asked. Make a holdout with a larger value_width",
        )


def require_choices(count: int, mix: QuestionMix) -> None:
    """Refuse more choices than a holdout was made for."""
    if not 1 <= count <= mix.candidates:
        raise InvalidArgument(
            "The number of choices is out of range",
            must=f"be from 1 to {mix.candidates:,}, for which the holdout was made",
            got=f"{count:,}",
            next="Nothing was asked",
        )
