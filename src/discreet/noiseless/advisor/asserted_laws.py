"""Laws of one row by name: what ``normal(70, 10)`` means between clamps, and on a grid."""

from collections.abc import Callable, Mapping
from fractions import Fraction

from attrs import frozen

from discreet.core.errors import InvalidArgument
from discreet.core.numbers import exact, written
from discreet.noiseless.advisor.law_text import WrittenLaw
from discreet.noiseless.laws.box_density import BoxDensity, TriangleDensity
from discreet.noiseless.laws.grid_law import DiscreteLaw, GridFloor, steps_between
from discreet.noiseless.laws.hidden import Interval, RowLaw
from discreet.noiseless.laws.kernel_density import LaplaceKernel, NormalKernel
from discreet.noiseless.laws.law_family import LawFamily
from discreet.noiseless.laws.parametric import (
    BetaRows,
    ExponentialRows,
    LaplaceRows,
    NormalRows,
)


@frozen
class PublicEnds:
    """The public clamps and the public grid that a law stands between, as far as they are said."""

    clamps: Interval | None = None
    grid: Fraction | None = None

    def clamped(self, law: WrittenLaw) -> Interval:
        """Return the clamps, of a law that cannot do without."""
        if self.clamps is None:
            raise InvalidArgument(
                f"The law {law.kind!r} has no ends: one row could move a sum without limit",
                must="come with a range, public ends to which values are clamped",
                next="Choose the range without looking at the rows; what lies beyond counts as "
                "its end",
            )
        return self.clamps

    def between(self, low: Fraction, high: Fraction) -> Interval:
        """Return the clamps, or these ends if nothing was said."""
        return (low, high) if self.clamps is None else self.clamps

    def no_grid(self, law: WrittenLaw) -> None:
        """Refuse a grid for a law that has no form on one."""
        if self.grid is not None:
            raise InvalidArgument(
                f"The law {law.kind!r} has no form on a grid here",
                must="be uniform, normal, floor, bernoulli or discrete",
                got=f"a grid of step {written(self.grid)}",
            )


def row_law(law: WrittenLaw | RowLaw, bounds: PublicEnds) -> RowLaw:
    """Return the law of a row that is written, or is one already.

    Example:
        >>> from discreet.noiseless.advisor.law_text import read_law
        >>> row_law(read_law("uniform(0, 40)"), PublicEnds()).mass
        Fraction(1, 1)
    """
    if not isinstance(law, WrittenLaw):
        return _own(law, bounds)
    if law.kind not in LAWS:
        raise InvalidArgument(
            "There is no such law of a row", must=f"be one of {', '.join(LAWS)}", got=law.kind
        )
    return LAWS[law.kind](law, bounds)


def _own(law: RowLaw, bounds: PublicEnds) -> RowLaw:
    """Return a law that was made; its clamps and its grid are its own."""
    if not hasattr(law, "members"):
        raise InvalidArgument(
            "That is no law of rows",
            must="be written, such as 'uniform(0, 100)', or made by a class of discreet.noiseless",
            got=type(law).__name__,
        )
    if bounds.grid is not None or (bounds.clamps is not None and law.clamps != (bounds.clamps,)):
        raise InvalidArgument(
            "A law that was made has its own clamps and its own grid",
            must="come without another range and without a grid",
        )
    return law


def _uniform(law: WrittenLaw, bounds: PublicEnds) -> RowLaw:
    low, high = _ends(law, **law.numbers("low", "high"))
    clamps = bounds.between(low, high)
    if bounds.grid is None:
        return BoxDensity(1 / (high - low), box=(low, high), clamps=clamps)
    count = steps_between(low, high, bounds.grid, "The upper end") + 1
    return GridFloor(Fraction(1, count), block=(low, high), clamps=clamps, step=bounds.grid)


def _density(law: WrittenLaw, bounds: PublicEnds) -> RowLaw:
    bounds.no_grid(law)
    said = law.numbers("least", "low", "high")
    ends = _ends(law, said["low"], said["high"])
    return BoxDensity(said["least"], box=ends, clamps=bounds.clamped(law))


def _floor(law: WrittenLaw, bounds: PublicEnds) -> RowLaw:
    said = law.numbers("least", "low", "high")
    if bounds.grid is None:
        raise InvalidArgument(
            "A floor is the least probability of each value of a grid", must="come with a grid"
        )
    ends = _ends(law, said["low"], said["high"])
    return GridFloor(said["least"], block=ends, clamps=bounds.clamped(law), step=bounds.grid)


def _triangle(law: WrittenLaw, bounds: PublicEnds) -> RowLaw:
    bounds.no_grid(law)
    said = law.numbers("peak", "low", "high")
    ends = _ends(law, said["low"], said["high"])
    return TriangleDensity(said["peak"], base=ends, clamps=bounds.clamped(law))


