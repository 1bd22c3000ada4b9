"""A question: a statement whose every name has been found in the catalogue."""

from fractions import Fraction

from attrs import frozen

from discreet.core.loss import PrivacyLoss
from discreet.releases.view import View
from discreet.tables.aggregate import Aggregate
from discreet.tables.keyset import Keys
from discreet.tables.limits import Limits
from discreet.tables.relations.relation import Relation


@frozen(kw_only=True)
class Question:
    """What is asked, in declared terms. What is shown of it is the view, apart from the plan."""

    relation: Relation
    keys: Keys
    limits: Limits
    """The declared limits of the tables, or those that the query gives."""
    aggregates: tuple[Aggregate, ...]
    weights: tuple[Fraction, ...]
    """Which part of the price each aggregate gets; they sum to 1 (less, if keys take a part)."""
    view: View
    price: PrivacyLoss | None = None
    """The price that the query itself gives, if it does."""
