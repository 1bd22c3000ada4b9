"""Forty ordinary questions to a real table: no answer is misleading.

The truth is inside the total interval, or the value says that it is not known. Cells miss it no
more often than the 5 % of which their intervals speak.
"""

import re

import pytest

from discreet.roles.connection import connect
from docs._ext import forty_questions
from docs._ext.cookbook import places
from tests.support.statistics.exact_tests import alpha, binomial_p_value

QUESTIONS = forty_questions.questions()


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    folder = tmp_path_factory.mktemp("forty")
    forty_questions.make_project(folder)
    with connect(folder) as connection, forty_questions.plain(folder) as database:
        found = []
        for question in QUESTIONS:
            release = forty_questions.ask(connection, question)
            found.append((release, forty_questions.truths(database, question, release)))
        return found


def cells(answered, ends_of):
    """Yield for each cell with a truth whether it is outside the ends that are known."""
    for release, truths in answered:
        keys, _ = places(release)
        groups = [tuple(row[i] for i in keys) for row in release.rows]
        for name in {name for name, _ in truths}:
            for group, ends in zip(groups, ends_of(release, name), strict=True):
                truth = truths[name, group]
                if truth is not None:
                    low, high = ends or (None, None)
                    is_low = low is not None and float(truth) < low
                    yield is_low or (high is not None and float(truth) > high)


def test_no_answer_is_misleading(answered):
    outside = list(cells(answered, lambda release, name: release.totals(name)))
    missed, count = sum(outside), len(outside)
    assert count > 90
    # Cells of one answer share its profile, so this counts far fewer independent ones.
    assert missed <= 0.05 * count or binomial_p_value(missed, count, 0.05) > alpha("forty")


def test_noise_alone_would_mislead(answered):
    """Power: with limits that bind, intervals of noise miss the truth."""
    release, truths = answered[2]
    assert list(cells([(release, truths)], lambda one, name: one.intervals(name))) == [True]


def test_the_page_shows_these_questions():
    text = forty_questions.PAGE.read_text()
    titles = re.findall(r"^## \d+\. (.*)$", text, re.MULTILINE)
    assert titles == [question.title for question in QUESTIONS]
    assert len(titles) == 40
    assert all(f"```sql\n{question.sql}\n```" in text for question in QUESTIONS)
