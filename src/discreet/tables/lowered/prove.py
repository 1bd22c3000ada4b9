"""What one owner can move of a lowered plan, read off its rows and nothing else."""

from collections.abc import Mapping

from discreet.core.contribution import Contribution, of_kept_rows
from discreet.tables.lowered.facts import Facts, Known, facts_of, require, unproved
from discreet.tables.lowered.plan import (
    Answered,
    CappedTotal,
    ClampedTotal,
    LoweredPlan,
    RowTotal,
    Total,
    UnitTotal,
)
from discreet.tables.lowered.rows import Different, Rows, RowsOf, Sampled, Step
from discreet.tables.plans.aggregate import Aggregate, CountDistinct, CountRows, QuantileValues
from discreet.tables.plans.sums import SumSquares, SumValues


def contributions(plan: LoweredPlan) -> dict[str, Contribution]:
    """Return what one unit can move of each total that is shown, by name.

    Guarantee:
        *Theorem.* If this returns, then adding or removing all rows of one owner changes the totals
        by no more than what is returned, in any engine that does what each noun says, for any data
        and any salt.

        *Proof.* By induction over the rows. Below the totals, the rows of one owner depend on that
        owner's rows in the sources, on public rows and on the salt alone: a value is of one row;
        rows that are put together (paired, told apart, totalled, put in order, sampled, counted)
        are alike in the columns of the unit, or one of them is public; and a choice among rows
        looks at what is in them, so that it does not matter where they lie. A row without an owner
        is dropped before. At the totals, a unit has so many groups (``groups``), in each so many
        rows (``most``), in all groups of a set together perhaps fewer, and a row adds a whole
        number of a known range (``whole``, which only the clamp puts there). All other rows, and
        what they add, are the same with and without it.
    """
    found: dict[str, Contribution] = {}
    known: Known = {}
    for part in plan.parts:
        source = facts_of(part.source, known)
        require(not source.unit.intersection(part.by), part, "a group must not be of one owner")
        require(source.is_owned and bool(source.unit), part, "each row must have an owner")
        is_of_groups = source.group == frozenset(part.by) == frozenset(plan.group)
        require(is_of_groups, part, "totals must be of the known groups")
        _require_no_more_groups(part, plan.parts[0])
        for name, total in part.totals:
            require(name not in found, part, "no two totals may have one name")
            require(_looked_at(total) <= set(part.source.columns()), part, "columns must be known")
            found[name] = _moved(part, total, source)
    return {name: found[name] for name, _ in plan.shown}


def _require_no_more_groups(part: Answered, first: Answered) -> None:
    """Check that the first part lacks no group: others count rows of the pairs that it counts."""
    rows: Rows = part.source
    while isinstance(rows, Step | Sampled | Different):
        rows = rows.rows if isinstance(rows, Step) else rows.source
    is_of_pairs = isinstance(rows, RowsOf) and rows.pairs is first.source
    require(part is first or is_of_pairs, part, "the first part must have all groups")


def require_claim(plan: LoweredPlan, claim: Mapping[str, Contribution]) -> None:
    """Refuse a plan in which a unit can move other than what is claimed, and paid for."""
    if contributions(plan) != claim:
        raise unproved(plan.parts[0], "what is proved must be what is paid for")


def _moved(part: Answered, total: Total, source: Facts) -> Contribution:
    """Return what one unit can move of a total: its groups, its rows in each, what a row adds."""
    rows, groups = source.most.get(source.pair()), list(source.groups.values())
    if rows is None or None in groups:
        raise unproved(part, "the rows and groups of one unit must be limited")
    known = [count for count in groups if count is not None]
    each, of_a_set = _added(part, total, source), source.most.get(source.unit | {"s"})
    if isinstance(total, CappedTotal) and total.column in source.counted:
        # Each row that was counted adds 1, and of a pair's rows no more than the cap do.
        require(rows == 1, part, "a pair must not be there twice")
        rows, each, of_a_set = total.most, 1, source.counted[total.column]
    in_all = None if of_a_set is None else sum(min(of_a_set, rows * count) for count in known)
    return of_kept_rows(each=each, groups=sum(known), in_a_group=rows, in_all=in_all)


def _looked_at(total: Total) -> set[str]:
    """Return the columns that a total looks at."""
    names = (getattr(total, name, None) for name in ("column", "value", "where"))
    return {name for name in names if name is not None}


def _added(part: Answered, total: Total, source: Facts) -> int:
    """Return the largest size of what one row adds to a total."""
    match total:
        case UnitTotal():
            return 1
        case CappedTotal():
            lower, _ = source.whole.get(total.column, (-1, None))
            require(lower == 0, part, "what is capped must not be negative")
            return total.most
        case ClampedTotal():
            require(total.column in source.summed, part, "what is clamped must be a sum of steps")
            require(total.lower <= total.upper, part, "a range must have two ends")
            return _exact(part, max(abs(total.lower), abs(total.upper)))
        case RowTotal():
            return _added_by(total.aggregate, part, total.value or "", source)
        case _:
            raise unproved(part, "this total is not known")


def _added_by(aggregate: Aggregate, part: Answered, value: str, source: Facts) -> int:
    match aggregate:
        case CountRows() | CountDistinct() | QuantileValues():
            return 1
        case SumValues():
            ends = _ends(part, value, source)
            return _exact(part, max(abs(end - aggregate.centre) for end in ends))
        case SumSquares():
            ends = _ends(part, value, source)
            largest = max((end - aggregate.centre) ** 2 for end in ends)
            return _exact(part, max(abs(aggregate.offset), abs(largest - aggregate.offset)))
        case _:
            raise unproved(part, "this aggregate is not known")


def _exact(rows: Rows, largest: int) -> int:
    """Return what a row adds, if an engine can work it out in 64 bits."""
    require(largest < LARGEST_ADDED, rows, "what a row adds must fit in 64 bits")
    return largest


LARGEST_ADDED = 2**62


def _ends(rows: Rows, column: str, source: Facts) -> tuple[int, int]:
    """Return the ends of a column that is added up; one without end has none."""
    lower, upper = source.whole.get(column, (0, None))
    if upper is None:
        raise unproved(rows, "what is added up must be whole numbers of a known range")
    return lower, upper
