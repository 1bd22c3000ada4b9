r"""What is assumed of the machine's floats: the only numbers in this room that are not proved.

Everything else in a certificate is arithmetic on these. Tests compare the functions that are used
with exact enclosures, at thousands of arguments, and the transform with an exact one.
"""

UNIT = 2.0**-53
"""One rounding of +, -, ×, ÷ or a square root (IEEE 754, double precision)."""

RELATIVE = 2.0**-40
r"""How wrong ``exp``, ``expm1``, ``log``, ``log1p`` and ``ndtr`` can be, as a share of the result.

It includes the roundings of a few operations before and after, and of arguments of a size up to
700 (for ``ndtr``, 38). The functions at hand are some hundred times better than that.
"""

SLACK = 2.0**-40
"""How far a threshold can be from the loss that it stands for, as a share of the largest loss."""

TINY = 1e-300
"""More than everything that underflows."""

LARGEST_LOSS = 600.0
"""Losses beyond this are not put on a grid."""

LARGEST_MU = 24
"""Continuous Gaussians that move by more deviations than this are not put on a grid."""


def transform_error(size: int) -> float:
    r"""Return how wrong a fast Fourier transform can be, as a share of the 2-norm of its result.

    Guarantee:
        With twiddle factors that are right to one unit, a transform of :math:`2^t` points is
        within about :math:`7 t u` [Hig02, Theorem 24.2]; other radices are alike. Twice that is
        assumed, and tested.

    Example:
        >>> transform_error(1 << 20) < 1e-13
        True
    """
    return 16 * UNIT * (1 + size.bit_length())
