"""Truncated histograms of Poisson and sampled rows: exact, against sums that nobody shortened."""

import math
from fractions import Fraction
from typing import Any

import mpmath
import pytest

from discreet.core.errors import InvalidArgument
from discreet.noiseless.certifiable import PrivacyTarget, Way
from discreet.noiseless.histograms.cell_terms import MOST_TRUNCATION, log_factorial
from discreet.noiseless.histograms.poisson_cells import poisson_sides
from discreet.noiseless.histograms.sampled_cells import sampled_sides
from discreet.noiseless.histograms.truncated_histogram import PoissonHistogram, SampledHistogram

LEAST = [("0.1", "1e-3", 40), ("0.1", "1e-6", 165), ("0.2", "1e-6", 51), ("0.3", "1e-6", 27)]


def truncated(law, k, *, one_more):
    """Return the law of a truncated count, of a list of probabilities of the others."""
    found: dict[Any, Any] = {}
    for count, chance in enumerate(law):
        seen = count + one_more
        found[seen if seen >= k else 0] = found.get(seen if seen >= k else 0, 0) + chance
    return found


def divergence(first, second, epsilon):
    growth = math.exp(epsilon)
    return sum(max(0, p - growth * second.get(t, 0)) for t, p in first.items())


def both_ways(law, k, epsilon):
    present, absent = truncated(law, k, one_more=1), truncated(law, k, one_more=0)
    return divergence(present, absent, epsilon), divergence(absent, present, epsilon)


def binomial(n, p):
    return [math.comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(n + 1)]


def poisson(mean, most):
    law, term = [], math.exp(-mean)
    for count in range(most):
        law.append(term)
        term *= mean / (count + 1)
    return law


@pytest.mark.parametrize(("epsilon", "delta", "least"), [*LEAST, ("0.5", "1e-6", 13)])
def test_the_least_k_of_poisson_histograms(epsilon, delta, least):
    target = PrivacyTarget(3 * Fraction(epsilon), 3 * Fraction(delta))
    assert PoissonHistogram(truncation=5).least_truncation(target) == least
    assert poisson_sides(target.epsilon, least).worst <= target.delta
    assert poisson_sides(target.epsilon, least - 1).worst > target.delta


@pytest.mark.parametrize(("k", "epsilon"), [(2, 0.0), (3, 0.4), (7, 0.2), (12, 1.0), (20, 0.05)])
def test_no_mean_is_worse_than_the_closed_form(k, epsilon):
    sides = poisson_sides(Fraction(str(epsilon)), k)
    means = [(k - 1) * math.exp(epsilon * step / 20) for step in range(-60, 61)]
    sums = [both_ways(poisson(mean, int(3 * mean) + 60), k, epsilon) for mean in means]
    assert max(one[0] for one in sums) == pytest.approx(float(sides.present), rel=1e-3)
    assert max(one[1] for one in sums) == pytest.approx(float(sides.absent), rel=1e-3)
    assert max(one[0] for one in sums) <= float(sides.present) * (1 + 1e-9)
    assert max(one[1] for one in sums) <= float(sides.absent) * (1 + 1e-9)


@pytest.mark.parametrize(("k", "epsilon"), [(2, "0.1"), (51, "0.6"), (400, "0.05"), (1000, "0.3")])
def test_poisson_sides_are_above_sixty_digits_and_next_to_them(k, epsilon):
    with mpmath.workdps(60):
        growth = mpmath.exp(mpmath.mpf(epsilon))
        x, y = (k - 1) / growth, (k - 1) * growth

        def below(mean, count):
            return mpmath.gammainc(count + 1, mean, regularized=True)

        present = (1 - below(x, k - 2)) - growth * (1 - below(x, k - 1))
        absent = below(y, k - 1) - growth * below(y, k - 2)
        sides = poisson_sides(Fraction(epsilon), k)
        for exact, found in ((present, sides.present), (absent, sides.absent)):
            ratio = mpmath.mpf(found.numerator) / found.denominator / exact
            assert 1 <= ratio < 1 + mpmath.mpf(10) ** -9


@pytest.mark.parametrize("largest", [None, 9, 14])
@pytest.mark.parametrize(
    ("share", "k", "epsilon"), [("0.3", 4, 0.4), ("0.5", 6, 0.7), ("0.9", 5, 0)]
)
def test_sampled_cells_are_the_worst_population(share, k, epsilon, largest):
    sides = sampled_sides(Fraction(str(epsilon)), k, Fraction(share), largest)
    every = [
        both_ways(binomial(others, float(share)), k, epsilon) for others in range(largest or 150)
    ]
    assert float(sides.present) == pytest.approx(max(one[0] for one in every), rel=1e-9)
    assert float(sides.absent) == pytest.approx(max(one[1] for one in every), rel=1e-9)


def test_a_small_share_is_as_good_as_poisson_and_all_of_them_are_no_sample():
    near = sampled_sides(Fraction(1, 2), 30, Fraction(1, 10**6))
    assert float(near.worst) == pytest.approx(float(poisson_sides(Fraction(1, 2), 30).worst), 1e-3)
    deltas = [sampled_sides(Fraction(1, 2), 30, Fraction(s, 10)).worst for s in range(1, 11)]
    assert deltas == sorted(deltas)
    assert deltas[-1] == 1
    assert sampled_sides(Fraction(1, 2), 30, Fraction(0)).worst == 0


