"""Choices beside other exact releases of the same rows: no theorem allows them.

A total hides a row behind all others, and the leverage test says which totals tell a row together.
A choice hides it because the others seldom stand where one row decides. After an exact number of
these rows, or another choice of them, where they stand is not as the law says any more: thresholds
from 1 to n are the count. No statement of an owner makes such a law true, so none is taken.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from discreet.core.errors import RefusedQuery
from discreet.noiseless.composition import ExactStatistic
from discreet.noiseless.exact.charged_releases import ChargedExact

CHOICE = "choice"
"""What an assertion of a choice has besides."""


def require_choices_apart(
    earlier: Sequence[ChargedExact],
    said: Mapping[str, Any],
    new: ExactStatistic,
    aliases: Collection[str] = (),
) -> None:
    """Refuse a choice beside an exact release of the same rows, and the other way round.

    Rows of the same table are the same, in every version and under every other name, except parts
    that are disjoint by declaration.
    """
    names = {said["table"], *aliases}
    for one in earlier:
        before = one.claim.asserted
        other = one.statistic()
        is_again = (other.rows, other.features) == (new.rows, new.features)
        is_apart = before["table"] not in names or other.rows.is_disjoint_from(new.rows)
        if is_again or is_apart or not (CHOICE in said or CHOICE in before):
            continue
        raise _refusal(one, other, said, new)


def _refusal(
    one: ChargedExact, other: ExactStatistic, said: Mapping[str, Any], new: ExactStatistic
) -> RefusedQuery:
    of = frozenset(said.get(CHOICE, {}).get("of", ()))
    if of and other.rows == new.rows and of <= other.features:
        return RefusedQuery(
            f"'{new.name}' is a function of what '{other.name}' has released of these rows",
            must="be something new: rows are read once for it",
            next=f"Take it from '{one.claim.name}' (ticket {one.ticket})",
        )
    return RefusedQuery(
        f"'{new.name}' and '{other.name}' are of the same rows, and one of them is a choice",
        must="be of rows that are disjoint by declaration: after an exact release the other rows "
        "do not stand as the law says, whatever is stated",
        got=f"{said['statistic']} beside {one.claim.asserted['statistic']}",
        next="Publish the later one with noise",
    )
