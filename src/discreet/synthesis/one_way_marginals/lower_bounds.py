r"""What no release of one-way marginals can do better, in rows, for ``d`` columns of two values.

The error is that of the sums of ±1 over the rows; neighbours add or remove a unit of ``m`` rows,
and the number of rows is private. The theorems of [Ste16, Chapter 4] are for changed rows and a
public ``n``, with constants of 1/800 and 1/16000; their proofs, run again for units that come and
go, give these. They are statements about accuracy, in floating point.
"""

import math
from functools import singledispatch

import numpy as np

from discreet.core import check, optional
from discreet.core.loss import Approximate, PrivacyLoss, Pure, Zcdp
from discreet.core.numbers import Number
from discreet.synthesis.one_way_marginals.expected_error import OneWayError, one_way_error_of
from discreet.synthesis.one_way_marginals.one_way_sums import rows_of_unit

_UNITS_TRIED = 60


def lower_bound(
    loss: PrivacyLoss,
    *,
    columns: int,
    error: OneWayError | str,
    rows_per_unit: Number = 1,
    beta: Number = "0.05",
) -> float:
    r"""Return an error that every release with this loss has on some data; 0 if none is known.

    Guarantee:
        *Pure.* Give ``k`` units the same row :math:`x \in \{-1, 1\}^d`, ``m`` times: the sums are
        :math:`kmx`. No data at all is ``k`` units away. On that, the signs of the output have
        nothing to do with ``x``: they differ from a uniform ``x`` in at most ``h`` places with
        probability :math:`B(h) = P[Bin(d, 1/2) \le h]`, and so, for some ``x``, on its data with
        at most :math:`e^{k\varepsilon} B(h)`. A wrong sign is an error of ``km`` or more. Hence
        the largest error exceeds every :math:`t < km` with probability at least
        :math:`1 - e^{k\varepsilon} 2^{-d}`, and the mean of all is at least
        :math:`\frac{km}{d} \sum_{h \ge 0} (1 - e^{k\varepsilon} B(h))^+` [HT10; Ste16, Theorem
        4.3.1].

        *zCDP and (ε, δ).* Draw a bias :math:`p_j` uniform in [-1, 1] for each column and ``N``
        units from it. With ``f`` the output over :math:`Nm`, moved into [-1, 1], and ``x̄`` the
        truth, :math:`\sum_i E\langle f, x_i - p\rangle + 2E\|f - \bar x\|_1 \ge 2d/3`, and
        :math:`\ge d/3` with :math:`\|f - \bar x\|_2^2` instead of the second term [Ste16, Lemma
        4.3.4 and Proposition 4.3.10; the first is printed with 1/3, but
        :math:`E[\sum_i (x_i - p) \mid x] = 2N\bar x/(N+2)` gives 2/3]. Without unit ``i`` the
        output is independent of it, and :math:`\langle f, x_i - p\rangle` has mean 0, mean square
        at most :math:`2d/3`, and is sub-Gaussian with variance ``d``. So with it the mean is at
        most :math:`\sqrt{2d\rho}` [Donsker and Varadhan, since :math:`KL \le \rho`]; or, for
        (ε, δ), :math:`\sinh(\varepsilon)\sqrt{2d/3} + 2d\delta(1 + e^{-\varepsilon})`. Solve for
        the error at the best ``N``.

    Example:
        >>> round(lower_bound(Pure(1), columns=1000, error="max"))
        693
    """
    kind, level = one_way_error_of(error), float(check.level(beta))
    one_row = _bound(loss, check.whole(columns), kind, level)
    return one_row * rows_of_unit(rows_per_unit)


@singledispatch
def _bound(loss: PrivacyLoss, columns: int, error: OneWayError, beta: float) -> float:
    return 0.0


@_bound.register
def _(loss: Pure, columns: int, error: OneWayError, beta: float) -> float:
    epsilon, bits = float(loss.epsilon), columns * math.log(2)
    if error is OneWayError.MAX:
        return float(max(0, math.ceil((bits + math.log1p(-beta)) / epsilon) - 1))
    most = max(1.0, bits / epsilon)
    units = np.unique(np.floor(np.geomspace(1, most, _UNITS_TRIED)))
    if error is OneWayError.LINF:
        return float(np.max(units * -np.expm1(np.minimum(0.0, units * epsilon - bits))))
    wrong = np.array([_wrong_signs(columns, k * epsilon) for k in units])
    share = wrong / columns
    return float(np.max(units * (share if error is OneWayError.L1 else np.sqrt(share))))


def _wrong_signs(columns: int, exponent: float) -> float:
    """Return the sum over ``h`` of the part of 1 that ``e**exponent * B(h)`` leaves."""
    places = np.arange(columns // 2 + 1)
    log_factorial = optional.load("scipy.special").gammaln
    logs = log_factorial(columns + 1) - log_factorial(places + 1)
    logs -= log_factorial(columns - places + 1) + columns * math.log(2)
    logs = np.logaddexp.accumulate(logs)
    return float(-np.expm1(np.minimum(0.0, exponent + logs)).sum())


@_bound.register
def _(loss: Zcdp, columns: int, error: OneWayError, beta: float) -> float:
    if loss.xi:
        return 0.0
    return _by_bias(math.sqrt(float(loss.rho) / (2 * columns)), error, beta)


@_bound.register
def _(loss: Approximate, columns: int, error: OneWayError, beta: float) -> float:
    epsilon, delta = float(loss.epsilon), float(loss.delta)
    if delta == 0 and epsilon > 0:
        return _bound(Pure(loss.epsilon), columns, error, beta)
    slope = math.sinh(min(epsilon, 300.0)) / math.sqrt(6 * columns)
    return _by_bias(slope + delta * (1 + math.exp(-epsilon)), error, beta)


def _by_bias(slope: float, error: OneWayError, beta: float) -> float:
    r"""Return the best over ``N`` of :math:`N(1/3 - N\,slope)`, or of its root with squares.

    A release that keeps a bound but for β errs by at most 2 where it does not, so it loses 2β.
    """
    third = 1 / 3 - (2 * beta if error is OneWayError.MAX else 0.0)
    if slope <= 0 or third <= 0:
        return 0.0
    means = [n * (third - n * slope) for n in _near(third / (2 * slope))]
    if error is OneWayError.L2:
        squares = [max(0.0, 1 / 3 - 2 * n * slope) for n in _near(1 / (9 * slope))]
        roots = zip(_near(1 / (9 * slope)), squares, strict=True)
        means += [n * math.sqrt(left) for n, left in roots]
    return max(0.0, *means)


def _near(place: float) -> tuple[int, int]:
    """Return the whole numbers from 1 next to the best real one."""
    return max(1, math.floor(place)), max(1, math.ceil(place))
