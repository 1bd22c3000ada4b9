"""Bounds by cells: they hold, they have power, and they refuse what they cannot know."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.audit.finite_divergence import hockey_stick, renyi_divergence
from discreet.audit.histogram_bound import HistogramBound, audit_histogram
from discreet.audit.sampling import audit_outputs
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Approximate, ApproximateZcdp, Pure, Zcdp
from discreet.randomness.samplers import bernoulli
from tests.support.statistics.exact_tests import alpha


def coins(share: Fraction, count: int, rng) -> list[str]:
    return ["heads" if one else "tails" for one in bernoulli(share, count, rng).tolist()]


def test_bounds_lie_below_the_truth_and_near_it(rng):
    """Two coins of 3/4 and 1/4, whose divergences are known exactly."""
    sure = 1 - Fraction(alpha("audit/histogram/coins"))
    first, second = ({"heads": p, "tails": 1 - p} for p in (Fraction(3, 4), Fraction(1, 4)))
    samples = [coins(law["heads"], 160_000, rng) for law in (first, second)]
    found = audit_histogram(*samples, cells=2, confidence=sure)
    for order in (2, 4, 16):
        true = float(renyi_divergence(first, second, order)[1])
        assert 0.85 * true < found.renyi(order) <= true
    for epsilon, share in (("0", 0.9), ("1/2", 0.8), ("1", 0.1)):
        true = float(hockey_stick(first, second, epsilon)[1])
        assert share * true < found.delta(epsilon) <= true
    assert found.refutes(Pure(1))
    assert not found.refutes(Pure("1.1"))
    assert found.refutes(Approximate("1/2", "1/5"))
    assert found.refutes(Zcdp(rho="1/5"))


def test_enclosed_cells_give_exact_numbers():
    ends = [((Fraction(1, 2),) * 2, (Fraction(1, 2),) * 2), ((Fraction(1, 4),) * 2,) * 2]
    bound = HistogramBound(first=ends[0], second=ends[1], confidence=Fraction(1, 2))
    assert bound.delta(0) == Fraction(1, 2)
    assert float(bound.renyi(2)) == pytest.approx(np.log(2))


@pytest.mark.parametrize("values", ["numbers", "words", "rows", "mixed"])
def test_equal_laws_are_never_told_apart(values, rng):
    draws = rng.words(8000).reshape(2, 4000) % np.uint64(97)
    ways: dict[str, Callable[[Any], Any]] = {
        "numbers": int,
        "words": lambda one: "abc"[int(one) % 3],
        "rows": lambda one: (int(one), int(one) % 7),
        "mixed": lambda one: int(one) if one % 2 else "even",
    }
    made = ways[values]
    found = audit_histogram(*([made(one) for one in side] for side in draws), confidence="0.999999")
    assert found.delta(0) < Fraction(1, 5)
    assert not found.refutes(Pure("1/2"))
    assert "order 2" in str(found)


def test_bad_input_is_refused():
    with pytest.raises(InvalidArgument, match="too few"):
        audit_histogram([1, 2, 3], [1, 2, 3, 4])
    with pytest.raises(InvalidArgument, match="confidence"):
        audit_histogram([1] * 9, [2] * 9, confidence=1)
    found = audit_histogram([1] * 9, [2] * 9)
    with pytest.raises(InvalidArgument, match="order"):
        found.renyi(1)
    with pytest.raises(Unsupported):
        found.refutes(ApproximateZcdp(rho=1, delta="1e-6"))


@pytest.mark.parametrize("audit", [audit_histogram, audit_outputs])
@pytest.mark.parametrize(
    "huge", [10**400, (10**400, 1), (0, 10**400)], ids=["one", "first", "last"]
)
def test_numbers_beyond_floats_are_outputs_like_others(audit, huge):
    other = 1 if isinstance(huge, int) else (1, 2)
    mixed = [huge, huge, other, other] * 100  # every half of them is as mixed
    assert audit(mixed, [other] * 400, confidence="0.99").refutes(Pure(1))
    assert not audit(mixed, mixed, confidence="0.99").refutes(Pure(0))
