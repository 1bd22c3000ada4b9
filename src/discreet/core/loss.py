"""Privacy losses: how much a release may tell, in one measure, as exact numbers.

A loss is a *bound*. ``+`` composes two bounds of the same measure for adaptively chosen mechanisms,
``<=`` compares them. A pair that no theorem covers is refused: convert first (``accounting``).
"""

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, Inexact
from enum import Enum
from fractions import Fraction
from typing import ClassVar, NoReturn, Self

from attrs import Attribute, evolve, field, fields, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.numbers import exact


class Measure(Enum):
    """The ways in which we measure a loss."""

    PURE = "pure"
    APPROXIMATE = "approximate"
    ZCDP = "zcdp"
    APPROXIMATE_ZCDP = "approximate_zcdp"
    BOUNDED_ZCDP = "bounded_zcdp"
    MEAN_CONCENTRATED = "mean_concentrated"
    RENYI = "renyi"
    GAUSSIAN = "gaussian"


def measure_of(value: "Measure | str") -> Measure:
    """Return the measure that is meant, also by its name; refuse any other.

    Example:
        >>> measure_of("zcdp") is Measure.ZCDP
        True
    """
    return check.chosen(Measure, value, noun="measure")


@frozen
class PrivacyLoss:
    """What the losses have in common: exact fields, composition, comparison, a place to stand."""

    measure: ClassVar[Measure]

    def __add__(self, other: Self) -> Self:
        """Compose: the loss of releasing both, the second chosen after seeing the first."""
        self._require_same_measure(other)
        names = [a.name for a in fields(type(self))]
        try:
            return evolve(self, **{n: getattr(self, n) + getattr(other, n) for n in names})
        except InvalidArgument:
            raise Unsupported(
                "Together these losses promise nothing", must="keep the sum of the deltas below 1"
            ) from None

    def __mul__(self, count: int | Fraction) -> Self:
        """Compose ``count`` times; a fraction of a loss is a share of a budget."""
        factor = exact(count)
        if factor < 0:
            raise InvalidArgument("count is out of range", must="be at least 0", got=str(count))
        names = [a.name for a in fields(type(self))]
        return evolve(self, **{name: getattr(self, name) * factor for name in names})

    __rmul__ = __mul__

    def __le__(self, other: Self) -> bool:
        """Tell whether this bound implies ``other``. A partial order: both may be false."""
        self._require_same_measure(other)
        return all(getattr(self, a.name) <= getattr(other, a.name) for a in fields(type(self)))

    def __ge__(self, other: Self) -> bool:
        """Tell whether ``other`` implies this bound."""
        return other <= self

    def share_of(self, cap: Self) -> Fraction:
        """Return the largest share of ``cap`` that this loss takes up, in any of its numbers."""
        self._require_same_measure(cap)
        pairs = [(getattr(self, a.name), getattr(cap, a.name)) for a in fields(type(self))]
        shares = [own / limit if limit else Fraction(own > 0) for own, limit in pairs]
        return max(shares)

    def to_json(self) -> dict[str, str]:
        """Return the exact fields as text, with the measure."""
        numbers = {a.name: str(getattr(self, a.name)) for a in fields(type(self))}
        return {"measure": self.measure.value} | numbers

    def __str__(self) -> str:
        """Show short decimals, rounded up; exact numbers are in the fields."""
        return self.shown()

    def __repr__(self) -> str:
        """Show the same with the class, and "≤" where a number was rounded up to be shown."""
        return f"{type(self).__name__}({', '.join(self.numbers(is_marked=True))})"

    def shown(self, *, rounding: str = ROUND_CEILING) -> str:
        """Show short decimals: a cost is rounded up, what is left must be rounded down."""
        return ", ".join(self.numbers(rounding=rounding))

    def numbers(self, *, rounding: str = ROUND_CEILING, is_marked: bool = False) -> list[str]:
        """Return each number with its symbol; ``is_marked`` tells a rounded one from an exact one.

        An order up to which a bound holds is rounded the other way: there more is the stronger
        claim.
        """
        pairs = ((a.name, getattr(self, a.name)) for a in fields(type(self)))
        return [
            _shown(name, value, rounding, is_marked=is_marked)
            for name, value in pairs
            if value or name != "xi"
        ]

    def _require_same_measure(self, other: object) -> None:
        if type(other) is not type(self):
            theirs = other.measure.value if isinstance(other, PrivacyLoss) else type(other).__name__
            raise Unsupported(
                "These two losses are not in the same measure",
                must=f"both be {self.measure.value}",
                got=f"{self.measure.value} and {theirs}",
                next="Convert one of them first",
            )


