"""Estimates from kept answers: reports of one device repeat its draws, and intervals know it."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from discreet.local import KaryResponse, OneBitMean, Rappor, RapporCoins, decode
from discreet.local.frequency.share_estimate import estimate_shares
from discreet.local.survey.read_survey import parse_survey
from discreet.local.survey.results import survey_results
from discreet.local.survey.tallies import SurveyTally
from discreet.local.tails import bennett_radius

K_ARY = KaryResponse.calibrate(categories=3, epsilon=1)
DEVICES, REPEATS, SHARE = 120, 4, 0.25


def coverage(repeats: int) -> float:
    """How likely the interval holds the truth if every device reports four times, exactly.

    A quarter of the devices hold the value: the number of supports is four times a sum of two
    binomial numbers.
    """
    holders = int(DEVICES * SHARE)
    p, q = float(K_ARY.held), float(K_ARY.other)
    law = np.convolve(
        stats.binom.pmf(np.arange(holders + 1), holders, p),
        stats.binom.pmf(np.arange(DEVICES - holders + 1), DEVICES - holders, q),
    )
    supports = REPEATS * np.arange(DEVICES + 1)
    found = estimate_shares(
        supports, REPEATS * DEVICES, held=K_ARY.held, other=K_ARY.other, repeats=repeats
    )
    return float(law[(found.low <= SHARE) & (found.high >= SHARE)].sum())


def test_intervals_hold_if_devices_repeat_themselves():
    assert coverage(REPEATS) >= 0.95
    assert coverage(1) < 0.75, "the twin counts every report as another device"


def test_the_radius_is_that_of_as_many_devices():
    one, few = np.ones(1), bennett_radius(np.ones(1), np.ones(1), 1000, 0.025)
    assert bennett_radius(one, one, 4000, 0.025, repeats=4) == few


def test_numbers_and_texts_widen_alike():
    bit = OneBitMean.calibrate(most=10, epsilon=1)
    tally = np.array([300, 500])
    plain, kept = bit.estimate_tally(tally), bit.estimate_tally(tally, repeats=4)
    assert kept.mean == plain.mean
    assert kept.error == pytest.approx(2 * plain.error)
    assert kept.low < plain.low < plain.high < kept.high
    coins = RapporCoins.calibrate(epsilon=4)
    scheme = Rappor(bits=8, hashes=1, cohorts=2, salt="s", coins=coins)
    ones = np.array([[900, 60, 60, 60, 60, 60, 60, 60, 1000]] * 2)
    texts = [str(number) for number in range(3)]
    once, often = (decode(scheme, ones, texts, repeats=repeats) for repeats in (1, 4))
    assert (often.low <= once.low).all()
    assert (often.p_values >= once.p_values).all()
    assert often.errors == pytest.approx(2 * once.errors)


TEXTS = """
name = "t"
purpose = "p"
reports = 4
[questions.q]
text = "Which?"
values = ["a"]
epsilon = 1
scheme = "k_ary"
"""


@pytest.mark.parametrize(("keeps", "wider"), [("no", 1.0), ("permanent", 2.0)])
def test_results_say_so(keeps, wider):
    survey = parse_survey(f'{TEXTS}keeps = "{keeps}"\n')
    found = survey_results(SurveyTally(survey, (np.array([600, 400]),), 1000))
    once = K_ARY.__class__.calibrate(categories=2, epsilon=1)
    error = math.sqrt(once.variance(1000, share=Fraction(0)))
    assert found.rows[0].error == pytest.approx(wider * error, rel=0.05)
    said = "kept on devices" in str(found).replace("\n ", "")
    assert said == (keeps == "permanent") == bool(found.notes)


def test_texts_have_the_confidence_that_is_asked_for():
    """They had 95 % whatever was asked for."""
    survey = parse_survey(
        'name = "t"\npurpose = "p"\n[questions.q]\ntext = "W?"\nepsilon = 4\nlongest = 4\n'
        'candidates = ["cat", "dog"]\n'
    )
    (question,) = survey.questions
    recipe = question.scheme.recipe()
    tally = np.full((recipe["cohorts"], recipe["bits"] + 1), 400)
    tally[:, -1] = 1000
    people = int(tally[:, -1].sum())
    widths = [
        (rows := survey_results(SurveyTally(survey, (tally,), people), confidence=level).rows)[
            0
        ].high
        - rows[0].low
        for level in ("0.5", "0.95", "0.9999")
    ]
    assert widths == sorted(widths)
    assert len(set(widths)) == 3
