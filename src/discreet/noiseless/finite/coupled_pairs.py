"""Pairs of what is private and of what a simulator may see instead: six ways to make them.

A definition of privacy says which worlds are compared. In one the mechanism sees the database; in
the other a simulator sees only ``alt`` of it, which lacks what is private. Each builder returns the
pairs for one reading of *private* [Gro14, section 5.3.1]. The sixth reading, differential
privacy, is the pairs of individuals with the class of all point masses
(``finite_model.point_masses``).
"""

from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Any

from attrs import frozen

from discreet.audit.finite_divergence import FiniteLaw
from discreet.core.check import at_least_one
from discreet.core.errors import InvalidArgument
from discreet.noiseless.finite.finite_model import (
    Database,
    FiniteModel,
    certain,
    point_masses,
    push,
)


@frozen(eq=False)
class CoupledPair:
    """What is private of a database, and the law of what a simulator sees instead.

    Attributes:
        name: Whose, in words: ``row 3``.
        private: The private part.
        alternative: The law of what is left; certain for every builder but ``scrubbed``.
    """

    name: str
    private: Callable[[Database], Hashable]
    alternative: Callable[[Database], FiniteLaw]


def individuals(rows: int) -> tuple[CoupledPair, ...]:
    """Return a pair for each row: the row is private, and the simulator has all others.

    Example:
        >>> second = individuals(3)[1]
        >>> second.private("abc"), list(second.alternative("abc"))
        ('b', [('a', 'c')])
    """
    return tuple(
        CoupledPair(f"row {i + 1}", _row(i), _without([i]))
        for i in range(at_least_one(rows, "rows"))
    )


def graph_nodes(nodes: int) -> tuple[CoupledPair, ...]:
    """Return a pair for each node of a graph: its data and its edges are private.

    A database is a pair: a tuple with what is known of each node, and a set of edges, each a pair
    of node numbers.

    Example:
        >>> graph = (("a", "b", "c"), frozenset({(0, 1), (1, 2)}))
        >>> pair = graph_nodes(3)[0]
        >>> pair.private(graph), list(pair.alternative(graph))
        (('a', frozenset({(0, 1)})), [(('b', 'c'), frozenset({(1, 2)}))])
    """

    def pair(node: int) -> CoupledPair:
        def private(graph: Database) -> Hashable:
            data, edges = graph
            return data[node], frozenset(edge for edge in edges if node in edge)

        def alternative(graph: Database) -> FiniteLaw:
            data, edges = graph
            rest = frozenset(edge for edge in edges if node not in edge)
            return certain(((*data[:node], *data[node + 1 :]), rest))

        return CoupledPair(f"node {node + 1}", private, alternative)

    return tuple(pair(node) for node in range(at_least_one(nodes, "nodes")))


def private_attributes(rows: int, columns: Sequence[int]) -> tuple[CoupledPair, ...]:
    """Return a pair for each row of which only some columns are private; the others are public.

    Rows are tuples. The simulator has the public columns of the row, too.

    Example:
        >>> first = private_attributes(2, [1])[0]
        >>> people = (("Ann", 3), ("Bob", 4))
        >>> first.private(people), list(first.alternative(people))
        ((3,), [(('Ann', None), ('Bob', 4))])
    """
    hidden = frozenset(columns)

    def masked(row: Any) -> tuple[Any, ...]:
        return tuple(None if j in hidden else value for j, value in enumerate(row))

    def pair(i: int) -> CoupledPair:
        def private(x: Database) -> Hashable:
            return tuple(x[i][j] for j in sorted(hidden))

        def alternative(x: Database) -> FiniteLaw:
            return certain((*x[:i], masked(x[i]), *x[i + 1 :]))

        return CoupledPair(f"private columns of row {i + 1}", private, alternative)

    return tuple(pair(i) for i in range(at_least_one(rows, "rows")))


def members_of_groups(groups: Sequence[Collection[int]]) -> tuple[CoupledPair, ...]:
    """Return a pair for each member of each group: the simulator lacks the whole group.

    So what a school contributes as a whole may be told, and what one pupil adds to it may not. The
    two parts of a pair are not complements.

    Example:
        >>> pair = members_of_groups([[0, 1], [2]])[0]
        >>> pair.private("abc"), list(pair.alternative("abc"))
        ('a', [('c',)])
    """
    members = [i for group in groups for i in group]
    if len(set(members)) != len(members) or not members:
        raise InvalidArgument("The groups are none", must="have each row in at most one group")
    return tuple(
        CoupledPair(f"row {i + 1}", _row(i), _without(group)) for group in groups for i in group
    )


def scrubbed(rows: int, scrub: Callable[[Any], FiniteLaw]) -> tuple[CoupledPair, ...]:
    """Return a pair for each row of which the simulator sees a scrubbed version.

    ``scrub`` gives the law of what is left of a row: noise that keeps what may be known of a firm
    (its size) and hides what may not (its positions).

    Example:
        >>> pair = scrubbed(2, lambda row: certain(row > 10))[0]
        >>> list(pair.alternative((12, 3)))
        [(True, 3)]
    """

    def pair(i: int) -> CoupledPair:
        def alternative(x: Database) -> FiniteLaw:
            return push(scrub(x[i]), lambda row: certain((*x[:i], row, *x[i + 1 :])))

        return CoupledPair(f"row {i + 1}", _row(i), alternative)

    return tuple(pair(i) for i in range(at_least_one(rows, "rows")))


def worst_case(mechanism: FiniteModel, rows: int) -> tuple[FiniteModel, tuple[CoupledPair, ...]]:
    """Return the model and pairs with which coupled worlds *are* differential privacy.

    The class is that of all point masses, so whoever knows all rows but one is among the
    adversaries.
    """
    return mechanism.with_laws(point_masses(mechanism.mechanism)), individuals(rows)


def _row(i: int) -> Callable[[Database], Hashable]:
    return lambda x: x[i]


def _without(rows: Collection[int]) -> Callable[[Database], FiniteLaw]:
    left_out = frozenset(rows)
    return lambda x: certain(tuple(row for i, row in enumerate(x) if i not in left_out))
