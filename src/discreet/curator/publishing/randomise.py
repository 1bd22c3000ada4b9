"""Randomise: exact aggregates to noisy ones. Below this line everything is public."""

from collections.abc import Mapping

from attrs import field, frozen

from discreet.core.protocols import IntArray, Rng
from discreet.curator.price.price import Counted, PricedPlan
from discreet.tables.column import Key
from discreet.tables.keyset import PublicKeys
from discreet.tables.plans.engine import ExactAggregates


@frozen(kw_only=True)
class Noisy:
    """The groups that are shown, and one noisy integer for each aggregate and group. Public."""

    keys: tuple[tuple[Key | None, ...], ...]
    """One row for each group: a value for each grouped field, None where it is rolled up (or is
    NULL, which private keys can be)."""
    sets: tuple[int, ...]
    """The grouping set of each group."""
    columns: tuple[IntArray, ...]
    """One array for each aggregate, in steps; aligned with ``keys``."""
    ends: Mapping[int, tuple[IntArray, ...]] = field(factory=dict)
    """The low and the high end of each quantile's interval, in steps, by its aggregate."""


def randomise(exact: ExactAggregates, priced: PricedPlan, rng: Rng) -> Noisy:
    r"""Return each aggregate with its own fresh noise, for the groups that are shown.

    Guarantee:
        The law of the result has the loss of ``priced.event``.

        *Public keys.* Every group is shown, and every mechanism gets all groups of its aggregate.

        *Private keys.* First the keys are selected; then each mechanism draws for the shown groups
        only. For a fixed set :math:`S` of keys, let :math:`M_S` be the mechanisms run on the groups
        of :math:`S`, where a group that nobody is in has the exact value 0 (or no values). The
        entries of a unit within :math:`S` are among those that it has at all, so :math:`M_S` has
        at most the loss of the mechanism's event, for every :math:`S`. What is released is
        :math:`(S, M_S(x))` with :math:`S` the output of the selection: adaptive composition of the
        selection's event with the others.

        Drawing noise for the shown groups only has the same law as drawing it for all groups of
        the domain and showing those of :math:`S`, because the noise of different groups is
        independent of each other and of the selection.

        The counts that chose the keys are part of the selection's event, so they may be shown too.
        They may also choose: where there is a most number of groups, :math:`S` is made smaller by a
        rule that looks at the selected keys and their noisy counts alone.
    """
    groups = priced.groups
    if isinstance(groups, PublicKeys):
        columns = tuple(
            exact.randomise(index, mechanism, rng)
            for index, mechanism in enumerate(priced.mechanisms)
        )
        ends = _ends(exact, priced, rng)
        return Noisy(keys=public_rows(groups), sets=_sets(groups), columns=columns, ends=ends)
    found, units, shown = exact.select(groups.mechanism, rng, most=groups.most_groups)
    columns = tuple(
        units if isinstance(answer, Counted) else shown.randomise(index, answer.mechanism, rng)
        for index, answer in enumerate(priced.answers)
    )
    ends = _ends(shown, priced, rng)
    return Noisy(keys=found, sets=(0,) * len(found), columns=columns, ends=ends)


def _ends(exact: ExactAggregates, priced: PricedPlan, rng: Rng) -> dict[int, tuple[IntArray, ...]]:
    """Return the ends of the quantiles' intervals, each a choice of its own in each group."""
    return {
        index: tuple(exact.randomise(index, end, rng) for end in ends)
        for index, ends in priced.ends.items()
    }


def public_rows(keys: PublicKeys) -> tuple[tuple[Key | None, ...], ...]:
    """Return one row for each group of all grouping sets, None where a field is rolled up.

    Example:
        >>> from discreet.tables.keyset import KeySet
        >>> by_both = KeySet(places=(0, 1), rows=(("a", 1), ("b", 1)))
        >>> by_second = KeySet(places=(1,), rows=((1,),))
        >>> public_rows(PublicKeys(fields=(3, 5), sets=(by_both, by_second)))
        (('a', 1), ('b', 1), (None, 1))
    """
    rows: list[tuple[Key | None, ...]] = []
    for part in keys.sets:
        for values in part.rows:
            row: list[Key | None] = [None] * len(keys.fields)
            for place, value in zip(part.places, values, strict=True):
                row[place] = value
            rows.append(tuple(row))
    return tuple(rows)


def _sets(keys: PublicKeys) -> tuple[int, ...]:
    return tuple(index for index, part in enumerate(keys.sets) for _ in part.rows)
