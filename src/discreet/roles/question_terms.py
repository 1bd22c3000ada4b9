"""The terms of a question, from the arguments of a call."""

from discreet.core.numbers import Number
from discreet.project.terms import Terms
from discreet.releases.accuracy import Accuracy


def question_terms(
    epsilon: Number | None,
    rho: Number | None,
    accuracy: Accuracy | Number | None,
    delta: Number | None,
    given: tuple[int | None, int | None, int | None],
    limits: str | None,
) -> Terms:
    """Return a price, a δ and limits; ``given`` are rows per group, groups and rows per unit."""
    rows_per_group, groups_per_unit, rows_per_unit = given
    return Terms(
        epsilon=epsilon,
        rho=rho,
        accuracy=accuracy,
        delta=delta,
        rows_per_group=rows_per_group,
        groups_per_unit=groups_per_unit,
        rows_per_unit=rows_per_unit,
        chosen_limits=limits,
    )
