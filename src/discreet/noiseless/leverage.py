r"""The leverage test: how far one row can move linear releases, against all that hides it.

Several totals, of known groups of rows, are one vector. A row of group :math:`c` moves it by
:math:`s`; the other rows spread it with covariance :math:`\Sigma_{-c}`. If :math:`s` points in a
direction in which the others do not spread, the row is told exactly: that is differencing, in any
disguise. Otherwise :math:`\sqrt{s^T \Sigma_{-c}^{-1} s}` is the row's move in standard deviations.

The test finds leaks. That it finds none is no certificate: that needs the law of the whole vector.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from attrs import field, frozen

from discreet.core.check import whole
from discreet.core.errors import InvalidArgument, RefusedQuery
from discreet.core.numbers import Number, exact
from discreet.core.rounding import sqrt_up

MOST_RELEASES = 64
"""Exact elimination is done for at most so many numbers at once."""


def _exact_weights(weights: Mapping[str, Number]) -> dict[str, Fraction]:
    # A float here would be eliminated with rounding, and what is told would be missed.
    return {group: exact(weight) for group, weight in weights.items()}


@frozen
class GroupTotal:
    """A total over rows: which groups it has, and which feature of a row is added.

    Attributes:
        name: What it is called.
        weights: By group, what a row's feature is multiplied with; 0 for groups that are not in it.
        feature: Which feature.
    """

    name: str
    weights: Mapping[str, Fraction] = field(converter=_exact_weights)
    feature: str = "value"

    @classmethod
    def over(cls, name: str, groups: Sequence[str], feature: str = "value") -> "GroupTotal":
        """Return the plain total over some groups."""
        return cls(name, {group: Fraction(1) for group in groups}, feature)


@frozen
class Leverage:
    """What one row of a group does to all totals together.

    Attributes:
        group: The group.
        squared: The square of the move in standard deviations; None if others do not hide it.
    """

    group: str
    squared: Fraction | None

    @property
    def is_told(self) -> bool:
        """Whether the row can be computed from the totals, or a part of it can."""
        return self.squared is None

    @property
    def deviations(self) -> float:
        """The move in standard deviations of what the other rows do, rounded up."""
        return float("inf") if self.squared is None else float(sqrt_up(self.squared))


def leverage(
    totals: Sequence[GroupTotal],
    rows: Mapping[str, int],
    *,
    variance: Mapping[str, Number] | None = None,
    moves: Mapping[str, Number] | None = None,
) -> tuple[Leverage, ...]:
    r"""Return the leverage of a row of each group, exactly.

    Features are taken to be uncorrelated (rotate them first where they are not); ``variance`` is
    that of each under the asserted law, and ``moves`` how far a row can be from the value that a
    simulator puts in its place. Both are 1 if nothing is said.

    Guarantee:
        ``is_told`` is exact: it holds if and only if some combination of the totals has weight 0
        on every row of every group but the one row. Proof. The others spread the vector in the
        directions :math:`q_a` of groups :math:`a` with rows other than this one. If :math:`s` is
        outside their span there is a :math:`y` with :math:`y^T q_a = 0` for all of them and
        :math:`y^T s \ne 0`; then :math:`y` applied to the totals gives the row's value. Elimination
        is done with fractions.

    Example:
        >>> all_rows, rest = GroupTotal.over("all", ["a", "b"]), GroupTotal.over("rest", ["b"])
        >>> [one.is_told for one in leverage([all_rows, rest], {"a": 1, "b": 99})]
        [True, False]
    """
    rows = _sizes(totals, rows)
    found = []
    for group, size in rows.items():
        squared: Fraction | None = Fraction(0)
        for feature in dict.fromkeys(total.feature for total in totals):
            chosen = [total for total in totals if total.feature == feature]
            spread = _positive((variance or {}).get(feature, 1), "variance")
            move = exact((moves or {}).get(feature, 1))
            part = _squared(chosen, rows, group, size)
            squared = (
                None if squared is None or part is None else squared + part * move * move / spread
            )
        found.append(Leverage(group, squared))
    return tuple(found)


def told_groups(totals: Sequence[GroupTotal], rows: Mapping[str, int]) -> tuple[str, ...]:
    """Return the groups a row of which can be computed from the totals, by one elimination.

    They are those of which ``leverage`` says that a row is told. Proof. A second row of a group
    spreads the totals as the first moves them, so a group that is told has one row. Then some
    combination of the totals has weight on that group alone: the group is determined by them.

    Example:
        >>> all_rows, rest = GroupTotal.over("all", ["a", "b"]), GroupTotal.over("rest", ["b"])
        >>> told_groups([all_rows, rest], {"a": 1, "b": 99})
        ('a',)
    """
    rows = _sizes(totals, rows)
    names, told = list(rows), set[str]()
    for feature in {total.feature for total in totals}:
        matrix = [
            [total.weights.get(name, Fraction(0)) for name in names]
            for total in totals
            if total.feature == feature
        ]
        told |= {names[place] for place in determined(matrix, [Fraction(0)] * len(matrix))}
    return tuple(name for name in names if name in told and rows[name] == 1)


def require_no_leverage(totals: Sequence[GroupTotal], rows: Mapping[str, int]) -> None:
    """Refuse totals from which a row can be computed.

    Example:
        >>> both = [GroupTotal.over("June", ["a"]), GroupTotal.over("July", ["a", "new"])]
        >>> require_no_leverage(both, {"a": 400, "new": 1})
        Traceback (most recent call last):
        ...
        discreet.core.errors.RefusedQuery: The totals tell what a row of 'new' is...
    """
    for group in told_groups(totals, rows):
        raise RefusedQuery(
            f"The totals tell what a row of {group!r} is, to whoever subtracts them",
            must="leave every row hidden among others, in every combination of the totals",
            got=f"{len(totals)} totals, of which some combination has that row alone",
            next="Publish fewer totals, or put the group together with others",
        )


def _sizes(totals: Sequence[GroupTotal], rows: Mapping[str, int]) -> dict[str, int]:
    if not totals or len(totals) > MOST_RELEASES:
        raise InvalidArgument(
            "The number of totals is out of range",
            must=f"be from 1 to {MOST_RELEASES}",
            got=str(len(totals)),
        )
    sizes = {group: whole(size) for group, size in rows.items()}
    for group, size in sizes.items():
        if size < 1:
            raise InvalidArgument(f"Group {group!r} has no rows", must="have at least one row")
    for total in totals:
        for group in total.weights:
            if group not in rows:
                raise InvalidArgument(
                    f"{total.name!r} has a group that is not declared",
                    must=f"be one of {', '.join(map(repr, rows))}",
                    got=repr(group),
                )
    return sizes


def _positive(value: Number, name: str) -> Fraction:
    number = exact(value)
    if number <= 0:
        raise InvalidArgument(f"A {name} is out of range", must="be above 0", got=str(number))
    return number


def _squared(
    totals: Sequence[GroupTotal], rows: Mapping[str, int], group: str, size: int
) -> Fraction | None:
    """Return s^T C^+ s with the covariance of all rows but one of ``group``, or None outside."""
    moved = [total.weights.get(group, Fraction(0)) for total in totals]
    count = len(totals)
    table = [[Fraction(0)] * count for _ in range(count)]
    for other, size_of in rows.items():
        left = size_of - 1 if other == group else size_of
        weights = [total.weights.get(other, Fraction(0)) for total in totals]
        for i in range(count):
            for j in range(count):
                table[i][j] += left * weights[i] * weights[j]
    solved = solve(table, moved)
    if solved is None:
        return None
    return sum((a * b for a, b in zip(solved, moved, strict=True)), start=Fraction(0))


def solve(matrix: Sequence[Sequence[Fraction]], right: Sequence[Fraction]) -> list[Fraction] | None:
    """Return one exact solution of linear equations, or None if there is none.

    Example:
        >>> solve([[Fraction(2), Fraction(1)]], [Fraction(1)])
        [Fraction(1, 2), Fraction(0, 1)]
    """
    count = len(matrix[0]) if matrix else 0
    work, pivots = _eliminated(matrix, right)
    if any(row[count] for row in work[len(pivots) :]):
        return None
    solution = [Fraction(0)] * count
    for column, row in zip(pivots, work, strict=False):
        solution[column] = row[count]
    return solution


def determined(
    matrix: Sequence[Sequence[Fraction]], right: Sequence[Fraction]
) -> dict[int, Fraction]:
    """Return the unknowns that follow from linear equations, with what each must be.

    In the eliminated equations they stand alone: another combination of equations with one unknown
    alone would have weight on other pivots too.

    Example:
        >>> none, one, two = map(Fraction, range(3))
        >>> determined([[two, none, none], [none, one, one]], [one, one])
        {0: Fraction(1, 2)}
    """
    count = len(matrix[0]) if matrix else 0
    work, pivots = _eliminated(matrix, right)
    return {
        column: row[count]
        for column, row in zip(pivots, work, strict=False)
        if sum(value != 0 for value in row[:count]) == 1
    }


def dot(one: Sequence[Fraction], other: Sequence[Fraction]) -> Fraction:
    """Return the sum of the products."""
    return sum((a * b for a, b in zip(one, other, strict=True)), start=Fraction(0))


def independent(rows: Sequence[Sequence[Fraction]]) -> list[int]:
    """Return the places of rows that span all of them, and of which none is spanned by others.

    Example:
        >>> one, two = map(Fraction, (1, 2))
        >>> independent([[one, one], [two, two], [one, two]])
        [0, 2]
    """
    transposed = [list(column) for column in zip(*rows, strict=True)]
    return _eliminated(transposed, [Fraction(0)] * len(transposed))[1]


def orthogonal(rows: Sequence[Sequence[Fraction]], count: int) -> list[Fraction] | None:
    """Return the one direction in ``count`` dimensions that is orthogonal to all rows.

    If there is not one alone, return None.

    Example:
        >>> orthogonal([[Fraction(1), Fraction(2)]], 2)
        [Fraction(-2, 1), Fraction(1, 1)]
    """
    work, pivots = _eliminated(rows, [Fraction(0)] * len(rows))
    free = [place for place in range(count) if place not in pivots]
    if len(free) != 1:
        return None
    found = [Fraction(place == free[0]) for place in range(count)]
    for column, row in zip(pivots, work, strict=False):
        found[column] = -row[free[0]]
    return found


def _eliminated(
    matrix: Sequence[Sequence[Fraction]], right: Sequence[Fraction]
) -> tuple[list[list[Fraction]], list[int]]:
    """Return the equations with each pivot 1 and alone in its column, and the pivots' columns."""
    count = len(matrix[0]) if matrix else 0
    work = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    pivots: list[int] = []
    for column in range(count):
        found = next((r for r in range(len(pivots), len(work)) if work[r][column]), None)
        if found is None:
            continue
        top = len(pivots)
        work[top], work[found] = work[found], work[top]
        first = work[top][column]
        work[top] = [value / first if value else value for value in work[top]]
        for index, row in enumerate(work):
            if index != top and (factor := row[column]):
                work[index] = [
                    a - factor * b if b else a for a, b in zip(row, work[top], strict=True)
                ]
        pivots.append(column)
    return work, pivots
