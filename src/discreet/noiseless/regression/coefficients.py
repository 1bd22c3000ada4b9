"""From released sums to the line, exactly: post-processing, which costs nothing."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from attrs import frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument, RefusedQuery
from discreet.core.numbers import Number, exact
from discreet.noiseless.leverage import solve
from discreet.noiseless.regression.row_moments import LineDesign, RowMoment


@frozen
class RegressionLine:
    """A least-squares line, exactly.

    Attributes:
        slopes: By regressor.
        intercept: The constant term, in the columns' own units; 0 for a line through the origin.
    """

    slopes: Mapping[str, Fraction]
    intercept: Fraction

    def __str__(self) -> str:
        slopes = " ".join(f"{float(slope):+.6g} {name}" for name, slope in self.slopes.items())
        return f"{float(self.intercept):.6g} {slopes}"


@frozen
class NoLine:
    """That released moments have no single line, and why."""

    words: str


@frozen
class ReleasedMoments:
    """Exact sums of moments, each with the number of rows that it was taken of.

    Attributes:
        sums: By moment, less centres.
        rows: By moment.
    """

    sums: Mapping[RowMoment, Fraction]
    rows: Mapping[RowMoment, int]

    @classmethod
    def of(
        cls, sums: Mapping[RowMoment, Number], rows: int | Mapping[RowMoment, int]
    ) -> "ReleasedMoments":
        """Return sums with the rows that each has, or that all of them have."""
        sizes = rows if isinstance(rows, Mapping) else dict.fromkeys(sums, rows)
        counts = {moment: check.at_least_one(sizes[moment], "rows") for moment in sums}
        return cls({moment: exact(value) for moment, value in sums.items()}, counts)

    def mean(self, *factors: str) -> Fraction:
        """Return the mean of a column, or of a product of two in either order."""
        for chosen in (factors, factors[::-1]):
            moment = RowMoment(chosen)
            if moment in self.sums:
                return self.sums[moment] / self.rows[moment]
        raise InvalidArgument(
            f"The average of {RowMoment(factors)} is missing",
            must=f"be one of {', '.join(map(str, self.sums))}",
        )


def line_of(design: LineDesign, released: ReleasedMoments) -> RegressionLine | NoLine:
    r"""Return the line from exact averages.

    Guarantee:
        A function of what is released: [Gro14, theorem 5.3]. If all averages are of the same rows
        it is *the* least-squares line of them, to the last digit: it solves :math:`(\overline{g
        g^T} - \bar g \bar g^T) \beta = \overline{g h} - \bar g \bar h` in fractions. Centres change
        nothing, because slopes do not depend on where the origin is.

    Utility:
        Averages of different rows need not fit together. If the matrix is singular, or not positive
        definite, no line is made of it.

    Example:
        >>> from discreet.noiseless import RegressionDesign
        >>> design = RegressionDesign.uniform({"g": (-1, 1)}, {"h": (-1, 1)}, has_intercept=False)
        >>> square, product = RowMoment(("g", "g")), RowMoment(("g", "h"))
        >>> print(line_of(design, ReleasedMoments.of({square: 30, product: 45}, 90)))
        0 +1.5 g
    """
    names = [column.name for column in design.regressors]
    outcome = design.outcome.name
    means = dict.fromkeys((*names, outcome), Fraction(0))
    if design.has_intercept:
        means = {name: released.mean(name) for name in means}
    matrix = [[released.mean(a, b) - means[a] * means[b] for b in names] for a in names]
    right = [released.mean(a, outcome) - means[a] * means[outcome] for a in names]
    if not is_positive(matrix):
        return NoLine(
            "The regressors' averages are not those of a spread in every direction: either columns "
            "are collinear in these rows, or the parts of a split differ too much"
        )
    solved = solve(matrix, right)
    if solved is None:
        raise AssertionError("a positive matrix has a solution")
    slopes = dict(zip(names, solved, strict=True))
    return RegressionLine(slopes, _intercept(design, slopes, means))


def _intercept(
    design: LineDesign, slopes: Mapping[str, Fraction], means: Mapping[str, Fraction]
) -> Fraction:
    if not design.has_intercept:
        return Fraction(0)
    at = {column.name: means[column.name] + column.centre for column in design.columns}
    return at[design.outcome.name] - sum(slope * at[name] for name, slope in slopes.items())


def is_positive(matrix: Sequence[Sequence[Fraction]]) -> bool:
    """Tell whether a symmetric matrix is positive definite, by its pivots, exactly.

    Example:
        >>> is_positive([[Fraction(2), Fraction(1)], [Fraction(1), Fraction(1)]])
        True
    """
    work = [list(row) for row in matrix]
    for index in range(len(work)):
        if work[index][index] <= 0:
            return False
        for below in range(index + 1, len(work)):
            factor = work[below][index] / work[index][index]
            work[below] = [a - factor * b for a, b in zip(work[below], work[index], strict=True)]
    return True


def slopes_by_norm(
    square: Number, products: Mapping[str, Number], *, rows: int = 1
) -> dict[str, Fraction]:
    r"""Return slopes from the average of :math:`\|g\|^2` and of :math:`g h`: for one regressor.

    [Gro14, section 6.4] prints :math:`\hat\beta = (\overline{\|g\|^2})^{-1}\, \overline{g h}` for
    any number d of regressors, and counts d + 1 averages. With d = 1 that is the line through the
    origin. With more it is no least-squares estimate at all: the inverse is of the *matrix* of
    :math:`g g^T`. Two orthogonal regressors and the exact outcome h = a + b already show it: it
    says 1/2 and 1/2.

    Example:
        >>> slopes_by_norm(30, {"g": 45})
        {'g': Fraction(3, 2)}
        >>> slopes_by_norm(2, {"a": 1, "b": 1})
        Traceback (most recent call last):
        ...
        discreet.core.errors.RefusedQuery: The average of the squared norm makes no line...
    """
    if len(products) != 1:
        raise RefusedQuery(
            "The average of the squared norm makes no line for several regressors",
            must="be used with one regressor; several need the averages of all their products",
            got=f"{len(products)} regressors",
            next="Release the moments that moments_of lists, in blocks of a splitting plan",
        )
    bottom = exact(square) / check.at_least_one(rows, "rows")
    if bottom <= 0:
        raise InvalidArgument("The average square is out of range", must="be above 0")
    return {name: exact(value) / rows / bottom for name, value in products.items()}
