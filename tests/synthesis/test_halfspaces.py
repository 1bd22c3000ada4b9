"""Halfspaces: nets, projections, exact counts, what is kept as JSON, and the loss."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from attrs import evolve

from discreet.audit.finding import FindingKind, replay_audit
from discreet.core.errors import DiscreetError, InvalidArgument
from discreet.core.loss import Pure, Zcdp
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.synthesis.counted.counted_rows import CountedRows
from discreet.synthesis.halfspaces.direction_net import DirectionNet
from discreet.synthesis.halfspaces.halfspace_answers import HalfspaceAnswers
from discreet.synthesis.halfspaces.halfspace_counts import HalfspaceCounts, rehearsed_halfspaces
from discreet.synthesis.halfspaces.halfspace_net import HalfspaceNet, Space, draw_projections
from discreet.synthesis.halfspaces.paper_halfspaces import PaperHalfspaces
from tests.support.statistics.exact_tests import alpha
from tests.support.statistics.numbered_rng import NumberedRng

PLANE = Space(sizes=(8, 6), constant=5)


def some_rows(number: int, count: int = 60) -> CountedRows:
    words = NumberedRng(number, label="rows").words(2 * count).reshape(-1, 2)
    codes = (words % np.array([8, 6], dtype=np.uint64)).astype(np.int64)
    return CountedRows((8, 6), codes, np.ones(count, dtype=np.int64) * 3)


def angles(count: int, dimension: int, number: int) -> np.ndarray:
    words = NumberedRng(number, label="angles").words(count * dimension).astype(np.float64)
    return (words / 2**63 - 1).reshape(count, dimension)


# ---------------------------------------------------------------- nets


@pytest.mark.parametrize(("dimension", "resolution"), [(2, 1), (2, 9), (3, 4), (5, 1)])
def test_every_direction_has_one_of_the_net_near(dimension, resolution):
    net = DirectionNet(dimension=dimension, resolution=resolution)
    rows = net.directions
    assert len(rows) == net.size == len({tuple(row) for row in rows.tolist()})
    assert (np.abs(rows).max(axis=1) == resolution).all()
    assert float(net.nearness) >= math.sqrt(dimension - 1) / (2 * resolution)
    for wanted in angles(300, dimension, 1):
        near = rows[net.nearest(wanted.tolist())]
        cosine = wanted @ near / np.linalg.norm(wanted) / np.linalg.norm(near)
        assert cosine > 0
        assert math.sqrt(max(0.0, 1 - cosine**2)) <= float(net.nearness) + 1e-9
    for place, row in enumerate(rows.tolist()):
        assert net.nearest(row) == place


def test_nets_that_cannot_be_are_refused():
    for dimension, resolution in ((1, 3), (13, 1), (10**9, 1), (6, 50), (2, 0)):
        with pytest.raises(InvalidArgument):
            DirectionNet(dimension=dimension, resolution=resolution)
    for wrong in ([0, 0], [1, math.nan], [1, 2, 3], [math.inf, 1]):
        with pytest.raises(InvalidArgument):
            DirectionNet(dimension=2, resolution=3).nearest(wrong)


# ---------------------------------------------------------------- counts


def by_hand(net: HalfspaceNet, rows: CountedRows, signs) -> list[int]:
    """One by one, in Python's integers."""
    found = []
    for direction in net.directions.directions.tolist():
        total = 0
        for code, count in zip(rows.codes.tolist(), rows.counts.tolist(), strict=True):
            point = [2 * c - (s - 1) for c, s in zip(code, net.space.sizes, strict=True)]
            point += [net.space.constant] if net.space.constant else []
            if signs is not None:
                point = [
                    sum(x * row[k] for x, row in zip(point, signs, strict=True))
                    for k in range(net.directions.dimension)
                ]
            total += count if sum(x * y for x, y in zip(point, direction, strict=True)) >= 0 else 0
        found.append(total)
    return found


def method_of(loss, *, rows: int = 1, projections=(), resolution: int = 2) -> HalfspaceCounts:
    return HalfspaceCounts.calibrate(
        space=PLANE,
        resolution=resolution,
        loss=loss,
        rows_per_unit=rows,
        projections=projections,
    )


