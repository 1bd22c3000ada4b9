"""A piece of a Rényi curve: what one mechanism adds at each order."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import ClassVar, Self

from attrs import fields, frozen

from discreet.core.errors import InvalidArgument

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
