"""Neighbour replay of two related tables: all that is measured, with a person more or less.

Both worlds are shown the same noisy numbers, from the engine's counts on, and what was exact in
them differs by no more than what is paid for, whatever noise was drawn: no test here fails by
chance, but those of twins, whose scores would have to stand still.
"""

import json
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from attrs import evolve

from discreet.core.loss import Pure
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.project.noise import choose_noise
from discreet.project.passage import Leg
from discreet.synthesis.related.measure_children import (
    SCORES,
    ChildMechanism,
    MeasuredChildren,
)
from tests.support.projects.frames import owned
from tests.support.projects.gate import open_permit
from tests.support.projects.memory import SALT, MemoryEngine

MOST = 4
COLUMNS = {
    "patients": {
        "patient": "integer",
        "group": {"type": "text", "keys": ["a", "b", "c"]},
        "age": {"type": "integer", "min": 0, "max": 9},
    },
    "visits": {
        "patient": "integer",
        "kind": {"type": "text", "keys": ["x", "y", "z"], "nullable": False},
        "cost": {"type": "integer", "min": 0, "max": 19},
    },
}
KINDS = {
    "patients": pa.schema([("patient", pa.int64()), ("group", pa.string()), ("age", pa.int64())]),
    "visits": pa.schema([("patient", pa.int64()), ("kind", pa.string()), ("cost", pa.int64())]),
}
_DRAWN = {kind: kind.release for kind in (DiscreteLaplace, DiscreteGaussian)}


def _people():
    """Return rows of 300 people by table: children depend on their parents' group and age."""
    random = np.random.default_rng(2)
    parents, children = [], []
    for person in range(300):
        group, age = int(random.integers(0, 3)), int(random.integers(0, 10))
        parents.append((person, "abc"[group], age))
        kinds = (group + (random.random(int(random.integers(0, 2 + group))) < 0.1)) % 3
        children += [(person, "xyz"[kind], age + 5) for kind in kinds]
    return {"patients": parents, "visits": children}


def _with(rows, parents, children):
    return {"patients": [*rows["patients"], *parents], "visits": [*rows["visits"], *children]}


def _without(rows, person):
    return {name: [row for row in some if row[0] != person] for name, some in rows.items()}


def _worlds():
    """Return people, and with one more or less: many rows, no parent, no children, odd values."""
    rows, new = _people(), 1_000
    busy = max(range(300), key=lambda person: sum(row[0] == person for row in rows["visits"]))
    return {
        "all": rows,
        "many children": _with(rows, [(new, "a", 0)], [(new, "z", 19)] * 30),
        "many parents": _with(
            rows, [(new, "c", 9), (new, "a", 0), (new, None, None)], [(new, "x", 0)] * 3
        ),
        "no parent": _with(rows, [], [(new, "x", 0)] * 9),
        "no children": _with(rows, [(new, "b", 4)], []),
        "odd": _with(
            rows, [(new, "b", 400)], [(new, "q", 0)] * 5 + [(new, "y", i) for i in range(9)]
        ),
        "one less": _without(rows, busy),
    }


def _arrow(rows):
    return {
        name: pa.Table.from_pylist(
            [dict(zip(KINDS[name].names, row, strict=True)) for row in some], schema=KINDS[name]
        )
        for name, some in rows.items()
    }


@pytest.fixture(scope="module")
def found(project):
    """Return what an engine finds in each world, by the world and the plan."""
    return _found(_plan(project, rho=1), _worlds())


def _found(plan, worlds):
    exact = {}
    for name, rows in worlds.items():
        engine = MemoryEngine(_arrow(rows))
        for one in (plan.parents_plan, plan.children_plan):
            exact[name, one] = engine.execute(one, SALT, open_permit())
        engine.close()
    return exact


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    place = tmp_path_factory.mktemp("replay")
    tables = {name: KINDS[name].empty_table() for name in KINDS}
    with owned(
        tables,
        columns=COLUMNS,
        budget={"rho": 100},
        rows_per_group=MOST,
        groups_per_unit=1,
        ledger=place / "ledger",
        id_space=place.name,
    ) as owner:
        yield owner


def _plan(owner, **said):
    return owner.connect().explain_related("patients", "visits", **said).plan


class _World:
    """Notes what noise is given and shows; or shows what an earlier world was shown."""

    def __init__(self, earlier=None):
        self.exact, self.noises, self.shown = [], [], []
        self._earlier = earlier

    def run(self, plan, exact, rng, monkeypatch):
        """Run all legs of a plan; ``exact`` has what the engine finds for each."""

        def release(noise, values, source):
            number = len(self.exact)
            self.exact.append(np.array(values))
            self.noises.append(noise)
            drawn = _DRAWN[type(noise)]
            out = drawn(noise, values, source) if self._earlier is None else self._earlier[number]
            self.shown.append(out)
            return out

        public = plan._leg(())
        with monkeypatch.context() as patch:
            for kind in _DRAWN:
                patch.setattr(kind, "release", release)
            while isinstance(public, Leg):
                public = public.published(exact[public.plan], rng)


