"""Which two data sets are neighbours, and what one unit can move: the sensitivity in every norm."""

from enum import Enum
from fractions import Fraction

from attrs import field, frozen

from discreet.core.check import chosen, optional_exact, optional_whole
from discreet.core.errors import InvalidArgument, Unsupported


class Metric(Enum):
    """Two data sets are neighbours if they differ in one unit, in this sense."""

    ADD_REMOVE = "add_remove"
    """One has all rows of one more unit."""

    CHANGE_ONE = "change_one"
    """Both have the same units, and the rows of one of them differ."""


def metric_of(value: Metric | str) -> Metric:
    """Return the relation that is meant, also by its name; refuse any other.

    Example:
        >>> metric_of("change_one") is Metric.CHANGE_ONE
        True
    """
    return chosen(Metric, value, noun="neighbour relation")


@frozen(kw_only=True)
class Contribution:
    r"""How far apart one unit can move an answer, exactly, and for which neighbour relation.

    The norms of the difference vector :math:`v` are bounded by ``l0`` (entries that change),
    ``linf`` (largest change), ``l1`` (sum of changes) and ``l2_squared``. No square root is ever
    stored. A norm that is not given is filled in from the others where that is a theorem, and is
    ``None`` (no bound known) where it is not; a given bound is tightened by the others.

    Guarantee:
        Only true inequalities fill in: :math:`\|v\|_\infty \le \|v\|_1`,
        :math:`\|v\|_1 \le \|v\|_0 \|v\|_\infty`, :math:`\|v\|_2^2 \le \|v\|_1 \|v\|_\infty`.

    Example:
        >>> Contribution(l0=5, linf=2)
        Contribution(l0=5, linf=2, l1=10, l2_squared=20, metric=add_remove)
        >>> Contribution(l1=3).l2_squared
        Fraction(9, 1)
    """

    l0: int | None = field(default=None, converter=optional_whole)
    linf: Fraction | None = field(default=None, converter=optional_exact)
    l1: Fraction | None = field(default=None, converter=optional_exact)
    l2_squared: Fraction | None = field(default=None, converter=optional_exact)
    metric: Metric = field(default=Metric.ADD_REMOVE, converter=metric_of)

    def __attrs_post_init__(self) -> None:
        """Check the given norms and fill in the ones that follow."""
        given = {name: getattr(self, name) for name in _NORMS}
        if all(value is None for value in given.values()):
            raise InvalidArgument(
                "A contribution needs at least one norm", must=f"give one of {', '.join(_NORMS)}"
            )
        for name, value in given.items():
            if value is not None and value < 0:
                raise InvalidArgument(
                    f"{name} is out of range", must="be at least 0", got=str(value)
                )
        linf = _least(self.linf, self.l1)
        l1 = _least(self.l1, _times(self.l0, linf))
        linf = _least(linf, l1)
        l2_squared = _least(self.l2_squared, _times(l1, linf))
        if any(value == 0 for value in (self.l0, linf, l1, l2_squared)):
            object.__setattr__(self, "l0", 0)
            linf = l1 = l2_squared = Fraction(0)
        for name, value in (("linf", linf), ("l1", l1), ("l2_squared", l2_squared)):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        """Show the norms as plain numbers."""
        norms = ", ".join(f"{name}={getattr(self, name)}" for name in _NORMS)
        return f"Contribution({norms}, metric={self.metric.value})"

    def bound(self, norm: str) -> Fraction:
        """Return the bound in ``norm``, or refuse if none is known."""
        value = getattr(self, norm)
        if value is None:
            raise Unsupported(
                f"This mechanism needs a bound on the {norm} norm, and none follows",
                got=repr(self),
                next=f"Declare the contribution with {norm}=",
            )
        return Fraction(value)

    def is_within(self, other: "Contribution") -> bool:
        """Tell whether this is at most ``other`` in every norm that ``other`` bounds."""
        return self.metric is other.metric and all(
            limit is None or (own is not None and own <= limit)
            for own, limit in ((getattr(self, n), getattr(other, n)) for n in _NORMS)
        )


def of_kept_rows(*, each: int, groups: int, in_a_group: int, in_all: int | None) -> Contribution:
    r"""Return what one unit moves if it has so many rows, and each adds at most ``each`` in size.

    The rows are at most ``in_a_group`` in each of at most ``groups`` groups, and at most ``in_all``
    over all groups together, if that is limited.

    Guarantee:
        Let :math:`c_g` be the rows in group :math:`g`, :math:`r` the most in a group, :math:`k` the
        most groups and :math:`n` the most in all. Group :math:`g` moves by at most ``each`` times
        :math:`c_g`, so the norms are those of :math:`c`, times ``each`` (its square for the last):
        :math:`\|c\|_\infty \le \min(r, n)`, :math:`\|c\|_1 \le \min(n, rk)`, and
        :math:`\|c\|_2^2` is largest with as many groups of :math:`r` rows as there can be, and
        what is left in one more.

        *Proof of the last.* :math:`\sum c_g^2` is convex. If two groups had :math:`0 < a \le b < r`
        rows, moving one from the first to the second would change the sum by
        :math:`2(b - a) + 2 > 0`; and a row more never makes it smaller. So at a maximum at most one
        group is neither empty nor full, and as many rows are there as can be.

    Example:
        >>> of_kept_rows(each=1, groups=5, in_a_group=3, in_all=7)
        Contribution(l0=5, linf=3, l1=7, l2_squared=19, metric=add_remove)
        >>> of_kept_rows(each=2, groups=5, in_a_group=3, in_all=None)
        Contribution(l0=5, linf=6, l1=30, l2_squared=180, metric=add_remove)
    """
    if in_all is None:
        return Contribution(l0=groups, linf=in_a_group * each)
    in_a_group, rows = min(in_a_group, in_all), min(in_all, in_a_group * groups)
    full, rest = divmod(rows, in_a_group)
    return Contribution(
        l0=min(groups, in_all),
        linf=in_a_group * each,
        l1=rows * each,
        l2_squared=(full * in_a_group**2 + rest**2) * each**2,
    )


_NORMS = ("l0", "linf", "l1", "l2_squared")


def _least(*values: Fraction | None) -> Fraction | None:
    known = [value for value in values if value is not None]
    return min(known) if known else None


def _times(first: Fraction | int | None, second: Fraction | None) -> Fraction | None:
    return None if first is None or second is None else Fraction(first) * second
