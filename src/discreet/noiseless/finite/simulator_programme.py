r"""The search for a simulator as linear programmes that are as small as they can be.

A simulator is a law :math:`s_a` of outputs for each thing :math:`a` that it may see. Under
condition :math:`c` it says :math:`t` with probability
:math:`Q_c(t) = \sum_a w_c(a)\, s_a(t)`, and it must be
close to the law :math:`P_c` of what is released. Four reductions lose nothing.

1. *Equal conditions are one.* Their constraints are the same.
2. *Things seen with proportional weights are one.* If :math:`w_c(a') = k\, w_c(a)` for all
   :math:`c`, only :math:`s_a + k s_{a'}` matters, and both may as well be its normalisation.
3. *Outputs with proportional probabilities are one.* Let :math:`P_c(t') = k\, P_c(t)` for all
   :math:`c`. Merging is post-processing, so it makes nothing worse; and a simulator for merged
   outputs that splits them in the same proportion has the same divergences, because
   :math:`P - fQ` splits in that proportion too.
4. *Conditions that share nothing that is seen are solved apart*, and equal problems once: the
   least δ of all is the largest of the least δ of each.

For independent rows the first two leave one thing to see for each row, whatever the number of
databases; for exchangeable rows, one for each histogram.
"""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from attrs import field, frozen

from discreet.audit.finite_divergence import FiniteLaw
from discreet.noiseless.finite.world_conditions import WorldCondition

Column = tuple[tuple[int, Fraction], ...]
"""A sparse column: numbers of conditions, with a share for each."""


@frozen
class SimulatorProgramme:
    """One problem: find a row of ``simulator[seen][output]`` for each thing that is seen.

    Attributes:
        released: For each condition, the probability of each output.
        weights: For each condition, the probability of each thing that is seen.
    """

    released: tuple[tuple[Fraction, ...], ...]
    weights: tuple[tuple[Fraction, ...], ...]

    @property
    def conditions(self) -> int:
        """How many conditions there are."""
        return len(self.released)

    @property
    def outputs(self) -> int:
        """How many outputs there are."""
        return len(self.released[0])

    @property
    def seen(self) -> int:
        """How many things a simulator can tell apart."""
        return len(self.weights[0])


@frozen(eq=False)
class ProgrammePart:
    """A problem, and how to read its solution: which outputs and things its rows stand for."""

    programme: SimulatorProgramme
    conditions: tuple[WorldCondition, ...]
    """One for each row of the programme."""
    outputs: tuple[Mapping[Hashable, Fraction], ...]
    """For each merged output, what it is split into."""
    seen: tuple[tuple[Hashable, ...], ...] = field(repr=False)
    """For each merged thing, what it stands for."""

    def simulator(self, rows: Sequence[Sequence[Fraction]]) -> dict[Hashable, FiniteLaw]:
        """Return a solution as laws of outputs, by what is seen."""
        laws: dict[Hashable, FiniteLaw] = {}
        for row, group in zip(rows, self.seen, strict=True):
            law = {
                outcome: mass * share
                for mass, split in zip(row, self.outputs, strict=True)
                for outcome, share in split.items()
                if mass
            }
            laws.update(dict.fromkeys(group, law))
        return laws


def parts_of(conditions: Sequence[WorldCondition]) -> list[ProgrammePart]:
    """Return the problems that together are the search for a simulator."""
    kept = _different(conditions)
    return [_part(group) for group in _apart(kept)]


def _different(conditions: Sequence[WorldCondition]) -> list[WorldCondition]:
    found: dict[Any, WorldCondition] = {}
    for one in conditions:
        found.setdefault((frozenset(one.released.items()), frozenset(one.left.items())), one)
    return list(found.values())


def _apart(conditions: Sequence[WorldCondition]) -> list[list[WorldCondition]]:
    """Return conditions in groups that have nothing in common that is seen."""
    parent = list(range(len(conditions)))

    def root(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    first: dict[Hashable, int] = {}
    for index, one in enumerate(conditions):
        for seen in one.left:
            parent[root(index)] = root(first.setdefault(seen, index))
    groups: defaultdict[int, list[WorldCondition]] = defaultdict(list)
    for index, one in enumerate(conditions):
        groups[root(index)].append(one)
    return list(groups.values())


def _part(conditions: list[WorldCondition]) -> ProgrammePart:
    seen = sorted(_merged([one.left for one in conditions]).items(), key=lambda item: item[0])
    weights = [[Fraction(0)] * len(seen) for _ in conditions]
    for place, (column, group) in enumerate(seen):
        total = sum(group.values(), Fraction(0))
        for number, share in column:
            weights[number][place] = share * total
    distinct: dict[Any, tuple[WorldCondition, list[Fraction]]] = {}
    for one, row in zip(conditions, weights, strict=True):
        distinct.setdefault((frozenset(one.released.items()), tuple(row)), (one, row))
    rows = list(distinct.values())
    outputs = _merged([one.released for one, _ in rows])
    released = [[Fraction(0)] * len(outputs) for _ in rows]
    for place, (column, group) in enumerate(outputs.items()):
        total = sum(group.values(), Fraction(0))
        for number, share in column:
            released[number][place] = share * total
    programme = SimulatorProgramme(
        tuple(map(tuple, released)), tuple(tuple(row) for _, row in rows)
    )
    split = tuple(
        {one: mass / sum(group.values()) for one, mass in group.items()}
        for group in outputs.values()
    )
    stands_for = tuple(tuple(group) for _, group in seen)
    return ProgrammePart(programme, tuple(one for one, _ in rows), split, stands_for)


def _merged(laws: Sequence[FiniteLaw]) -> dict[Column, dict[Hashable, Fraction]]:
    """Group outcomes whose probabilities in all laws are proportional.

    The key is the column divided by its first entry; the value has each outcome's first entry.
    """
    columns: defaultdict[Hashable, list[tuple[int, Fraction]]] = defaultdict(list)
    for number, law in enumerate(laws):
        for outcome, mass in law.items():
            columns[outcome].append((number, mass))
    groups: defaultdict[Column, dict[Hashable, Fraction]] = defaultdict(dict)
    for outcome, column in columns.items():
        first = column[0][1]
        groups[tuple((number, mass / first) for number, mass in column)][outcome] = first
    return dict(groups)
