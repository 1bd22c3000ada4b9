"""Which noise is the best for one-way marginals, and how far from the best that can be."""

import math
from collections.abc import Sequence
from fractions import Fraction

from attrs import frozen

from discreet.accounting.filters.filter import largest_rho
from discreet.core import check
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Approximate, PrivacyLoss, Pure, Zcdp, short
from discreet.core.numbers import Number
from discreet.core.rounding import sqrt_down
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.noise.linf_exponential import LARGEST_SIZE, LinfExponential
from discreet.synthesis.one_way_marginals.expected_error import (
    OneWayError,
    expected_error,
    one_way_error_of,
)
from discreet.synthesis.one_way_marginals.lower_bounds import lower_bound
from discreet.synthesis.one_way_marginals.one_way_marginals import OneWayMarginals
from discreet.synthesis.one_way_marginals.one_way_sums import OneWaySums, rows_of_unit
from discreet.synthesis.one_way_marginals.row_sample import RowSample
from discreet.synthesis.one_way_marginals.two_stage_noise import TwoStageNoise

FEWEST_FOR_TWO_STAGES = 500
"""With fewer numbers two stages never win, so nothing is searched."""


@frozen(kw_only=True)
class OneWayChoice:
    """The best way to release some one-way marginals, what the others would do, and warnings."""

    method: OneWayMarginals
    name: str
    error: float
    """The error of the measured sums, in rows."""
    kind: OneWayError
    others: tuple[tuple[str, float], ...]
    """The other noises, by their errors."""
    lower_bound: float | None
    """An error that every release with this loss has on some data; None if none is known."""
    warnings: tuple[str, ...]

    @property
    def gap(self) -> float | None:
        """How many times the lower bound the error is; None if no bound is known."""
        return self.error / self.lower_bound if self.lower_bound else None

    def __str__(self) -> str:
        """Return the choice as a few lines of text."""
        lines = [f"{self.name}: {_rows(self.error)} rows ({_WORDS[self.kind]})"]
        lines += [f"  {name}: {_rows(error)}" for name, error in self.others]
        if self.gap is not None and self.lower_bound is not None:
            lines.append(
                f"No release can do better than {_rows(self.lower_bound)}: this one is within a "
                f"factor of {_rows(math.ceil(100 * self.gap) / 100)}."
            )
        return "\n".join([*lines, *(f"Warning: {one}" for one in self.warnings)])


