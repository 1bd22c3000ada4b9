"""Samples of a judgement of two tables are within its price, and those of its twins are not.

What is looked at is the log of how much likelier all noisy distances are with a person than
without: no event tells the two apart better.
"""

from fractions import Fraction

import numpy as np
import pytest
from attrs import evolve

from discreet.audit.sampling import audit_outputs
from discreet.core.loss import Pure
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.synthesis.counted.counted_rows import CountedRows
from discreet.synthesis.related.judge_related import RelatedJudges, with_cluster
from tests.support.statistics.exact_tests import alpha
from tests.synthesis.related.related_people import MOST, owned_people, people

PRICE = Pure(2)
"""So much that what twins tell can be seen, though it is spread over many distances."""


@pytest.fixture(scope="module")
def judges(tmp_path_factory):
    """Return what judges patients and their visits, of a model with many rows in likely cells."""
    with owned_people(people(), tmp_path_factory.mktemp("audit")) as owner:
        release = owner.connect().synthesise_related("patients", "visits", rho=20)
        return RelatedJudges.of(release, PRICE)


def _worlds(release):
    """Return the rows of both tables without anybody, and with one person of as many rows as count.

    With no rows, all that is expected is missed; each row of the person makes that one less.
    """
    own, parents = release.child_cells, release.parent_cells
    sizes = tuple(one.size for one in parents), tuple(one.size for one in (*own, *parents))
    likely = [int(np.argmax(release.model.parents.shares(i))) for i in range(len(parents))]
    costs = [int(np.argmax(release.model.children.shares(i))) for i in range(len(own))]
    found = []
    for count in (0, 1):
        alone = CountedRows(sizes[0], np.array([likely]), np.array([count]))
        visits = CountedRows(sizes[1], np.array([[*costs, *likely]]), np.array([count * MOST]))
        found.append((alone, with_cluster(visits, len(own), release.of_children.cluster)))
    return found


def _exact(judges, world, patch):
    """Return the distances of both tables without noise."""
    with patch.context() as inner:
        inner.setattr(DiscreteLaplace, "release", lambda _, values, __: values)
        both = zip((judges.parents, judges.children), world, strict=True)
        return [judge.judged(rows, None).distances.values for judge, rows in both]


def _audited(judges, rng, patch, trials):
    worlds = _worlds(judges.release)
    exact = [_exact(judges, world, patch) for world in worlds]
    noises = [judges.parents.noise(), judges.children.noise()]
    outputs = []
    for truth in (0, 1):
        found = []
        for _ in range(trials):
            total = 0.0
            for place, noise in enumerate(noises):
                out = noise.release(exact[truth][place], rng)
                near, far = (np.abs(out - exact[world][place]).sum() for world in (0, 1))
                total += float(far - near) / float(noise.scale)
            found.append(total)
        outputs.append(found)
    share = alpha("synthesis/related/judge audit", parts=3)
    return audit_outputs(*outputs, confidence=1 - Fraction(share))


def test_samples_of_a_judgement_are_within_its_price(judges, rng, monkeypatch, soak):
    before, after = (_exact(judges, world, monkeypatch) for world in _worlds(judges.release))
    assert np.abs(before[0] - after[0]).max() == 1, "a person is one parent"
    assert np.abs(before[1] - after[1]).max() == MOST, "and moves distances by all its children"
    result = _audited(judges, rng, monkeypatch, soak.cases(4_000))
    assert not result.refutes(PRICE), result


@pytest.mark.parametrize("twin", ["a row for a person", "one distance for all"])
def test_samples_of_twins_are_not(judges, rng, monkeypatch, soak, twin):
    """One takes a row for a person; the other pays for one distance, and draws noise for that."""
    if twin == "a row for a person":
        broken = evolve(judges, children=evolve(judges.children, rows_per_unit=1))
    else:
        some = judges.children
        count = len(some.tables)
        broken = evolve(judges, children=evolve(some, price=Pure(some.price.epsilon * count)))
    result = _audited(broken, rng, monkeypatch, soak.cases(4_000))
    assert result.refutes(PRICE), result