_SYMBOLS = {
    "epsilon": "ε",
    "delta": "δ",
    "rho": "ρ",
    "xi": "ξ",
    "order": "m",
    "mu": "μ",
    "mu_squared": "μ²",
    "tau_squared": "τ²",
}


def _shown(name: str, value: Fraction, rounding: str, *, is_marked: bool) -> str:
    way = _OTHER_WAY[rounding] if name == "order" else rounding
    text = short(value, rounding=way)
    is_rounded = is_marked and Fraction(text) != value
    return f"{_SYMBOLS[name]} {_ROUNDED[way] if is_rounded else '='} {text}"


_OTHER_WAY = {ROUND_CEILING: ROUND_FLOOR, ROUND_FLOOR: ROUND_CEILING}
_ROUNDED = {ROUND_CEILING: "≤", ROUND_FLOOR: "≥"}


def short(value: Fraction, *, rounding: str = ROUND_CEILING) -> str:
    """Return a short decimal for people: the exact one if it is short, else rounded to one side.

    Example:
        >>> short(Fraction(1, 10)), short(Fraction(1, 3)), short(Fraction(6000))
        ('0.1', '0.3334', '6000')
        >>> short(Fraction(59999, 1000)), short(Fraction(59_999_999, 1_000_000))
        ('59.999', '60')
        >>> from decimal import ROUND_FLOOR
        >>> short(Fraction(1, 3), rounding=ROUND_FLOOR)
        '0.3333'
    """
    if value.denominator == 1 and abs(value) < _LONGEST_WHOLE:
        return str(value.numerator)
    whole = Context(prec=_EXACT_DIGITS, rounding=rounding)
    quotient = whole.divide(Decimal(value.numerator), Decimal(value.denominator))
    if whole.flags[Inexact]:
        context = Context(prec=_SHORT_DIGITS, rounding=rounding)
        quotient = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    is_usual = 0 <= quotient.adjusted() < _LONGEST
    return f"{quotient.normalize():f}" if is_usual else f"{quotient.normalize():g}"


_EXACT_DIGITS, _SHORT_DIGITS = 6, 4
_LONGEST = 9
_LONGEST_WHOLE = 10**_LONGEST


@frozen(repr=False, order=False)
class Pure(PrivacyLoss):
    r""":math:`\varepsilon`-differential privacy [DMNS06].

    Guarantee:
        :math:`P[M(x) \in S] \le e^{\varepsilon} P[M(x') \in S]` for neighbours and every event.
        Sums compose, also adaptively [DR14, Theorem 3.16].

    Example:
        >>> Pure("1/3") + Pure("2/3") <= Pure(1)
        True
    """

    measure = Measure.PURE
    epsilon: Fraction = field(converter=exact, validator=check.non_negative)


@frozen(repr=False, order=False)
class Approximate(PrivacyLoss):
    r""":math:`(\varepsilon, \delta)`-differential privacy.

    Guarantee:
        :math:`P[M(x) \in S] \le e^{\varepsilon} P[M(x') \in S] + \delta`. Sums compose
        [DR14, Theorem 3.16]; it does *not* say that the loss exceeds :math:`\varepsilon` with
        probability at most :math:`\delta`.

    Example:
        >>> Approximate(1, "1e-6") + Approximate(1, "1e-6")
        Approximate(ε = 2, δ = 0.000002)
        >>> Approximate("1/3", 0), Approximate("1/3", 0).epsilon
        (Approximate(ε ≤ 0.3334, δ = 0), Fraction(1, 3))
    """

    measure = Measure.APPROXIMATE
    epsilon: Fraction = field(converter=exact, validator=check.non_negative)
    delta: Fraction = field(converter=exact, validator=check.below_one)


