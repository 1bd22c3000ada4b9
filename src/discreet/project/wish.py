"""A wish: what is said beside the SQL about its price and its limits."""

from attrs import field, frozen

from discreet.core.loss import PrivacyLoss
from discreet.project.offer import Terms


def _terms(given: Terms | PrivacyLoss | None) -> Terms:
    return Terms.of(given)


@frozen(kw_only=True)
class Wish:
    """A price, limits for this question, and the price to fall back on.

    The limits given here win over the declared ones and over those in the query; the price must
    agree with one in the query.
    """

    offer: Terms = field(factory=Terms, converter=_terms)
    default: Terms = field(factory=Terms, converter=_terms)
    """The connection's, for a question that names no price."""
    rows_per_group: int | None = None
    groups_per_unit: int | None = None

    @staticmethod
    def of(offer: "Wish | Terms | PrivacyLoss | None") -> "Wish":
        """Return an offer in any of its forms as a wish."""
        return offer if isinstance(offer, Wish) else Wish(offer=offer)

    def limits(self) -> dict[str, int]:
        """Return the limits that are given, by their names."""
        names = ("rows_per_group", "groups_per_unit")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}
