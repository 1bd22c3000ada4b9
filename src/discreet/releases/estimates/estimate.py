"""Estimates: trees over the noisy numbers and the keys of one group."""

from fractions import Fraction

from attrs import evolve, frozen

from discreet.tables.arithmetic.columns import Scalar
from discreet.tables.column import ColumnType


@frozen
class Estimate:
    """A value for each group, computed from its keys and its noisy numbers.

    Guarantee:
        It is a function of what the mechanisms let out and of public constants. So it costs
        nothing: post-processing cannot lose privacy.
    """

    type: ColumnType


@frozen
class Constant(Estimate):
    """A constant of the query. NULL is None."""

    value: Scalar | None


@frozen
class KeyOf(Estimate):
    """The key of the group at ``place`` among the grouped fields; None if it is rolled up."""

    place: int


@frozen
class GroupingOf(Estimate):
    """One bit for each of the ``places``, 1 if it is rolled up in this row; the last is lowest."""

    places: tuple[int, ...]


@frozen
class TotalOf(Estimate):
    """A count or a sum: the noisy number of one aggregate, times its step."""

    index: int


@frozen
class SelectedOf(Estimate):
    r"""A number of units whose noisy value decided that its private group is shown.

    Utility:
        Given that the group is shown, the noisy count :math:`y` is at least the threshold
        :math:`T`, so near it counts are too large on average, and ± would be false. With
        :math:`P[|Z| > t] \le \beta` for the noise, the interval is from :math:`y - t`, or 1 if
        that is not above :math:`T`, to :math:`y + t`. *Given that the group is shown* it misses the
        exact count with probability at most :math:`\beta`, whatever that count is.

        Proof. Let :math:`c` be the exact count, at least 1, because a group of nobody is never
        shown. :math:`Z` is symmetric, so :math:`P[Z \ge 0] \ge 1/2` and
        :math:`P[Z > t] = P[Z < -t] \le \beta/2`; and log-concave, as discrete Laplace and Gaussian
        noise are, so :math:`P[Z \ge a + t + 1]/P[Z \ge a]` does not grow with :math:`a`.

        - If :math:`c \le T`: the upper end holds, :math:`y + t \ge T \ge c`. The lower one fails
          only if :math:`y \ge T + t + 1`. Given :math:`y \ge T` that has probability
          :math:`P[Z \ge T - c + t + 1]/P[Z \ge T - c] \le P[Z > t]/P[Z \ge 0] \le \beta`.
        - If :math:`T < c \le T + t`: the upper end fails only if :math:`Z < -t`, but then
          :math:`y < c - t \le T` is not shown. The lower one fails only if :math:`Z > t`, given
          that it is shown with probability at most :math:`(\beta/2)/P[Z \ge T - c] \le \beta`.
        - If :math:`c > T + t`: not being shown, of probability :math:`p`, implies :math:`Z < -t`.
          So what fails and is shown has probability at most :math:`\beta - p`, and given that it
          is shown :math:`(\beta - p)/(1 - p) \le \beta`.

        The last two cases also hold for :math:`y \pm t` itself, and so does :math:`c = T`: in
        groups of at least :math:`T` units plain error bars are right. Other aggregates of the group
        have independent noise, so theirs are right in every group that is shown.
    """

    index: int


@frozen
class QuantileOf(Estimate):
    r"""A value chosen near a rank, with an interval of values if its ends were drawn as well.

    Utility:
        The interval from the low end to the high one, widened to the value where that is outside,
        misses the quantile of the rows that count with probability at most :math:`\beta`, if each
        end does with :math:`\beta/2`: that is the union bound over the proof of
        :class:`~discreet.mechanisms.selection.quantile_end.QuantileEnd`. If they fail more often,
        all that is known is the range into which values are moved. A release of an earlier version
        has no ends, and a quantile no interval.
    """

    index: int
    quantile: Fraction
    stands_for: str
    """What the query wrote: MEDIAN, MIN, QUANTILE and so on."""


