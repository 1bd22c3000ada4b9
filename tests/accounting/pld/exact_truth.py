r"""The truth, to fifty digits, where it can be had: finite laws, times at most one continuous one.

A finite law is a dictionary from losses to chances. With one more event whose own curve is known
for every real ε, :math:`\delta(\varepsilon) = \sum_z P(z)\, \delta_1(\varepsilon - z)`.
"""

from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction

from attrs import frozen

from discreet.accounting.conversions.from_gaussian import gaussian_log_delta

DIGITS = 50
Finite = dict[Decimal, Decimal]
Curve = Callable[[Decimal], Decimal]


def decimal(value: Fraction | float | int) -> Decimal:
    exact = Fraction(value)
    return Decimal(exact.numerator) / Decimal(exact.denominator)


@frozen
class Truth:
    """The curve of a composition."""

    atoms: Finite
    infinite: Decimal
    continuous: Curve | None = None

    def delta(self, epsilon: float) -> Decimal:
        with localcontext(prec=DIGITS):
            return self._delta(decimal(epsilon))

    def _delta(self, epsilon: Decimal) -> Decimal:
        one = self.continuous or nothing
        total = sum((p * one(epsilon - z) for z, p in self.atoms.items()), Decimal(0))
        return total + self.infinite


def nothing(epsilon: Decimal) -> Decimal:
    """The curve of a mechanism that tells nothing."""
    return 1 - epsilon.exp() if epsilon < 0 else Decimal(0)


def laplace(shift: Fraction) -> Curve:
    t = decimal(shift)

    def curve(epsilon: Decimal) -> Decimal:
        if epsilon >= t:
            return Decimal(0)
        if epsilon <= -t:
            return 1 - epsilon.exp()
        return 1 - ((epsilon - t) / 2).exp()

    return curve


def gaussian(mu_squared: Fraction) -> Curve:
    """The curve for every real ε; below 0 by symmetry."""

    def curve(epsilon: Decimal) -> Decimal:
        if epsilon < 0:
            return 1 - epsilon.exp() + epsilon.exp() * curve(-epsilon)
        low, high = gaussian_log_delta(mu_squared, Fraction(epsilon))
        return decimal((low + high) / 2).exp()

    return curve


def removal(rate: Fraction, inner: Curve) -> Curve:
    r = decimal(rate)

    def curve(epsilon: Decimal) -> Decimal:
        point = (epsilon.exp() - 1 + r) / r
        return 1 - epsilon.exp() if point <= 0 else r * inner(point.ln())

    return curve


def addition(rate: Fraction, inner: Curve) -> Curve:
    """By symmetry of the inner pair: the reverse of a removal."""
    removed = removal(rate, inner)

    def curve(epsilon: Decimal) -> Decimal:
        return 1 - epsilon.exp() + epsilon.exp() * removed(-epsilon)

    return curve


def response(epsilon: Fraction, categories: int = 2, told: Fraction = Fraction(0)) -> Truth:
    with localcontext(prec=DIGITS):
        e = decimal(epsilon)
        total = e.exp() + categories - 1
        kept = 1 - decimal(told)
        atoms = {e: kept * e.exp() / total, -e: kept / total} if e else {e: kept}
        if e and categories > 2:
            atoms[Decimal(0)] = kept * (categories - 2) / total
        return Truth(atoms, decimal(told))


def coin(p: Fraction, q: Fraction) -> Truth:
    with localcontext(prec=DIGITS):
        pairs = [(p, q), (1 - p, 1 - q)]
        return Truth({(decimal(a) / decimal(b)).ln(): decimal(a) for a, b in pairs}, Decimal(0))


def discrete_laplace(scale: Fraction, distance: int) -> Truth:
    with localcontext(prec=DIGITS):
        b, d = decimal(scale), distance
        r = (-1 / b).exp()
        atoms = {d / b: 1 / (1 + r), -d / b: r**d / (1 + r)}
        for y in range(1, d):
            z = (d - 2 * y) / b
            atoms[z] = atoms.get(z, Decimal(0)) + r**y * (1 - r) / (1 + r)
        return Truth(atoms, Decimal(0))


def sampled_removal(rate: Fraction, inner: Truth) -> Truth:
    with localcontext(prec=DIGITS):
        r = decimal(rate)
        atoms = {}
        for z, p in inner.atoms.items():
            atoms[(1 - r + r * z.exp()).ln()] = p * (r + (1 - r) * (-z).exp())
        return Truth(atoms, r * inner.infinite)


def product(first: Truth, second: Truth) -> Truth:
    with localcontext(prec=DIGITS):
        atoms: Finite = {}
        for z, p in first.atoms.items():
            for w, q in second.atoms.items():
                atoms[z + w] = atoms.get(z + w, Decimal(0)) + p * q
        infinite = 1 - (1 - first.infinite) * (1 - second.infinite)
        return Truth(atoms, infinite, first.continuous or second.continuous)


def power(one: Truth, count: int) -> Truth:
    whole = one
    for _ in range(count - 1):
        whole = product(whole, one)
    return whole


def binomial_response(epsilon: Fraction, count: int) -> Truth:
    """Many equal responses, by the binomial law."""
    with localcontext(prec=DIGITS):
        e = decimal(epsilon)
        p = e.exp() / (1 + e.exp())
        mass, atoms = p**count, {}
        for lies in range(count + 1):
            atoms[(count - 2 * lies) * e] = mass
            mass = mass * (count - lies) / (lies + 1) * (1 - p) / p
        return Truth(atoms, Decimal(0))


def reversed_law(one: Truth) -> Truth:
    """The other direction: the losses change their sign, and the two laws their places."""
    with localcontext(prec=DIGITS):
        return Truth({-z: p * (-z).exp() for z, p in one.atoms.items()}, Decimal(0))
