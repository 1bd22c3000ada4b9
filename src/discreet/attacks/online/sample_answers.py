"""What online attacks are tried on: answers about rows that the attack's caller made up.

A query is a *statistical query*: a function that gives each row a whole number, often −1, 0 or 1.
Its answer is the mean over the rows. Whatever has ``answers`` can be attacked in their place.
"""

import math
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core.check import non_empty
from discreet.core.errors import InvalidArgument
from discreet.core.protocols import Interactive, Mechanism, Rng

StatisticalQuery = Callable[[Any], int]
"""Takes a row, and gives it a number."""

Rows = Sequence[Any] | NDArray[Any]
"""What there is a number of."""


@frozen(kw_only=True, eq=False)
class ExactMeans:
    """Answers with the mean over the rows: what is said without any protection.

    Example:
        >>> ExactMeans(rows=[1, 2, 3, 4]).answers([lambda row: 1 if row > 3 else -1])
        [-0.5]
    """

    rows: Rows = field(repr=False, validator=non_empty)

    def answers(self, queries: Sequence[StatisticalQuery]) -> list[float]:
        """Return the mean of each query."""
        return [total_of(query, self.rows) / len(self.rows) for query in queries]


@frozen(kw_only=True, eq=False)
class NoisyMeans:
    """Answers with noise on each total, fresh for each query.

    Guarantee:
        That of the mechanism for each answer, where one row moves a total by at most twice the
        largest value of a query. What all answers lose together is for an accountant to say.
    """

    rows: Rows = field(repr=False, validator=non_empty)
    noise: Mechanism
    rng: Rng = field(repr=False)

    def answers(self, queries: Sequence[StatisticalQuery]) -> list[float]:
        """Return the noisy mean of each query."""
        totals = np.array([total_of(query, self.rows) for query in queries], dtype=np.int64)
        return [int(one) / len(self.rows) for one in self.noise.release(totals, self.rng)]


@frozen(kw_only=True, eq=False)
class AskedMachine:
    """An interactive machine of the house as an interface: it is asked one query at a time.

    Attributes:
        machine: What is asked.
        put: How a query of the attack is put to the machine.
    """

    machine: Interactive
    put: Callable[[Any], Any]

    def answers(self, queries: Sequence[Any]) -> list[Any]:
        """Return what the machine says to each."""
        return [self.machine.ask(self.put(query)) for query in queries]


def total_of(query: StatisticalQuery, rows: Rows) -> int:
    """Return the sum of a query over rows.

    Example:
        >>> total_of(lambda row: row, [1, -1, 1])
        1
    """
    return sum(int(query(row)) for row in rows)


def one_answer(replies: Any, *, noun: str = "number") -> float:
    """Return the one answer to one query, or refuse what an interface gave in its place.

    Example:
        >>> one_answer([0.5])
        0.5
        >>> one_answer([float("nan")])
        Traceback (most recent call last):
        ...
        discreet.core.errors.InvalidArgument: The interface gave no number. ...
    """
    number = math.nan
    if isinstance(replies, Sequence | np.ndarray) and not isinstance(replies, str):
        number = as_number(replies[0]) if len(replies) == 1 else math.nan
    if not math.isfinite(number):
        raise InvalidArgument(
            f"The interface gave no {noun}", must="be one finite number for each query"
        )
    return number


def as_number(value: Any) -> float:
    """Return a number as a float; NaN where it is none, or too large for one."""
    if not isinstance(value, Real):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.nan
