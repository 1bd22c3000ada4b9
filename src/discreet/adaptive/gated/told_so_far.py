"""What the ledger knows of a holdout: its questions so far, and what was told besides."""

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from discreet.accounting.losses.loss_json import loss_from_json
from discreet.core.loss import PrivacyLoss
from discreet.ledger.chain import Entry, Kind
from discreet.ledger.ledger import Ledger
from discreet.ledger.order import Charge

HOLDOUT = "holdout"
"""What in a description names the holdout that an order is a question of."""

QUESTION = "question"
"""What in a description of a holdout is the SQL of a mean."""

CHOSEN_FROM = "chosen_from"
"""What in a description of a holdout are the SQL of candidates."""

_KINDS = {QUESTION: "means", CHOSEN_FROM: "choices"}


@frozen(kw_only=True)
class ToldSoFar:
    """What was told of some people up to a point of the ledger.

    Attributes:
        asked: How many questions of each kind of the holdout were charged, failed ones included.
        besides: All other losses of these people, whoever made them, whichever data they were
            about; None if there are none.
    """

    asked: Mapping[str, int]
    besides: PrivacyLoss | None


def told_so_far(
    ledger: Ledger,
    *,
    id_space: str,
    holdout: str,
    data_version: int,
    most: Mapping[str, int],
    before: int | None = None,
) -> ToldSoFar:
    """Return what was told, or what had been told ``before`` the order of a ticket.

    ``most`` says how many questions of each kind the holdout is made for. Two processes that ask at
    once can pass it: what is beyond is no part of the holdout's own loss, and counts as told
    besides.

    Guarantee:
        Orders stand in the ledger in the order in which they were charged, so two processes that
        ask at once agree on which question was which. If the ledger knows of more than its entries
        say (it was lost once, and begun again), all that it knows counts as told besides.
    """
    asked = dict.fromkeys(most, 0)
    besides, whole, known = None, None, None
    for entry in ledger.entries():
        if before is not None and entry.sequence >= before:
            break
        if entry.kind is Kind.RENEWAL:
            known = _renewed(entry, id_space) or known
        if entry.kind is not Kind.RESERVE:
            continue
        order = entry.payload["order"]
        for charge in _charges(entry, id_space):
            whole, known = _with(whole, charge), _with(known, charge)
            said = order["description"]
            is_own = said.get(HOLDOUT) == holdout and order["data_version"] == data_version
            kind = _kind(said) if is_own else None
            if kind is not None:
                asked[kind] += 1
            if not is_own or (kind is not None and asked[kind] > most[kind]):
                besides = _with(besides, charge)
    if known is not None and not known <= (known * 0 if whole is None else whole):
        besides = known
    return ToldSoFar(asked=asked, besides=besides)


def _kind(said: Mapping[str, Any]) -> str | None:
    """Return the kind of a question; None of the number of people."""
    return next((kind for key, kind in _KINDS.items() if key in said), None)


def _with(told: PrivacyLoss | None, charge: PrivacyLoss) -> PrivacyLoss:
    return charge if told is None else told + charge


def _renewed(entry: Entry, id_space: str) -> PrivacyLoss | None:
    """Return what a ledger that was begun again knew as spent."""
    found = (one for one in entry.payload["totals"] if one["id_space"] == id_space)
    return next((loss_from_json(one["everybody"]) for one in found), None)


def _charges(entry: Entry, id_space: str) -> list[PrivacyLoss]:
    charges = [Charge.from_json(one) for one in entry.payload["order"]["charges"]]
    return [one.loss for one in charges if one.id_space == id_space]
