"""What an explanation says about what is kept of each unit: limits, clamps, and what they cut."""

from collections.abc import Iterable

from discreet.core.counted import counted
from discreet.curator.cut.share_of_table import reckoned_with
from discreet.curator.explanation.choice_explanation import choice_sentence, cut_sentences
from discreet.curator.limits.choose_bounds import BoundsProposal
from discreet.curator.limits.limits_error import Proposal
from discreet.curator.price.price import PricedPlan
from discreet.releases.left_out import LeftOut
from discreet.tables.keyset import PublicKeys
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.plans.sums import SumTotals
from discreet.tables.plans.tighten import has_one_row, leaves_out
from discreet.tables.unit_name import UNIT, UnitName, reworded


def limits_sentence(priced: PricedPlan) -> str:
    """Say how much of a unit counts."""
    limits, choice = priced.plan.limits, priced.choice
    if choice is not None:
        return choice_sentence(choice, limits)
    if not leaves_out(priced.plan):
        return f"{groups_sentence(priced.plan)}, and {_why_whole(priced)}, so nothing is left out"
    rows = counted(str(limits.rows_per_group), "row")
    over_all = ""
    if limits.rows_per_unit is not None:
        each = " of a set" if len(getattr(priced.plan.keys, "sets", ())) > 1 else ""
        over_all = f" and {limits.rows_per_unit} over all groups{each}"
    return (
        f"{groups_sentence(priced.plan)}, and with at most {rows} in each{over_all}; which"
        f" of them count is drawn by a keyed hash, and the rest is left out{_of_totals(priced)}"
    )


def _why_whole(priced: PricedPlan) -> str:
    """Say why all of a unit counts, however many rows it has."""
    if has_one_row(priced.plan):
        return "has at most 1 row in each by the shape of the query"
    if any(isinstance(part, SumTotals) for part in priced.plan.aggregates):
        return "its total is of all its rows there"
    return "counts once there, however many rows it has"


def groups_sentence(plan: BoundedPlan) -> str:
    """Return how many groups one unit can be in, over all grouping sets."""
    reach, limit = plan.reach(), plan.limits.groups_per_unit
    if not isinstance(plan.keys, PublicKeys):
        return f"one unit counts in at most {counted(str(limit), 'group')}"
    if len(plan.keys.sets) == 1:
        only = len(plan.keys.sets[0].rows)
        if only <= limit:
            return f"there {_are(only)}, so one unit counts in at most {reach.groups_per_unit}"
        return f"one unit counts in at most {limit} of the {only:,} groups"
    parts = " + ".join(str(min(limit, len(part.rows))) for part in plan.keys.sets)
    return (
        f"one unit counts in at most {counted(str(limit), 'group')} of each of the"
        f" {len(plan.keys.sets)} grouping sets (fewer where there are fewer):"
        f" {parts} = {reach.groups_per_unit}"
    )


def _are(groups: int) -> str:
    return "is 1 group" if groups == 1 else f"are {groups:,} groups"


def _of_totals(priced: PricedPlan) -> str:
    has_totals = any(isinstance(part, SumTotals) for part in priced.plan.aggregates)
    return "; totals that are clamped as a whole are of all rows in each" if has_totals else ""


def left_out_sentences(
    priced: PricedPlan,
    known: LeftOut | None,
    better: Proposal | None,
    called: UnitName = UNIT,
) -> list[str]:
    """Say what limits leave out, as far as it is known, and which would err less."""
    if priced.choice is not None:
        return cut_sentences(priced.choice)
    if known is None or known.is_nothing or not known.by_limits:
        return []
    if not known.is_known:
        said = [known.reason]
    else:
        most = counted(int(known.rows[1] or 0), "row")
        said = [f"at most {most}, in all groups together (95 % of the time)"]
    if known.share is not None:
        said = [f"{known.share.told()} of the rows"]
    if known.of_table is not None:
        share = known.of_table.told()
        said += [f"{share} of all rows of {known.table}; of those asked about, more or less"]
    aside = reckoned_with(priced.plan.relation)
    if better is None or better.limits == priced.plan.limits:
        return said
    proposed = f"{better}{aside}: the least error in all (limits = auto).{better.doubt}"
    return [*said, reworded(proposed.removesuffix("."), called)]


def clamped_sentences(
    known: LeftOut | None, bounds: Iterable[BoundsProposal], called: UnitName = UNIT
) -> list[str]:
    """Say what clamps cut, as far as it is known, and which bounds would err much less."""
    found = () if known is None else known.clampings()
    better = [str(one) for one in bounds if one.is_much_better]
    said = [
        f"{one.text}: {one.units.told()} of the {called.plural} have a value outside the clamp"
        if one.units is not None
        else f"{one.text}: values may be outside the clamp, and {one.reason}"
        for one in found
    ]
    return [*said, *better]