def _normal_kernel(law: WrittenLaw, bounds: PublicEnds) -> RowLaw:
    return _kernel(NormalKernel, law, bounds, "deviation")


def _laplace_kernel(law: WrittenLaw, bounds: PublicEnds) -> RowLaw:
    return _kernel(LaplaceKernel, law, bounds, "scale")


def _kernel(
    kind: type[NormalKernel | LaplaceKernel], law: WrittenLaw, bounds: PublicEnds, scale: str
) -> RowLaw:
    bounds.no_grid(law)
    said = law.numbers("peak", "low", "high", scale)
    ends = _ends(law, said["low"], said["high"])
    return kind(said["peak"], base=ends, scale=said[scale], clamps=bounds.clamped(law))


def _normal(law: WrittenLaw, bounds: PublicEnds) -> RowLaw:
    said = law.numbers("mean", "deviation")
    rows = NormalRows(said["mean"], said["deviation"], clamps=bounds.clamped(law))
    return rows if bounds.grid is None else rows.on_grid(bounds.grid)


def _laplace(law: WrittenLaw, bounds: PublicEnds) -> RowLaw:
    bounds.no_grid(law)
    return LaplaceRows(*law.numbers("centre", "scale").values(), clamps=bounds.clamped(law))


def _exponential(law: WrittenLaw, bounds: PublicEnds) -> RowLaw:
    bounds.no_grid(law)
    return ExponentialRows(*law.numbers("start", "scale").values(), clamps=bounds.clamped(law))


def _beta(law: WrittenLaw, bounds: PublicEnds) -> RowLaw:
    bounds.no_grid(law)
    return BetaRows(*law.numbers("first", "second").values(), clamps=bounds.clamped(law))


def _bernoulli(law: WrittenLaw, bounds: PublicEnds) -> RowLaw:
    share = law.numbers("share")["share"]
    if not 0 <= share <= 1:
        raise InvalidArgument("The share is out of range", must="lie between 0 and 1")
    return _on_grid({Fraction(0): 1 - share, Fraction(1): share}, bounds)


def _discrete(law: WrittenLaw, bounds: PublicEnds) -> RowLaw:
    named = {exact(value): weight for value, weight in law.named.items()}
    weights = {v: weight for v, weight in named.items() if isinstance(weight, Fraction)}
    if law.values or len(weights) < len(law.named) or not weights:
        raise InvalidArgument(
            "A discrete law lists its values",
            must="have each with its probability, such as discrete(0: 0.7, 1: 0.3)",
        )
    return _on_grid(weights, bounds)


MOST_VALUES = 100_000


def _on_grid(weights: Mapping[Fraction, Fraction], bounds: PublicEnds) -> RowLaw:
    """Return the law on the grid that all values are on; between them it has probability 0."""
    low, high = bounds.between(min(weights), max(weights))
    step = bounds.grid or _step([low, high, *weights])
    count = steps_between(low, high, step, "The range")
    if not low <= min(weights) <= max(weights) <= high or count >= MOST_VALUES:
        raise InvalidArgument(
            "The values do not fit",
            must=f"lie within the range, on a grid of at most {MOST_VALUES:,} values",
        )
    masses = [Fraction(0)] * (count + 1)
    for value, weight in weights.items():
        masses[steps_between(low, value, step, "A value")] = weight
    return DiscreteLaw(masses, start=low, step=step)


def _step(values: list[Fraction]) -> Fraction:
    """Return the largest step on whose grid all values are, from the first one on."""
    first, step = values[0], Fraction(0)
    for value in values:
        other = abs(value - first)
        while other:
            step, other = other, step % other
    return step or Fraction(1)


def _mixture(law: WrittenLaw, bounds: PublicEnds) -> RowLaw:
    parts = [*law.values, *law.named.values()]
    members = [one for one in parts if isinstance(one, WrittenLaw)]
    if len(members) < len(parts) or len(members) < 2:
        raise InvalidArgument(
            "A mixture lists its laws",
            must="have two or more, such as mixture(normal(60, 10), normal(70, 10))",
        )
    return LawFamily([row_law(one, bounds) for one in members])


def _ends(law: WrittenLaw, low: Fraction, high: Fraction) -> Interval:
    if not low < high:
        raise InvalidArgument(
            f"The ends of {law.kind!r} are out of order", must="have the lower one first"
        )
    return low, high


LAWS: Mapping[str, Callable[[WrittenLaw, PublicEnds], RowLaw]] = {
    "uniform": _uniform,
    "density": _density,
    "triangle": _triangle,
    "floor": _floor,
    "normal_kernel": _normal_kernel,
    "laplace_kernel": _laplace_kernel,
    "normal": _normal,
    "laplace": _laplace,
    "exponential": _exponential,
    "beta": _beta,
    "bernoulli": _bernoulli,
    "discrete": _discrete,
    "mixture": _mixture,
}
"""What a law of one row can be called."""
