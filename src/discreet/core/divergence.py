r"""Divergences of finite distributions: what the definitions of privacy compare.

The hockey-stick divergence is the definition of approximate privacy itself, so this is the ground
truth against which mechanisms and accountants are checked.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact, exp_bounds

Law = Mapping[Any, Fraction]
"""A finite distribution: outcome to exact probability."""


def hockey_stick(p: Law, q: Law, epsilon: Number, *, bits: int = 96) -> tuple[Fraction, Fraction]:
    r"""Return bounds on :math:`\delta(\varepsilon) = \sum_o \max(0, P(o) - e^\varepsilon Q(o))`.

    Guarantee:
        ``lower <= delta <= upper``; a mechanism is :math:`(\varepsilon,\delta)`-DP on this pair
        exactly if both directions are at most :math:`\delta` [DR14, Definition 2.4]. The sum falls
        as :math:`e^\varepsilon` grows, so each end of its enclosure gives one end.

    Example:
        >>> p = {"yes": Fraction(3, 4), "no": Fraction(1, 4)}
        >>> q = {"yes": Fraction(1, 4), "no": Fraction(3, 4)}
        >>> hockey_stick(p, q, 0)
        (Fraction(1, 2), Fraction(1, 2))
    """
    for law in (p, q):
        _require_law(law)
    epsilon = exact(epsilon)
    if epsilon < 0:
        raise InvalidArgument("epsilon is out of range", must="be at least 0", got=str(epsilon))
    exp_low, exp_high = exp_bounds(epsilon, bits)
    return _excess(p, q, exp_high), _excess(p, q, exp_low)


def _excess(p: Law, q: Law, factor: Fraction) -> Fraction:
    zero = Fraction(0)
    return sum((max(zero, mass - factor * q.get(o, zero)) for o, mass in p.items()), zero)


def _require_law(law: Law) -> None:
    if any(mass < 0 for mass in law.values()) or sum(law.values()) != 1:
        raise InvalidArgument(
            "That is not a distribution",
            must="have probabilities that are at least 0 and sum to exactly 1",
            got=f"a total of {sum(law.values())}",
        )
