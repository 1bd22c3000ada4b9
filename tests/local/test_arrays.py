"""Reports of many people have the law of a device's report; estimates are unbiased and cover."""

import numpy as np
import pytest

from tests.local.case import Case
from tests.local.schemes import CASES
from tests.support.local.device_law import device_law
from tests.support.statistics.exact_tests import alpha, cells_p_value

PEOPLE = 4000


def numbered(case: Case, value):
    """The law of a report of ``value``, with reports numbered, and the numbers."""
    law = device_law(case.scheme.recipe(), value)
    return {report: number for number, report in enumerate(sorted(law))}, law


def as_numbers(reports: np.ndarray, numbers: dict[bytes, int]) -> list[int]:
    return [numbers[row.tobytes()] for row in reports]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_arrays_follow_the_law_of_the_device(case: Case, rng):
    level = alpha("local/arrays", parts=len(CASES)) / len(case.values)
    for value in case.values:
        numbers, law = numbered(case, value)
        reports = case.scheme.randomise_many(np.array([value] * PEOPLE), rng)
        assert reports.shape == (PEOPLE, case.scheme.size)
        found = as_numbers(reports, numbers)
        assert cells_p_value(found, {numbers[r]: p for r, p in law.items()}) > level


@pytest.mark.parametrize("case", CASES, ids=str)
def test_another_value_has_another_law(case: Case, rng):
    """Power: reports of the worst pair are told apart, with people enough for that."""
    first, second = case.scheme.worst_pair()
    numbers, law = numbered(case, first)
    people = int(12_000 * max(1, 1 / float(case.scheme.event().epsilon)) ** 2)
    reports = case.scheme.randomise_many(np.array([second] * people), rng)
    cells = {numbers[r]: p for r, p in law.items()}
    assert cells_p_value(as_numbers(reports, numbers), cells) < 1e-3


@pytest.mark.parametrize("case", CASES, ids=str)
def test_one_report_is_of_the_device(case: Case, rng):
    law = device_law(case.scheme.recipe(), case.values[0])
    assert case.scheme.randomise(case.values[0], rng) in law


@pytest.mark.parametrize("case", CASES, ids=str)
def test_tallies_add_up(case: Case, rng):
    values = np.array([case.values[i % len(case.values)] for i in range(50)])
    reports = case.scheme.randomise_many(values, rng)
    whole = case.scheme.tally(reports)
    parts = case.scheme.tally(reports[:20]) + case.scheme.tally(reports[20:])
    assert (whole == parts).all()