@frozen
class MeanOf(Estimate):
    r"""A mean: the centre, plus the noisy centred sum over the noisy count (1 if it is less).

    The result is moved into the public bounds of the value.

    Utility:
        With noise :math:`Y` on the sum and :math:`Z` on the count of :math:`n` rows with mean
        :math:`m`, the error is close to :math:`(Y - (m - c) Z)/n`. One row moves the sum by at
        most the half range :math:`h`, the count by 1, and :math:`|m - c| \le h`. With a part
        :math:`w` of the price for the sum the two terms grow as :math:`h/w` and
        :math:`|m - c|/(1-w) \le h/(1-w)`; the largest possible sum of them (and of their squares)
        is smallest at :math:`w = 1/2`, so the price is split in halves.
    """

    total: int
    count: int
    centre: Fraction
    lower: Fraction
    upper: Fraction

    @property
    def fewest(self) -> int:
        """How many rows a mean needs."""
        return 1


@frozen
class VarianceOf(Estimate):
    r"""A variance, from noisy sums of distances and of squared distances from a public centre.

    With :math:`d_i` the distance of row :math:`i` from the centre, :math:`S = \sum d_i`,
    :math:`Q = \sum (d_i^2 - o)` and :math:`n` rows, the variance is :math:`o + Q/n - (S/n)^2`. The
    offset :math:`o` is half the largest square, which halves what one row can move. Both quotients
    are moved to where the exact ones must be (as is the result), and the count to at least 1, or 2
    for a sample, whose variance is :math:`n/(n-1)` times as large.

    Utility:
        To first order the error is :math:`(X - 2\mu Y + (2\mu^2 - q) Z)/n`, with noise ``X``,
        ``Y``, ``Z`` on :math:`Q, S, n`, and :math:`\mu = S/n`, :math:`q = Q/n`. One row moves them
        by :math:`h^2/2`, :math:`h` and 1, and :math:`\mu^2 - h^2/2 \le q`, so at worst (all values
        at one end) the terms weigh :math:`\tfrac12 : 2 : \tfrac32` in units of :math:`h^2`, over
        their parts of the price. The sum is smallest for parts as the square roots of these
        numbers; 2/9, 4/9 and 3/9 are within half a per cent of it.
    """

    squares: int
    total: int
    count: int
    offset: Fraction
    centre: Fraction
    lower: Fraction
    upper: Fraction
    freedom: int
    """How much less than the count is divided by: 0 for a population, 1 for a sample."""

    @property
    def fewest(self) -> int:
        """How many rows a variance needs."""
        return 1 + self.freedom

    @property
    def half_range(self) -> Fraction:
        """The largest distance of a value from the centre."""
        return max(self.upper - self.centre, self.centre - self.lower)

    @property
    def largest(self) -> Fraction:
        """The largest variance of a population within the bounds (Popoviciu's inequality)."""
        return (self.upper - self.lower) ** 2 / 4


@frozen
class CovarianceOf(Estimate):
    r"""A covariance, from noisy sums of distances of two values from public centres.

    With distances :math:`d_i` and :math:`e_i`, :math:`P = \sum d_i e_i`, :math:`S = \sum d_i`,
    :math:`T = \sum e_i` and :math:`n` rows, it is :math:`P/n - (S/n)(T/n)`. The quotients are moved
    to where the exact ones must be, and so is the result: within the product of the half ranges.

    Utility:
        To first order the error is :math:`(W - \mu Y - \nu X + (2\mu\nu - p) Z)/n`, with noise
        ``W``, ``X``, ``Y``, ``Z`` on :math:`P, S, T, n`, and :math:`\mu = S/n`, :math:`\nu = T/n`,
        :math:`p = P/n`. In units of the half ranges a row moves each sum by 1, and at worst (all
        values at one corner) all four terms weigh 1; so each gets a quarter of the price.
    """

    products: int
    total: int
    other_total: int
    count: int
    half_range: Fraction
    """The largest distance of the first value from its centre."""
    other_half_range: Fraction
    freedom: int
    """How much less than the count is divided by: 0 for a population, 1 for a sample."""

    @property
    def fewest(self) -> int:
        """How many rows a covariance needs."""
        return 1 + self.freedom


@frozen
class CorrelationOf(Estimate):
    r"""Pearson's correlation: the covariance over the root of the product of the variances.

    Utility:
        It is between -1 and 1 whatever the noise did (Cauchy and Schwarz), so value and interval
        are moved there. Where a variance may be 0 the interval is all of that.
    """

    covariance: CovarianceOf
    first: VarianceOf
    second: VarianceOf

    @property
    def arguments(self) -> tuple[Estimate, ...]:
        """Everything that it is made from."""
        return (self.covariance, self.first, self.second)


@frozen
class Calculation(Estimate):
    """A function of other estimates, by its name in the table of functions."""

    function: str
    arguments: tuple[Estimate, ...]


