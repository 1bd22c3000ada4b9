"""Prefix queries trace exact answers online, and strangers as rarely as the bound says."""

import numpy as np
import pytest
from scipy import stats

from discreet.attacks.online.prefix_attack import PrefixQuery, play_prefixes, trace_prefixes
from discreet.attacks.online.sample_answers import ExactMeans, NoisyMeans
from discreet.core.errors import InvalidArgument
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.query_release.prefix_queries import PrefixQueries
from tests.support.statistics.exact_tests import alpha


def exactly(texts):
    return ExactMeans(rows=texts)


class Rounded:
    """Answers to the next third: far off, and traced all the same."""

    def __init__(self, texts):
        self.inner = ExactMeans(rows=texts)

    def answers(self, queries):
        return [round(3 * one) / 3 for one in self.inner.answers(queries)]


class Watched:
    """Keeps the queries, to look at them."""

    def __init__(self, texts):
        self.texts, self.inner, self.asked = texts, ExactMeans(rows=texts), []

    def answers(self, queries):
        self.asked.extend(queries)
        return self.inner.answers(queries)


@pytest.mark.parametrize("open_texts", [exactly, Rounded])
def test_all_rows_are_traced_and_no_stranger_is(open_texts, rng):
    level = alpha("attacks/prefixes/strangers", parts=8)
    found = trace_prefixes(open_texts, people=4, queries=3000, strangers=4, rng=rng, level=level)
    assert found.traced == 4
    assert found.false_alarms == 0
    assert found.to_json()["traced"] == 4
    assert (found.error < 1e-9) == (open_texts is exactly)


def test_the_exact_answer_is_the_mean_of_a_column_and_no_query_tells_its_own_column(rng):
    """[Ste16, claim 7.3.7]; the query at j depends on the signs before j alone."""
    kept = []

    def open_texts(texts):
        kept.append(Watched(texts))
        return kept[-1]

    found = trace_prefixes(open_texts, people=3, queries=20, strangers=2, rng=rng)
    (watched,) = kept
    assert found.error < 1e-9
    assert len(watched.asked) == 20
    width = len(watched.texts[0]) - 20
    for place, query in enumerate(watched.asked):
        assert all(len(one) == width + place + 1 and one[-1] == "1" for one in query.prefixes)
        begun = {one[:-1] for one in query.prefixes}
        assert {text[: width + place] for text in watched.texts} <= begun
    # The house's own prefix queries, which know all of them beforehand, answer alike.
    offline = PrefixQueries([set(query.prefixes) for query in watched.asked])
    shares = offline.linear.table @ offline.histogram(watched.texts) / 3
    assert 2 * shares - 1 == pytest.approx(ExactMeans(rows=watched.texts).answers(watched.asked))


def test_members_score_two_thirds_of_the_queries_together(rng):
    people, queries, games = 5, 600, 40
    totals = [
        trace_prefixes(exactly, people=people, queries=queries, rng=rng).members.sum()
        for _ in range(games)
    ]
    # A column's part, x̄ Σ(x − p), is in [−n, n] and has a mean of 2/3; its deviation is below 2.
    width = stats.norm.isf(alpha("attacks/prefixes/mean", parts=2)) * 2 / np.sqrt(queries * games)
    assert np.mean(totals) / queries == pytest.approx(2 / 3, abs=width)
    assert np.mean(totals) / queries > 1 / 3


def test_noise_for_all_queries_hides_everybody(rng):
    noise = DiscreteLaplace(scale=2 * 300)
    game = play_prefixes(
        lambda texts: NoisyMeans(rows=texts, noise=noise, rng=rng),
        people=3,
        queries=300,
        rounds=20,
        rng=rng,
        level=1e-4,
    )
    assert game.traced <= 2
    assert game.attributes == 300


def test_a_prefix_query():
    assert [PrefixQuery(("01",))(text) for text in ("01", "0", "011", "10")] == [1, -1, 1, -1]


@pytest.mark.parametrize(
    "change", [{"people": 0}, {"queries": 0}, {"strangers": 0}, {"level": 0}, {"level": 1}]
)
def test_bad_shapes_are_refused(change, rng):
    shape = {"people": 2, "queries": 3, "rng": rng}
    with pytest.raises(InvalidArgument):
        trace_prefixes(exactly, **{**shape, **change})


def test_answers_that_are_none_are_refused(rng):
    class Says:
        reply: object = None

        def __init__(self, texts):
            pass

        def answers(self, queries):
            return self.reply

    for reply in ([], [None], [float("nan")], [1.0, 1.0]):
        Says.reply = reply
        with pytest.raises(InvalidArgument, match="no mean"):
            trace_prefixes(Says, people=2, queries=3, rng=rng)
    with pytest.raises(InvalidArgument):
        play_prefixes(exactly, people=2, queries=3, rounds=1, rng=rng)