def test_counts_are_exact(rng):
    rows = some_rows(1, 12)
    plain = method_of(Pure(1))
    assert plain.exact_counts(rows).tolist() == [by_hand(plain.net, rows, None)]
    signs = draw_projections(3, dimension=3, across=2, rng=rng)
    projected = method_of(Pure(1), projections=signs)
    expected = [by_hand(projected.net, rows, one) for one in signs]
    assert projected.exact_counts(rows).tolist() == expected
    with pytest.raises(InvalidArgument, match="not of this space"):
        plain.exact_counts(CountedRows((3,), np.zeros((0, 1), np.int64), np.zeros(0, np.int64)))


@pytest.mark.parametrize("rows", [1, 4])
def test_the_loss_is_that_of_all_halfspaces_together(rows, rng):
    """Basic composition for ε; for zCDP the deviation grows with the root of their number."""
    signs = draw_projections(3, dimension=3, across=2, rng=rng)
    for loss in (Pure("1/2"), Zcdp(rho="1/8")):
        method = method_of(loss, rows=rows, projections=signs)
        assert method.loss(rows_per_unit=rows) == loss
    size = 3 * DirectionNet(dimension=2, resolution=2).size
    pure = method_of(Pure("1/2"), rows=rows, projections=signs)
    assert pure.noise == DiscreteLaplace(scale=2 * rows * size)
    assert method.noise == DiscreteGaussian(sigma_squared=4 * rows**2 * size)


def test_a_space_and_a_net_that_do_not_fit_are_refused():
    net = DirectionNet(dimension=2, resolution=2)
    for projections in ((), (((1, 1), (1, 1)),), (((1, 1), (1, 0), (1, 1)),)):
        with pytest.raises(InvalidArgument):
            HalfspaceNet(space=PLANE, directions=net, projections=projections)
    with pytest.raises(InvalidArgument, match="too fine"):
        HalfspaceNet(
            space=Space(sizes=(2**31,) * 40),
            directions=DirectionNet(dimension=2, resolution=10**5),
            projections=(((1, -1),) * 40,),
        )
    for sizes, constant in (((), 0), ((0,), 0), ((2**40,), 0), ((4,), 2**40)):
        with pytest.raises(InvalidArgument):
            Space(sizes=sizes, constant=constant)


def test_useful_for_all_halfspaces_at_once():
    """(ε, δ, γ): each answer is within the error of a halfspace that is within the nearness."""
    share = alpha("synthesis/halfspaces/useful")
    rows = some_rows(2)
    total = int(rows.counts.sum())
    method = method_of(Zcdp(rho=200), resolution=4)
    promise = method.usefulness(rows=total, beta=Fraction(share))
    assert promise.nearness == method.net.directions.nearness
    answers = method.estimate(method.measure(rows, NumberedRng(6)), rows_per_unit=1)
    exact = method.exact_counts(rows)[0]
    for wanted in angles(50, 3, 3):
        near = exact[method.net.directions.nearest(wanted.tolist())]
        assert abs(answers.count(wanted.tolist()) - near) <= promise.error * total
    signs = draw_projections(1, dimension=3, across=2, rng=NumberedRng(1))
    projected = method_of(Pure(1), projections=signs)
    with pytest.raises(InvalidArgument, match="Nothing is promised"):
        projected.usefulness(rows=5, beta="0.1")
    coarse = HalfspaceCounts.calibrate(
        space=Space(sizes=(4,) * 6), resolution=1, loss=Pure(1), rows_per_unit=1
    )
    with pytest.raises(InvalidArgument, match="nearness below 1"):
        coarse.usefulness(rows=5, beta="0.1")


# ---------------------------------------------------------------- what is published


def test_answers_are_kept_as_json(rng):
    signs = draw_projections(3, dimension=3, across=2, rng=rng)
    for method in (method_of(Pure(2)), method_of(Zcdp(rho=1), projections=signs)):
        made_up = rehearsed_halfspaces(method, some_rows(9), angles(20, 3, 5).tolist(), rng)
        answers = method.estimate(method.measure(some_rows(1), rng), rows_per_unit=1)
        written = json.dumps(answers.with_rehearsal(made_up).to_json())
        again = HalfspaceAnswers.from_json(json.loads(written))
        assert json.dumps(again.to_json()) == written
        assert again.rehearsal == made_up
        assert again.event == method.event(1)
        for wanted in angles(9, 3, 2).tolist():
            assert again.count(wanted) == answers.count(wanted)
        assert 0 <= made_up.mean <= made_up.worst