def _loss(first, second):
    """Return the loss between two worlds that were shown the same, in their measure."""
    assert len(first.exact) == len(second.exact)
    is_pure = all(isinstance(noise, DiscreteLaplace) for noise in first.noises)
    pure, rho = Fraction(0), Fraction(0)
    for here, there, noise in zip(first.exact, second.exact, first.noises, strict=True):
        moved = [abs(int(a) - int(b)) for a, b in zip(here, there, strict=True)]
        if isinstance(noise, DiscreteGaussian):
            rho += Fraction(sum(one * one for one in moved)) / (2 * noise.sigma_squared)
        else:
            pure += sum(moved) / noise.scale
            rho += (sum(moved) / noise.scale) ** 2 / 2
    return pure if is_pure else rho


def _losses(plan, found, names, rng, monkeypatch):
    """Return the loss between all people and each of some other worlds, in both directions."""
    exact = {
        name: {one: aggregates for (other, one), aggregates in found.items() if other == name}
        for name, _ in found
    }
    losses = {}
    for name in names:
        for one, other in (("all", name), (name, "all")):
            first = _World()
            first.run(plan, exact[one], rng, monkeypatch)
            second = _World(first.shown)
            second.run(plan, exact[other], rng, monkeypatch)
            losses[one, other] = _loss(first, second)
    return losses


@pytest.mark.parametrize("said", [{"rho": 2}, {"epsilon": 3}, {"rho": 2, "by": ["group"]}])
def test_one_person_moves_no_more_than_is_paid_for(project, found, said, rng, monkeypatch):
    plan = _plan(project, **said)
    price = plan.price.of_noise
    budget = price.epsilon if isinstance(price, Pure) else price.rho
    names = [name for name in _worlds() if name != "all"]
    losses = _losses(plan, found, names, rng, monkeypatch)
    assert max(losses.values()) <= budget
    assert losses["all", "many children"] > budget / 2, "nearly all of it is used"
    assert losses["all", "no parent"] == 0, "children of nobody do not count"


def test_no_random_person_moves_more_than_is_paid_for(project, soak, rng, monkeypatch):
    """People of any number of rows, with any values, join; others leave."""
    random = np.random.default_rng(rng.words(1))
    rows = _people()
    worlds = {"all": rows}
    for number in range(soak.cases(2)):
        more = _with(rows, _random_rows(random, "abcq", 4), _random_rows(random, "xyzq", 20))
        less = _without(rows, int(random.integers(0, 300)))
        worlds[f"{number}"] = more if random.random() < 0.7 else less
    plan = _plan(project, rho=2)
    names = [name for name in worlds if name != "all"]
    losses = _losses(plan, _found(plan, worlds), names, rng, monkeypatch)
    assert max(losses.values()) <= plan.price.of_noise.rho


def _random_rows(random, values, most):
    """Return fewer rows than ``most`` of a new person, some with values that cannot be."""
    words = random.integers(0, len(values), int(random.integers(0, most)))
    return [(1_000, values[word], int(random.integers(-2, 22))) for word in words]


def test_replay_catches_a_row_that_is_taken_for_a_person(project, found, rng, monkeypatch):
    """The twin counts up to four children of a person, and pays for one, as peers do."""
    plan = _plan(project, rho=2)
    twin = evolve(plan, rows=evolve(plan.rows, rows_per_unit=1))
    assert twin.children_plan == plan.children_plan
    losses = _losses(twin, found, ["many children"], rng, monkeypatch)
    assert min(losses.values()) > plan.price.of_noise.rho


def test_replay_catches_scores_that_are_paid_for_once(project, found, rng, monkeypatch):
    """The twin draws the noise of one score for each of all pairs."""
    plan = _plan(project, rho=2)

    def twin(one):
        return choose_noise(one.each, one.price * SCORES)

    monkeypatch.setattr(ChildMechanism, "score_noise", twin)
    losses = _losses(plan, found, ["many children"], rng, monkeypatch)
    assert max(losses.values()) > plan.price.of_noise.rho


def test_measured_children_survive_being_stored(project, found, rng):
    plan = _plan(project, rho=20)
    public = plan._leg(())
    while isinstance(public, Leg):
        public = public.published(found["all", public.plan], rng)
    body = json.loads(json.dumps(public))
    again = MeasuredChildren.from_json(body["children"])
    assert again.to_json() == {name: body["children"][name] for name in ("cluster", "measured")}
    assert again.cluster.columns[0] == 0, "children depend on the group"
    assert body["children"]["links"]["scores"]["values"]
