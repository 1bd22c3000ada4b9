"""The cookbook: every question is answered, around the truth, as its page shows.

The truth is computed by plain DuckDB from SQL of its own. Where limits or clamps bind, the
question says so and has a second SQL for what they leave (``limited``); elsewhere its limits are so
wide that nothing binds, so an answer must be around the truth itself. Nothing is changed for the
tests: they ask what the page asks.

False alarms: one share of the suite's rate, divided among all intervals. That a group with hundreds
of people more than its threshold (HAVING, LIMIT, private keys) changes places is rarer by far.
"""

import re
from fractions import Fraction

import pytest

from discreet.releases.accuracy import error_of
from discreet.roles.connection import connect
from docs._ext import cookbook
from tests.support.statistics.exact_tests import alpha

QUESTIONS = cookbook.questions()
MOST_INTERVALS = 200
BETA = Fraction(alpha("cookbook", parts=MOST_INTERVALS))
REFUSED = [question for question in QUESTIONS if question.refused]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("cookbook")
    cookbook.make_project(place)
    return place


@pytest.fixture(scope="module")
def clinic(folder):
    with connect(folder) as connection:
        yield connection


@pytest.fixture(scope="module")
def database(folder):
    with cookbook.plain(folder) as connection:
        yield connection


@pytest.fixture(scope="module")
def sections():
    return re.split(r"\n(?=## )", cookbook.PAGE.read_text())[1:]


@pytest.mark.parametrize("number", range(1, len(QUESTIONS) + 1))
def test_question(number, clinic, database, sections):
    question = QUESTIONS[number - 1]
    release = cookbook.ask(clinic, question)
    truths = cookbook.truths(database, question, release)
    aimed_at = truths.get("under the limits", truths["truth"])
    assert not missed(release, aimed_at)
    for name, rank in question.ranks.items():
        check_ranks(release, name, rank["quantile"], database.execute(rank["values"]).fetchall())
    refused = str(cookbook.refusal(clinic, question)) if question.refused else ""
    rows = cookbook.table(release, truths)
    shown = cookbook.section(question, rows, number=number, refused=refused)
    assert masked(shown) == masked(sections[number - 1])


def missed(release, truth):
    """Return the outputs and groups whose interval does not hold the truth."""
    keys, noisy = cookbook.places(release)
    groups = [tuple(row[i] for i in keys) for row in release.rows]
    assert set(truth) <= set(groups)
    outside = []
    for place, i in enumerate(noisy):
        name = release.columns[i]
        empty = 0 if cookbook.is_total(release, name) else None
        for group, interval in zip(groups, release.intervals(name, 1 - BETA), strict=True):
            value = truth[group][place] if group in truth else empty
            if None not in (value, interval) and not interval[0] <= value <= interval[1]:
                outside.append((name, group, value, interval))
    return outside


def check_ranks(release, name, quantile, rows):
    keys, _ = cookbook.places(release)
    place = release.columns.index(name)
    index = release.view.outputs[place].estimate.index
    ranks = error_of(release.body.aggregates[index].noise, BETA)
    for row in release.rows:
        group = tuple(row[i] for i in keys)
        values = [value for *key, value in rows if tuple(key) == group and value is not None]
        below = sum(value < row[place] for value in values)
        up_to = sum(value <= row[place] for value in values)
        assert below - ranks <= Fraction(quantile) * len(values) <= up_to + ranks


def masked(section):
    """Return a section without its private numbers."""
    private: list[bool] = []
    lines = []
    for line in section.strip().splitlines():
        if line.startswith("| "):
            cells = line.strip("| ").split(" | ")
            private = private or [cell.endswith(", private") for cell in cells]
            line = " | ".join(
                "private" if hidden else cell for hidden, cell in zip(private, cells, strict=True)
            )
        lines.append(line)
    return lines


def test_the_limits_that_are_said_to_bind_do(clinic, database):
    question = next(one for one in QUESTIONS if one.title == "How many visits were there?")
    release = cookbook.ask(clinic, question)
    plain_truth = cookbook.truths(database, question, release)["truth"]
    assert missed(release, plain_truth), "the check has the power to find a biased answer"


@pytest.mark.parametrize("question", REFUSED, ids=lambda question: question.title)
def test_refusals_cost_nothing(question, clinic):
    before = clinic.budget()
    assert cookbook.refusal(clinic, question).code == question.refused
    assert clinic.budget() == before


def test_there_are_thirty_and_three():
    assert len(QUESTIONS) - len(REFUSED) == 30
    assert len(REFUSED) == 3
    assert len({question.title for question in QUESTIONS}) == 33


def test_the_intervals_are_no_more_than_the_share_allows():
    text = cookbook.PAGE.read_text()
    assert len(re.findall(r"±| to \S+\)", text)) <= MOST_INTERVALS


def test_the_page_is_complete(sections):
    assert cookbook.PAGE.read_text().startswith(cookbook.opening())
    assert len(sections) == len(QUESTIONS)
