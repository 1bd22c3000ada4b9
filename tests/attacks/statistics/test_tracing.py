"""Tracing finds members with the corrected threshold, and accuses innocents as rarely as said."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from discreet.attacks.statistics.attribute_counts import expected_attributes
from discreet.attacks.statistics.false_discovery import DiscoveryControl, discoveries
from discreet.attacks.statistics.sign_data import as_means, as_signs, draw_people, uniforms
from discreet.attacks.statistics.strong_priors import UniformMean
from discreet.attacks.statistics.tracing import (
    TracingVerdict,
    accused_of,
    threshold_of,
    trace_people,
)
from discreet.attacks.statistics.tracing_weights import TracingStatistic, weights_of
from discreet.core.errors import InvalidArgument
from tests.support.statistics.exact_tests import alpha, clopper_pearson

LEVEL = 0.05


def a_population(attributes, rng):
    return 2 * uniforms((attributes,), rng) - 1


def test_the_corrected_threshold_traces_two_thirds_and_the_printed_one_hardly_anybody(rng):
    """With d = 32n²: 66-73 % against 1-3 %, each with its exact interval."""
    share = alpha("attacks/tracing/power", parts=4)
    corrected = printed = tries = 0
    for people in (8, 12):
        d = 32 * people**2
        for _ in range(300):
            p = a_population(d, rng)
            x, z = draw_people(p, people, rng), draw_people(p, 1, rng)
            score = float((x[0] - z[0]).astype(float) @ x.mean(axis=0))
            corrected += score > threshold_of(LEVEL, d)
            printed += score > np.sqrt(8 * d * np.log(1 / LEVEL))
            tries += 1
    low, high = clopper_pearson(corrected, tries, share)
    assert low < 0.73
    assert high > 0.66
    assert low > 0.4
    assert clopper_pearson(printed, tries, share)[0] < 0.03
    assert clopper_pearson(printed, tries, share)[1] < 0.2


@pytest.mark.parametrize("factor", [0.05, 0.3, 1.0])
def test_the_level_of_the_threshold_is_proved_by_the_exact_worst_case(factor):
    """For q = 1, p = 0 score is twice a centred binomial; the printed threshold has level δ²."""
    d = 1000
    law = stats.binom(2 * d, 0.5)

    def exceeds(threshold):
        return law.sf(np.floor(d + threshold / 2))

    level = LEVEL * factor
    assert exceeds(threshold_of(level, d)) <= level
    assert exceeds(np.sqrt(8 * d * np.log(1 / level))) <= level**2
    assert exceeds(1.41 * np.sqrt(d * np.log(1 / level))) > level / 2
    if factor == 1.0:
        assert exceeds(np.sqrt(8 * d * np.log(1 / level))) == pytest.approx(2.6e-4, rel=0.05)
        assert exceeds(threshold_of(level, d)) == pytest.approx(7.4e-3, rel=0.05)


def test_moments_of_the_white_box_score(rng):
    """[4.8]: n = 20, d = 20,000: members score 2d/3n on average, others 0 with s.d. 56.6."""
    people, d, others = 20, 20_000, 200
    p = a_population(d, rng)
    x, y = draw_people(p, people, rng), draw_people(p, others, rng)
    mean = x.mean(axis=0)
    members, strangers = (x - p) @ mean, (y - p) @ mean
    spread = np.sqrt(d * (2 / 15 + 8 / (15 * people)))
    width = stats.norm.isf(alpha("attacks/tracing/moments", parts=4))
    assert abs(members.mean() - 2 * d / (3 * people)) < width * spread / np.sqrt(people) * 1.5
    assert abs(strangers.mean()) < width * spread / np.sqrt(others) * 1.5
    assert strangers.std() == pytest.approx(spread, rel=width / np.sqrt(2 * others))
    assert strangers.std() != pytest.approx(np.sqrt(d / 3), rel=0.05)


@pytest.mark.parametrize("null", ["product", "plug-in", "references", "gaussian"])
def test_members_are_found_and_innocents_are_not(null, rng):
    people, d = 10, 6000
    p = a_population(d, rng)
    if null == "gaussian":
        draw = lambda count: p + stats.norm.ppf(uniforms((count, d), rng) * 0.999998 + 1e-6)  # noqa: E731
    else:
        draw = lambda count: draw_people(p, count, rng)  # noqa: E731
    x, candidates, references = draw(people), draw(200), draw(400)
    release = x.mean(axis=0)
    found = trace_people(
        release,
        np.concatenate([x, candidates]),
        references,
        null=null,
        level=0.01,
        control="each",
    )
    share = alpha("attacks/tracing/innocents", parts=4)
    assert found.accused[:people].all()
    wrong = int(found.accused[people:].sum())
    # References that are shared make the accusations dependent; their mean is known within 1/20.
    assert wrong <= stats.binom.isf(share, 200, 0.016)
    assert found.verdict is TracingVerdict.FOUND
    assert set(range(people)) <= set(accused_of(found))


@pytest.mark.parametrize("statistic", ["correlation", "clipped", "homer", "likelihood"])
def test_every_statistic_traces_exact_means(statistic, rng):
    people, d = 10, 4000
    p = a_population(d, rng)
    x, y = draw_people(p, people, rng), draw_people(p, 50, rng)
    found = trace_people(
        x.mean(axis=0),
        np.concatenate([x, y]),
        draw_people(p, 50, rng),
        statistic=statistic,
        pool=draw_people(p, 400, rng),
        distortion=1.0,
        level=1e-3,
    )
    assert found.accused[:people].all()
    assert not found.accused[people:].any()


@pytest.mark.parametrize("kind", ["rounded", "adversarial"])
def test_distorted_means_are_traced_as_well(kind, rng):
    """Rounding to tenths times 3 costs nothing; the worst way leaves 2/3 − .3n/(n+1)."""
    people, d = 9, 20_000
    p = a_population(d, rng)
    x, z = draw_people(p, people, rng), draw_people(p, 100, rng)
    mean = x.mean(axis=0)
    release = np.round(mean / 0.3) * 0.3 if kind == "rounded" else mean - 0.3 * np.sign(mean)
    found = trace_people(release, x, z, level=1e-6, control="each")
    assert found.accused.all()
    total = found.scores.sum() / d
    expected = 2 / 3 if kind == "rounded" else 2 / 3 - 0.3 * people / (people + 1)
    width = stats.norm.isf(alpha("attacks/tracing/distorted", parts=2))
    assert total == pytest.approx(expected, abs=width * np.sqrt(people * 1.5 / d))
    assert abs(total - 0.1) > 0.2


def test_correlated_attributes_need_the_empirical_null(rng):
    """A hundred copies of each attribute break the other nulls; ranks stay right.

    By one reference each a third is accused at the level of a twentieth, with a deviation of .28
    over references: the mean over 100 of them is nearly seven deviations above a tenth.
    """
    d, copies = 60, 100
    p = a_population(d, rng)

    def draw(count):
        return np.repeat(draw_people(p, count, rng), copies, axis=1)

    release, innocents, references = draw(30).mean(axis=0), draw(200), draw(299)
    alone = [
        trace_people(release, innocents, one[None, :], control="each").accused.sum()
        for one in references[:100]
    ]
    assert sum(alone) > 100 * 200 / 10
    for null in ("product", "plug-in"):
        told = trace_people(release, innocents, references, null=null, control="each")
        assert told.verdict is TracingVerdict.CANNOT_TELL
        assert "null 'references'" in str(told)
        assert not told.accused.any()
        assert (told.p_values == 1).all()
    found = trace_people(release, innocents, references, null="references", control="each")
    share = alpha("attacks/tracing/correlated")
    # Given the references' 15th largest score, the chance is a Beta(15, 285): 0.16 bounds it.
    assert stats.beta.sf(0.16, 15, 285) < share
    assert found.accused.sum() <= stats.binom.isf(share, 200, 0.16)


@pytest.mark.parametrize("null", ["product", "plug-in", "gaussian"])
def test_independent_attributes_contradict_nothing(null, rng):
    """Fair coins are the worst case of the bound: their scores have all of the variance."""
    p = np.zeros(500)
    for references in (2, 20, 200):
        if null == "gaussian":
            x, z = (stats.norm.isf(uniforms((count, 500), rng)) for count in (5, references))
        else:
            x, z = draw_people(p, 5, rng), draw_people(p, references, rng)
        told = trace_people(x.mean(axis=0), x, z, null=null, control="each")
        assert told.verdict is TracingVerdict.FOUND
        assert "differ" not in told.why


def test_homers_distance_is_an_inner_product():
    q, pool = np.array([0.3, -0.8, 1.0]), np.array([[1, -1, 1], [-1, -1, 1], [1, 1, 1]])
    weights = weights_of(TracingStatistic.HOMER, q, pool)
    for y in np.array([[1, 1, 1], [1, -1, 1], [-1, 1, -1]]):
        distance = (np.abs(y - pool.mean(axis=0)) - np.abs(y - q)).sum()
        assert y @ weights == pytest.approx(distance)


def test_the_likelihood_weights_are_a_likelihood_ratio():
    q, pool = np.array([0.3, -0.8]), np.array([[1, -1]] * 30 + [[-1, 1]] * 10)
    weights = weights_of(TracingStatistic.LIKELIHOOD, q, pool)
    a, b = (values * 40 / 41 for values in (q, pool.mean(axis=0)))

    def loglik(y, means):
        return np.log((1 + y * means) / 2).sum()

    one, other = np.array([1, 1]), np.array([-1, 1])
    gap = (loglik(one, a) - loglik(one, b)) - (loglik(other, a) - loglik(other, b))
    assert (one - other) @ weights == pytest.approx(gap)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.floats(0.001, 0.5))
def test_false_discovery_control_is_scipys(values, level):
    for control, method in (
        (DiscoveryControl.BENJAMINI_HOCHBERG, "bh"),
        (DiscoveryControl.BENJAMINI_YEKUTIELI, "by"),
    ):
        adjusted = stats.false_discovery_control(values, method=method)
        found = discoveries(values, level, control)
        assert (found[adjusted < level * (1 - 1e-9)]).all()
        assert not (found[adjusted > level * (1 + 1e-9)]).any()


def test_too_few_references_or_attributes_cannot_tell():
    x = np.array([[1, -1, 1, 1]])
    few = trace_people([0.1, 0.2, 0.3, 0.4], x, -x, null="references")
    assert few.verdict is TracingVerdict.CANNOT_TELL
    assert not few.accused.any()
    assert "19 are enough" in str(few)
    for release in ([0.1, 0.2, 0.3, 0.4], [0.0] * 4):
        found = trace_people(release, x, -x)
        assert found.verdict is TracingVerdict.CANNOT_TELL
        assert str(found).startswith("Cannot tell")


@pytest.mark.parametrize("null", ["references", "plug-in", "product"])
def test_a_few_attributes_that_many_strangers_share_cannot_tell(null, rng):
    """Of four signs nobody's row is rare enough, with however many references."""
    p = np.zeros(4)
    references = draw_people(p, 2000, rng)
    release = np.array([0.5, 0.5, 0.5, 0.5])
    found = trace_people(
        release, np.ones((3, 4)), references, null=null, control="each", level=1e-3
    )
    assert found.verdict is TracingVerdict.CANNOT_TELL
    assert "attributes are too few" in str(found)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"release": [0.1, float("nan")]}, "gap"),
        ({"release": [[0.1, 0.2]]}, "list of means"),
        ({"release": []}, "list of means"),
        ({"candidates": [[1, 0]]}, "no sign"),
        ({"candidates": [[1.0, float("nan")]]}, "no sign"),
        ({"candidates": np.array([[-128, 1]], dtype=np.int8)}, "no sign"),
        ({"candidates": [[1, 1, 1]]}, "other attributes"),
        ({"candidates": np.empty((0, 2))}, "no candidates"),
        ({"candidates": [["a", "b"]]}, "no table"),
        ({"references": [[2, 1]]}, "references"),
        ({"references": np.empty((0, 2))}, "no references"),
        ({"level": 0}, "level"),
        ({"level": float("nan")}, "number"),
        ({"level": "often"}, "number"),
        ({"null": "normal"}, "null"),
        ({"control": "none"}, "control"),
        ({"statistic": "homer"}, "pool"),
        ({"statistic": "clipped", "pool": [[1, 1]]}, "distortion"),
        ({"statistic": "likelihood", "null": "gaussian", "pool": [[1, 1]]}, "signs"),
    ],
)
def test_what_cannot_be_traced_is_refused(change, words):
    usual = {"release": [0.1, 0.2], "candidates": [[1, -1]], "references": [[-1, 1]]}
    with pytest.raises(InvalidArgument, match=words):
        trace_people(**{**usual, **change})


