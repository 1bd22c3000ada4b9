r"""Limits that are chosen privately, where no profile tells which are good.

A part of the price, fixed before the charge, buys the choice; the rest buys the noise.

Guarantee:
    Let :math:`L_1` be the loss of the choice (:class:`~discreet.curator.fewest_cut.FewestCut`) and
    :math:`L_2` the largest that the noise of a candidate has. What is charged is
    :math:`L_1 + L_2`, and it is charged before a row is read.

    Proof. The list of candidates, their handicaps and the noise of each follow from the question,
    declarations and the price. One unit moves one cell of the histogram of units by one, because
    there is one row for each unit in it and limits of 1 cut nothing; so the choice and the count
    beside it have the loss :math:`L_1`. For each outcome of theirs, which is public, the plan with
    the chosen limits is an ordinary plan: its noise is calibrated to *its* limits, and has a loss
    of at most :math:`L_2`. So this is adaptive composition of two mechanisms within losses that
    are fixed beforehand, for which losses of each measure add up [DR14, Theorem 3.16]. Candidates
    for which there is no noise that we can draw, or whose noise would cost more than what is
    charged, are no candidates, which is public too.
"""

from collections.abc import Callable
from fractions import Fraction
from itertools import product

from attrs import evolve

from discreet.core.errors import RefusedQuery
from discreet.core.event import ComposedEvent
from discreet.core.loss import Approximate, PrivacyLoss, Pure, Zcdp
from discreet.curator.fewest_cut import ONE_UNIT, FewestCut, handicaps
from discreet.curator.limits_error import SOME_GROUPS, counts_units, noise_in_rows
from discreet.curator.one_table import only_table
from discreet.curator.price import LimitsChoice, PricedPlan, event_of
from discreet.curator.unit_histogram import Ends, units_by_limits
from discreet.mechanisms.selection.exponential_mechanism import ExponentialMechanism
from discreet.mechanisms.selection.scores import Scores
from discreet.project.charged import charged
from discreet.project.noise import choose_noise, require_samplable
from discreet.project.terms import Price, Terms
from discreet.tables.catalog import LARGEST_LIMIT, Limits
from discreet.tables.keyset import PublicKeys
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.plans.tighten import tighten

SHARE = Fraction(1, 5)
"""Which part of the price buys the choice of limits, and the number of units that they cut."""

COUNTED = Fraction(1, 4)
"""Which part of that buys the number of units."""

SHARING = 2
"""The histogram and the question share the work that one unit may cause."""

WORTH = 2
"""How many times the scale of the choice a factor of e in the width of limits is worth.

Of limits that cut nobody, those that are ``x`` times too wide are chosen about ``x**2`` times less
often, so on average they are too wide by a small factor. With less there would be no such average;
with more, all units of a small table would not be worth their noise.
"""

_A_HAIR = Fraction(1, 2**40)
"""Losses that differ by less than this part of them differ by rounding."""

MOST_ROWS = 10_000
"""Up to how many rows and groups limits are tried, if nobody declared how many a unit has."""

Bounding = Callable[[Limits], BoundedPlan]
"""How a question is held to limits."""

Pricing = Callable[[BoundedPlan, Terms], PricedPlan]
"""How a plan is priced on terms."""


def choose_privately(
    declared: Limits, terms: Terms, cap: PrivacyLoss, bounding: Bounding, pricing: Pricing
) -> PricedPlan | None:
    """Return the plan with limits that are chosen behind the gate; None if there is no choice.

    The plan that is returned is one of the candidates: of those that cost most, the one whose
    limits are nearest to the declared ones. All have the relation of the widest, so that the work
    that one unit can cause is contained for each of them.
    """
    plan = bounding(declared)
    rows, groups = _row_limits(plan), _group_limits(plan)
    if len(rows) * len(groups) == 1:
        return None
    plan = bounding(Limits(rows_per_group=rows[-1], groups_per_unit=groups[-1]))
    found = _affordable(_priced(plan, rows, groups, rest_of(terms), pricing), cap)
    candidates = tuple(found.values())
    usual = declared.rows_per_group * declared.groups_per_unit
    mechanism = _mechanism(terms.price(), found, (rows, groups), usual)
    event = mechanism.event(ONE_UNIT)
    shown = _nearest(candidates, declared)
    loss = charged(ComposedEvent.of([event, shown.event]), cap)
    choice = LimitsChoice(
        plan=units_by_limits(plan, rows, groups, sharing=SHARING),
        mechanism=mechanism,
        event=event,
        candidates=tuple(evolve(one, loss=loss) for one in candidates),
        share=SHARE,
    )
    return evolve(shown, loss=loss, choice=choice)


def rest_of(terms: Terms) -> Terms:
    """Return the terms of the noise: what the choice leaves of the price, and all of the δ."""
    names = ("epsilon", "rho")
    amounts = {name: getattr(terms, name) for name in names}
    left = {name: (1 - SHARE) * amount for name, amount in amounts.items() if amount is not None}
    return evolve(terms, **left)


def limits_to_try(most: int) -> Ends:
    """Return the powers of two below ``most``, and ``most`` itself.

    Example:
        >>> limits_to_try(30)
        (1, 2, 4, 8, 16, 30)
    """
    found = [1]
    while found[-1] < most:
        found.append(min(most, 2 * found[-1]))
    return tuple(found)


