"""Rows are made k-anonymous with the least loss, and are given away all the same."""

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.attacks.reconstruction.guess_ceiling import play_guessing
from discreet.attacks.records.anonymised_rows import anonymise
from discreet.attacks.records.class_report import find_homogeneous, report_anonymity
from discreet.attacks.records.coded_rows import CodedRows, code_rows
from discreet.attacks.records.hierarchy import (
    Hierarchy,
    NumberIntervals,
    Prefixes,
    Suppression,
    Tree,
    forms,
)
from discreet.attacks.records.intersection import intersect_releases
from discreet.attacks.records.linkage import link_rows
from discreet.attacks.records.outside_knowledge import know_more, rule_out
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Pure
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.randomness.samplers import uniform_integers
from tests.support.statistics.exact_tests import alpha

JOBS = Tree(
    parents={
        "nurse": "health",
        "doctor": "health",
        "clerk": "office",
        "judge": "law",
        "health": "public",
        "law": "public",
        "office": "private",
    }
)
QUASI: dict[str, Hierarchy] = {
    "age": NumberIntervals(widths=[5, 10]),
    "job": JOBS,
    "sex": Suppression(),
}
PEOPLE = st.lists(
    st.tuples(
        st.one_of(st.none(), st.integers(20, 45)),
        st.sampled_from(["nurse", "doctor", "clerk", "judge", None]),
        st.sampled_from("FM"),
        st.integers(0, 2),
    ),
    min_size=1,
    max_size=14,
)
NAMES = ("age", "job", "sex", "ill")


def rows_of(records) -> CodedRows:
    return code_rows({name: [one[place] for one in records] for place, name in enumerate(NAMES)})


# ---- Hierarchies.


def test_steps_nest():
    """What is alike at a step is alike at the next, for every hierarchy and every two values."""
    cases: list[tuple[Hierarchy, list]] = [
        (NumberIntervals(widths=[2, 6, "12"]), [-7, -6, -1, 0, 1, 5, 6, 11, 12, 0.5]),
        (Prefixes(length=4), ["1011", "1012", "101", "2", ""]),
        (JOBS, ["nurse", "doctor", "clerk", "judge"]),
        (Suppression(), [1, 2]),
    ]
    for hierarchy, values in cases:
        before = forms(hierarchy, values, 0)
        assert before == values
        for step in range(1, hierarchy.steps + 1):
            after = forms(hierarchy, values, step)
            for one, other in product(range(len(values)), repeat=2):
                assert before[one] != before[other] or after[one] == after[other]
            before = after
        assert set(before) == {None}


@pytest.mark.parametrize(
    "make",
    [
        lambda: NumberIntervals(widths=[]),
        lambda: NumberIntervals(widths=[0]),
        lambda: NumberIntervals(widths=[4, 6]),
        lambda: NumberIntervals(widths=[5, 5]),
        lambda: Prefixes(length=0),
        lambda: Tree(parents={}),
        lambda: Tree(parents={"a": "b", "b": "a"}),
        lambda: Tree(parents={"a": "b", "b": "c", "d": "c"}),
        lambda: NumberIntervals(widths=[5]).shown("x", 1),
        lambda: Prefixes(length=2).shown("abc", 1),
        lambda: JOBS.shown("pilot", 1),
        lambda: forms(JOBS, [], 9),
    ],
)
def test_what_is_no_hierarchy_is_refused(make):
    with pytest.raises(InvalidArgument):
        make()


# ---- The anonymiser.


def plain_loss(records, steps, k):
    """The loss of one combination of steps by its definition, and how many rows are left out."""
    shown = [
        tuple(QUASI[name].shown(one[place], steps[place]) for place, name in enumerate(QUASI))
        for one in records
    ]
    classes = Counter(shown)
    lost, dropped = Fraction(0), 0
    for row in shown:
        if classes[row] < k:
            dropped, lost = dropped + 1, lost + 3
            continue
        for place, name in enumerate(QUASI):
            values = {one[place] for one in records}
            alike = [v for v in values if QUASI[name].shown(v, steps[place]) == row[place]]
            lost += Fraction(len(alike) - 1, max(1, len(values) - 1))
    return lost / (3 * len(records)), dropped


@settings(max_examples=40)
@given(PEOPLE, st.integers(1, 4), st.sampled_from([0, Fraction(1, 10), 1]))
def test_anonymiser_finds_the_least_loss(records, k, share):
    if len(records) < k:
        with pytest.raises(InvalidArgument, match="too few rows"):
            anonymise(rows_of(records), quasi=QUASI, k=k)
        return
    made = anonymise(rows_of(records), quasi=QUASI, k=k, most_dropped=share)
    tried = [
        plain_loss(records, steps, k)
        for steps in product(*(range(one.steps + 1) for one in QUASI.values()))
    ]
    assert made.loss == min(loss for loss, dropped in tried if dropped <= share * len(records))
    assert made.dropped <= share * len(records)
    assert made.rows.rows == len(records) - made.dropped
    if made.rows.rows:
        assert made.rows.class_sizes(list(QUASI)).min() >= k
    kept = made.kept.tolist()
    everybody = np.arange(made.rows.rows)
    assert made.rows.values("ill", everybody) == [records[place][3] for place in kept]
    recoded = made.recode(rows_of(records))
    assert made.rows.values("job", everybody) == recoded.values("job", kept)
    assert f"{made.dropped} rows were left out" in str(made)