def test_signs_of_bits():
    assert as_signs([[True, False]]).tolist() == [[1, -1]]
    with pytest.raises(InvalidArgument, match="yes-or-no"):
        as_signs([[2, 0]])


def test_nobody_found_is_said_as_that_and_where_nobody_could_be_found_too(rng):
    """Twenty references find a group of 40 members or no one: "nobody" would be a wrong verdict."""
    p = a_population(3000, rng)
    strangers, references = draw_people(p, 40, rng), draw_people(p, 20, rng)
    release = draw_people(p, 500, rng).mean(axis=0)
    few = trace_people(release, strangers, references, null="references")
    assert few.verdict is TracingVerdict.CANNOT_TELL
    many = trace_people(release, strangers, references, level=alpha("attacks/tracing/nobody"))
    assert many.verdict is TracingVerdict.NOBODY
    assert "does not show" in str(many)


def test_means_of_shares():
    assert as_means([0, 0.25]).tolist() == [-1, -0.5]
    for shares in ([-0.1], [1.5], [float("nan")], ["x"]):
        with pytest.raises(InvalidArgument, match="shares"):
            as_means(shares)


def test_rare_attributes_make_equal_rows_of_different_people(rng):
    """Many have none of them: one reference without any is no reason to refuse the pool."""
    p = np.full(300, -0.98)
    x, pool = draw_people(p, 10, rng), draw_people(p, 60, rng)
    pool = np.unique(np.concatenate([np.full((1, 300), -1, dtype=np.int8), pool]), axis=0)
    for nobody in (np.full(300, -1), np.full((1, 300), -1)):
        trace_people(x.mean(axis=0), x, nobody, statistic="homer", pool=pool)
    known = pool[np.argmax((pool > 0).sum(axis=1))]
    with pytest.raises(InvalidArgument, match="in common"):
        trace_people(x.mean(axis=0), x, known, statistic="homer", pool=pool)


