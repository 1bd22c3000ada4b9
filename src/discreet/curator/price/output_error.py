"""How far each output of a priced plan can be off, as far as that is known without the data."""

from fractions import Fraction

from discreet.core.loss import short
from discreet.core.unit_words import UNITS
from discreet.curator.price.fit import mean_error
from discreet.curator.price.price import ChosenGroups, PricedPlan
from discreet.releases.accuracy import CONFIDENCE, error_of
from discreet.releases.cells import plain_up
from discreet.releases.estimates.estimate import (
    Estimate,
    MeanOf,
    QuantileOf,
    SelectedOf,
    WindowOf,
    parts,
)
from discreet.releases.estimates.linear import half_width, linear
from discreet.releases.view import View

_BETA = 1 - CONFIDENCE
SIZES = (100, 1_000, 10_000)
"""The group sizes for which the error of an average is shown."""


def output_errors(view: View, priced: PricedPlan) -> dict[str, int | float | None]:
    """Return the 95 % error bar of each noisy output, or None if it depends on the data.

    So it does where limits are chosen privately, because the noise follows from the choice.
    """
    return {
        output.name: _even(output.estimate, priced) if priced.choice is None else None
        for output in view.outputs
        if output.is_noisy()
    }


def errors_by_size(view: View, priced: PricedPlan) -> dict[str, dict[str, int | float]]:
    """Return the 95 % error bars of each average, by how many rows of a group count."""
    if priced.choice is not None:
        return {}
    return {
        output.name: {
            str(size): plain_up(bar) for size, bar in mean_errors(output.estimate, priced).items()
        }
        for output in view.outputs
        if isinstance(output.estimate, MeanOf)
    }


def error_sentences(view: View, priced: PricedPlan) -> list[str]:
    """Return one sentence for each noisy output about how far it can be off."""
    if priced.choice is not None:
        return [f"{output.name}: {_CHOSEN}" for output in view.outputs if output.is_noisy()]
    return [
        f"{output.name}: {_sentence(output.estimate, priced)}"
        for output in view.outputs
        if output.is_noisy()
    ]


_CHOSEN = (
    "the noise follows from the limits that are chosen, so how far it is off is not known before;"
    " the answer says it"
)


def mean_errors(estimate: MeanOf, priced: PricedPlan) -> dict[int, Fraction]:
    """Return the 95 % error bar of an average by the size of its group, where it says anything."""
    of_sum, of_count = (_bar(priced, i, _BETA / 2) for i in (estimate.total, estimate.count))
    found = {
        size: mean_error(estimate, of_sum=of_sum, of_count=of_count, size=size) for size in SIZES
    }
    widest = estimate.upper - estimate.lower
    return {size: bar for size, bar in found.items() if bar is not None and bar < widest}


def _bar(priced: PricedPlan, index: int, beta: Fraction) -> Fraction:
    return error_of(priced.mechanisms[index], beta) * priced.plan.aggregates[index].step


def _even(estimate: Estimate, priced: PricedPlan) -> int | float | None:
    coefficients = linear(estimate)
    if not coefficients:
        return None
    beta = _BETA / len(coefficients)
    width = half_width(coefficients, {index: _bar(priced, index, beta) for index in coefficients})
    return None if width is None else plain_up(width)


def _sentence(estimate: Estimate, priced: PricedPlan) -> str:
    even = _even(estimate, priced)
    if even is not None:
        return f"95 % of values are within ± {readable(even)} of the answer without noise"
    if isinstance(estimate, SelectedOf) and isinstance(priced.groups, ChosenGroups):
        error = readable(plain_up(_bar(priced, estimate.index, _BETA)))
        return (
            f"of shown groups of {priced.groups.mechanism.threshold} {UNITS} or more 95 % are"
            f" within ± {error} of the answer without noise; in smaller ones it is too large, and"
            " the answer has an interval for each row"
        )
    inside = parts(estimate)
    if any(isinstance(part, WindowOf) and part.is_placed_by_noise() for part in inside):
        return "noisy numbers decide which rows it is about or in which order, so it may be any"
    if any(isinstance(part, QuantileOf) for part in inside):
        return (
            "its rank is near the one asked for; how far its value is off depends on the data, and"
            " the answer has an interval of values for each row"
        )
    if not isinstance(estimate, MeanOf):
        return "how far it is off depends on the data; the answer has an interval for each row"
    bars = mean_errors(estimate, priced)
    if not bars:
        return "groups need more than 10,000 rows that count before it says anything"
    listed = ", ".join(f"± {short(bar)} ({size:,} rows)" for size, bar in bars.items())
    return f"it depends on how many rows of a group count; in 95 % of groups it is within {listed}"


def readable(number: float) -> str:
    """Return a number with twelve digits at most: what a float adds beyond them is no news.

    Example:
        >>> readable(479317.16000000003), readable(54)
        ('479317.16', '54')
    """
    return str(number) if isinstance(number, int) else f"{number:.12g}"
