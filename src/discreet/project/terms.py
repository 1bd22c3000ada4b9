"""Terms: what may be said about the price and the limits of a question, and which terms hold."""

from collections.abc import Iterable
from fractions import Fraction

from attrs import evolve, field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument, MissingLoss, Unsupported
from discreet.core.loss import Approximate, ApproximateZcdp, PrivacyLoss, Pure, Zcdp
from discreet.core.numbers import Number
from discreet.core.unit_words import UNITS
from discreet.releases.accuracy import Accuracy, read_accuracy

Price = Pure | Zcdp | Approximate | ApproximateZcdp
"""ε buys discrete Laplace noise; ρ, or an ε with a δ, whichever noise errs less."""


def _epsilon(value: Number | None) -> Fraction | None:
    return _amount("epsilon", value)


def _rho(value: Number | None) -> Fraction | None:
    return _amount("rho", value)


def _delta(value: Number | None) -> Fraction | None:
    return _amount("delta", value)


def _amount(name: str, value: Number | None) -> Fraction | None:
    """Return an exact number, or say of which argument it is none."""
    try:
        return check.optional_exact(value)
    except InvalidArgument as error:
        raise InvalidArgument(f"{name} is not a number", must=error.must, got=error.got) from None


def _accuracy(value: "Accuracy | Number | None") -> Accuracy | None:
    return None if value is None else read_accuracy(value)


@frozen(kw_only=True)
class Terms:
    """What is said in one place: an ε, a ρ or an accuracy; perhaps a δ; perhaps limits.

    The place is the call, the query, the connection or the declaration. Limits that are given with
    the call win over the declared ones and over those in the query. A δ of 0 offers none, whatever
    the default is.

    Example:
        >>> print(Terms(epsilon="1/2", delta="1e-6").price())
        ε = 0.5, δ = 0.000001
        >>> print(Terms(accuracy="±50 at 95 %").accuracy)
        ± 50 at 95 %
    """

    epsilon: Fraction | None = field(default=None, converter=_epsilon)
    rho: Fraction | None = field(default=None, converter=_rho)
    accuracy: Accuracy | None = field(default=None, converter=_accuracy)
    delta: Fraction | None = field(default=None, converter=_delta)
    rows_per_group: int | None = None
    groups_per_unit: int | None = None
    rows_per_unit: int | None = None
    chosen_limits: str | None = None
    """``"auto"`` if the limits are to be chosen: from a profile, or privately."""

    def __attrs_post_init__(self) -> None:
        """Refuse two prices, and prices of nothing."""
        named = [name for name in _PRICES if getattr(self, name) is not None]
        if len(named) > 1:
            raise InvalidArgument(
                "Two prices were given",
                must="be one of epsilon=, rho= and accuracy=",
                got=" and ".join(f"{name}=" for name in named),
            )
        for name in ("epsilon", "rho"):
            amount = getattr(self, name)
            if amount is not None and amount <= 0:
                raise InvalidArgument(
                    f"{name} is out of range", must="be greater than 0", got=str(amount)
                )
        self._require_one_kind_of_limits()
        if self.delta is not None and not 0 <= self.delta < 1:
            raise InvalidArgument(
                "delta is out of range",
                must="be at least 0 and below 1",
                got=str(self.delta),
                next=f"A usual δ is far below one over the number of {UNITS}, such as 1e-9",
            )

    def _require_one_kind_of_limits(self) -> None:
        if self.chosen_limits is None:
            return
        if self.chosen_limits != AUTO:
            raise InvalidArgument(
                "These limits are not known",
                must=f"be '{AUTO}', or numbers such as rows_per_group",
                got=repr(self.chosen_limits)[:40],
            )
        if self.limits():
            raise InvalidArgument(
                "Limits were given twice",
                must=f"be '{AUTO}', or numbers such as rows_per_group",
                got=f"'{AUTO}' and {', '.join(self.limits())}",
            )

    @staticmethod
    def of(given: "Terms | PrivacyLoss | None") -> "Terms":
        """Return a loss as terms."""
        if given is None:
            return Terms()
        if isinstance(given, Terms):
            return given
        if not isinstance(given, Price) or getattr(given, "xi", None):
            raise Unsupported(
                "This is not a price", must="be an ε or a ρ, perhaps with a δ", got=str(given)
            )
        delta = getattr(given, "delta", None)
        if isinstance(given, Pure | Approximate):
            return Terms(epsilon=given.epsilon, delta=delta)
        return Terms(rho=given.rho, delta=delta)

    def has_price(self) -> bool:
        """Tell whether an ε, a ρ or an accuracy is given."""
        return any(getattr(self, name) is not None for name in _PRICES)

    def limits(self) -> dict[str, int]:
        """Return the limits that are given, by their names."""
        names = ("rows_per_group", "groups_per_unit", "rows_per_unit")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    def price(self) -> Price:
        """Return the ε or ρ, with its δ, as a loss."""
        delta = self.delta
        if self.epsilon is not None:
            return Approximate(self.epsilon, delta) if delta else Pure(self.epsilon)
        assert self.rho is not None
        return ApproximateZcdp(self.rho, delta) if delta else Zcdp(self.rho)


_PRICES = ("epsilon", "rho", "accuracy")

AUTO = "auto"
"""Limits that are chosen from the profile of the table, or privately if there is none."""


def terms_that_hold(given: Terms, asked: Terms, defaults: Iterable[Terms]) -> Terms:
    """Return the ``given`` terms with the price and the δ from the first place that names each.

    The places are what is ``given`` with the question, what the query itself ``asked`` for, and the
    ``defaults`` (of the connection, then of the declaration). Two different prices for one question
    are refused; a default gives way.

    Example:
        >>> usual = [Terms(epsilon=1), Terms(rho=2)]
        >>> print(terms_that_hold(Terms(delta="1e-6"), Terms(), usual).price())
        ε = 1, δ = 0.000001
    """
    for names in (_PRICES, ("delta",)):
        values = [[getattr(terms, name) for name in names] for terms in (given, asked)]
        if all(any(value is not None for value in place) for place in values):
            _require_equal(*values)
    places = (given, asked, *defaults)
    price = next((terms for terms in places if terms.has_price()), None)
    if price is None:
        raise MissingLoss(
            "Nobody said how much privacy this answer may cost",
            next="On the command line add --epsilon 0.5 (or --rho, or --accuracy); in Python give"
            " epsilon=0.5 (or rho=, or accuracy=) to the question or to connect()",
        )
    delta = next((terms.delta for terms in places if terms.delta is not None), None)
    named = {name: getattr(price, name) for name in _PRICES}
    return evolve(given, delta=delta, **named)


def _require_equal(given: list[object], asked: list[object]) -> None:
    if given != asked:
        raise InvalidArgument(
            "Two different prices were given: one with the question, one in the query",
            must="be the same, or be given once",
        )