def test_representation_shows_no_row():
    found = trace_people([0.5, 0.5], [[1, 1]], [[-1, 1]])
    assert "0.5" not in repr(found)


def test_a_subsample_gives_away_its_own_people_and_no_others(rng):
    """The mean of 25 of 60 people: no attack traces more than 1/α² of them, and this one those.

    An attribute adds .0264 to a member's score, with a variance of .048, and at most 2; the
    threshold is 9.96 lengths of the weights, whose squares are .030. With 6,000 it was 1.4
    deviations away. With 20,000 all 25 pass it but for 2e-14, by Bernstein's inequality.
    """
    d, people, inside = 20_000, 60, 25
    p = a_population(d, rng)
    x = draw_people(p, people, rng)
    found = trace_people(
        x[:inside].mean(axis=0),
        x,
        draw_people(p, 1, rng),
        statistic="clipped",
        pool=draw_people(p, 200, rng),
        distortion=0.5,
        level=alpha("attacks/tracing/subsample", parts=people),
        control="each",
    )
    assert found.accused[:inside].all()
    assert not found.accused[inside:].any()


def test_the_p_value_of_normal_data_is_uniform_for_strangers(rng):
    """With one reference its variance is 2‖q‖²; forgetting the reference would be seen.

    Then 12 % have p-values below .05; of 2,500 too few to be told apart with a chance of 3e-12.
    """
    d, tries = 40, 2500
    draws = stats.norm.ppf(uniforms((tries, 3, d), rng) * (1 - 2**-50) + 2**-51)
    release = draws[0, 2]
    p_values = np.array(
        [
            trace_people(release, one[0], one[1], null="gaussian", control="each").p_values[0]
            for one in draws
        ]
    )
    share = alpha("attacks/tracing/gaussian", parts=4)
    for level in (0.05, 0.3):
        low, high = clopper_pearson(int((p_values <= level).sum()), tries, share)
        assert low < level < high
    forgotten = stats.norm.sf(stats.norm.isf(p_values) * np.sqrt(2))
    assert clopper_pearson(int((forgotten <= 0.05).sum()), tries, share)[0] > 0.05


