"""Fit: the smallest spend that gives an accuracy, from limits and bounds alone."""

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import singledispatch

from attrs import frozen

from discreet.core.errors import RefusedQuery
from discreet.core.loss import Approximate, ApproximateZcdp, Pure, Zcdp, short
from discreet.core.search import smallest
from discreet.core.unit_words import UNITS
from discreet.curator.price.allocate import Shares, require_delta, with_delta
from discreet.mechanisms.noise_json import Noise
from discreet.mechanisms.stability.thresholded_keys import ThresholdedKeys
from discreet.project.noise import choose_keys, choose_noise, keys_contribution
from discreet.releases.accuracy import Accuracy, error_of
from discreet.releases.estimates.estimate import (
    Estimate,
    MeanOf,
    QuantileOf,
    SelectedOf,
    VarianceOf,
    parts,
)
from discreet.releases.estimates.linear import half_width, linear
from discreet.tables.keyset import PrivateKeys, PublicKeys
from discreet.tables.plans.plan import BoundedPlan

Share = type[Pure] | type[Zcdp]
"""The measure that is spent: ε or ρ."""


def fit(
    plan: BoundedPlan,
    weights: tuple[Fraction, ...],
    outputs: Iterable[Estimate],
    accuracy: Accuracy,
    *,
    measure: Share,
    delta: Fraction | None,
) -> Shares:
    """Return the smallest shares with which every output has the accuracy.

    Guarantee:
        Nothing here looks at data: the error of a count or a sum is that of its noise, which
        follows from limits, bounds and shares. An average is within its bound in every group that
        has the stated size, and in no other; so is the number of units that chose private groups,
        if a group of that size has at least as many units as the threshold (there error bars hold:
        :class:`~discreet.releases.estimates.estimate.SelectedOf`). Each amount is the smallest one
        of four significant digits that is enough (error bars shrink as the amount grows, and both
        the amount and the one before it are tried), so the price is short and tells nothing.

        Each output is fitted by itself, split by the ``weights`` of the aggregates that it is made
        of; an aggregate that several outputs use gets the largest of its amounts. Private keys get
        the amount of the count of units if it is asked for, and otherwise the average of the
        aggregates' amounts.
    """
    if isinstance(plan.keys, PrivateKeys):
        require_delta(delta)
    draw = _Draw(plan=plan, weights=weights, measure=measure, delta=delta)
    amounts: dict[int, Fraction] = {}
    for output in outputs:
        for index, amount in _fitted(output, accuracy, draw).items():
            amounts[index] = max(amount, amounts.get(index, Fraction(0)))
    missing = [i for i in range(len(plan.aggregates)) if i not in amounts]
    if missing or not amounts:
        raise RefusedQuery(
            "An accuracy does not say what the numbers that are not shown may cost",
            must="show every number that HAVING or ORDER BY uses, and at least one",
            next="Add them to SELECT, or give epsilon= instead",
        )
    shares = {index: measure(amounts[index]) for index in plan.drawn}
    if isinstance(plan.keys, PublicKeys):
        return Shares(aggregates=shares)
    average = sum(amounts.values(), Fraction(0)) / len(amounts)
    for_keys = average if plan.counted is None else amounts[plan.counted]
    return Shares(aggregates=shares, keys=draw.for_keys(for_keys))


@frozen(kw_only=True)
class _Draw:
    """Which noise an amount buys, as :func:`~discreet.curator.price.price.price` will choose it."""

    plan: BoundedPlan
    weights: tuple[Fraction, ...]
    measure: Share
    delta: Fraction | None

    def noise(self, index: int, amount: Fraction) -> Noise:
        """Return the noise of one aggregate."""
        reach = self.plan.reach()
        if index == self.plan.counted:
            return choose_keys(reach, self.for_keys(amount)).noise
        d_in = self.plan.aggregates[index].contribution(reach)
        return choose_noise(d_in, self.measure(amount))

    def for_keys(self, amount: Fraction) -> Approximate | ApproximateZcdp:
        """Return the share of private keys."""
        return with_delta(self.measure(amount), require_delta(self.delta))

    def threshold(self, noise: Noise) -> int:
        """Return how many units a group needs for this noise on the counts that choose it."""
        d_in, delta = keys_contribution(self.plan.reach()), require_delta(self.delta)
        return ThresholdedKeys.with_noise(noise, d_in=d_in, delta=delta).threshold

    def is_ample(self, index: int, amount: Fraction) -> bool:
        """Tell whether an amount that no noise can be drawn for is too large, not too small."""
        d_in = self.plan.aggregates[index].contribution(self.plan.reach())
        return d_in.bound("l1") < amount


@frozen(kw_only=True)
class _Goal:
    """What one output needs: which aggregates it is made of, and when their noise is enough."""

    uses: tuple[int, ...]
    suffices: Callable[[Mapping[int, Noise]], bool]


def _fitted(output: Estimate, accuracy: Accuracy, draw: _Draw) -> dict[int, Fraction]:
    goal = _goal(output, draw, accuracy)
    if goal is None:
        return {}
    whole = sum((draw.weights[index] for index in goal.uses), Fraction(0))
    parts = {index: draw.weights[index] / whole for index in goal.uses}

    def will_do(place: int) -> bool:
        amounts = {index: _amount(place) * part for index, part in parts.items()}
        try:
            noises = {index: draw.noise(index, amount) for index, amount in amounts.items()}
        except RefusedQuery:
            return all(draw.is_ample(index, amount) for index, amount in amounts.items())
        return goal.suffices(noises)

    found = _amount(_first(will_do))
    return {index: found * part for index, part in parts.items()}


_DIGITS = 1000
_LEAST = -18
_PER_DECADE = 9 * _DIGITS