@frozen
class WindowOf(Estimate):
    """A function of the rows of the answer beside this one, after HAVING and before LIMIT.

    Guarantee:
        It is computed from the rows that are released, so it costs nothing, as every estimate.
    """

    function: str
    argument: Estimate | None
    """What the function is of; ranks have none."""
    partition: tuple[Estimate, ...] = ()
    order: tuple[tuple[Estimate, bool], ...] = ()
    """What to sort by, each with whether it descends. Rows without a value come last."""
    rows: tuple[int | None, int | None] | None = None
    """How many rows before and after this one count (None for all of them). Without it: all rows
    up to this one and its equals, or the whole partition if there is no order."""
    offset: int = 1
    """How far away LAG and LEAD look."""
    among: Estimate | None = None
    """The HAVING that left the rows which it is about, if that looks at noisy numbers."""
    is_of_found: bool = False
    """Whether its rows are private groups, of which some may not have been found."""

    @property
    def arguments(self) -> tuple[Estimate, ...]:
        """Everything that it is made from."""
        own = (part for part in (self.argument, self.among) if part is not None)
        return (*own, *self.partition, *(estimate for estimate, _ in self.order))

    def is_placed_by_noise(self) -> bool:
        """Tell whether noise decides which rows it is about, or in which order they stand."""
        placing = (*self.partition, *(estimate for estimate, _ in self.order))
        return any(map(indices, placing))

    def holds_its_row(self) -> bool:
        """Tell whether the row itself is always among those that its value is made from."""
        return self.function in ("sum", "avg", "count", "min", "max")

    def may_miss_rows(self) -> bool:
        """Tell whether it is about the same other rows if some are missing."""
        if self.function in ("row_number", "rank"):
            return True
        return self.holds_its_row() and all(end in (None, 0) for end in self.rows or ())

    def is_of_all(self) -> bool:
        """Tell whether it is about all rows of its partition."""
        return self.rows == (None, None) or (self.rows is None and not self.order)


def left_by(having: Estimate | None, estimate: Estimate, *, is_found: bool = False) -> Estimate:
    """Return an estimate whose windows know how noise chose their rows, if it did."""
    among = None if having is None or not indices(having) else having
    if isinstance(estimate, WindowOf):
        return evolve(estimate, among=among, is_of_found=is_found)
    if isinstance(estimate, Calculation):
        inner = tuple(left_by(having, one, is_found=is_found) for one in estimate.arguments)
        return evolve(estimate, arguments=inner)
    return estimate


def is_noisy(estimate: Estimate) -> bool:
    """Tell whether an estimate has noise in it, or is about rows that noise chose."""
    inside = parts(estimate)
    return any(
        own_indices(one) or (isinstance(one, WindowOf) and one.is_of_found) for one in inside
    )


def parts(estimate: Estimate) -> tuple[Estimate, ...]:
    """Return an estimate and everything inside it, outermost first."""
    inner: tuple[Estimate, ...] = ()
    if isinstance(estimate, Calculation | WindowOf | CorrelationOf):
        inner = estimate.arguments
    return (estimate, *(part for argument in inner for part in parts(argument)))


_PARTIAL = {"/", "//", "%", "sqrt", "ln", "log10", "log2", "power"}
"""Functions that have no value for some numbers."""


def may_be_undefined(estimate: "Estimate") -> bool:
    """Tell whether NULL means that noisy numbers allow no value, and not that there is none.

    What a window is about may be missing in any case: the first row has none before it.
    """
    inside = list(parts(estimate))
    if any(isinstance(part, WindowOf) for part in inside):
        return False
    return any(
        isinstance(part, CorrelationOf)
        or (isinstance(part, Calculation) and part.function in _PARTIAL)
        for part in inside
    )


def indices(estimate: Estimate) -> tuple[int, ...]:
    """Return which aggregates an estimate is made from, each once, in order.

    Example:
        >>> indices(MeanOf(ColumnType.REAL, 1, 0, Fraction(5), Fraction(0), Fraction(10)))
        (0, 1)
    """
    return tuple(sorted({index for part in parts(estimate) for index in own_indices(part)}))


def own_indices(estimate: Estimate) -> tuple[int, ...]:
    """Return which aggregates an estimate names itself, without what is inside it."""
    names = ("index", "squares", "products", "total", "other_total", "count")
    return tuple(getattr(estimate, name) for name in names if hasattr(estimate, name))
