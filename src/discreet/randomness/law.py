"""The laws that are drawn from tables: weight ``exp(-(q x**2 + l x))`` at distance ``x`` from 0."""

from fractions import Fraction

from attrs import frozen


@frozen
class Law:
    r"""Integers ``X`` with :math:`P(X) \propto e^{-h(|X|)}`, :math:`h(x) = q x^2 + l x`.

    With ``two_sided`` the support is all integers, otherwise the integers from 0; ``length`` cuts
    a one-sided law to ``0 .. length - 1``. Discrete Laplace has ``q = 0``, the discrete Gaussian
    ``l = 0``.
    """

    quadratic: Fraction
    linear: Fraction
    two_sided: bool = True
    length: int | None = None

    def exponent(self, x: int) -> Fraction:
        """Return ``h(x)``, for a distance ``x >= 0``."""
        return self.rise(0, x)

    def rise(self, start: int, step: int) -> Fraction:
        """Return ``h(start + step) - h(start)``."""
        return step * (self.quadratic * (2 * start + step) + self.linear)
