"""How many numbers a row is free in, and which columns hide nothing: by declaration, never by data.

A vector of averages hides a row only if the vector of one row has a density. It has none if there
are more averages than free columns, if columns are collinear, if one is constant, or if the outcome
follows from the regressors. All of that is read off what was declared.
"""

from collections.abc import Sequence
from enum import Enum
from fractions import Fraction

from attrs import frozen

from discreet.core.errors import RefusedQuery
from discreet.noiseless.regression.design import DeclaredRelation, RegressionDesign
from discreet.noiseless.regression.polynomial import Polynomial, rank_of, spans
from discreet.noiseless.regression.row_moments import RowMoment, moments_of

_ONE = Polynomial.constant(1)
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53)


class RelationKind(Enum):
    """What a declared relation does to a regression."""

    CONSTANT = "constant"
    COLLINEAR = "collinear"
    NO_ERROR = "no_error"
    FUNCTIONAL = "functional"
    UNKNOWN = "unknown"


@frozen
class RelationFinding:
    """What was found about one declared relation.

    Attributes:
        kind: What it is.
        column: The column without freedom of its own.
        words: What follows, in a sentence.
        refuses: Whether no exact line can be certified with it.
    """

    kind: RelationKind
    column: str
    words: str
    refuses: bool


@frozen
class Freedom:
    r"""What a row's moments are free to do.

    Guarantee:
        ``rank`` is at most the dimension in which the vector of the ``kept`` moments of one row
        spreads. Proof. It is the rank of their derivatives at a point, worked out in fractions; the
        rank of a polynomial map is as large or larger at almost every other point. If it is the
        number of moments, the vector of one row has a density wherever the free columns have one,
        by the inverse function theorem. What is ``derived`` is a combination of the kept ones and a
        constant, so that releasing it too is post-processing.

    Attributes:
        free: The free columns: a row has so many numbers.
        kept: The moments that have to be released.
        derived: Those that follow from them.
        rank: In how many dimensions the kept ones of a single row spread.
        findings: What the declared relations do.
    """

    free: tuple[str, ...]
    kept: tuple[RowMoment, ...]
    derived: tuple[RowMoment, ...]
    rank: int
    findings: tuple[RelationFinding, ...]

    @property
    def has_density(self) -> bool:
        """Whether one row's moments have a density, all of them together."""
        return self.rank == len(self.kept)

    @property
    def least_blocks(self) -> int:
        """The fewest parts in which the moments can be released, each from rows of its own."""
        return -(-len(self.kept) // self.rank)


def freedom_of(design: RegressionDesign) -> Freedom:
    """Return what the declarations leave free.

    Example:
        >>> design = RegressionDesign.uniform({"g": (-1, 1)}, {"h": (-1, 1)})
        >>> found = freedom_of(design)
        >>> len(found.kept), found.rank, found.has_density, found.least_blocks
        (4, 2, False, 2)
    """
    findings = tuple(_finding(design, one) for one in design.relations)
    known = [one for one in moments_of(design) if _is_known(design, one)]
    kept: list[RowMoment] = []
    derived: list[RowMoment] = []
    for moment in known:
        others = [one.polynomial(design) for one in kept]
        is_derived = spans([_ONE, *others], moment.polynomial(design))
        (derived if is_derived else kept).append(moment)
    free = tuple(column.name for column in design.free)
    rank = jacobian_rank([one.polynomial(design) for one in kept], free)
    return Freedom(free, tuple(kept), tuple(derived), rank, findings)


def require_free(design: RegressionDesign) -> Freedom:
    """Return what is free, or refuse a design that no exact line can be certified for.

    Example:
        >>> from discreet.noiseless import MeasuredColumn
        >>> dose, level = MeasuredColumn("dose", 0, 1), MeasuredColumn("level", 0, 2)
        >>> follows = DeclaredRelation("level", Polynomial.of("dose") * 2)
        >>> require_free(RegressionDesign(
        ...     regressors=[dose], outcome=level, density=1, relations=[follows]
        ... ))
        Traceback (most recent call last):
        ...
        discreet.core.errors.RefusedQuery: 'level' has no error of its own...
    """
    found = freedom_of(design)
    for finding in found.findings:
        if finding.refuses:
            raise RefusedQuery(
                finding.words,
                must="have columns that are free of one another, and an outcome with an error",
                got=f"a relation of {finding.column!r} that the schema declares",
                next="Leave the column out, or publish with noise",
            )
    return found


def jacobian_rank(moments: Sequence[Polynomial], free: Sequence[str]) -> int:
    """Return a proved lower bound of the dimension in which some polynomials spread.

    Three points are tried, whose coordinates have no small relations; each one's rank is a proof.
    """
    best = 0
    for shift in range(3):
        point = {
            name: Fraction(_PRIMES[(2 * index + shift) % 16] + index // 8, 59 + 2 * shift + index)
            for index, name in enumerate(free)
        }
        slopes = [[one.slope(name).at(point) for name in free] for one in moments]
        best = max(best, rank_of(slopes))
    return best


def _is_known(design: RegressionDesign, moment: RowMoment) -> bool:
    unknown = {one.column for one in design.relations if one.equals is None}
    return not unknown & set(moment.factors)


def _finding(design: RegressionDesign, relation: DeclaredRelation) -> RelationFinding:
    name, equals = relation.column, relation.equals
    is_outcome = name == design.outcome.name
    if equals is None:
        words = f"{name!r} follows from other columns, and is not said how: nothing of it is hidden"
        return RelationFinding(RelationKind.UNKNOWN, name, words, refuses=True)
    if not equals.columns:
        words = f"{name!r} is constant: it repeats other averages"
        refuses = is_outcome or design.has_intercept or len(design.regressors) > 1
        return RelationFinding(RelationKind.CONSTANT, name, words, refuses)
    others = [design.centred(one.name) for one in design.regressors if one.name != name]
    if is_outcome or design.has_intercept:
        others.append(_ONE)
    if not spans(others, design.centred(name)):
        words = f"{name!r} is a function of other columns: a row is free in one number fewer"
        return RelationFinding(RelationKind.FUNCTIONAL, name, words, refuses=False)
    if is_outcome:
        words = f"{name!r} has no error of its own: who knows a row's regressors knows it"
        return RelationFinding(RelationKind.NO_ERROR, name, words, refuses=True)
    words = f"{name!r} is collinear with other regressors: there is no single line"
    return RelationFinding(RelationKind.COLLINEAR, name, words, refuses=True)
