r"""Limits that are chosen privately, where no profile tells which are good.

A part of the price, fixed before the charge, buys the choice; the rest buys the noise.

Guarantee:
    Let :math:`L_1` be the loss of the choice
    (:class:`~discreet.curator.price.fewest_cut.FewestCut`) and :math:`L_2` the largest that the
    noise of a candidate has. What is charged is
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

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import product

from attrs import evolve, frozen

from discreet.core.errors import RefusedQuery
from discreet.core.event import ComposedEvent
from discreet.core.loss import Approximate, PrivacyLoss, Pure, Zcdp
from discreet.curator.limits.limits_error import SOME_GROUPS, counts_units, noise_in_rows
from discreet.curator.price.fewest_cut import ONE_UNIT, FewestCut, handicaps
from discreet.curator.price.price import LimitsChoice, PricedPlan, event_of
from discreet.curator.profile.one_table import only_table
from discreet.curator.publishing.unit_histogram import Ends, units_by_limits
from discreet.mechanisms.selection.exponential_mechanism import ExponentialMechanism
from discreet.mechanisms.selection.scores import Scores
from discreet.project.charged import charged
from discreet.project.noise import choose_noise, require_samplable
from discreet.project.terms import Price, Terms
from discreet.tables.catalog import LARGEST_LIMIT, Limits
from discreet.tables.keyset import PublicKeys
from discreet.tables.plans.aggregate import QuantileValues
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.plans.sums import SumTotals
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
    tried = TriedLimits(rows, groups, _over_all(plan, rows, groups))
    found = _priced(plan, tried, rest_of(terms), pricing)
    chosen = _chosen_among(tried, found, declared, terms.price(), cap)
    if not tried.in_all:
        return chosen
    # An earlier version did not try limits on all rows of a unit together.
    fewer = evolve(tried, in_all=())
    earlier = _among(fewer, found)
    if not earlier:
        return chosen
    names = (_chosen_among(fewer, earlier, declared, terms.price(), cap).digest(),)
    return evolve(chosen, earlier=names)


def _chosen_among(
    tried: "TriedLimits",
    found: Mapping[Limits, PricedPlan],
    declared: Limits,
    price: Price,
    cap: PrivacyLoss,
) -> PricedPlan:
    """Return the plan with limits that are chosen among those that have noise."""
    found = _affordable(found, cap)
    candidates = tuple(found.values())
    usual = declared.rows_per_group * declared.groups_per_unit
    mechanism = _mechanism(price, found, tried, usual)
    event = mechanism.event(ONE_UNIT)
    shown = _nearest(candidates, declared)
    loss = charged(ComposedEvent.of([event, shown.event]), cap)
    choice = LimitsChoice(
        plan=units_by_limits(shown.plan, *tried.ends(), sharing=SHARING),
        mechanism=mechanism,
        event=event,
        candidates=tuple(evolve(one, loss=loss) for one in candidates),
        share=SHARE,
    )
    return evolve(shown, loss=loss, choice=choice)


@frozen
class TriedLimits:
    """The limits to choose from: rows in a group with groups of a unit, or rows over all groups."""

    rows: Ends
    groups: Ends
    in_all: Ends
    """None, if a limit on all rows of a unit together would be no other."""

    def ends(self) -> tuple[Ends, Ends, Ends]:
        """Return the three kinds of limits."""
        return self.rows, self.groups, self.in_all

    def shape(self) -> tuple[int, ...]:
        """Return how many limits there are of each kind that the histogram tells apart."""
        grid = tuple(len(numbers) for numbers in (self.rows, self.groups) if len(numbers) > 1)
        return (*grid, len(self.in_all)) if self.in_all else grid

    def places(self) -> dict[Limits, int]:
        """Return all limits, and where each is in the histogram.

        If some are over all groups, each kind has an open end, where there is no limit of it.
        """
        grid = [
            Limits(rows_per_group=row, groups_per_unit=group)
            for row, group in product(self.rows, self.groups)
        ]
        if not self.in_all:
            return {limits: place for place, limits in enumerate(grid)}
        rows, groups, in_all = map(len, self.ends())
        pairs = product(range(rows), range(groups))
        places = [(row * (groups + 1) + group + 1) * (in_all + 1) - 1 for row, group in pairs]
        first = (rows + 1) * (groups + 1) * (in_all + 1) - 1 - in_all
        limited = [_over_all_groups(most) for most in self.in_all]
        return dict(zip([*grid, *limited], [*places, *range(first, first + in_all)], strict=True))


def _over_all_groups(most: int) -> Limits:
    return Limits(rows_per_group=most, groups_per_unit=most, rows_per_unit=most)


def _width(limits: Limits) -> int:
    """Return how many rows of a unit count at most."""
    most = limits.rows_per_group * limits.groups_per_unit
    return most if limits.rows_per_unit is None else min(most, limits.rows_per_unit)


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


def _over_all(plan: BoundedPlan, rows: Ends, groups: Ends) -> Ends:
    """Return the numbers of rows over all groups to choose from, where that is another thing.

    One row over all groups is one in one group. Quantiles have a loss for each group that a unit is
    in, so to them a limit over all groups is worth little; totals that are clamped as a whole have
    no limit on rows; and if there are several grouping sets, it is not counted who is beyond it.
    """
    is_one = isinstance(plan.keys, PublicKeys) and len(plan.keys.sets) == 1
    by_row = not any(isinstance(part, QuantileValues | SumTotals) for part in plan.aggregates)
    return rows[1:] if is_one and by_row and len(groups) > 1 else ()


def _priced(
    plan: BoundedPlan, tried: TriedLimits, terms: Terms, pricing: Pricing
) -> dict[Limits, PricedPlan]:
    """Return each candidate that has noise which we can draw."""
    found, refused = {}, None
    for limits in tried.places():
        try:
            found[limits] = pricing(evolve(plan, limits=limits), terms)
        except RefusedQuery as error:
            refused = error
    if not found:
        assert refused is not None
        raise refused
    return found


def _among(tried: TriedLimits, found: Mapping[Limits, PricedPlan]) -> dict[Limits, PricedPlan]:
    """Return the candidates that are among fewer limits."""
    return {limits: found[limits] for limits in tried.places() if limits in found}


def _affordable(found: Mapping[Limits, PricedPlan], cap: PrivacyLoss) -> dict[Limits, PricedPlan]:
    """Return the candidates whose noise costs no more than that of the dearest."""
    dearest = max(found.values(), key=lambda one: one.loss.share_of(cap))
    return {limits: one for limits, one in found.items() if one.loss <= dearest.loss}


def _nearest(candidates: tuple[PricedPlan, ...], limits: Limits) -> PricedPlan:
    """Return the candidate nearest to some limits, of those that no other costs more than."""
    dearest = [one for one in candidates if all(other.loss <= one.loss for other in candidates)]
    return min(dearest, key=lambda one: _distance(one, limits))


def _distance(one: PricedPlan, limits: Limits) -> tuple[bool, int]:
    """Return how far limits are from others; those of another kind are farther than all."""
    tried = one.plan.limits
    is_other = (tried.rows_per_unit is None) != (limits.rows_per_unit is None)
    return is_other, abs(tried.rows_per_group - limits.rows_per_group) + abs(
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
    price: Price, found: Mapping[Limits, PricedPlan], tried: TriedLimits, usual: int
) -> FewestCut:
    part = Pure(price.epsilon) if isinstance(price, Pure | Approximate) else Zcdp(price.rho)
    part = part * SHARE
    choice = ExponentialMechanism.calibrate(
        d_in=ONE_UNIT, loss=part * (1 - COUNTED), scores=Scores.MONOTONE
    )
    require_samplable(choice.scale)
    worth = WORTH * choice.scale + _noise_of_a_row(next(iter(found.values())))
    places = tried.places()
    return FewestCut(
        shape=tried.shape(),
        places=tuple(places[limits] for limits in found),
        handicaps=handicaps(list(map(_width, found)), usual, max(Fraction(1), worth)),
        choice=choice,
        noise=choose_noise(ONE_UNIT, part * COUNTED),
        has_open_ends=bool(tried.in_all),
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
