"""Noise: the mechanism for one aggregate, chosen by its expected error from public limits alone."""

from fractions import Fraction
from functools import singledispatch

from discreet.core.contribution import Contribution
from discreet.core.errors import RefusedQuery, Unsupported
from discreet.core.event import ComposedEvent, Event
from discreet.core.loss import Approximate, ApproximateZcdp, PrivacyLoss, Pure, Zcdp, short
from discreet.core.rounding import sqrt_down
from discreet.mechanisms.noise_json import NOISES, AggregateMechanism, Noise
from discreet.mechanisms.selection.quantile import Quantile
from discreet.mechanisms.selection.quantile_end import FARTHEST, EndSide, QuantileEnd
from discreet.mechanisms.stability.thresholded_keys import ThresholdedKeys
from discreet.randomness.tables.law import LARGEST, SMALLEST
from discreet.releases.accuracy import error_of
from discreet.tables.catalog import Limits
from discreet.tables.plans.aggregate import Aggregate, QuantileValues, Tally

_BETA = Fraction(1, 20)
_LIKELY = Fraction(19, 20)


@singledispatch
def mechanism_for(aggregate: Aggregate, reach: Limits, share: Pure | Zcdp) -> AggregateMechanism:
    """Return the mechanism that spends ``share`` on one aggregate."""
    raise Unsupported("This aggregate has no mechanism", got=type(aggregate).__name__)


@mechanism_for.register
def _(aggregate: Tally, reach: Limits, share: Pure | Zcdp) -> AggregateMechanism:
    return choose_noise(aggregate.contribution(reach), share)


@mechanism_for.register
def _(aggregate: QuantileValues, reach: Limits, share: Pure | Zcdp) -> AggregateMechanism:
    """Spend an equal part in each group that one unit reaches; :func:`use` has the proof."""
    chosen = Quantile.calibrate(
        d_in=_one_group(reach),
        loss=share * Fraction(1, reach.groups_per_unit),
        quantile=aggregate.quantile,
        lower=aggregate.bounds.lower_steps,
        upper=aggregate.bounds.upper_steps,
    )
    require_samplable(chosen.scale)
    return chosen


END_BETA = Fraction(1, 200)
"""How often an end of a quantile's interval is on the wrong side of it.

Both ends together fail in 1 % of cases, so that what is made of a quantile and up to four other
noisy numbers still has an interval at 95 %. Of a range of 100 values they stand a fifth farther
apart for it than if they failed in 5 %.
"""

POINT_PART, END_PART = Fraction(1, 2), Fraction(1, 4)
"""The parts of a quantile's price that buy its value, and each end of its interval."""


def ends_for(aggregate: Aggregate, reach: Limits, share: Pure | Zcdp) -> tuple[QuantileEnd, ...]:
    """Return the two ends of the interval that a choice has, for ``share`` each.

    What gets noise has none: its interval follows from the noise.
    """
    if not isinstance(aggregate, QuantileValues):
        return ()
    return tuple(_end(aggregate, reach, share, side) for side in EndSide)


def _end(
    aggregate: QuantileValues, reach: Limits, share: Pure | Zcdp, side: EndSide
) -> QuantileEnd:
    d_in, part = _one_group(reach), share * Fraction(1, reach.groups_per_unit)
    bounds = {"lower": aggregate.bounds.lower_steps, "upper": aggregate.bounds.upper_steps}
    scale = Quantile.calibrate(d_in=d_in, loss=part, quantile=aggregate.quantile, **bounds).scale
    require_samplable(scale, most=FARTHEST / (_FAR * aggregate.quantile.denominator))
    return QuantileEnd.calibrate(
        d_in=d_in, loss=part, beta=END_BETA, quantile=aggregate.quantile, side=side, **bounds
    )


_FAR = Fraction(64)
"""An end is looked for less than 64 scales beside its quantile: 48 of them in the widest domain."""


def ends_event(ends: tuple[QuantileEnd, ...], reach: Limits) -> Event:
    """Describe one use of the ends on all groups: as for a quantile in :func:`use`, for each."""
    return ComposedEvent.of([end.event(_one_group(reach)) for end in ends]) * reach.groups_per_unit


