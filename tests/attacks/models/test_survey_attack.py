"""Devices that are watched for days: laws of the attacks, and ceilings that they stay below."""

from fractions import Fraction

import pytest

from discreet.attacks.models.survey_attack import (
    MOST,
    SurveyAttack,
    average_reports,
    crossing_share,
    find_crossing,
    link_devices,
)
from discreet.attacks.reconstruction.guess_ceiling import GuessingRecord, guess_ceiling
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Pure
from discreet.local.numbers.one_bit_mean import OneBitMean
from tests.support.statistics.exact_tests import alpha

EPSILONS = ["1/10", "1", "3"]


@pytest.mark.parametrize("run", [average_reports, link_devices, find_crossing])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_no_attack_passes_its_ceiling(run, epsilon, rng):
    report = run(SurveyAttack(epsilon=epsilon, days=20, devices=200), rng)
    assert not report.breaks_ceiling(Fraction(alpha("attacks/models/survey", parts=9)))


def test_averaging_wins_where_answers_are_drawn_anew_and_not_where_they_are_kept(rng):
    report = average_reports(SurveyAttack(epsilon=1, days=60, devices=200), rng)
    anew, kept = report.attempts
    assert anew.share > Fraction(97, 100)
    assert anew.record.ceiling > Fraction(9999, 10000)
    assert abs(kept.record.ceiling - guess_ceiling(Pure(1))) < Fraction(1, 10**9)
    assert kept.record.lowest("1e-9") < kept.record.ceiling


def test_a_device_that_forgets_is_caught(rng):
    """The broken twin draws anew each day, and claims the ceiling of kept answers."""
    report = average_reports(SurveyAttack(epsilon=1, days=60, devices=200), rng)
    anew, kept = (one.record for one in report.attempts)
    twin = GuessingRecord(right=anew.right, trials=anew.trials, ceiling=kept.ceiling)
    assert twin.breaks_ceiling("1e-9")


def test_kept_reports_are_name_tags(rng):
    report = link_devices(SurveyAttack(epsilon=1, devices=200), rng)
    assert report["kept answers"].share > Fraction(97, 100)
    assert report["drawn anew each day"].record.ceiling < Fraction(3, 4)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_day_of_crossing_is_seen_as_often_as_the_law_says(epsilon, rng):
    level = Fraction(alpha("attacks/models/crossing", parts=6))
    found = find_crossing(SurveyAttack(epsilon=epsilon, days=9, devices=600), rng)
    record = found["memoised rounding"].record
    share = crossing_share(OneBitMean.calibrate(most=MOST, epsilon=epsilon))
    assert record.lowest(level) <= share <= record.highest(level)
    assert record.lowest(level) > Fraction(1, 2), "the attack has power"


def test_crossing_share_by_enumeration():
    scheme = OneBitMean.calibrate(most=MOST, epsilon=1)
    odds = scheme.odds()
    truth = odds / (1 + odds)
    right = Fraction(0)
    for low in (0, 1):
        for high in (0, 1):
            mass = (truth if low == 0 else 1 - truth) * (truth if high == 1 else 1 - truth)
            right += mass * (Fraction(1, 2) if low == high else 1)
    assert crossing_share(scheme) == right


@pytest.mark.parametrize("wrong", [{"epsilon": 0}, {"epsilon": 1, "days": 2}])
def test_bad_input_is_refused(wrong):
    with pytest.raises(InvalidArgument):
        SurveyAttack(**wrong)
