"""How useful a published data set is for a class of queries: how wrong, how often, how near."""

from fractions import Fraction

from attrs import field, frozen

from discreet.core import check
from discreet.core.numbers import exact


@frozen(kw_only=True)
class Usefulness:
    r"""A promise about all queries of a class at once.

    A publication :math:`A(D)` is :math:`(\varepsilon, \delta)`-useful if with probability at least
    :math:`1 - \delta` every query :math:`Q` of the class has
    :math:`|Q(A(D)) - Q(D)| \le \varepsilon`, as a share of the rows. It is
    :math:`(\varepsilon, \delta, \gamma)`-useful if with that probability there is for every
    :math:`Q` a query :math:`Q'` at most :math:`\gamma` away with
    :math:`|Q(A(D)) - Q'(D)| \le \varepsilon` [BLR13]. Neither is a promise of privacy: their
    letters are those of the paper, and other numbers than those of a loss.

    Example:
        >>> print(Usefulness(error="0.05", failure="0.01", nearness="0.1"))
        (0.05, 0.01, 0.1)-useful
    """

    error: Fraction = field(converter=exact, validator=check.non_negative)
    failure: Fraction = field(converter=exact, validator=check.probability)
    nearness: Fraction = field(default=Fraction(0), converter=exact, validator=check.non_negative)

    def __str__(self) -> str:
        numbers = [self.error, self.failure, *([self.nearness] if self.nearness else [])]
        return f"({', '.join(f'{float(number):.3g}' for number in numbers)})-useful"