@frozen(repr=False, order=False)
class Zcdp(PrivacyLoss):
    r""":math:`(\xi, \rho)`-zero-concentrated differential privacy [BS16, Definition 1.1].

    Guarantee:
        :math:`D_\alpha(M(x) \| M(x')) \le \xi + \rho \alpha` for every :math:`\alpha > 1`. Sums
        compose [BS16, Lemma 2.3].

    Example:
        >>> Zcdp(rho="1/2", xi=0) <= Zcdp(rho=1)
        True
    """

    measure = Measure.ZCDP
    rho: Fraction = field(converter=exact, validator=check.non_negative)
    xi: Fraction = field(default=Fraction(0), converter=exact, validator=check.non_negative)

    def __le__(self, other: Self) -> bool:
        """Compare the lines on (1, ∞): the slope, and the value at 1."""
        self._require_same_measure(other)
        return self.rho <= other.rho and self.xi + self.rho <= other.xi + other.rho


@frozen(repr=False, order=False)
class ApproximateZcdp(PrivacyLoss):
    r""":math:`\delta`-approximate :math:`(\xi, \rho)`-zCDP [BS16, Definition 8.1].

    Guarantee:
        Outside events of probability :math:`\delta` the two laws satisfy
        :math:`(\xi, \rho)`-zCDP. Sums of :math:`\rho` and :math:`\xi` compose, and so does the sum
        of the :math:`\delta` (it is at least :math:`1 - \prod (1 - \delta_i)`)
        [BS16, Lemma 8.2]; the sum is also valid when the losses are chosen adaptively.

    Example:
        >>> ApproximateZcdp(rho=1, delta="1e-9") + ApproximateZcdp(rho=1, delta=0)
        ApproximateZcdp(ρ = 2, δ = 1e-9)
    """

    measure = Measure.APPROXIMATE_ZCDP
    rho: Fraction = field(converter=exact, validator=check.non_negative)
    delta: Fraction = field(converter=exact, validator=check.below_one)
    xi: Fraction = field(default=Fraction(0), converter=exact, validator=check.non_negative)

    def __le__(self, other: Self) -> bool:
        """Compare the deltas, and the lines as for zCDP."""
        self._require_same_measure(other)
        lines = self.rho <= other.rho and self.xi + self.rho <= other.xi + other.rho
        return self.delta <= other.delta and lines


@frozen(repr=False, order=False)
class GaussianDp(PrivacyLoss):
    r""":math:`\mu`-Gaussian DP [DRS22, section 2]; :math:`\mu^2` is kept, as it is rational.

    Guarantee:
        Telling :math:`M(x)` from :math:`M(x')` is at least as hard, at every false-alarm rate, as
        telling :math:`N(0, 1)` from :math:`N(\mu, 1)`. Composition adds the squares, also for
        mechanisms chosen adaptively [DRS22, section 3].

    Example:
        >>> GaussianDp(mu_squared="1/4") + GaussianDp(mu_squared="1/2")
        GaussianDp(μ² = 0.75)
    """

    measure = Measure.GAUSSIAN
    mu_squared: Fraction = field(converter=exact, validator=check.non_negative)


