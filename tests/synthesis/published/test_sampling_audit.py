"""Samples of every publishing method are within its claim, and those of its twin are not.

What is looked at is the log of how much likelier a whole transcript is in one world than in the
other: no event tells two worlds apart better. It is worked out by showing the transcript to both.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.audit.sampling import audit_outputs
from discreet.core.loss import Pure, Zcdp
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.noise.linf_exponential import LinfExponential
from tests.support.statistics.exact_tests import alpha
from tests.support.statistics.numbered_rng import NumberedRng
from tests.synthesis.people import Person, counted
from tests.synthesis.published.test_neighbours import CASES, Shown, ready

ROWS = 500
"""So many that a twin is caught also where its price is shared by a hundred draws."""
DELTA = Fraction(1, 100)


def likelier(source: Any, given: Any, here: Any, there: Any) -> float:
    """Return the log of how much likelier a draw is if its exact numbers are ``here``."""
    if isinstance(source, DiscreteLaplace | DiscreteGaussian | LinfExponential):
        out = np.asarray(given, dtype=np.float64)
        near, far = np.abs(out - here), np.abs(out - there)
        if isinstance(source, DiscreteGaussian):
            return float((far**2 - near**2).sum() / (2 * float(source.sigma_squared)))
        if isinstance(source, LinfExponential):
            return float((far.max() - near.max()) / float(source.scale))
        return float((far - near).sum() / float(source.scale))
    scale = float(source if isinstance(source, Fraction) else source.scale)
    chances = [
        scores[given] / scale
        - math.log(np.exp((scores - scores.max()) / scale).sum())
        - scores.max() / scale
        for scores in (np.asarray(here, dtype=np.float64), np.asarray(there, dtype=np.float64))
    ]
    return float(chances[0] - chances[1])


def transcripts(
    method: Any, worlds: list[list[Person]], truth: int, trials: int, patch: Any
) -> list[float]:
    """Draw in one of two worlds, and return how much likelier each transcript is in the first."""
    rows = [counted(people, method.offered.sizes, most=ROWS) for people in worlds]
    found = []
    for number in range(trials):
        drawn = Shown()
        shown = drawn
        for place in (truth, 1 - truth):
            shown = drawn if place == truth else Shown(drawn.given)
            shown.watch(patch)
            # Coins and projections come first, without a look at the rows: alike in both worlds.
            method.measure(rows[place], NumberedRng(2 * number + truth, label="transcripts"))
        parts = [drawn.drawn, shown.drawn]
        pairs = zip(drawn.given, *(parts if truth == 0 else parts[::-1]), strict=True)
        found.append(sum(likelier(one[0], given, one[1], two[1]) for given, one, two in pairs))
    return found


@pytest.mark.parametrize("name", CASES)
def test_samples_are_within_the_claim_and_those_of_a_row_for_a_person_are_not(
    name, monkeypatch, soak
):
    """A person with all rows in one cell comes. False alarms: one in 10^9 audits."""
    share = alpha("synthesis/published/audit", parts=2 * len(CASES))
    loss: Pure | Zcdp = Zcdp(rho="1/8") if name == "prefix" else Pure("1/2")
    delta = DELTA if name == "prefix" else Fraction(0)
    claim = Fraction(1, 2) if isinstance(loss, Pure) else _epsilon(loss.rho)
    trials = soak.cases(500 if name in ("prefix", "search") else 200)
    for rows_per_unit, is_sound in ((ROWS, True), (1, False)):
        method = ready(name, loss, rows_per_unit=rows_per_unit)
        last = tuple(size - 1 for size in method.offered.sizes)
        others: list[Person] = [[tuple(0 for _ in last)], [last]] * 3
        worlds = [others, [*others, [last] * ROWS]]
        first, second = (
            transcripts(method, worlds, truth, trials, monkeypatch) for truth in (0, 1)
        )
        result = audit_outputs(first, second, delta=delta, confidence=1 - Fraction(share))
        assert (result.epsilon_lower <= claim) is is_sound, result


def _epsilon(rho: Fraction) -> Fraction:
    """Return the ε that a ρ implies at δ, by the simplest conversion."""
    return Fraction(float(rho) + 2 * math.sqrt(float(rho) * math.log(1 / DELTA)))
