r"""Close laws that are purely private: :math:`(\varepsilon, \delta)` made visible.

Two laws are :math:`(\varepsilon, \delta)`-indistinguishable exactly if they are near laws that are
:math:`\varepsilon`-indistinguishable. The near laws are built here, exactly: the factor
:math:`t = e^\varepsilon` is given as a fraction.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from discreet.audit.finite_divergence import FiniteLaw, total_variation
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact

FiniteMasses = dict[Any, Fraction]

_ZERO = Fraction(0)


def near_law(y: FiniteLaw, z: FiniteLaw, *, factor: Number) -> FiniteMasses:
    r"""Return a law near ``y`` that is never more than ``factor`` times as likely as ``z``.

    Guarantee:
        With :math:`t` the factor, the result :math:`Y'` has :math:`P_{Y'} \le t\,P_Z` everywhere,
        and its total variation distance from ``y`` is exactly
        :math:`\sum \max(0, P_Y - t P_Z)`, the least possible. So
        :math:`D_\infty^\delta(Y \| Z) \le \varepsilon` exactly if some :math:`Y'` within
        :math:`\delta` of :math:`Y` has :math:`D_\infty(Y' \| Z) \le \varepsilon`
        [DRV10; DR14, Lemma 3.17, part 1; Das22, Lemma 5.4].

        Proof. Cut ``y`` down to :math:`t P_Z` where it is above, and give what was cut to outcomes
        with :math:`P_Y < P_Z`, without passing :math:`P_Z`. There is room: the outcomes have
        :math:`\sum \max(0, P_Z - P_Y) = \sum \max(0, P_Y - P_Z)` of it, and :math:`t \ge 1`.

    Example:
        >>> half = Fraction(1, 2)
        >>> near_law({"a": Fraction(1)}, {"a": half, "b": half}, factor="3/2")
        {'a': Fraction(3, 4), 'b': Fraction(1, 4)}
    """
    t = _checked(y, z, factor)
    near = {o: min(_of(y, o), t * _of(z, o)) for o in _outcomes(y, z)}
    left = 1 - sum(near.values(), _ZERO)
    for outcome, mass in near.items():
        moved = min(left, max(_ZERO, _of(z, outcome) - mass)) if left else _ZERO
        near[outcome], left = mass + moved, left - moved
    return near


def near_pair(y: FiniteLaw, z: FiniteLaw, *, factor: Number) -> tuple[FiniteMasses, FiniteMasses]:
    r"""Return laws near ``y`` and ``z`` neither of which exceeds ``factor`` times the other.

    Guarantee:
        With :math:`t` the factor, :math:`P_{Y'} \le t P_{Z'}` and :math:`P_{Z'} \le t P_{Y'}`
        everywhere, and both total variation distances are at most :math:`\delta / (t + 1)`, where
        :math:`\delta` is the larger of :math:`\sum\max(0, P_Y - t P_Z)` and
        :math:`\sum\max(0, P_Z - t P_Y)`. Conversely, near laws as these imply
        :math:`(\ln t, \delta)`-indistinguishability [DRV10; DR14, Lemma 3.17, part 2; Das22,
        Lemma 5.4, whose second part must ask for *both* directions of the max divergence].

        Proof. Where :math:`P_Y > t P_Z`, share out :math:`P_Y + P_Z` in the ratio
        :math:`t : 1`; :math:`Y` loses :math:`\alpha = \sum (P_Y - t P_Z)/(t + 1)` in all and
        :math:`Z` gains it. Likewise where :math:`P_Z > t P_Y`, with :math:`\alpha'`. Say
        :math:`\alpha \ge \alpha'`. What is missing, :math:`\alpha - \alpha'`, is added to
        :math:`Y'` and taken from :math:`Z'` where :math:`P_{Y'} < P_{Z'}`, up to the middle of
        the two. There is room, as :math:`\sum (P_{Z'} - P_{Y'}) = 2(\alpha - \alpha')`. Each law
        gained and lost :math:`\alpha` in all, so it moved by at most :math:`\alpha`.

    Example:
        >>> one, other = near_pair({0: Fraction(1)}, {1: Fraction(1)}, factor=3)
        >>> one, other
        ({0: Fraction(3, 4), 1: Fraction(1, 4)}, {0: Fraction(1, 4), 1: Fraction(3, 4)})
    """
    t = _checked(y, z, factor)
    near_y: FiniteMasses = {}
    near_z: FiniteMasses = {}
    for o in _outcomes(y, z):
        p, q = _of(y, o), _of(z, o)
        share = (p + q) / (t + 1)
        if p > t * q:
            p, q = t * share, share
        elif q > t * p:
            p, q = share, t * share
        near_y[o], near_z[o] = p, q
    missing = 1 - sum(near_y.values(), _ZERO)
    if missing >= 0:
        _meet(near_y, near_z, missing)
    else:
        _meet(near_z, near_y, -missing)
    return near_y, near_z


def _meet(small: FiniteMasses, large: FiniteMasses, amount: Fraction) -> None:
    """Move ``amount`` into the one and out of the other, nowhere past the middle of the two."""
    for outcome, mass in small.items():
        moved = min(amount, max(_ZERO, (large[outcome] - mass) / 2))
        small[outcome], large[outcome] = mass + moved, large[outcome] - moved
        amount -= moved


def _outcomes(y: FiniteLaw, z: FiniteLaw) -> list[Any]:
    return [*y, *(outcome for outcome in z if outcome not in y)]


def _of(law: Mapping[Any, Fraction], outcome: object) -> Fraction:
    return law.get(outcome, _ZERO)


def _checked(y: FiniteLaw, z: FiniteLaw, factor: Number) -> Fraction:
    total_variation(y, z)  # refuses what is not a law
    t = exact(factor)
    if t < 1:
        raise InvalidArgument(
            "factor is out of range", must="be at least 1 (it is e to the ε)", got=str(t)
        )
    return t