def test_the_median_over_projections_answers(rng):
    signs = draw_projections(5, dimension=3, across=2, rng=rng)
    method = method_of(Zcdp(rho=10**6), projections=signs)
    answers = method.estimate(method.measure(some_rows(3), rng), rows_per_unit=1)
    wanted = [0.3, -1.0, 0.2]
    each = []
    for place, one in enumerate(signs):
        seen = np.array(wanted) @ np.array(one)
        each.append(answers.counts[place, method.net.directions.nearest(seen.tolist())])
    assert answers.count(wanted) == np.median(each)


def test_damaged_answers_are_refused(rng):
    answers = method_of(Pure(2)).estimate(
        method_of(Pure(2)).measure(some_rows(1), rng), rows_per_unit=1
    )
    good = answers.to_json()
    HalfspaceAnswers.from_json(good)
    for name, value in (
        ("format", "halfspaces/9"),
        ("counts", [[1, 2]]),
        ("counts", [[0.5] * 98]),
        ("projections", ["+x"]),
        ("projections", 5),
        ("noise", {"law": "none"}),
        ("event", {"kind": "none"}),
        ("resolution", "many"),
        ("sizes", None),
        ("rehearsal", {}),
    ):
        with pytest.raises(DiscreetError):
            HalfspaceAnswers.from_json(good | {name: value})
    for missing in good:
        with pytest.raises(DiscreetError):
            HalfspaceAnswers.from_json({k: v for k, v in good.items() if k != missing})
    for wrong in ([1, 2], [math.nan, 1, 1], [0, 0, 0]):
        with pytest.raises(InvalidArgument):
            answers.count(wrong)


# ---------------------------------------------------------------- paper mode


def test_the_paper_asks_for_what_nobody_can_build():
    plan = PaperHalfspaces.of(
        error=0.2, failure=0.05, nearness=0.5, bits=16, dimension=10, epsilon=1
    )
    small = 0.5 / 16
    assert plan.across >= 4 * math.log(8 / 0.1) / (small**2 - small**3) > plan.across - 1
    assert plan.projections >= 12 * (math.log(1 / 0.025) + 160 * math.log(2)) > plan.projections - 1
    assert not plan.is_feasible
    assert "Nobody can build that" in str(plan)
    with pytest.raises(InvalidArgument):
        PaperHalfspaces.of(error=0, failure=0.05, nearness=0.5, bits=16, dimension=10, epsilon=1)


# ---------------------------------------------------------------- neighbours


def test_measured_numbers_move_as_the_event_says():
    method = method_of(Pure(1), rows=3)
    rows = some_rows(1, 10)

    def with_unit(codes):
        more = np.array(codes, dtype=np.int64)
        counts = np.concatenate([rows.counts, np.ones(len(more), dtype=np.int64)])
        return CountedRows(rows.sizes, np.concatenate([rows.codes, more]), counts)

    def run(limit):
        def measured(given, recorder):
            noise = recorder.watch(method.noise, d_in=method.contribution(limit))
            return evolve(method, noise=noise).measure(given, recorder.rng)

        return measured

    for unit in ([[4, 3]] * 3, [[0, 0], [7, 5], [3, 2]], [[1, 1]]):
        assert replay_audit(run(3), rows, with_unit(unit), NumberedRng(1)) == ()
    found = replay_audit(run(1), rows, with_unit([[7, 5]] * 3), NumberedRng(1))
    assert {one.kind for one in found} == {FindingKind.CONTRIBUTION}


def test_replay_catches_the_loss_of_one_projection():
    """Twin: what one projection moves is claimed for all of them, as the text can be read."""
    signs = draw_projections(3, dimension=3, across=2, rng=NumberedRng(2))
    method = method_of(Pure(1), projections=signs)
    one = HalfspaceCounts.calibrate(
        space=PLANE, resolution=2, loss=Pure(1), rows_per_unit=1, projections=signs[:1]
    )
    rows = some_rows(1, 10)
    more = CountedRows(rows.sizes, rows.codes, rows.counts + (np.arange(10) == 4))

    def run(d_in):
        def measured(given, recorder):
            noise = recorder.watch(method.noise, d_in=d_in)
            return evolve(method, noise=noise).measure(given, recorder.rng)

        return measured

    assert replay_audit(run(method.contribution(1)), rows, more, NumberedRng(1)) == ()
    found = replay_audit(run(one.contribution(1)), rows, more, NumberedRng(1))
    assert {finding.kind for finding in found} == {FindingKind.CONTRIBUTION}
    assert one.noise.spread * 3 == method.noise.spread