def test_delta_falls_in_k_and_epsilon_up_to_the_extremes():
    for epsilon in ("0", "1e-9", "0.1", "3", "100", "1e6"):
        row = [poisson_sides(Fraction(epsilon), k).worst for k in (1, 2, 10, 300, MOST_TRUNCATION)]
        assert row == sorted(row, reverse=True)
        assert all(0 <= delta <= 1 for delta in row)
    at = [poisson_sides(Fraction(step, 10), 20).worst for step in range(30)]
    assert at == sorted(at, reverse=True)


def test_known_rows_are_subtracted_and_the_limit_is_named():
    target = PrivacyTarget(Fraction("0.6"), Fraction("3e-6"))
    histogram = PoissonHistogram(truncation=60)
    points: dict[str, Any] = {
        point.what: point.limit for point in histogram.breaking_points(target)
    }
    assert points["the least count that is shown"] == 51
    assert points["rows of one cell that the adversary knows"] == 9
    for known, holds in ((9, True), (10, False)):
        delta = PoissonHistogram(truncation=60, known=known).deltas(target.epsilon)[Way.TIGHT]
        assert (delta <= target.delta) is holds
    hopeless = PrivacyTarget(Fraction(0), Fraction("1e-12"))
    assert {point.limit for point in histogram.breaking_points(hopeless)} == {None}


def test_an_attacker_gains_no_more_than_is_certified_and_more_if_they_know_more():
    """The best guess of a person's cell, from the counts of two: with and without known rows."""
    k, epsilon, mean = 6, 0.5, 12.0
    law = poisson(mean, 60)
    here, elsewhere = truncated(law, k, one_more=1), truncated(law, k, one_more=0)
    first = {(a, b): p * q for a, p in here.items() for b, q in elsewhere.items()}
    second = {(a, b): p * q for a, p in elsewhere.items() for b, q in here.items()}
    gain = divergence(first, second, 2 * epsilon)
    delta = float(poisson_sides(Fraction("0.5"), k).worst)
    assert 0 < gain <= (1 + math.exp(epsilon)) * delta
    # Who knows 11 of those who are there has a cell with hardly anyone else in it.
    few = poisson(mean - 11, 60)
    here, elsewhere = truncated(few, 1, one_more=1), truncated(few, 1, one_more=0)
    known = divergence(here, elsewhere, epsilon)
    assert known > 2 * delta
    assert known <= PoissonHistogram(truncation=k, known=11).sides(Fraction("0.5")).worst


def test_a_sample_of_nearly_everyone_hides_nobody():
    assert sampled_sides(Fraction(1, 2), 40, Fraction(99, 100)).present > Fraction(1, 2)
    # Everyone of the cell is in the sample: with the person there is one more than there could be.
    law = binomial(39, 0.99)
    assert both_ways(law, 40, 0.5)[0] > 0.6


def test_words_noise_and_what_is_stored():
    histogram = SampledHistogram(truncation=120, share="0.5", known=3, largest=10**6)
    target = PrivacyTarget(Fraction("0.6"), Fraction("3e-6"))
    assert "at least 120 rows" in histogram.statistic
    assert any("probability 0.5" in one for one in histogram.assumptions)
    assert any("at most 3" in one for one in histogram.assumptions)
    noise: Any = histogram.noise_instead(target)
    assert (noise.scale, noise.error) == (Fraction(5, 3), 5)
    assert histogram.to_json()["law"] == {"kind": "sampled", "share": "1/2", "largest": 10**6}
    shares: list[Any] = [p.limit for p in histogram.breaking_points(target) if "share" in p.what]
    assert shares
    assert Fraction(1, 2) <= shares[0] < Fraction(6, 10)


@pytest.mark.parametrize("wrong", [0, -1, 2.5, "many", float("nan"), True, MOST_TRUNCATION + 1])
def test_a_k_that_is_none_is_refused(wrong):
    with pytest.raises(InvalidArgument):
        PoissonHistogram(truncation=wrong)


@pytest.mark.parametrize("more", [{"share": 2}, {"share": -1}, {"share": "x"}, {"largest": 0}])
def test_shares_that_are_none_are_refused(more):
    with pytest.raises(InvalidArgument):
        SampledHistogram(**{"truncation": 5, "share": "0.5", **more})


def test_a_negative_epsilon_and_negative_knowledge_are_refused():
    with pytest.raises(InvalidArgument):
        PoissonHistogram(truncation=5).deltas(Fraction(-1))
    with pytest.raises(InvalidArgument):
        PoissonHistogram(truncation=5, known=-1)


@pytest.mark.parametrize("n", [0, 1, 5, 1999, 2000, 2001, 10**6])
def test_log_factorials_are_enclosed(n):
    with mpmath.workdps(50):
        low, high = log_factorial(n)
        true = mpmath.loggamma(n + 1)
        assert mpmath.mpf(low.numerator) / low.denominator <= true
        assert true <= mpmath.mpf(high.numerator) / high.denominator
        assert float(high - low) < 1e-8
