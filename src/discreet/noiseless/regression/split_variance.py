"""What splitting costs: the variance of a line whose averages come from different rows."""

from fractions import Fraction

from attrs import field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact


@frozen(kw_only=True)
class ExpectedLine:
    """What the owner expects of a simple regression, to plan with: nothing of it is asserted.

    Attributes:
        intercept: The constant term.
        slope: The slope.
        mean: Of the regressor.
        variance: Of the regressor.
        error: The variance of the outcome around the line.
    """

    intercept: Fraction = field(converter=exact)
    slope: Fraction = field(converter=exact)
    mean: Fraction = field(converter=exact)
    variance: Fraction = field(converter=exact, validator=check.positive)
    error: Fraction = field(converter=exact, validator=check.non_negative)

    def centred(self, regressor: Number, outcome: Number) -> "ExpectedLine":
        """Return the same line after public constants were subtracted from both columns."""
        moved = exact(regressor)
        return ExpectedLine(
            intercept=self.intercept + self.slope * moved - exact(outcome),
            slope=self.slope,
            mean=self.mean - moved,
            variance=self.variance,
            error=self.error,
        )


def variance_of_all(line: ExpectedLine, rows: int) -> Fraction:
    """Return the variance of the slope with all rows in every average: plain least squares."""
    return line.error / line.variance / check.at_least_one(rows, "rows")


def variance_of_split(line: ExpectedLine, *, means: int, products: int) -> Fraction:
    r"""Return about the variance of the slope if other rows serve the means than the products.

    Guarantee:
        None: this is utility, for large numbers of rows. With
        :math:`\hat\beta = (\overline{gh} - \bar g \bar h) / (\overline{g^2} - \bar g^2)`, the two
        means from :math:`n'` rows and the two products from :math:`n''`, the first-order error is
        :math:`[\overline{gh - \beta g^2} - \overline{\alpha g + \mu e}] / \sigma^2` up to constants
        (:math:`h = \alpha + \beta g + e`, g with mean :math:`\mu`), so its variance is

        .. math:: \frac{1}{\sigma^4} \left(
            \frac{\alpha^2 \sigma^2 + (\mu^2 + \sigma^2) \tau^2}{n''}
            + \frac{\alpha^2 \sigma^2 + \mu^2 \tau^2}{n'} \right),

        where :math:`\tau^2` is the error's variance. Without a split the terms in :math:`\alpha`
        and :math:`\mu` cancel. With one they do not: centre both columns by public constants near
        their means, and only :math:`\tau^2 / (n'' \sigma^2)` is left.

    Example:
        >>> line = ExpectedLine(intercept=40, slope=2, mean=30, variance=25, error=16)
        >>> float(variance_of_split(line, means=1000, products=9000))
        0.09678222222222223
        >>> float(variance_of_split(line.centred(30, 100), means=1000, products=9000))
        7.11111111111111e-05
        >>> float(variance_of_all(line, 10_000))
        6.4e-05
    """
    if check.whole(means) < 1 or check.whole(products) < 1:
        raise InvalidArgument("A part has no rows", must="have at least one row each")
    crossed = line.intercept**2 * line.variance
    square = line.mean**2
    of_products = (crossed + (square + line.variance) * line.error) / products
    of_means = (crossed + square * line.error) / means
    return (of_products + of_means) / line.variance**2
