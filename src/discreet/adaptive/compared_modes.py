"""Which way of answering promises most, and from how many questions on."""

from fractions import Fraction

from discreet.adaptive.guarantee import PopulationGuarantee, gaussian_guarantee, guarantees
from discreet.adaptive.sparse_answers import sparse_guarantee
from discreet.core import check
from discreet.core.numbers import Number

MOST_DOUBLINGS = 40
"""More than a million million questions are asked by nobody."""


def compared_guarantees(
    *,
    rows: int,
    questions: int,
    beta: Number,
    overfits: int,
    tolerance: Number | None = None,
    training: int | None = None,
) -> tuple[PopulationGuarantee, ...]:
    """Return what each way of answering promises, that with training rows among them.

    The promise with training rows ends after ``overfits`` corrections; the others do not.

    Example:
        >>> for one in compared_guarantees(
        ...     rows=200_000, questions=10**6, beta="0.05", overfits=10
        ... ):
        ...     print(f"{one.method:20} {float(one.alpha):.2f}")
        sparse/posterior     0.10
        gaussian/posterior   0.32
    """
    sparse = sparse_guarantee(
        rows=rows,
        questions=questions,
        overfits=overfits,
        beta=beta,
        tolerance=tolerance,
        training=training,
    )
    found = [*guarantees(rows=rows, questions=questions, beta=beta)]
    if sparse is not None:
        found.append(sparse)
    return tuple(sorted(found, key=lambda one: one.alpha))


def sparse_crossover(*, rows: int, overfits: int, beta: Number) -> int | None:
    """Return from how many questions on training rows with a holdout beat Gaussian answers.

    It is a power of two. The error of Gaussian answers grows with the fourth root of their number,
    that of the others with its logarithm. None if Gaussian answers are better as long as either
    promises anything.

    Example:
        >>> sparse_crossover(rows=200_000, overfits=10, beta="0.05")
        16384
    """
    wanted, size = check.level(beta), check.at_least_one(rows, "rows")
    for doubling in range(MOST_DOUBLINGS):
        count = 1 << doubling
        sparse = sparse_guarantee(rows=size, questions=count, overfits=overfits, beta=wanted)
        if sparse is None:
            return None
        gaussian = gaussian_guarantee(rows=size, questions=count, beta=wanted)
        if sparse.alpha < (Fraction(1) if gaussian is None else gaussian.alpha):
            return count
    return None
