"""A release card: what somebody must know who judges whether a release is private.

The names of its parts are those of the public registry of deployments of differential privacy
(https://github.com/opendp/deployments-registry-data; Dwork, Kohli and Mulligan, 2019, asked for
one): ``product``, ``dp_flavor``, ``privacy_loss``, ``model``, ``accounting``, ``implementation``.
Its last part, the checklist, goes through what *Guidelines for Evaluating Differential Privacy
Guarantees* (NIST SP 800-226, 2025) asks: parameters and unit, correctness and bias, trust, side
channels, access, and what is not covered.

Guarantee:
    All of it is public: what the owner declared, the question, the release, and what the ledger
    shows of it. No salt, no row, and no number that was computed from rows but those of releases.
"""

from collections.abc import Callable
from datetime import datetime
from decimal import ROUND_FLOOR
from importlib.metadata import version
from typing import Any

from attrs import field, frozen

from discreet.core.loss import Measure, PrivacyLoss, short
from discreet.ledger.order import Receipt

FORMAT = 1
"""The version of the card's layout."""

Translation = tuple[PrivacyLoss, str]
"""The same loss in another measure, and the theorem that says so."""


@frozen(kw_only=True)
class Circumstances:
    """What is known of a release besides: the question, the people, the budget."""

    sql: str
    tables: tuple[str, ...]
    id_space: str
    unit: str
    """What one unit is, in the owner's words."""
    unit_columns: tuple[str, ...]
    """The columns that say whose a row is; none if each row is a unit of its own."""
    period: str | None = None
    """How long a period is, if a unit is somebody within a period."""
    cap: PrivacyLoss
    remaining: PrivacyLoss
    """What anybody could still spend when the card was made."""
    charged_at: datetime | None = None
    deadline: str | None = None
    """After how many seconds every answer is handed over, if that is declared."""
    translations: Callable[[], tuple[Translation, ...]] = field(default=tuple, repr=False)
    void: tuple[str, ...] = ()
    """That an exact release has ended the worst-case claim, if one has."""


@frozen(kw_only=True)
class CardFacts:
    """All that a card is made of, whatever was released."""

    what: str
    """What was released, such as "An answer"."""
    product: str
    """Which type of product that is."""
    columns: Any
    """Their names: in a list, or for each table in one."""
    cost: PrivacyLoss
    receipt: Receipt
    known: Circumstances | None
    groups: dict[str, Any]
    """How it was chosen what is shown."""
    post_processing: str
    """What was done with noisy numbers, for nothing."""
    implementation: dict[str, Any]
    """Limits, clamps and mechanisms."""
    accuracy: dict[str, Any]
    bias: str
    """In which direction the limits move what is released."""


def card(facts: CardFacts) -> dict[str, Any]:
    """Return a release card as plain values, in the order in which it is read."""
    return {
        "card": {"format": FORMAT, "software": f"discreet {version('discreet')}"},
        "deployment": {
            "product": _product(facts),
            "dp_flavor": _flavor(facts),
            "privacy_loss": _privacy_loss(facts),
            "model": _model(facts),
            "accounting": _accounting(facts),
            "implementation": facts.implementation,
        },
        "accuracy": facts.accuracy,
        "checklist": _checklist(facts),
    }


UNKNOWN = "not known here"

_FLAVORS = {
    Measure.PURE: "Pure differential privacy",
    Measure.APPROXIMATE: "Approximate differential privacy",
    Measure.ZCDP: "Zero-concentrated differential privacy",
    Measure.APPROXIMATE_ZCDP: "Approximate zero-concentrated differential privacy",
    Measure.GAUSSIAN: "Gaussian differential privacy",
}


def _product(facts: CardFacts) -> dict[str, Any]:
    known = facts.known
    at = None if known is None else known.charged_at
    return {
        "name": UNKNOWN if known is None else f"{facts.what} about {', '.join(known.tables)}",
        "description": UNKNOWN if known is None else known.sql,
        "data_product_type": facts.product,
        "publication_date": UNKNOWN if at is None else at.date().isoformat(),
        "columns": facts.columns,
    }


