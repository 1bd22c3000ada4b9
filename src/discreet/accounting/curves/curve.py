"""Rényi curves: sums of named pieces, each certified at every order."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import ClassVar, Self

from attrs import field, fields, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Measure, PrivacyLoss
from discreet.core.numbers import Number, exact

Estimator = Callable[[float], float]
"""About the height of a curve, by the order."""


@frozen
class CurvePiece:
    r"""A bound on :math:`D_\alpha(M(x) \| M(x'))` for neighbours, as a function of the order.

    A new kind of piece derives from this class, names its ``kind``, keeps its parameters in exact
    fields, and defines ``upper`` (certified: never below the true bound) and ``estimate`` (a float
    near it, which only decides where to look). ``line`` and ``limit`` may be left as they are.
    """

    kind: ClassVar[str]

    def upper(self, order: Fraction) -> Fraction:
        """Return a number that is certainly not below the bound at ``order``, at least 1."""
        raise NotImplementedError

    def estimate(self, order: float) -> float:
        """Return about ``upper(order)``, quickly."""
        return float(self.upper(Fraction(order)))

    @classmethod
    def estimator(cls, pieces: Sequence[tuple[Self, int]]) -> Estimator:
        """Return about the sum of ``pieces``, each so many times, as a function of the order.

        A kind of which a curve may have hundreds can do better than to add them up one by one.
        """
        return lambda order: sum(count * piece.estimate(order) for piece, count in pieces)

    @property
    def limit(self) -> Fraction | None:
        """The piece says nothing at this order and above; ``None`` if there is no such order."""
        return None

    def line(self) -> tuple[Fraction, Fraction] | None:
        r"""Return :math:`(\xi, \rho)` such that :math:`\xi + \rho\alpha` is nowhere too low.

        ``None`` if no such line is known.
        """
        return None

    def to_json(self) -> dict[str, str]:
        """Return the kind and the exact fields as text."""
        return {"kind": self.kind} | {
            a.name: str(getattr(self, a.name)) for a in fields(type(self))
        }


def require_order(order: Fraction, limit: Fraction | None = None) -> None:
    """Refuse an order at which no bound is stated."""
    if order < 1 or (limit is not None and order >= limit):
        below = "" if limit is None else f" and below {limit}"
        raise InvalidArgument(
            "The order is out of range", must=f"be at least 1{below}", got=str(order)
        )


Pieces = tuple[tuple[CurvePiece, int], ...]


def _merged(pieces: Iterable[tuple[CurvePiece, int]]) -> Pieces:
    counts: Counter[CurvePiece] = Counter()
    for piece, count in pieces:
        counts[piece] += check.whole(count)
    if any(count < 0 for count in counts.values()):
        raise InvalidArgument("count is out of range", must="be at least 0")
    return tuple((piece, count) for piece, count in counts.items() if count)


@frozen(repr=False, order=False)
class RenyiCurve(PrivacyLoss):
    r"""Rényi differential privacy at every order at once [Mir17, Definition 4].

    Guarantee:
        :math:`D_\alpha(M(x) \| M(x')) \le` ``upper(alpha)`` for neighbours and every order below
        ``limit``. Curves add up order by order, also for mechanisms chosen adaptively
        [Mir17, Proposition 1]. Two curves are compared only where a theorem settles it.

    Example:
        >>> from discreet.accounting import Line, TightPure
        >>> curve = 3 * RenyiCurve.of(Line(rho="1/2")) + RenyiCurve.of(TightPure(epsilon=1))
        >>> round(float(curve.upper(2)), 12)
        3.735325664056
    """

    measure = Measure.RENYI
    pieces: Pieces = field(converter=_merged)

    @classmethod
    def of(cls, *pieces: CurvePiece) -> "RenyiCurve":
        """Return the sum of the pieces."""
        return cls([(piece, 1) for piece in pieces])

    @property
    def limit(self) -> Fraction | None:
        """The least order at which some piece says nothing; ``None`` if there is none."""
        limits = [piece.limit for piece, _ in self.pieces if piece.limit is not None]
        return min(limits, default=None)

    def upper(self, alpha: Number) -> Fraction:
        """Return a number that is certainly not below the curve at ``alpha``."""
        order = exact(alpha)
        require_order(order, self.limit)
        return sum((count * piece.upper(order) for piece, count in self.pieces), Fraction(0))

    def estimate(self, order: float) -> float:
        """Return about the same, quickly, to decide where to look."""
        return self.estimator()(order)

    def estimator(self) -> Estimator:
        """Return :meth:`estimate` for many orders: what they share is worked out once."""
        kinds: dict[type[CurvePiece], list[tuple[CurvePiece, int]]] = {}
        for piece, count in self.pieces:
            kinds.setdefault(type(piece), []).append((piece, count))
        parts = [kind.estimator(pieces) for kind, pieces in kinds.items()]
        return lambda order: sum(part(order) for part in parts)

    def line(self) -> tuple[Fraction, Fraction] | None:
        r"""Return :math:`(\xi, \rho)` of a line nowhere below the curve, if one is known."""
        xi = rho = Fraction(0)
        for piece, count in self.pieces:
            line = piece.line()
            if line is None:
                return None
            xi, rho = xi + count * line[0], rho + count * line[1]
        return xi, rho

    def __add__(self, other: Self) -> Self:
        """Compose: the sum of the curves."""
        self._require_same_measure(other)
        return type(self)((*self.pieces, *other.pieces))

    def __mul__(self, count: int | Fraction) -> Self:
        """Compose ``count`` times."""
        factor = check.whole(count)
        if factor < 0:
            raise InvalidArgument("count is out of range", must="be at least 0", got=str(count))
        return type(self)((piece, factor * times) for piece, times in self.pieces)

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        """Tell whether the pieces are the same, in any order."""
        return isinstance(other, RenyiCurve) and dict(self.pieces) == dict(other.pieces)

    def __hash__(self) -> int:
        return hash(frozenset(self.pieces))

    def __le__(self, other: Self) -> bool:
        """Tell whether this curve is nowhere above ``other``; refuse if no theorem settles it.

        More of the same pieces is never less; and straight lines are compared on (1, ∞).
        """
        self._require_same_measure(other)
        ours, theirs = Counter(dict(self.pieces)), Counter(dict(other.pieces))
        if ours <= theirs:
            return True
        lines = exact_line(self), exact_line(other)
        if lines[0] is not None and lines[1] is not None:
            (xi, rho), (other_xi, other_rho) = lines[0], lines[1]
            return rho <= other_rho and xi + rho <= other_xi + other_rho
        raise Unsupported(
            "No theorem says which of these curves is lower",
            must="be made of the same pieces, or of lines only",
            next="Compare upper(alpha) at the orders that matter, or convert both",
        )

    def share_of(self, cap: Self) -> Fraction:
        """Refuse: a curve is not one share of another."""
        raise Unsupported(
            "A Rényi curve has no single share of another",
            next="Fix an order and compare upper(alpha), or convert both to (ε, δ)",
        )

    def to_json(self) -> dict[str, str]:
        """Return the pieces as one text."""
        pieces = [piece.to_json() | {"times": str(times)} for piece, times in self.pieces]
        return {"measure": self.measure.value, "pieces": json.dumps(pieces)}

    def shown(self, *, rounding: str = "") -> str:
        """Name the pieces."""
        return f"Rényi curve of {' + '.join(self.numbers()) or 'nothing'}"

    def numbers(self, *, rounding: str = "", is_marked: bool = False) -> list[str]:
        """Return how many pieces of which kind there are."""
        return [f"{count} × {piece.kind}" for piece, count in self.pieces]


def exact_line(curve: RenyiCurve) -> tuple[Fraction, Fraction] | None:
    """Return the curve's line if the curve *is* a line."""
    straight = all(piece.kind in ("line", "gaussian") for piece, _ in curve.pieces)
    return curve.line() if straight else None
