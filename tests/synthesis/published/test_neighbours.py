"""One person with many rows moves what is measured by no more than the event of a method says.

Two worlds are shown the same noisy numbers and the same choices; what differs is what was exact.
What that tells apart is added up over all that was drawn, for each method of a project.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.core.loss import Pure, Zcdp
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.noise.linf_exponential import LinfExponential
from discreet.mechanisms.query_release import small_database
from discreet.mechanisms.selection.exponential_mechanism import ExponentialMechanism
from discreet.randomness.argmax import gumbel_argmax
from discreet.synthesis.intervals.interval_search import IntervalSearch
from discreet.synthesis.published.publishing_method import OfferedNoise
from discreet.synthesis.published.publishing_methods import publishing_method
from discreet.tables.column import Bounds, Column, ColumnType
from tests.support.statistics.numbered_rng import NumberedRng
from tests.synthesis.people import Person, counted, some_people

AGE = Column(name="age", type=ColumnType.INTEGER, bounds=Bounds(lower=0, upper=15), nullable=False)
COST = Column(name="cost", type=ColumnType.INTEGER, bounds=Bounds(lower=0, upper=9), nullable=False)
REGION = Column(name="region", type=ColumnType.TEXT, keys=("north", "south"), nullable=False)
TOWN = Column(name="town", type=ColumnType.TEXT, keys=("a", "b", "c"), nullable=False)
WORD = Column(name="word", type=ColumnType.TEXT, nullable=False)
CASES: dict[str, tuple[list[Column], dict[str, Any]]] = {
    "tree": ([AGE], {"branching": 4}),
    "prefix": ([AGE], {}),
    "search": ([AGE], {"rows": 9, "error": "1/2"}),
    "boxes": ([AGE, COST], {"depth": 3}),
    "hierarchy": ([REGION, TOWN], {"places": [("north", "a"), ("north", "b"), ("south", "c")]}),
    "cells": ([REGION, TOWN], {}),
    "tables": ([REGION, TOWN, COST], {}),
    "contrasts": ([REGION, TOWN, COST], {}),
    "one-way": ([REGION, TOWN, COST], {}),
    "mwem": ([REGION, TOWN], {"rounds": 4, "passes": 1}),
    "small-database": ([REGION, TOWN], {"accuracy": "1/4"}),
    "points": ([REGION, TOWN], {}),
    "clamped-points": ([REGION, TOWN], {}),
    "halfspaces": ([AGE, COST], {"resolution": 2}),
    "projected-halfspaces": ([AGE, COST, AGE], {"resolution": 2, "projections": 3}),
    "heavy-sets": ([REGION, TOWN], {"halves": 5}),
    "beginnings": ([WORD], {"queries": [["a", "b"], ["ab"]]}),
}
ROWS = 5
LOSSES: list[Pure | Zcdp] = [Pure(1), Zcdp(rho=1)]


def ready(name: str, loss: Pure | Zcdp, *, rows_per_unit: int) -> Any:
    columns, options = CASES[name]
    method = publishing_method(name, options)
    cells = method.cells_of(columns)
    offered = OfferedNoise(
        cells=cells,
        sizes=tuple(one.inner for one in cells),
        noise=loss,
        whole=loss,
        rows_per_unit=rows_per_unit,
    )
    return method.ready(offered)


class Shown:
    """Notes what each draw was given and gave; or gives what an earlier world was given."""

    def __init__(self, earlier: "Sequence[Any] | None" = None) -> None:
        self.drawn: list[tuple[Any, Any]] = []
        self.given: list[Any] = []
        self._earlier = earlier

    def draw(self, source: Any, exact: Any, drawn: Callable[[], Any]) -> Any:
        number = len(self.drawn)
        self.drawn.append((source, np.array(exact)))
        found = drawn() if self._earlier is None else self._earlier[number]
        self.given.append(found)
        return found

    def watch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for (kind, name), original in _DRAWN.items():
            monkeypatch.setattr(kind, name, self._noting(original))

        def argmax(scores: Any, scale: Fraction, rng: Any) -> Any:
            return self.draw(scale, scores, lambda: _ARGMAX(scores, scale, rng))

        monkeypatch.setattr(small_database, "gumbel_argmax", argmax)

    def _noting(self, original: Any) -> Any:
        def noting(source: Any, exact: Any, rng: Any) -> Any:
            return self.draw(source, exact, lambda: original(source, exact, rng))

        return noting


_DRAWN = {
    (kind, name): getattr(kind, name)
    for kind, name in (
        (DiscreteLaplace, "release"),
        (DiscreteGaussian, "release"),
        (LinfExponential, "release"),
        (ExponentialMechanism, "select"),
    )
}
_ARGMAX = gumbel_argmax


def _loss(source: Any, moved: np.ndarray[Any, Any], *, is_pure: bool) -> Fraction:
    """Return what one draw tells apart, if its exact numbers moved so."""
    sizes = [abs(int(one)) for one in moved.ravel()]
    if isinstance(source, DiscreteGaussian):
        return Fraction(sum(one * one for one in sizes)) / (2 * source.sigma_squared)
    if isinstance(source, DiscreteLaplace):
        epsilon = sum(sizes) / source.scale
        return epsilon if is_pure else epsilon**2 / 2
    if isinstance(source, LinfExponential):
        epsilon = max(sizes) / source.scale
        return epsilon if is_pure else epsilon**2 / 2
    scale = source if isinstance(source, Fraction) else source.scale
    width = (int(moved.max()) - int(moved.min())) / scale
    return width if is_pure else width**2 / 8


def loss_between(
    method: Any,
    one: list[Person],
    other: list[Person],
    monkeypatch: pytest.MonkeyPatch,
    *,
    is_pure: bool,
) -> Fraction:
    """Return the loss between two worlds that were shown the same."""
    sizes = method.offered.sizes
    worlds: list[Shown] = []
    for people in (one, other):
        world = Shown(worlds[0].given if worlds else None)
        world.watch(monkeypatch)
        method.measure(counted(people, sizes, most=ROWS), NumberedRng(7))
        worlds.append(world)
    assert len(worlds[0].drawn) == len(worlds[1].drawn) > 0
    losses = [
        _loss(source, here - there, is_pure=is_pure)
        for (source, here), (_, there) in zip(worlds[0].drawn, worlds[1].drawn, strict=True)
    ]
    # A search is charged for more questions than it mostly needs, and for each as for the worst.
    is_search = isinstance(getattr(method, "search", None), IntervalSearch)
    return method.search.questions * max(losses) if is_search else sum(losses, Fraction(0))


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("name", CASES)
def test_one_unit_moves_no_more_than_is_paid_for(name, loss, monkeypatch):
    """The last person has all rows in one cell; for a row in place of a person it is too much."""
    is_pure = isinstance(loss, Pure)
    if name == "prefix" and is_pure:
        return  # it has Gaussian noise, and is refused
    method, twin = (ready(name, loss, rows_per_unit=rows) for rows in (ROWS, 1))
    people = some_people(NumberedRng(3), method.offered.sizes, people=12, most=ROWS)
    paid, found = (loss.epsilon if isinstance(loss, Pure) else loss.rho), Fraction(0)
    for person in (people[0], people[5], people[-1]):
        rest = [one for one in people if one is not person]
        for worlds in ((rest, people), (people, rest)):
            assert loss_between(method, *worlds, monkeypatch, is_pure=is_pure) <= paid
            found = max(found, loss_between(twin, *worlds, monkeypatch, is_pure=is_pure))
    assert found > paid, "the twin takes a row for a person"