@frozen(repr=False, order=False)
class BoundedZcdp(PrivacyLoss):
    r""":math:`m`-bounded :math:`(\xi, \rho)`-zCDP; ``order`` is :math:`m` [BS16, Definition 8.4].

    Guarantee:
        :math:`D_\alpha(M(x) \| M(x')) \le \xi + \rho\alpha` for every
        :math:`\alpha \in (1, m)`; at :math:`m` and above nothing is said. Sums compose below the
        smaller of the two orders, because Rényi divergences do, order by order
        [Mir17, Proposition 1].

    Example:
        >>> BoundedZcdp(rho=1, order=32) + BoundedZcdp(rho=2, order=8)
        BoundedZcdp(ρ = 3, m = 8)
    """

    measure = Measure.BOUNDED_ZCDP
    rho: Fraction = field(converter=exact, validator=check.non_negative)
    order: Fraction = field(converter=exact)
    xi: Fraction = field(default=Fraction(0), converter=exact, validator=check.non_negative)

    @order.validator
    def _above_one(self, attribute: "Attribute[Fraction]", order: Fraction) -> None:
        if order <= 1:
            raise InvalidArgument("order is out of range", must="be greater than 1", got=str(order))

    def __add__(self, other: Self) -> Self:
        """Compose, below the smaller order."""
        self._require_same_measure(other)
        order = min(self.order, other.order)
        return type(self)(self.rho + other.rho, order, self.xi + other.xi)

    def __mul__(self, count: int | Fraction) -> Self:
        """Compose ``count`` times."""
        factor = exact(count)
        if factor < 0:
            raise InvalidArgument("count is out of range", must="be at least 0", got=str(count))
        return type(self)(self.rho * factor, self.order, self.xi * factor)

    __rmul__ = __mul__

    def __le__(self, other: Self) -> bool:
        """Compare the two lines on (1, m) of ``other``: at both ends, as they are straight."""
        self._require_same_measure(other)
        if self.order < other.order:
            return False
        pairs = ((self.at(end), other.at(end)) for end in (Fraction(1), other.order))
        return all(own <= limit for own, limit in pairs)

    def at(self, alpha: Fraction) -> Fraction:
        """Return the height of the line at ``alpha``."""
        return self.xi + self.rho * alpha

    def share_of(self, cap: Self) -> Fraction:
        """Return the largest share of the line of ``cap`` on (1, m) that this one takes up."""
        self._require_same_measure(cap)
        if self.order < cap.order:
            raise Unsupported(
                "This loss says nothing at some orders of the other",
                must=f"be bounded up to the order {cap.order}",
                got=str(self.order),
            )
        pairs = [(self.at(end), cap.at(end)) for end in (Fraction(1), cap.order)]
        return max(own / limit if limit else Fraction(own > 0) for own, limit in pairs)


@frozen(repr=False, order=False)
class MeanConcentrated(PrivacyLoss):
    r""":math:`(\mu, \tau)`-mCDP, with the rational :math:`\tau^2` [DR16; Ste16, Definition 2.4.1].

    Guarantee:
        The privacy loss has :math:`E[Z] \le \mu` and
        :math:`E[e^{\lambda(Z - E[Z])}] \le e^{\lambda^2\tau^2/2}` for every real :math:`\lambda`.

        It is not closed under post-processing [BS16, section 4.1], nor under choosing a mechanism
        by a public coin: a coin that chooses between silence and Gaussian noise with
        :math:`\tau^2 > 8` has a privacy loss whose variance is above :math:`\tau^2`. So it does
        not compose adaptively, and ``+`` is refused: convert to zCDP, which does.

    Example:
        >>> MeanConcentrated(mu="1/2", tau_squared=1) <= MeanConcentrated(mu=1, tau_squared=1)
        True
    """

    measure = Measure.MEAN_CONCENTRATED
    mu: Fraction = field(converter=exact, validator=check.non_negative)
    tau_squared: Fraction = field(converter=exact, validator=check.non_negative)

    def __add__(self, other: Self) -> NoReturn:
        """Refuse: the sum is no bound when the second mechanism is chosen adaptively."""
        raise _does_not_compose()

    def __mul__(self, count: int | Fraction) -> NoReturn:
        """Refuse, as for ``+``."""
        raise _does_not_compose()

    __rmul__ = __mul__


def _does_not_compose() -> Unsupported:
    return Unsupported(
        "Mean-concentrated losses do not compose adaptively",
        next="Convert them to zCDP first, and add those",
    )
