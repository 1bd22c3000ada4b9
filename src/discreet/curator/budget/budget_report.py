"""A budget in full: who has which share, whether anybody is suspended, and how far the rest goes.

All of it is read from the ledger, whose entries are public.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any

from attrs import frozen

from discreet.accounting.losses.loss_json import loss_from_json
from discreet.core.errors import InvalidArgument
from discreet.core.html_text import html_notes, html_page
from discreet.core.loss import PrivacyLoss
from discreet.curator.budget.budget_status import BudgetStatus, budget_status
from discreet.ledger.chain import Entry, Kind
from discreet.ledger.ledger import Ledger
from discreet.ledger.suspension import FailureCounter
from discreet.tables.catalog import Catalog, IdSpace

LAST_FEW = 5
"""How many of the newest charges say what questions are like."""

ENTRIES_LOOKED_AT = 1_000
MOST_COUNTED = 1_000_000


@frozen(kw_only=True)
class ShareStatus:
    """What one analyst was given of a budget, and has spent of it."""

    analyst: str
    cap: PrivacyLoss
    spent: PrivacyLoss
    remaining: PrivacyLoss
    """What the analyst could still spend: never more than what is left of the whole."""

    def to_json(self) -> dict[str, Any]:
        """Return the share as plain values."""
        losses = {name: getattr(self, name).to_json() for name in ("cap", "spent", "remaining")}
        return {"analyst": self.analyst} | losses


@frozen(kw_only=True)
class QuestionsLeft:
    """How many more questions like the last few fit into what is left."""

    count: int
    each: PrivacyLoss
    """What the last few cost, on average."""
    like: int
    """How many those are."""
    analyst: str | None
    """Whose they were; ``None``: anybody's."""
    id_space: str

    def __str__(self) -> str:
        """Say it in one sentence."""
        many = f"At least {self.count:,}" if self.count == MOST_COUNTED else f"About {self.count:,}"
        whose = "anybody" if self.analyst is None else self.analyst
        last = "the last one" if self.like == 1 else f"the last {self.like}"
        price = f"{self.each}" if self.like == 1 else f"{self.each} on average"
        return (
            f"{many} more questions like {last} of {whose} ({price}) fit into what is left of "
            f"{self.id_space}"
        )

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "count": self.count,
            "each": self.each.to_json(),
            "like_the_last": self.like,
            "analyst": self.analyst,
        }


@frozen(kw_only=True)
class BudgetReport:
    """The budget of one id space, with everything that decides whether a question is admitted."""

    status: BudgetStatus
    shares: tuple[ShareStatus, ...]
    failures: int
    most_failures: int
    """With so many failed answers in all, nobody may ask."""
    counters: tuple[FailureCounter, ...]
    more: QuestionsLeft | None
    """``None`` if nobody has asked anything yet."""

    @property
    def is_suspended_for_all(self) -> bool:
        """Whether nobody may ask."""
        return self.failures >= self.most_failures

    def suspensions(self) -> Iterator[str]:
        """Say for whom the gate is shut, and what opens it."""
        space = self.status.id_space
        if self.is_suspended_for_all:
            yield (
                f"Questions about {space} are suspended for everybody, after {self.failures} failed"
                f" answers: the owner looks for the cause, and runs 'discreet resume {space}'"
            )
            return
        for counter in self.counters:
            if counter.is_suspended:
                who = counter.analyst or "analysts without a share"
                yield (
                    f"Questions about {space} by {who} are suspended, after {counter.failures}"
                    f" failed answers: the owner looks for the cause, and runs 'discreet resume"
                    f" {space}'"
                )

    def sentences(self) -> Iterator[str]:
        """Say who may not ask, who has spent how much of a share, and how far the rest goes."""
        yield from self.suspensions()
        for share in self.shares:
            yield f"{share.analyst} has spent {share.spent} of a share of {share.cap}"
        if self.more is not None:
            yield str(self.more)

    def _repr_html_(self) -> str:
        return html_page(self.status._repr_html_(), html_notes(self.sentences()))

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain values."""
        shut = [counter.analyst for counter in self.counters if counter.is_suspended]
        return self.status.to_json() | {
            "shares": [share.to_json() for share in self.shares],
            "suspended": {"everybody": self.is_suspended_for_all, "analysts": shut},
            "more_questions": None if self.more is None else self.more.to_json(),
        }


def budget_reports(ledger: Ledger, catalog: Catalog, analyst: str) -> tuple[BudgetReport, ...]:
    """Return the report of every id space; ``analyst`` is whose questions are looked at first."""
    recent = ledger.entries(last=ENTRIES_LOOKED_AT)
    return tuple(_report(ledger, space, analyst, recent) for space in catalog.id_spaces)


def _report(ledger: Ledger, space: IdSpace, analyst: str, recent: Sequence[Entry]) -> BudgetReport:
    shares = [share for share in ledger.shares() if share.id_space == space.name]
    return BudgetReport(
        status=budget_status(ledger, space, analyst),
        shares=tuple(
            ShareStatus(
                analyst=share.analyst,
                cap=share.cap,
                spent=ledger.spent(space.name, share.analyst),
                remaining=ledger.remaining(space.name, share.analyst),
            )
            for share in shares
        ),
        failures=ledger.failures(space.name),
        most_failures=ledger.rules(space.name).most_failures,
        counters=ledger.counters(space.name),
        more=_questions_left(ledger, space.name, analyst, recent),
    )


def _questions_left(
    ledger: Ledger, id_space: str, analyst: str, recent: Sequence[Entry]
) -> QuestionsLeft | None:
    """Look at what this analyst asked last, or at what anybody did if this one asked nothing."""
    for name in (analyst, None):
        last = list(_charges(recent, id_space, name))[-LAST_FEW:]
        if last:
            each = reduce(add, last) * Fraction(1, len(last))
            rest = ledger.remaining(id_space, name)
            return QuestionsLeft(
                count=how_many(each, rest),
                each=each,
                like=len(last),
                analyst=name,
                id_space=id_space,
            )
    return None


def _charges(entries: Sequence[Entry], id_space: str, analyst: str | None) -> Iterator[PrivacyLoss]:
    for entry in entries:
        if entry.kind is not Kind.RESERVE:
            continue
        order = entry.payload["order"]
        # An exact release costs nothing of the budget, so it says nothing of what questions cost.
        if "exact" not in order and analyst in (None, order["analyst"]):
            for charge in order["charges"]:
                if charge["id_space"] == id_space:
                    yield loss_from_json(charge["loss"])


def how_many(each: PrivacyLoss, rest: PrivacyLoss) -> int:
    """Return how often a loss fits into what is left, rounded down, and a million at most.

    Example:
        >>> from discreet import Pure
        >>> how_many(Pure("1/3"), Pure(1)), how_many(Pure("0.34"), Pure(1))
        (3, 2)
    """
    low, high = 0, MOST_COUNTED + 1
    while high - low > 1:
        middle = (low + high) // 2
        if _fits(each, middle, rest):
            low = middle
        else:
            high = middle
    return low


def _fits(each: PrivacyLoss, count: int, rest: PrivacyLoss) -> bool:
    try:
        return each * count <= rest
    except InvalidArgument:  # so many have a delta that promises nothing
        return False
