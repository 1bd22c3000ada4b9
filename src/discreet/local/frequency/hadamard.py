"""Hadamard response: one sign of a random row of Hadamard's matrix."""

from discreet.core.numbers import Number
from discreet.local.frequency.local_hashing import LocalHashing


def hadamard_response(*, categories: int, epsilon: Number) -> LocalHashing:
    r"""Return the scheme that reports a random row of Hadamard's matrix, and its sign at the value.

    The entry of row :math:`j` at :math:`x` is :math:`(-1)^{\langle j, x \rangle}`, so this is local
    hashing into a single bit: the row is the map, and the sign is told truly with probability
    :math:`e^\varepsilon/(e^\varepsilon+1)`.

    Guarantee:
        That of :class:`~discreet.local.frequency.local_hashing.LocalHashing` with one bit.

    Utility:
        The variance at a share of 0 is about
        :math:`((e^\varepsilon+1)/(e^\varepsilon-1))^2/n`, near the least for a small ε, in one
        bit more than a category takes. The general form of [ASZ19], in which blocks of
        rows share a matrix, comes down to about :math:`4e^\varepsilon/(n(e^\varepsilon-1)^2)` for
        a larger ε. That is what local hashing has whatever the shares are, so it is not built.

    Example:
        >>> scheme = hadamard_response(categories=1000, epsilon="1/2")
        >>> scheme.size, round(float(scheme.event().epsilon), 9)
        (2, 0.5)
    """
    return LocalHashing.calibrate(categories=categories, epsilon=epsilon, bits=1)
