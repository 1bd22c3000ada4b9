"""What a test knows about a value and its type does not say: asserted, not assumed."""

from fractions import Fraction
from typing import Any, TypeVar

from discreet.core.loss import Approximate, ApproximateZcdp, PrivacyLoss, Pure, Zcdp

T = TypeVar("T")


def of_kind(kind: type[T], value: object) -> T:
    """Return ``value``, which must be a ``kind``.

    Example:
        >>> of_kind(int, 3)
        3
    """
    assert isinstance(value, kind), f"{type(value).__name__} is not {kind.__name__}"
    return value


def known(value: T | None) -> T:
    """Return ``value``, which must not be None.

    Example:
        >>> known("a")
        'a'
    """
    assert value is not None
    return value


def number(cell: Any) -> int | float:
    """Return a cell of an answer, which must hold a number; a truth value is none.

    Example:
        >>> number(2.5)
        2.5
    """
    assert isinstance(cell, int | float), f"{type(cell).__name__} is not a number"
    assert not isinstance(cell, bool), "a truth value is not a number"
    return cell


def whole(cell: Any) -> int:
    """Return a cell of an answer, which must hold a whole number.

    Example:
        >>> whole(3)
        3
    """
    found = number(cell)
    assert isinstance(found, int), f"{found} is not stored as a whole number"
    return found


def epsilon_of(loss: PrivacyLoss | None) -> Fraction:
    """Return the ε of a loss that has one.

    Example:
        >>> epsilon_of(Pure("1/2"))
        Fraction(1, 2)
    """
    assert isinstance(loss, Pure | Approximate)
    return loss.epsilon


def rho_of(loss: PrivacyLoss | None) -> Fraction:
    """Return the ρ of a loss that has one.

    Example:
        >>> rho_of(Zcdp(2))
        Fraction(2, 1)
    """
    assert isinstance(loss, Zcdp | ApproximateZcdp)
    return loss.rho


def delta_of(loss: PrivacyLoss | None) -> Fraction:
    """Return the δ of a loss that has one.

    Example:
        >>> delta_of(Approximate(1, "1/4"))
        Fraction(1, 4)
    """
    assert isinstance(loss, Approximate | ApproximateZcdp)
    return loss.delta
