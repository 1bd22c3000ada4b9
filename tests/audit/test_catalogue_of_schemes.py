"""What people send who trust nobody, audited in one family: every scheme, on its worst two values.

As for noise (``test_catalogue.py``): reports of one value and of the other, and no bound above the
loss of one report. Most schemes' reports refute an eighth of that loss, so the audit has power.
"""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.audit.histogram_bound import audit_histogram
from discreet.audit.sampling import audit_outputs
from discreet.core.loss import Approximate, Pure
from discreet.local.frequency.hadamard_sketch import HadamardSketch
from discreet.local.frequency.k_ary import KaryResponse
from discreet.local.numbers.one_bit_mean import OneBitMean
from discreet.local.rappor.basic_rappor import BasicRappor
from discreet.local.rappor.rappor import Rappor
from discreet.local.repeated.memoised_rounding import MemoisedRounding
from discreet.local.scheme import Scheme
from discreet.local.shuffle.amplification import ReportBatch, amplify
from tests.local.case import Case
from tests.local.schemes import CASES
from tests.support.statistics.exact_tests import alpha

SAMPLES = 4000
SPREAD = (BasicRappor, Rappor, HadamardSketch)
"""Schemes that spread a loss over so many bits or rows that so few reports hardly show it."""


def sure() -> Fraction:
    return 1 - Fraction(alpha("audit/catalogue of schemes", parts=2 * len(CASES) + 3))


def reports(scheme: Scheme, value: Any, rng: Any) -> list[bytes]:
    return [row.tobytes() for row in scheme.randomise_many(np.array([value] * SAMPLES), rng)]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_no_bound_on_reports_exceeds_the_loss_of_one(case: Case, rng):
    loss = Pure(case.scheme.event().epsilon)
    samples = [reports(case.scheme, value, rng) for value in case.scheme.worst_pair()]
    found = audit_outputs(*samples, confidence=sure())
    assert not found.refutes(loss), str(found)
    assert found.epsilon_lower <= loss.epsilon
    cells = audit_histogram(*samples, confidence=sure())
    assert not cells.refutes(loss), str(cells)
    if loss.epsilon > Fraction(9, 10) and not isinstance(case.scheme, SPREAD):
        assert found.refutes(Pure(loss.epsilon / 8)), str(found)


def test_no_bound_on_kept_answers_exceeds_the_loss_of_one(rng):
    """All reports of a person whose value never changes lose what one of them does."""
    scheme = MemoisedRounding(bit=OneBitMean.calibrate(most=4, epsilon=1))
    sent = [
        scheme.randomise_histories(np.full((SAMPLES, 5), value), rng).reshape(5, SAMPLES).T
        for value in (0, 4)
    ]
    found = audit_outputs(*sent, confidence=sure())
    assert not found.refutes(Pure(scheme.event().epsilon)), str(found)
    assert found.refutes(Pure("1/4"))


PEOPLE = 60
BIT = KaryResponse.calibrate(categories=2, epsilon=2)


def counted(first: int, rng: Any) -> np.ndarray:
    """How many of a batch say 1, many times: all hold 0, or the first person holds another."""
    values = np.zeros((SAMPLES, PEOPLE), dtype=np.int64)
    values[:, 0] = first
    sent = BIT.randomise_many(values.ravel(), rng)
    return sent.reshape(SAMPLES, PEOPLE).sum(axis=1, dtype=np.int64)


def test_no_bound_on_a_closed_batch_exceeds_what_it_tells(rng):
    """The count is all that a shuffled batch of bits tells."""
    batch = amplify(BIT, ReportBatch(honest=PEOPLE - 1, closed=True))
    samples = [counted(first, rng) for first in (0, 1)]
    delta = Fraction(1, 100)
    loss = Approximate(batch.epsilon(delta), delta)
    found = audit_outputs(*samples, delta=delta, confidence=sure())
    assert loss.epsilon < BIT.event().epsilon
    assert not found.refutes(loss), str(found)


def test_sampling_catches_answers_that_are_not_kept(rng):
    """A new answer each time loses five times as much as is said for kept ones."""
    scheme = OneBitMean.calibrate(most=4, epsilon=1)
    values = [np.full(5 * SAMPLES, value) for value in (0, 4)]
    sent = [scheme.randomise_many(value, rng).reshape(SAMPLES, 5) for value in values]
    found = audit_outputs(*sent, confidence=sure())
    assert found.refutes(Pure(1)), str(found)
