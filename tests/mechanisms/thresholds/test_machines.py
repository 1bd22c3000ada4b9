"""How the machines live: answers in turn, one end, no second life, and what they refuse."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from discreet.accounting.accountants.pure import pure_loss
from discreet.core.contribution import Contribution, Metric
from discreet.core.errors import DiscreetError, InvalidArgument, Unsupported
from discreet.core.event import ComposedEvent, Event
from discreet.core.loss import Approximate, Pure
from discreet.core.mechanism_event import (
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    SparseVectorEvent,
)
from discreet.core.protocols import Interactive
from discreet.core.stated_event import ApproximateEvent
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.thresholds.above_threshold import above_threshold
from discreet.mechanisms.thresholds.adaptive_thresholds import AdaptiveThresholds
from discreet.mechanisms.thresholds.between_thresholds import BetweenThresholds, Side
from discreet.mechanisms.thresholds.halting_sparse_vector import HaltingSparseVector
from discreet.mechanisms.thresholds.interior_point import InteriorPoint
from discreet.mechanisms.thresholds.numeric_sparse import NumericSparse
from discreet.mechanisms.thresholds.sparse import sparse
from discreet.mechanisms.thresholds.sparse_vector import Redraw, SparseVector
from discreet.mechanisms.thresholds.stage_wise import StageWise
from tests.mechanisms.thresholds.transcripts import spent

ONE = Contribution(linf=1)
FAR = 10_000
HERE = FAR // 4
LOW, HIGH = -FAR, FAR
LOSS = Approximate(1, "1e-6")


def capped(**changes) -> SparseVector:
    usual: dict[str, Any] = {"most_above": 2, "most_queries": 5}
    return SparseVector(
        threshold_noise=DiscreteGaussian(sigma_squared=9),
        query_noise=DiscreteGaussian(sigma_squared=36),
        **usual | changes,
    )


def halting(most_above: int = 2) -> HaltingSparseVector:
    return HaltingSparseVector(
        threshold_noise=DiscreteGaussian(sigma_squared=9),
        query_noise=DiscreteGaussian(sigma_squared=36),
        ceiling=FAR // 2,
        most_above=most_above,
    )


MACHINES: dict[str, Any] = {
    "above_threshold": above_threshold(d_in=ONE, loss=Pure(1)),
    "sparse": sparse(d_in=ONE, loss=Pure(1), most_above=2),
    "capped": capped(),
    "kept": capped(redraw=Redraw.NEVER, most_queries=1000),
    "halting": halting(),
    "stage_wise": StageWise(stage=capped(), most_above=3),
    "adaptive stages": StageWise(stage=halting(), most_above=3),
    "numeric": NumericSparse.calibrate(d_in=ONE, loss=Pure(1), most_above=2),
}


@pytest.mark.parametrize("name", MACHINES)
def test_far_queries_are_answered_rightly_until_the_end(name: str, rng):
    machine = MACHINES[name]
    run = machine.open(threshold=HERE, d_in=ONE, rng=rng)
    most = 1 if name == "above_threshold" else getattr(machine, "most_above", 2)
    for _ in range(most):
        assert not run.ended
        assert not run.ask(LOW)
        assert run.ask(HIGH)
    assert run.ended
    assert run.event() == machine.event(ONE)


@pytest.mark.parametrize("name", MACHINES)
def test_nothing_is_answered_after_the_end(name: str, rng):
    run = MACHINES[name].open(threshold=HERE, d_in=ONE, rng=rng)
    answered = run.ask_many(np.full(100, HIGH))
    assert len(answered[0] if isinstance(answered, tuple) else answered) < 100
    for ask in (lambda: run.ask(HIGH), lambda: run.ask_many(np.full(3, HIGH))):
        with pytest.raises(Unsupported, match="has ended") as caught:
            ask()
        assert "Open another" in caught.value.next
        assert str(HIGH) not in str(caught.value)


@pytest.mark.parametrize("name", MACHINES)
def test_one_by_one_and_all_at_once_are_alike(name: str, rng):
    values = np.array([LOW, HIGH, LOW, LOW, HIGH, LOW, HIGH, HIGH])
    together = MACHINES[name].open(threshold=HERE, d_in=ONE, rng=rng).ask_many(values)
    together = together[0] if isinstance(together, tuple) else together
    run = MACHINES[name].open(threshold=HERE, d_in=ONE, rng=rng)
    single = []
    for value in values:
        single.append(bool(run.ask(int(value))))
        if run.ended:
            break
    assert single == together.tolist()


@pytest.mark.parametrize("name", MACHINES)
def test_thresholds_may_differ_from_query_to_query(name: str, rng):
    run = MACHINES[name].open(threshold=HERE, d_in=ONE, rng=rng)
    assert not run.ask(FAR // 3, threshold=FAR // 2)
    found = run.ask_many(np.array([0, 0]), thresholds=np.array([FAR // 2, -FAR]))
    assert (found[0] if isinstance(found, tuple) else found).tolist() == [False, True]


def test_a_hundred_thousand_queries_at_once(rng):
    values = np.full(100_000, LOW)
    values[[70_000, 90_000]] = HIGH
    run = sparse(d_in=ONE, loss=Pure(1), most_above=2).open(threshold=0, d_in=ONE, rng=rng)
    answers = run.ask_many(values)
    assert answers.size == 90_001
    assert np.flatnonzero(answers).tolist() == [70_000, 90_000]


def test_a_limit_of_queries_is_an_end_too(rng):
    run = capped().open(threshold=0, d_in=ONE, rng=rng)
    assert run.ask_many(np.full(7, LOW)).tolist() == [False] * 5
    assert run.ended


def test_stages_end_one_after_the_other(rng):
    machine = StageWise(stage=capped(), most_above=3)
    assert machine.counts() == [2, 1]
    run = machine.open(threshold=0, d_in=ONE, rng=rng)
    values = np.array([LOW] * 5 + [LOW] * 4 + [HIGH] + [HIGH])
    assert run.ask_many(values).tolist() == [False] * 9 + [True]
    assert run.ended
    event = machine.event(ONE)
    assert isinstance(event, ComposedEvent)
    assert len(event.parts) == 2


def test_halting_takes_negative_values_as_zero(rng):
    """Otherwise a refusal would tell, and the bound would not hold."""
    tiny = DiscreteGaussian(sigma_squared="1/100")
    machine = HaltingSparseVector(
        threshold_noise=DiscreteGaussian(sigma_squared="1/200"), query_noise=tiny, ceiling=0
    )
    assert machine.open(threshold=0, d_in=ONE, rng=rng).ask(LOW)
    with pytest.raises(InvalidArgument, match="ceiling"):
        machine.open(threshold=1, d_in=ONE, rng=rng)
    with pytest.raises(InvalidArgument, match="ceiling"):
        halting().open(threshold=0, d_in=ONE, rng=rng).ask(1, threshold=FAR)


def test_numeric_values_carry_fresh_noise(rng):
    machine = NumericSparse.calibrate(d_in=ONE, loss=Pure(10), most_above=50)
    run = machine.open(threshold=0, d_in=ONE, rng=rng)
    above, values = run.ask_many(np.full(50, HIGH))
    assert above.all()
    assert run.ended
    assert len(set(values.tolist())) > 10
    assert np.abs(values - HIGH).max() <= machine.value_noise.error_quantile("1e-12")


# ---------------------------------------------------------------- between, interior point


def test_between_thresholds_ends_between(rng):
    machine = BetweenThresholds.calibrate(d_in=ONE, loss=LOSS, centre=0)
    run = machine.open(d_in=ONE, epsilon=1, rng=rng)
    assert run.ask(LOW) is Side.BELOW
    assert run.ask(HIGH) is Side.ABOVE
    wide = BetweenThresholds(
        threshold_scale=2, query_scale=6, lower=-FAR // 2, upper=FAR // 2
    ).open(d_in=ONE, epsilon=1, rng=rng)
    answers = wide.ask_many(np.array([LOW, HIGH, LOW, 0, LOW]))
    assert answers.tolist() == [Side.BELOW, Side.ABOVE, Side.BELOW, Side.BETWEEN]
    with pytest.raises(Unsupported, match="has ended"):
        wide.ask(0)


def test_thresholds_that_are_too_near_are_refused(rng):
    near = BetweenThresholds(threshold_scale=1, query_scale=1, lower=0, upper=0)
    with pytest.raises(Unsupported):
        near.open(d_in=ONE, epsilon=1, rng=rng)


def test_interior_point_stays_with_what_it_found(rng):
    machine = InteriorPoint.calibrate(loss=LOSS, queries=100, beta="1e-9")
    values = np.arange(1000, 1000 + machine.size)
    run = machine.open(values, d_in=ONE, rng=rng)
    points = [run.point]
    assert run.ask_many([0, 999, 10**6]).tolist() == [False, False, True]
    assert run.ask(1000 + machine.size // 2)
    points.append(run.point)
    middle = 1000 + machine.size // 2
    assert points == [None, middle]
    assert run.ask_many([middle - 1, middle, 10**9]).tolist() == [False, True, True]
    assert run.event() == machine.event(ONE)


# ---------------------------------------------------------------- refusals

BAD_QUERIES = [1.5, 1.0, True, None, "1", np.float64(2), 2**62]


@pytest.mark.parametrize("query", BAD_QUERIES, ids=repr)
@pytest.mark.parametrize("name", MACHINES)
def test_what_is_not_an_integer_is_refused(name: str, query, rng):
    run = MACHINES[name].open(threshold=HERE, d_in=ONE, rng=rng)
    with pytest.raises(InvalidArgument) as caught:
        run.ask(query)
    assert not run.ended
    assert "1.5" not in str(caught.value)


@pytest.mark.parametrize("values", [np.array([0.5]), np.array(["a"]), np.zeros((2, 2), np.int64)])
def test_bad_arrays_are_refused(values, rng):
    run = above_threshold(d_in=ONE, loss=Pure(1)).open(threshold=0, d_in=ONE, rng=rng)
    with pytest.raises(InvalidArgument):
        run.ask_many(values)


def test_thresholds_must_fit(rng):
    half: Any = 0.5
    machine = above_threshold(d_in=ONE, loss=Pure(1))
    run = machine.open(threshold=0, d_in=ONE, rng=rng)
    with pytest.raises(InvalidArgument, match="as many thresholds"):
        run.ask_many(np.zeros(3, np.int64), thresholds=np.zeros(2, np.int64))
    with pytest.raises(InvalidArgument):
        machine.open(threshold=half, d_in=ONE, rng=rng)


@pytest.mark.parametrize("d_in", [Contribution(linf=0), Contribution(l2_squared=1)])
@pytest.mark.parametrize("name", MACHINES)
def test_a_wrong_sensitivity_is_refused(name: str, d_in: Contribution, rng):
    with pytest.raises(DiscreetError):
        MACHINES[name].open(threshold=0, d_in=d_in, rng=rng)


def test_bad_parameters():
    with pytest.raises(InvalidArgument):
        above_threshold(d_in=ONE, loss=Pure(0))
    with pytest.raises(InvalidArgument):
        sparse(d_in=ONE, loss=Pure(1), most_above=0)
    with pytest.raises(InvalidArgument):
        NumericSparse.calibrate(d_in=ONE, loss=Pure(0), most_above=1)
    with pytest.raises(InvalidArgument):
        capped(most_queries=0)
    with pytest.raises(InvalidArgument):
        BetweenThresholds(threshold_scale=1, query_scale=1, lower=1, upper=0)
    with pytest.raises(InvalidArgument):
        BetweenThresholds.calibrate(d_in=ONE, loss=Approximate(1, 0), centre=0)
    with pytest.raises(Unsupported, match="whole"):
        BetweenThresholds(threshold_scale=1, query_scale=1, lower=0, upper=9).event(
            Contribution(linf="1/2"), epsilon=9
        )
    with pytest.raises(Unsupported, match="one value"):
        InteriorPoint.calibrate(loss=LOSS, queries=1, beta="0.1").event(Contribution(linf=2))
    with pytest.raises(InvalidArgument):
        AdaptiveThresholds.calibrate(d_in=ONE, loss=LOSS, alpha=1, beta="0.1", queries=1)


def test_events_that_do_not_fit_are_refused():
    noise = DiscreteLaplaceEvent(scale=1, distance=1)
    other = DiscreteGaussianEvent(sigma_squared=1, distance_squared=1, metric=Metric.CHANGE_ONE)
    with pytest.raises(InvalidArgument, match="neighbours"):
        SparseVectorEvent(threshold_noise=noise, query_noise=other)
    with pytest.raises(InvalidArgument, match="fit together"):
        SparseVectorEvent(threshold_noise=noise, query_noise=noise, draws=2)


def test_the_machines_are_interactive(rng):
    """The protocol of the house: one event, one question at a time."""
    machines: list[Interactive] = [
        capped().open(threshold=0, d_in=ONE, rng=rng),
        StageWise(stage=capped(), most_above=3).open(threshold=0, d_in=ONE, rng=rng),
        NumericSparse.calibrate(d_in=ONE, loss=Pure(1), most_above=2).open(
            threshold=0, d_in=ONE, rng=rng
        ),
        BetweenThresholds.calibrate(d_in=ONE, loss=LOSS, centre=0).open(
            d_in=ONE, epsilon=1, rng=rng
        ),
    ]
    assert all(isinstance(machine.event(), Event) for machine in machines)


def test_a_threshold_far_beyond_its_noise_has_no_bound():
    with pytest.raises(Unsupported, match="too far"):
        spent(halting().event(ONE), "1e-6", "rdp")
    close = HaltingSparseVector(
        threshold_noise=DiscreteGaussian(sigma_squared=9),
        query_noise=DiscreteGaussian(sigma_squared=9),
        ceiling=1,
    )
    with pytest.raises(Unsupported, match="too small"):
        spent(close.event(ONE), "1e-6", "rdp")


@pytest.mark.parametrize("copying", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_machine_lives_once(copying, rng):
    run = above_threshold(d_in=ONE, loss=Pure(1)).open(threshold=0, d_in=ONE, rng=rng)
    with pytest.raises(Unsupported, match="cannot be copied"):
        copying(run)
    assert repr(run) == "<SparseVectorRun, open>"


# ---------------------------------------------------------------- accounts


def test_a_kept_threshold_is_paid_once():
    machine = SparseVector(
        threshold_noise=DiscreteLaplace(scale=10),
        query_noise=DiscreteLaplace(scale=40),
        most_above=5,
    )
    assert pure_loss([machine.event(ONE)]) == Pure("7/20")


@pytest.mark.parametrize("loss", [Approximate(1, "1e-6"), Approximate(3, "1e-9")])
def test_calibration_stays_within_its_target(loss: Approximate):
    for machine in (
        sparse(d_in=ONE, loss=loss, most_above=20),
        NumericSparse.calibrate(d_in=ONE, loss=loss, most_above=20),
    ):
        found = spent(machine.event(ONE), loss.delta)
        assert loss.epsilon * 99 / 100 < found <= loss.epsilon


def test_adding_curves_beats_composing_stages():
    """The source turns each stage into (ε, δ') and composes those; curves add with less."""
    stage = SparseVector(
        threshold_noise=DiscreteGaussian(sigma_squared=40_000),
        query_noise=DiscreteGaussian(sigma_squared=160_000),
        most_above=10,
        most_queries=1000,
    )
    ours = spent(StageWise(stage=stage, most_above=100).event(ONE), "1e-6")
    one = ApproximateEvent(epsilon=spent(stage.event(ONE), "1e-8"), delta="1e-8")
    assert ours < spent(one * 10, "1e-6")
