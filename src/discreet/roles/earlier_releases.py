"""Which earlier releases a synthesis may agree with: all, none, or those of some tickets."""

from collections.abc import Iterable, Iterator, Sequence

import discreet.synthesis.find_published as find_published
from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.curator.answered_plans import answered_plans
from discreet.project.project import Project
from discreet.releases.answered_plan import AnsweredPlan
from discreet.tables.catalog import Table


def earlier_releases(published: bool | Sequence[int]) -> "find_published.EarlierReleases | None":
    """Return what finds earlier releases, if they count: all, or those of some tickets."""
    if isinstance(published, bool):
        return find_published.EarlierReleases(_answers) if published else None
    if isinstance(published, str | bytes) or not isinstance(published, Iterable):
        raise InvalidArgument(
            "published is neither true nor false, nor a list of tickets",
            must="be True, False, or numbers such as [12, 15]",
            got=type(published).__name__,
        )
    return find_published.EarlierReleases(
        _answers, frozenset(check.whole(one) for one in published)
    )


def _answers(project: Project, table: Table) -> Iterator[AnsweredPlan]:
    return answered_plans(project, table.unit.id_space, table.name)