def hospital(people: int, rng) -> dict[str, list]:
    return {
        "zip": [f"10{one:02d}" for one in uniform_integers(60, people, rng).tolist()],
        "born": (1940 + uniform_integers(60, people, rng)).tolist(),
        "sex": ["FM"[one] for one in uniform_integers(2, people, rng).tolist()],
        "ward": uniform_integers(40, people, rng).tolist(),
        "ill": [f"d{one}" for one in uniform_integers(2000, people, rng).tolist()],
    }


BY: dict[str, Hierarchy] = {
    "zip": Prefixes(length=4),
    "born": NumberIntervals(widths=[5, 10, 20]),
    "sex": Suppression(),
}


def test_nobody_of_anonymous_rows_is_linked_and_many_are_given_away(rng):
    """The baseline does what it says, and each attack goes round it."""
    everybody = hospital(3000, rng)
    rows = code_rows(everybody)
    made = anonymise(rows, quasi=BY, k=4)
    assert link_rows(rows, rows, on=list(BY)).share > Fraction(1, 5)
    assert link_rows(made.rows, made.recode(rows), on=list(BY)).released.size == 0
    assert report_anonymity(made.rows, quasi=list(BY), sensitive="ill").k >= 4
    facts = rule_out(made.rows, quasi=list(BY), sensitive="ill", most=99)
    assert list(facts.exposed) == sorted(facts.exposed)
    assert facts.exposed[-1] == made.rows.rows
    alike = find_homogeneous(made.rows, quasi=list(BY), sensitive="ill")
    assert facts.exposed[0] == alike.exposed
    (more,) = know_more(made.rows, quasi=list(BY), sensitive="ill").columns
    assert more.column == "ward"
    assert more.alone > made.rows.rows / 10
    assert "values ruled out" in str(facts)


def test_what_one_class_gives_away():
    """Four people of one class and one illness: 4-anonymous, and everybody knows it."""
    rows = code_rows({"zip": ["1010", "1011", "1012", "1013"], "ill": ["flu"] * 4})
    made = anonymise(rows, quasi={"zip": Prefixes(length=4)}, k=4)
    assert made.rows.values("zip", [0]) == ["101*"]
    assert find_homogeneous(made.rows, quasi=["zip"], sensitive="ill").exposed == 4
    assert "No other column" in str(know_more(made.rows, quasi=["zip"], sensitive="ill"))


def test_two_releases_give_away_what_neither_does(rng):
    """Two hospitals share some patients, and each publishes 5-anonymous rows of its own."""
    shared, releases = hospital(100, rng), []
    for _ in range(2):
        own = hospital(2900, rng)
        rows = code_rows({name: shared[name] + own[name] for name in shared})
        releases.append(anonymise(rows, quasi=BY, k=5))
    victims = code_rows(shared)
    found = intersect_releases(releases, victims, sensitive="ill")
    assert found.exposed > 10 > 5 * max(found.alone)
    truth = victims.values("ill", np.arange(100))
    for candidates, value in zip(found.candidates, truth, strict=True):
        assert candidates is None or value in candidates
    assert found.contradicted == 0
    assert len(found.to_json()["known"]) == found.exposed
    assert f"{found.exposed} together" in str(found)


def test_releases_that_contradict_one_another_tell_nothing():
    made = [
        anonymise(
            code_rows({"zip": ["1", "1"], "ill": ills}), quasi={"zip": Prefixes(length=1)}, k=2
        )
        for ills in (["a", "b"], ["c", "d"])
    ]
    found = intersect_releases(made, code_rows({"zip": ["1", "2"]}), sensitive="ill")
    assert (found.exposed, found.contradicted, found.candidates[1]) == (0, 1, None)
    assert "nothing can be told" in str(found)


def test_private_answers_about_a_class_stay_below_the_ceiling(rng):
    """Homogeneous or not: of noisy counts of a class, a fair bit is guessed at most so often."""

    class Counts:
        def __init__(self, bit: bool) -> None:
            self.noisy = DiscreteLaplace(scale=1).release(np.array([3 + bit]), rng)

        def answers(self, queries):
            return self.noisy.tolist()

    record = play_guessing(
        Counts, lambda it: it.answers([None])[0] >= 4, trials=3000, loss=Pure(1), rng=rng
    )
    assert not record.breaks_ceiling(alpha("anonymise/class"))
    assert record.lowest(alpha("anonymise/power")) > Fraction(3, 5)


def test_bad_input_is_refused():
    rows = code_rows({"zip": ["1", "2"], "ill": ["a", "b"]})
    with pytest.raises(InvalidArgument, match="share from 0 to 1"):
        anonymise(rows, quasi={}, k=2)
    with pytest.raises(InvalidArgument, match="share from 0 to 1"):
        anonymise(rows, quasi={"zip": Suppression()}, k=2, most_dropped=2)
    with pytest.raises(InvalidArgument, match="no column age"):
        anonymise(rows, quasi={"age": Suppression()}, k=2)
    many = code_rows({f"c{place}": ["a", "b"] for place in range(9)})
    wide = {f"c{place}": Prefixes(length=5) for place in range(9)}
    with pytest.raises(InvalidArgument, match="combinations"):
        anonymise(many, quasi=wide, k=1)
    with pytest.raises(InvalidArgument, match="nothing to intersect"):
        intersect_releases([], rows, sensitive="ill")
    with pytest.raises(InvalidArgument, match="at least 0"):
        rule_out(rows, quasi=["zip"], sensitive="ill", most=-1)