def _flavor(facts: CardFacts) -> dict[str, Any]:
    known, cost = facts.known, facts.cost
    return {
        "name": _FLAVORS.get(cost.measure, cost.measure.value),
        "input_metric": "Add or remove one unit with all of its rows",
        "bound_on_input_distance": 1,
        "output_measure": cost.measure.value,
        "bound_on_output_distance": str(cost),
        "data_domain": {
            "tables": UNKNOWN if known is None else list(known.tables),
            "data_version": facts.receipt.data_version,
        },
        "unprotected_quantities": "What the owner declared: columns, keys, bounds and limits. That"
        " they were declared without regard to single units is the owner's promise",
    }


def _privacy_loss(facts: CardFacts) -> dict[str, Any]:
    known = facts.known
    others = () if known is None else known.translations()
    return {
        "privacy_unit": UNKNOWN if known is None else known.unit,
        "privacy_unit_description": UNKNOWN if known is None else _unit(known),
        "privacy_parameters": _numbers(facts.cost),
        "privacy_parameters_exact": facts.cost.to_json(),
        "in_other_measures": [_numbers(loss) | {"theorem": theorem} for loss, theorem in others],
    }


def _unit(known: Circumstances) -> str:
    if not known.unit_columns:
        return "Each row by itself; somebody with several rows is protected for each of them"
    who = f"All rows with the same {' and '.join(known.unit_columns)}"
    if known.period is None:
        return who
    return f"{who} in one {known.period}; its other {known.period}s are other units"


def _numbers(loss: PrivacyLoss) -> dict[str, Any]:
    """Return the numbers of a loss as short decimals, rounded up."""
    names = [name for name in loss.to_json() if name != "measure"]
    return {name: float(short(getattr(loss, name))) for name in names}


def _model(facts: CardFacts) -> dict[str, Any]:
    return {
        "model_name": "Central",
        "actors": [
            "The curator holds the rows, runs Discreet and is trusted with both",
            "The owner declares tables, units, bounds and the budget, and is trusted to do so",
            "Analysts ask questions and are not trusted; whoever reads a release is not either",
        ],
        "access_type": "Interactive: questions may depend on earlier answers",
        "release_type": "Many releases, against one budget",
        "groups": facts.groups,
    }


def _accounting(facts: CardFacts) -> dict[str, Any]:
    known, receipt = facts.known, facts.receipt
    return {
        "composition": "Losses are added up exactly, in the measure of the budget, before a row is"
        " read; this is valid for questions that depend on answers",
        "charges": [
            {"id_space": charge.id_space, "loss": str(charge.loss)} for charge in receipt.charges
        ],
        "worst_case": UNKNOWN if known is None else _worst_case(known),
        "budget": UNKNOWN if known is None else str(known.cap),
        "remaining": UNKNOWN if known is None else known.remaining.shown(rounding=ROUND_FLOOR),
        "receipt": {
            "ticket": receipt.ticket.number,
            "order": receipt.ticket.order_digest,
            "plan": receipt.plan_digest,
            "release": receipt.release_digest,
            "head_of_the_chain": receipt.head,
        },
        "post_processing": facts.post_processing,
    }


def _worst_case(known: Circumstances) -> str:
    return "; ".join(known.void) or "The budget bounds all releases, whatever anybody knows"


def _checklist(facts: CardFacts) -> dict[str, Any]:
    known = facts.known
    deadline = None if known is None else known.deadline
    time = (
        "No deadline is declared, so how long an answer takes may be seen"
        if deadline is None
        else f"Every answer is handed over {deadline} s after its charge"
    )
    is_void = known is not None and bool(known.void)
    bound = "the worst-case claim is void" if is_void else "the budget bounds all of them"
    return {
        "source": "NIST SP 800-226, Guidelines for Evaluating Differential Privacy Guarantees",
        "privacy_parameters": f"{facts.cost} for this release; {bound}",
        "unit_of_privacy": UNKNOWN if known is None else f"{known.unit}. {_unit(known)}",
        "algorithms_and_correctness": "Noise is drawn exactly on integers from a cryptographic"
        " generator; sums are of integers that were clamped first; no floating point decides",
        "utility_and_bias": facts.bias,
        "trust_model": "Central: whoever holds the rows sees them",
        "side_channels": f"{time}. Failures after the charge look alike. Load and memory of the"
        " machine are not hidden",
        "security_and_access_control": "Who may reach the rows, the ledger and the machine is not"
        " Discreet's to say; the ledger shows what was changed in it",
        "data_collection": "How the rows were collected, and whether people agreed, is not covered",
        "not_covered": "Releases that were made without this ledger; secrets of groups of people;"
        " what follows about everybody from a true statistic",
    }