def _row_limits(plan: BoundedPlan) -> Ends:
    """Return the numbers of rows to choose from: one, if rows make no difference."""
    if _tightened(plan).rows_per_group == 1:
        return (1,)
    if counts_units(plan):
        return (plan.limits.rows_per_group,)
    return limits_to_try(_furthest(plan))


def _group_limits(plan: BoundedPlan) -> Ends:
    """Return the numbers of groups to choose from.

    Where groups are private, how many there are is not known, and each costs units a higher
    threshold: the declared number stays.
    """
    if not plan.keys.fields or _tightened(plan).groups_per_unit == 1:
        return (1,)
    if not isinstance(plan.keys, PublicKeys):
        return (plan.limits.groups_per_unit,)
    most = max(len(keys.rows) for keys in plan.keys.sets)
    return limits_to_try(max(min(most, _furthest(plan)), 1))


def _tightened(plan: BoundedPlan) -> Limits:
    """Return limits of 2, or of 1 where the plan shows that no unit has more."""
    return tighten(evolve(plan, limits=Limits(rows_per_group=2, groups_per_unit=2))).limits


def _furthest(plan: BoundedPlan) -> int:
    table = only_table(plan.relation)
    declared = None if table is None else table.most_rows_per_unit
    return min(declared or MOST_ROWS, LARGEST_LIMIT)


def _priced(
    plan: BoundedPlan, rows: Ends, groups: Ends, terms: Terms, pricing: Pricing
) -> dict[int, PricedPlan]:
    """Return each candidate that has noise which we can draw, by its place in the grid."""
    found, refused = {}, None
    for place, (row, group) in enumerate(product(rows, groups)):
        limits = Limits(rows_per_group=row, groups_per_unit=group)
        try:
            found[place] = pricing(evolve(plan, limits=limits), terms)
        except RefusedQuery as error:
            refused = error
    if not found:
        assert refused is not None
        raise refused
    return found


def _affordable(found: dict[int, PricedPlan], cap: PrivacyLoss) -> dict[int, PricedPlan]:
    """Return the candidates whose noise costs no more than that of the dearest."""
    dearest = max(found.values(), key=lambda one: one.loss.share_of(cap))
    return {place: one for place, one in found.items() if one.loss <= dearest.loss}


def _nearest(candidates: tuple[PricedPlan, ...], limits: Limits) -> PricedPlan:
    """Return the candidate nearest to some limits, of those that no other costs more than."""
    dearest = [one for one in candidates if all(other.loss <= one.loss for other in candidates)]
    return min(dearest, key=lambda one: _distance(one, limits))


def _distance(one: PricedPlan, limits: Limits) -> int:
    tried = one.plan.limits
    return abs(tried.rows_per_group - limits.rows_per_group) + abs(
        tried.groups_per_unit - limits.groups_per_unit
    )


def as_explained(priced: PricedPlan, declared: Limits, cap: PrivacyLoss) -> PricedPlan:
    """Return the candidate to explain: near the declared limits, and but for rounding the dearest.

    Where roots are rounded, any candidate can be the dearest by a hair. That one is charged and
    named, as it is in ``priced``; this one is only shown, at the price of that one.
    """
    if priced.choice is None:
        return priced
    # Their own losses: those that the candidates have are of the whole.
    least = charged(event_of(priced.groups, priced.answers), cap) * (1 - _A_HAIR)
    near = [one for one in priced.choice.candidates if least <= charged(one.event, cap)]
    shown = min(near, key=lambda one: _distance(one, declared))
    return evolve(shown, loss=priced.loss, earlier=priced.earlier, choice=priced.choice)


def _mechanism(
    price: Price, found: dict[int, PricedPlan], ends: tuple[Ends, Ends], usual: int
) -> FewestCut:
    part = Pure(price.epsilon) if isinstance(price, Pure | Approximate) else Zcdp(price.rho)
    part = part * SHARE
    choice = ExponentialMechanism.calibrate(
        d_in=ONE_UNIT, loss=part * (1 - COUNTED), scores=Scores.MONOTONE
    )
    require_samplable(choice.scale)
    tried = [one.plan.limits for one in found.values()]
    widths = [limits.rows_per_group * limits.groups_per_unit for limits in tried]
    worth = WORTH * choice.scale + _noise_of_a_row(next(iter(found.values())))
    return FewestCut(
        shape=tuple(len(numbers) for numbers in ends if len(numbers) > 1),
        places=tuple(found),
        handicaps=handicaps(widths, usual, max(Fraction(1), worth)),
        choice=choice,
        noise=choose_noise(ONE_UNIT, part * COUNTED),
    )


def _noise_of_a_row(narrowest: PricedPlan) -> Fraction:
    """Return the noise that one row, or group, more of everybody costs, over all groups."""
    plan = narrowest.plan
    drawn = {index: narrowest.mechanisms[index] for index in plan.drawn}
    each = noise_in_rows(plan, drawn) / plan.limits.rows_per_group
    if counts_units(plan):
        each = max((noise.spread for noise in drawn.values()), default=Fraction(0))
    sets = plan.keys.sets if isinstance(plan.keys, PublicKeys) else ()
    many = max((len(keys.rows) for keys in sets), default=SOME_GROUPS)
    return many * each / plan.limits.groups_per_unit