def _rows(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{max(0.0, value):.3g}"


_WORDS = {
    OneWayError.L1: "mean error",
    OneWayError.L2: "root of the mean square error",
    OneWayError.LINF: "largest error on average",
    OneWayError.MAX: "bound for the largest error",
}


def choose_one_way(
    sizes: Sequence[int],
    *,
    loss: PrivacyLoss,
    error: OneWayError | str = OneWayError.MAX,
    rows_per_unit: Number = 1,
    beta: Number = "0.05",
    rows: int | None = None,
) -> OneWayChoice:
    r"""Return the noise with the smallest error, among all that spend no more than ``loss``.

    Guarantee:
        The choice sees public numbers only. Whichever noise it is spends at most ``loss``: a pure
        ε directly; ρ by Gaussian noise or two stages, or by a pure :math:`\varepsilon =
        \sqrt{2\rho}` [BS16, Proposition 1.4]; (ε, δ) by a ρ that implies it, or by the pure ε.

    Args:
        sizes: how many values each column has.
        loss: what may be spent: pure, zCDP or (ε, δ).
        error: what is meant by the error: ``l1``, ``l2``, ``linf`` or ``max``.
        rows_per_unit: the most rows that a unit has.
        beta: how often a ``max`` may be exceeded.
        rows: about how many rows there are, if that is public; only for a warning.

    Example:
        >>> choice = choose_one_way([2] * 20, loss=Pure(1))
        >>> choice.name, choice.error
        ('noise in a cube', 32.0)
    """
    kind, unit = one_way_error_of(error), rows_of_unit(rows_per_unit)
    level = check.level(beta)
    ways = _ways(tuple(sizes), loss, kind, unit, level)
    found = [
        (expected_error(way.noise, way.sums.dimension, kind, beta=level), name, way)
        for name, way in ways.items()
    ]
    (least, name, method), *rest = sorted(found, key=lambda one: one[0])
    least_possible = None
    if set(sizes) == {2}:
        found_bound = lower_bound(
            loss, columns=len(sizes), error=kind, rows_per_unit=unit, beta=level
        )
        least_possible = found_bound or None
    return OneWayChoice(
        method=method,
        name=name,
        error=least,
        kind=kind,
        others=tuple((other, value) for value, other, _ in rest),
        lower_bound=least_possible,
        warnings=_warnings(loss, method.sums, rows, unit),
    )


def _ways(
    sizes: tuple[int, ...], loss: PrivacyLoss, kind: OneWayError, rows: int, beta: Fraction
) -> dict[str, OneWayMarginals]:
    """Return a method for each noise that can be had for the loss."""
    if not isinstance(loss, Pure | Zcdp | Approximate) or (isinstance(loss, Zcdp) and loss.xi):
        raise Unsupported(
            "Marginals cannot be calibrated to this measure",
            must="be pure, zCDP with ξ = 0, or approximate",
            got=str(loss),
        )
    found = _pure(sizes, loss, rows)
    if not isinstance(loss, Pure):
        found |= _concentrated(sizes, loss, kind, rows, beta)
    drawn = {name: way for name, way in found.items() if _can_be_drawn(way)}
    if not drawn:
        raise InvalidArgument(
            "No noise fits",
            must="have an ε or ρ above 0, and noise that can be drawn",
            got=str(loss),
        )
    return drawn


def _pure(
    sizes: tuple[int, ...], loss: Pure | Zcdp | Approximate, rows: int
) -> dict[str, OneWayMarginals]:
    pure = Pure(sqrt_down(2 * loss.rho)) if isinstance(loss, Zcdp) else Pure(loss.epsilon)
    if pure.epsilon <= 0:
        return {}
    heavy = OneWaySums(sizes=sizes, total_weight=_weight(len(sizes), 3))
    noise = DiscreteLaplace.calibrate(d_in=heavy.contribution(rows), loss=pure)
    found = {"Laplace noise": OneWayMarginals(sums=heavy, noise=noise)}
    light = OneWaySums(sizes=sizes)
    moved = light.contribution(rows)
    if light.dimension * moved.bound("linf") <= LARGEST_SIZE * pure.epsilon:
        cube = LinfExponential.calibrate(d_in=moved, loss=pure, dimension=light.dimension)
        found["noise in a cube"] = OneWayMarginals(sums=light, noise=cube)
    return found


def _can_be_drawn(way: OneWayMarginals) -> bool:
    noise = way.noise
    return not isinstance(noise, DiscreteLaplace | DiscreteGaussian) or noise.can_be_drawn


def _concentrated(
    sizes: tuple[int, ...], loss: Zcdp | Approximate, kind: OneWayError, rows: int, beta: Fraction
) -> dict[str, OneWayMarginals]:
    if isinstance(loss, Approximate) and not (loss.delta and loss.epsilon):
        return {}
    rho = loss.rho if isinstance(loss, Zcdp) else largest_rho(loss.epsilon, loss.delta)
    if rho <= 0:
        return {}
    price = Zcdp(rho=rho)
    heavy = OneWaySums(sizes=sizes, total_weight=_weight(len(sizes), 4))
    noise = DiscreteGaussian.calibrate(d_in=heavy.contribution(rows), loss=price)
    found = {"Gaussian noise": OneWayMarginals(sums=heavy, noise=noise)}
    light = OneWaySums(sizes=sizes)
    asks_for_largest = kind in (OneWayError.LINF, OneWayError.MAX)
    if asks_for_largest and light.dimension >= FEWEST_FOR_TWO_STAGES:
        stages = TwoStageNoise.optimised(
            dimension=light.dimension,
            d_in=light.contribution(rows),
            loss=price,
            beta=beta,
        )
        if stages.rounds:
            found["Gaussian noise in two stages"] = OneWayMarginals(sums=light, noise=stages)
    return found


def _weight(columns: int, root: int) -> int:
    r"""Return how heavily to count all rows: about the third or the fourth root of the columns.

    A count of a two-valued column is half of its sum and of the number of all rows. With a weight
    ``w`` its variance is proportional to :math:`(d + w)^2 (1 + 1/w^2)` for Laplace noise, and to
    :math:`(d + w^2)(1 + 1/w^2)` for Gaussian noise: smallest near these.
    """
    return max(1, round(math.exp(math.log(max(1, columns)) / root)))


def _warnings(loss: PrivacyLoss, sums: OneWaySums, rows: int | None, unit: int) -> tuple[str, ...]:
    delta = loss.delta if isinstance(loss, Approximate) else Fraction(0)
    if not delta:
        return ()
    said = f"δ = {short(delta)} allows a release that publishes some units' rows as they are"
    if rows is None:
        return (f"{said}, unless there are far fewer than {math.floor(1 / delta):,} units.",)
    if delta * rows < unit:
        return ()
    sample = RowSample(sums=sums, rate=delta / unit)
    kept, enough = math.floor(rows * sample.rate), short(Fraction(unit, rows))
    said = f"{said}: of {rows:,} rows about {kept:,}."
    return (f"{said} {sample.warning} Take a δ far below {enough}.",)