@pytest.mark.parametrize(("people", "references"), [(1, 1), (2, 2), (3, 1), (10, 1), (10, 3)])
def test_the_plug_in_null_is_right_for_few_people_and_few_references(people, references, rng):
    """Means of few people are often ±1: taken for means of the population they hide the variance.

    Then a sixth of all strangers had p-values below 0.01, as the twin in the last lines has.
    """
    d, tries = 300, 600
    found = taken = 0
    for _ in range(tries):
        p = a_population(d, rng)
        release = draw_people(p, people, rng).mean(axis=0)
        stranger, theirs = draw_people(p, 1, rng), draw_people(p, references, rng)
        traced = trace_people(release, stranger, theirs, null="plug-in", control="each")
        found += int(traced.p_values[0] <= 0.01)
        spread = np.sqrt(2 * (release**2 * (1 - release**2)).sum()) + 1e-9
        taken += int(stats.norm.sf(traced.scores[0] / spread) <= 0.01)
    share = alpha("attacks/tracing/few people", parts=10)
    assert clopper_pearson(found, tries, share)[0] <= 0.01
    if people == 3:
        assert clopper_pearson(taken, tries, share)[0] > 0.01


def test_the_plug_in_null_keeps_its_power(rng):
    """With references enough it finds what its normal law says, and the proved null far less."""
    people, d = 30, 6 * 30**2
    p = a_population(d, rng)
    x, others = draw_people(p, people, rng), draw_people(p, 400, rng)
    release = x.mean(axis=0)
    found = {
        null: trace_people(release, x, others, null=null, control="each").accused.sum()
        for null in ("plug-in", "product")
    }
    share = alpha("attacks/tracing/plug-in power")
    assert found["plug-in"] >= stats.binom.isf(1 - share, people, 0.95)
    assert found["product"] <= found["plug-in"]