@singledispatch
def use(aggregate: Aggregate, mechanism: AggregateMechanism, reach: Limits) -> Event:
    r"""Describe one use of ``mechanism`` on all groups of ``aggregate``.

    Guarantee:
        Noise is one event on the vector of all groups, at the aggregate's contribution. A quantile
        is one choice in each group, and the event is that of *one* group, composed
        ``groups_per_unit`` times.

        Proof. Fix the public keys (or, with private ones, the keys that were shown: see
        :func:`~discreet.curator.publishing.randomise.randomise`). The choices of the groups are
        independent given the data, so the law of all of them is a product over groups. Between
        neighbours, the groups that the unit is not in hold the same values, and their factors are
        equal. In each of
        the others, at most ``groups_per_unit`` of them, it adds or takes away at most
        ``rows_per_group`` values, so the factor has the loss of one
        :class:`~discreet.mechanisms.selection.quantile.Quantile` at that distance. Likelihood
        ratios of products multiply, and Rényi divergences add.
    """
    raise Unsupported("This aggregate has no event", got=type(aggregate).__name__)


@use.register
def _(aggregate: Tally, mechanism: AggregateMechanism, reach: Limits) -> Event:
    return mechanism.event(aggregate.contribution(reach))


@use.register
def _(_: QuantileValues, mechanism: AggregateMechanism, reach: Limits) -> Event:
    return mechanism.event(_one_group(reach)) * reach.groups_per_unit


def _one_group(reach: Limits) -> Contribution:
    return Contribution(l1=reach.rows_per_group)


def choose_noise(d_in: Contribution, share: PrivacyLoss) -> Noise:
    """Return the noise that spends ``share`` with the smallest error bar, of those we can draw."""
    offered = [noise for kind in NOISES if (noise := kind.for_share(d_in, share)) is not None]
    if not offered:
        raise Unsupported("Noise cannot be calibrated to this measure", got=share.measure.value)
    drawn = [noise for noise in offered if noise.can_be_drawn]
    if not drawn:
        require_samplable(offered[-1].spread)
    return drawn[0] if len(drawn) == 1 else min(drawn, key=lambda noise: error_of(noise, _BETA))


def choose_keys(reach: Limits, share: Approximate | ApproximateZcdp) -> ThresholdedKeys:
    """Return the threshold on noisy counts that spends ``share``, for which groups can be smallest.

    Each unit counts once in each of its groups. Under ρ both kinds of noise are tried, and the one
    whose groups appear with fewer units is taken; the number of groups found has no part in it.
    """
    d_in = keys_contribution(reach)
    if isinstance(share, Approximate):
        require_samplable(d_in.bound("l1") / share.epsilon)
        return ThresholdedKeys.calibrate(d_in=d_in, loss=share)
    laplace = Approximate(sqrt_down(2 * share.rho), share.delta)
    candidates = [
        ThresholdedKeys.calibrate(d_in=d_in, loss=loss)
        for loss, scale in (
            (share, sqrt_down(d_in.bound("l2_squared") / (2 * share.rho))),
            (laplace, d_in.bound("l1") / laplace.epsilon),
        )
        if SMALLEST <= scale <= LARGEST
    ]
    if not candidates:
        require_samplable(d_in.bound("l1") / laplace.epsilon)
    return min(candidates, key=lambda keys: keys.units_needed(_LIKELY))


def keys_contribution(reach: Limits) -> Contribution:
    """Return what one unit can move of the numbers of units in all groups."""
    return Contribution(l0=reach.groups_per_unit, linf=1)


def require_samplable(scale: Fraction, *, most: Fraction = LARGEST) -> None:
    """Refuse noise that cannot be drawn, before the gate: behind it everybody would pay for it."""
    if SMALLEST <= scale <= most:
        return
    is_more = scale > most
    times = scale / most if is_more else SMALLEST / scale
    other, how = ("higher", "times") if is_more else ("lower", "divided by")
    raise RefusedQuery(
        "This price asks for noise outside the range that we can draw exactly",
        must=f"need a noise scale from {SMALLEST} to {short(most)} steps",
        got="more" if is_more else "less",
        # Scales go as 1/ε, and their squares as 1/ρ.
        next=f"Offer a {other} price: this ε {how} {short(times)} or more, or this ρ {how}"
        f" {short(times**2)}. Where a value x is added up,"
        " CLAMP(x, lower, upper, step) with another step helps too",
    )