def _first(will_do: Callable[[int], bool]) -> int:
    """Return a place that will do although the one before does not: the decade first, then in it.

    Places before the first are not looked at; so little is never enough.
    """
    high = _PER_DECADE * smallest(lambda decade: will_do(_PER_DECADE * decade))
    low = max(0, high - _PER_DECADE)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if will_do(middle) else (middle, high)
    return high


def _amount(place: int) -> Fraction:
    """Return the number at ``place`` in the row of all numbers of four significant digits."""
    decade, rest = divmod(place, _PER_DECADE)
    return (_DIGITS + rest) * Fraction(10) ** (decade + _LEAST)


@singledispatch
def _goal(output: Estimate, draw: _Draw, accuracy: Accuracy) -> _Goal | None:
    """Return what one output needs, or None if it has no noise."""
    coefficients = linear(output)
    if any(isinstance(part, SelectedOf) for part in parts(output)):
        raise _refused(
            f"A calculation with the number of {UNITS} of private groups",
            "in small groups, which appear by luck of noise, it is too large",
            f"show the number of {UNITS} by itself, or give epsilon= instead",
        )
    if coefficients is None:
        raise _refused("This output", "its error depends on the data")
    if not coefficients:
        return None
    steps = {index: draw.plan.aggregates[index].step for index in coefficients}
    beta = accuracy.beta / len(coefficients)

    def suffices(noises: Mapping[int, Noise]) -> bool:
        bars = {index: error_of(noise, beta) * steps[index] for index, noise in noises.items()}
        width = half_width(coefficients, bars)
        return width is not None and width <= accuracy.within

    return _Goal(uses=tuple(coefficients), suffices=suffices)


@_goal.register
def _(output: MeanOf, draw: _Draw, accuracy: Accuracy) -> _Goal:
    """Bound the error where a group has the stated size; each noise gets half of the chance."""
    size = accuracy.group_size
    if size is None:
        raise _refused(
            "An average",
            "its error depends on how many rows a group has",
            "state a group size (group_size=)",
        )
    step = draw.plan.aggregates[output.total].step

    def suffices(noises: Mapping[int, Noise]) -> bool:
        of_sum = error_of(noises[output.total], accuracy.beta / 2) * step
        of_count = error_of(noises[output.count], accuracy.beta / 2)
        error = mean_error(output, of_sum=of_sum, of_count=of_count, size=size)
        return error is not None and error <= accuracy.within

    return _Goal(uses=(output.total, output.count), suffices=suffices)


@_goal.register
def _(output: SelectedOf, draw: _Draw, accuracy: Accuracy) -> _Goal:
    """Bound the error in groups of as many units as the threshold, which the stated size has."""
    if accuracy.group_size is None:
        raise _refused(
            f"The number of {UNITS} of private groups",
            "in small groups, which appear by luck of noise, it is too large",
            "state a group size (group_size=)",
        )
    units = -(-accuracy.group_size // draw.plan.limits.rows_per_group)  # each has no more rows

    def suffices(noises: Mapping[int, Noise]) -> bool:
        noise = noises[output.index]
        return error_of(noise, accuracy.beta) <= accuracy.within and draw.threshold(noise) <= units

    return _Goal(uses=(output.index,), suffices=suffices)


@_goal.register
def _(output: QuantileOf, draw: _Draw, accuracy: Accuracy) -> _Goal:
    raise _refused(output.stands_for, "how far a rank is from a value depends on the data")


@_goal.register
def _(output: VarianceOf, draw: _Draw, accuracy: Accuracy) -> _Goal:
    raise _refused("A variance", "its error depends on the data")


def _refused(what: str, why: str, then: str = "give epsilon= instead") -> RefusedQuery:
    return RefusedQuery(
        f"{what} cannot be asked for by accuracy: {why}",
        must="be made of COUNT and SUM by + and -, or with a stated group size be an AVG or the"
        f" number of {UNITS} of private groups",
        next=then[0].upper() + then[1:],
    )


def mean_error(mean: MeanOf, *, of_sum: Fraction, of_count: Fraction, size: int) -> Fraction | None:
    r"""Bound the error of a noisy centred sum over a noisy count of at least ``size`` rows.

    Utility:
        Let the noise :math:`Y` on the centred sum be at most ``of_sum`` :math:`= t`, and the noise
        :math:`Z` on the count of :math:`n \ge m` rows at most ``of_count`` :math:`= u < m`. The
        centred mean :math:`s/n` is at most the half range :math:`h` in size, so the error is

        .. math:: \left|\frac{s + Y}{n + Z} - \frac{s}{n}\right|
            = \frac{|Y - \frac{s}{n} Z|}{n + Z} \le \frac{t + hu}{m - u}.

        Moving the result into the bounds of the value brings it no further from the truth. If
        :math:`u \ge m` nothing is known, and the result is None.

    Example:
        >>> from discreet.tables.column import ColumnType
        >>> ages = MeanOf(ColumnType.REAL, 0, 1, Fraction(50), Fraction(0), Fraction(100))
        >>> mean_error(ages, of_sum=Fraction(400), of_count=Fraction(10), size=100)
        Fraction(10, 1)
    """
    if of_count >= size:
        return None
    half = max(mean.upper - mean.centre, mean.centre - mean.lower)
    return (of_sum + half * of_count) / (size - of_count)


def described_premise(accuracy: Accuracy) -> str:
    """Say what an accuracy rests on, for an explanation."""
    premise = f"the price was found from the accuracy {accuracy}; the data had no part in it"
    if accuracy.group_size is None:
        return premise
    return (
        f"{premise}. That a group has {accuracy.group_size} rows that count is an assumption of"
        f" yours: where it is wrong, ± {short(accuracy.within)} is wrong too, and privacy still"
        " holds"
    )