def test_a_pool_of_the_references_themselves_is_refused(rng):
    """With it nearly every stranger was accused: the weights are made against these references."""
    p = a_population(400, rng)
    x, theirs = draw_people(p, 20, rng), draw_people(p, 20, rng)
    strangers = draw_people(p, 20, rng)
    how: dict[str, Any] = {"statistic": "homer", "null": "references", "control": "each"}
    for pool in (theirs, theirs[::-1], theirs.astype(float), np.concatenate([theirs[:1], x])):
        with pytest.raises(InvalidArgument, match="in common"):
            trace_people(x.mean(axis=0), strangers, theirs, **how, pool=pool)
    trace_people(x.mean(axis=0), strangers, theirs, **how, pool=draw_people(p, 20, rng))
    few = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]] * 10)
    with pytest.raises(InvalidArgument, match="in common"):
        trace_people([0.5, 0.1], [[1, 1]], few, **how, pool=few)
    trace_people([0.5, 0.1], [[1, 1]], few, **how, pool=few[::-1])
    # Of few attributes, or where rows repeat by themselves, two equal rows may be two people.
    trace_people([0.5, 0.1], [[1, 1]], [[1, 1], [1, -1]], statistic="homer", pool=[[1, 1]])
    alike = np.ones((3, 40))
    trace_people(
        np.full(40, 0.5), alike, alike, statistic="homer", pool=np.concatenate([alike, -alike])
    )


def test_one_reference_traces_as_many_as_is_expected(rng):
    """Where one differs from it shows the variance; with the largest one 82 % were traced."""
    people, tries = 15, 500
    d, hits, alarms = expected_attributes(people, UniformMean()), 0, 0
    for _ in range(tries):
        p = a_population(d, rng)
        x, both = draw_people(p, people, rng), draw_people(p, 2, rng)
        two = np.stack([x[0], both[0]])
        told = trace_people(x.mean(axis=0), two, both[1], null="plug-in", control="each")
        hits += int(told.p_values[0] <= LEVEL)
        alarms += int(told.p_values[1] <= LEVEL)
    share = alpha("attacks/tracing/one reference", parts=2)
    assert clopper_pearson(hits, tries, share)[1] > 0.95
    assert clopper_pearson(alarms, tries, share)[0] < LEVEL


@pytest.mark.parametrize("references", [5, 20])
def test_a_few_rare_attributes_are_too_lopsided_for_the_normal_law(references, rng):
    """Who has one of the rare attributes of the release was accused five times too often."""
    d, people, tries, found = 300, 10, 400, 0
    p = np.full(d, -0.98)
    for _ in range(tries):
        release = draw_people(p, people, rng).mean(axis=0)
        told = trace_people(
            release,
            draw_people(p, 1, rng),
            draw_people(p, references, rng),
            statistic="homer",
            pool=draw_people(p, 500, rng),
            null="plug-in",
            control="each",
        )
        found += int(told.p_values[0] <= 0.01)
    share = alpha("attacks/tracing/rare", parts=2)
    assert clopper_pearson(found, tries, share)[0] < 0.001


def test_of_few_attributes_the_most_suspicious_candidate_is_known_with_one_reference():
    """By enumeration of all candidates; an attribute of large weight may be better left alike."""
    everybody = np.array(list(itertools.product((-1, 1), repeat=5)))
    for release in ([1, 0.1, 0.1, 0.1, 0.1], [0.5, -0.5, 0, 1, -1], [0.3, 0.2, 0.1, 0.5, 0.4]):
        for reference in everybody:
            told = trace_people(release, everybody, reference, null="plug-in", control="each")
            least = float(told.p_values.min())
            for level in (least * 0.999, least * 1.001):
                one = trace_people(
                    release, reference, reference, null="plug-in", control="each", level=level
                )
                expected = level < least or least > 0.5  # nobody agrees more than the reference
                assert (one.verdict is TracingVerdict.CANNOT_TELL) == expected
