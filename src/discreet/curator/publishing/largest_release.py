"""The largest release that a priced plan can make: from public quantities, before anything is read.

With public keys the number of groups is public. With private ones it is not: so under a deadline
there is a most, and if more groups pass the threshold, those with the largest noisy counts stay.
"""

import datetime
from collections.abc import Iterable
from fractions import Fraction

import numpy as np
from attrs import evolve

from discreet.core.canonical import canonical
from discreet.core.errors import RefusedQuery
from discreet.curator.price.price import PricedPlan
from discreet.curator.publishing.publish import chosen_privately, publish
from discreet.curator.publishing.randomise import Noisy
from discreet.ledger.releases import ReleaseSize, most_fitting
from discreet.tables.column import ColumnType, Key
from discreet.tables.keyset import LONGEST_KEY, PrivateKeys, PublicKeys

MOST_GROUPS = 10_000
"""The most groups with private keys under a deadline, if the owner does not say."""

_FAR = 2**63
_VALUE = len(f"-{_FAR},")
_TYPED = {
    ColumnType.INTEGER: _VALUE,
    ColumnType.BOOLEAN: len("false,"),
    ColumnType.DATE: 13,
    ColumnType.TIMESTAMP: len('"2025-01-31T10:00:00.000000",'),
    ColumnType.TIME: len('"10:00:00.000000",'),
}


def within(priced: PricedPlan, deadline: Fraction | None, declared: int | None) -> PricedPlan:
    """Return the plan with the most groups that it may show under a deadline.

    What the owner ``declared`` holds. Otherwise it is :data:`MOST_GROUPS`, or fewer if no more can
    be made and written down in time. All of this is public.
    """
    groups = priced.groups
    if deadline is None or isinstance(groups, PublicKeys):
        return priced
    if declared is not None:
        return evolve(priced, groups=evolve(groups, most_groups=declared))
    found = most_fitting(deadline, _fixed(priced), _each_group(priced))
    if found < 1:
        raise RefusedQuery(
            "Not one group of this answer can be written down before its deadline",
            next="Nothing was spent. Have a longer deadline declared",
        )
    return evolve(priced, groups=evolve(groups, most_groups=min(MOST_GROUPS, found)))


def largest_release(priced: PricedPlan) -> ReleaseSize:
    """Return a bound on the size of what the plan releases, whatever the data are.

    Guarantee:
        The text of a body is that of one without groups, and for each group its key, the number of
        its grouping set and a 64-bit integer for each aggregate and each end, with commas and
        brackets. No character takes more than six bytes in JSON. Where limits are to be chosen, it
        is that of the largest of the candidates.
    """
    choice = priced.choice
    candidates = (priced,) if choice is None else choice.candidates
    fixed = ReleaseSize(max(_fixed(one).bytes for one in candidates))
    if choice is not None:
        fixed += ReleaseSize(2 * len(canonical(chosen_privately(choice, -_FAR).to_json())))
    # The groups are the same, whatever the limits are.
    return fixed + max(map(_most_groups, candidates)) * _each_group(priced)


def _most_groups(priced: PricedPlan) -> int:
    groups = priced.groups
    if isinstance(groups, PublicKeys):
        return groups.size()
    return MOST_GROUPS if groups.most_groups is None else groups.most_groups


def _fixed(priced: PricedPlan) -> ReleaseSize:
    empty = np.empty(0, dtype=np.int64)
    nobody = Noisy(
        keys=(),
        sets=(),
        columns=(empty,) * len(priced.plan.aggregates),
        ends={index: (empty,) * len(ends) for index, ends in priced.ends.items()},
    )
    return ReleaseSize(len(canonical(publish(nobody, priced).to_json()).encode()), 0)


def _each_group(priced: PricedPlan) -> ReleaseSize:
    values = len(priced.plan.aggregates) + sum(map(len, priced.ends.values()))
    texts = _key_bytes(priced)
    brackets = len("[],")
    return ReleaseSize(
        brackets + sum(texts) + (values + 1) * _VALUE,
        1 + len(texts) + 1 + values,
    )


def _key_bytes(priced: PricedPlan) -> list[int]:
    """Return for each grouped field how many bytes its values take at most, with a comma."""
    keys, fields = priced.plan.keys, priced.plan.relation.fields()
    if isinstance(keys, PrivateKeys):
        return [
            _typed(fields[index].type) if allowed is None else _longest(allowed)
            for index, allowed in zip(keys.fields, keys.allowed, strict=True)
        ]
    found = [len("null,")] * len(keys.fields)
    for part in keys.sets:
        for i, place in enumerate(part.places):
            found[place] = max(found[place], _longest({row[i] for row in part.rows}))
    return found


def _typed(kind: ColumnType) -> int:
    return _TYPED.get(kind, 6 * LONGEST_KEY + len('"",'))


def _longest(values: Iterable[Key]) -> int:
    lengths = (len(canonical(_shown(value)).encode()) for value in values)
    return max(lengths, default=0) + len(",null")


def _shown(value: Key) -> str | int:
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else value
