"""A stored answer with the plan that it was paid for. All of it is public."""

from attrs import field, frozen

from discreet.releases.body import Body
from discreet.tables.plans.plan import BoundedPlan


@frozen(kw_only=True)
class AnsweredPlan:
    """What was counted of which rows, and the noisy numbers that became public of it.

    Guarantee:
        The plan is the one of which the digest was charged: not only one with the same text.
    """

    ticket: int
    place: int
    """Which of a batch it is, counted from 1."""
    sql: str
    plan: BoundedPlan = field(repr=False)
    """With the limits that held."""
    body: Body = field(repr=False)
