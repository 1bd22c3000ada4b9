"""SQL that an explanation offers is accepted, and does what is said of it."""

import re

import pytest

from discreet.roles.connection import connect
from discreet.roles.owner import own
from tests.support.projects.clinic import visit, write_project

OFFERED = re.compile(r"(CLAMP\(.*?\)) would cut .*\((CLAMP\(.*?\)) chooses it\)")

SUMS = (
    ("cost", "SELECT {} AS s FROM visits"),
    ("v.cost", "SELECT {} AS s FROM visits AS v"),
    ("x", "SELECT {} AS s FROM (SELECT cost AS x FROM visits)"),
    ('"total cost"', 'SELECT {} AS s FROM (SELECT cost AS "total cost" FROM visits)'),
    ('"desc"', 'SELECT {} AS s FROM (SELECT cost AS "desc" FROM visits)'),
    ("CLAMP(cost, 0, 5)", "SELECT clinic, {} AS s FROM visits GROUP BY clinic"),
    ("CLAMP(cost, 1, 4, 0.5)", "SELECT {} AS s FROM visits"),
    ("cost", "SELECT {} FILTER (WHERE urgent) AS s FROM visits"),
)
"""What is added up, and the query around the sum of it."""


@pytest.fixture(scope="module")
def connection(tmp_path_factory):
    rows = [
        visit(f"p{i}", "abcd"[j % 4], cost=(i % 3) * 2.5, urgent=j > 5)
        for i in range(60)
        for j in range(1 + 3 * (i % 10))
    ]
    folder = write_project(tmp_path_factory.mktemp("offered"), rows, epsilon="10000")
    file = folder / "discreet.toml"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("rows_per", "most_rows_per_unit = 40\nrows_per", 1))
    with own(folder) as owner:
        owner.profile("visits", epsilon=500, keys=["clinic"], values=["cost"])
    with connect(folder) as opened:
        yield opened


@pytest.mark.parametrize(("value", "query"), SUMS)
def test_a_sum_that_is_clamped_as_a_whole_is_accepted_and_has_that_noise(connection, value, query):
    (offer,) = connection.explain(query.format(f"SUM({value})"), epsilon=1).sums
    assert str(offer).startswith(f"{offer.sql} would cut about ")
    taken = connection.explain(query.format(offer.sql), epsilon=1)
    (again,) = taken.sums
    assert again.is_whole
    assert (again.total, again.whole_noise) == (offer.total, offer.whole_noise)
    assert again.sql == offer.sql  # values are in the same range: it is what was reckoned with


@pytest.mark.parametrize(
    ("value", "query"), [("x", SUMS[2][1]), ('"total cost"', SUMS[3][1]), ("cost", SUMS[0][1])]
)
def test_bounds_are_offered_in_the_words_of_the_query(connection, value, query):
    explained = connection.explain(query.format(f"SUM(CLAMP({value}, 0, 0.5))"), epsilon=1)
    (proposal,) = explained.bounds
    assert proposal.is_much_better
    clamped = [text for name, text in explained.steps() if name == "Clamped"]
    (said,) = (text for text in clamped if "would cut" in text)
    assert "{" not in said
    ((clamp, chooses),) = OFFERED.findall(said)
    for offered in (clamp, chooses):
        assert value in offered
        connection.explain(query.format(f"SUM({offered})"), epsilon=1)
