"""An accuracy instead of a price: how it is written, and the smallest spend that gives it."""

from fractions import Fraction
from itertools import product

import pytest

from discreet.core.errors import InvalidArgument, MissingLoss, RefusedQuery
from discreet.core.loss import Approximate, ApproximateZcdp, Pure, Zcdp
from discreet.curator.price.fit import described_premise, fit
from discreet.curator.price.price import price
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.releases.accuracy import Accuracy, read_accuracy
from discreet.releases.estimates.estimate import (
    Calculation,
    Constant,
    KeyOf,
    MeanOf,
    QuantileOf,
    TotalOf,
    VarianceOf,
)
from discreet.tables.column import ColumnType
from discreet.tables.plans.aggregate import CountRows, CountUnits
from tests.support.projects.bounded_plans import (
    FOUR_KEYS,
    PRIVATE,
    age_quantile,
    ages,
    equal_weights,
    make_plan,
)
from tests.support.projects.priced_plans import keys_of

INTEGER, REAL = ColumnType.INTEGER, ColumnType.REAL
DELTA = Fraction(1, 10**6)
BETA = Fraction(1, 20)
MEAN = MeanOf(REAL, 1, 0, Fraction(50), Fraction(0), Fraction(100))


def total(index: int) -> TotalOf:
    return TotalOf(INTEGER, index)


def fitted(plan, outputs, accuracy, measure=Pure, delta=None):
    weights = equal_weights(plan)
    return fit(plan, weights, outputs, read_accuracy(accuracy), measure=measure, delta=delta)


@pytest.mark.parametrize(
    ("text", "within", "confidence"),
    [
        ("50", 50, "0.95"),
        ("+-50", 50, "0.95"),
        ("+/-50", 50, "0.95"),
        ("±50 at 95%", 50, "0.95"),
        (" ± 2.5 at 99 % ", "2.5", "0.99"),
        ("within 50 at 99 %", 50, "0.99"),
        ("Within 50 @ 0.9", 50, "0.9"),
        ("50 with 99.9 percent", 50, "0.999"),
        ("50 at 99", 50, "0.99"),
        (50, 50, "0.95"),
        (Fraction(1, 3), "1/3", "0.95"),
    ],
)
def test_accuracies_as_people_write_them(text, within, confidence):
    assert read_accuracy(text) == Accuracy(within=within, confidence=confidence)


@pytest.mark.parametrize("text", ["", "about 50", "-50", "0", "50 at 0 %", "50 at 100 %", "50 %"])
def test_accuracies_that_cannot_be(text):
    with pytest.raises(InvalidArgument):
        read_accuracy(text)


def test_bad_group_sizes():
    for size in (0, -1, "1/2"):
        with pytest.raises(InvalidArgument):
            Accuracy(within=1, group_size=size)


@pytest.mark.parametrize("within", [3, 50, 10_000])
def test_the_spend_is_the_smallest_of_four_digits(within):
    plan = make_plan(CountRows(), keys=FOUR_KEYS)
    (share,) = fitted(plan, [KeyOf(ColumnType.TEXT, 0), total(0)], within).aggregates.values()
    reached = DiscreteLaplace(scale=6 / share.epsilon).error_quantile(BETA)
    assert reached <= within
    digits, exponent = f"{float(share.epsilon):.3e}".split("e")
    before = share.epsilon - Fraction(1, 1000) * Fraction(10) ** int(exponent)
    assert Fraction(digits) * Fraction(10) ** int(exponent) == share.epsilon
    assert DiscreteLaplace(scale=6 / before).error_quantile(BETA) > within


def test_each_output_pays_for_itself_alone():
    plan = make_plan(CountRows(), ages())
    shares = fitted(plan, [total(0), total(1)], 500).aggregates
    alone = [
        fitted(make_plan(part), [total(0)], 500).aggregates[0] for part in (CountRows(), ages())
    ]
    assert list(shares.values()) == alone
    assert shares[1].epsilon > 50 * shares[0].epsilon


def test_rho_is_spent_where_the_budget_is_in_rho():
    plan = make_plan(CountRows(), keys=FOUR_KEYS, groups_per_unit=4)
    (share,) = fitted(plan, [total(0)], "±50 at 99 %", measure=Zcdp).aggregates.values()
    found = price(plan, fitted(plan, [total(0)], "±50 at 99 %", measure=Zcdp), Zcdp(1))
    assert found.loss == share
    assert found.mechanisms[0].error_quantile(Fraction(1, 100)) <= 50
    worse = Zcdp(share.rho * Fraction(995, 1000))
    again = price(plan, type(fitted(plan, [total(0)], 50))(aggregates={0: worse}), Zcdp(1))
    assert again.mechanisms[0].error_quantile(Fraction(1, 100)) > 50


def test_sums_and_differences_have_a_known_error():
    plan = make_plan(CountRows(), CountUnits())
    ratio = Calculation(
        REAL, "-", (total(0), Calculation(REAL, "*", (Constant(REAL, Fraction(2)), total(1))))
    )
    shares = fitted(plan, [ratio], 100)
    bars = [noise.error_quantile(BETA / 2) for noise in price(plan, shares, Pure(9)).mechanisms]
    assert bars[0] + 2 * bars[1] <= 100


def test_an_average_is_within_its_bound_wherever_the_group_is_large_enough():
    plan = make_plan(CountRows(), ages(centre=50))
    accuracy = Accuracy(within=2, group_size=500)
    noises = price(plan, fitted(plan, [MEAN], accuracy), Pure(99)).mechanisms
    of_count, of_sum = (int(noise.error_quantile(BETA / 2)) for noise in noises)
    for size, mean in product((500, 501, 5000), (0, 13, 50, 100)):
        exact_sum = (mean - 50) * size
        for y, z in product((-of_sum, 0, of_sum), (-of_count, 0, of_count)):
            estimate = 50 + Fraction(exact_sum + y, size + z)
            clamped = min(max(estimate, Fraction(0)), Fraction(100))
            assert abs(clamped - mean) <= 2
    # The bound is not idle: a hundredth less is not enough.
    worst = Fraction(of_sum + 50 * of_count, 500 - of_count)
    assert worst > Fraction(19, 10)


def test_private_keys_pay_the_accuracy_of_the_count_that_they_answer():
    plan = make_plan(CountUnits(), keys=PRIVATE)
    shares = fitted(plan, [total(0)], 50, delta=DELTA)
    assert shares.aggregates == {}
    assert isinstance(shares.keys, Approximate)
    found = price(plan, shares, Approximate(1, DELTA))
    assert keys_of(found).noise.error_quantile(BETA) <= 50
    shares = fitted(plan, [total(0)], 50, measure=Zcdp, delta=DELTA)
    found = price(plan, shares, ApproximateZcdp(1, DELTA))
    assert keys_of(found).noise.error_quantile(BETA) <= 50
    with pytest.raises(MissingLoss, match="delta="):
        fitted(plan, [total(0)], 50)


def test_private_keys_take_the_average_otherwise():
    plan = make_plan(CountRows(), ages(), keys=PRIVATE)
    shares = fitted(plan, [total(0), total(1)], 500, delta=DELTA)
    assert shares.keys.epsilon == sum(share.epsilon for share in shares.aggregates.values()) / 2


@pytest.mark.parametrize(
    ("plan", "output", "why"),
    [
        (make_plan(age_quantile()), QuantileOf(REAL, 0, Fraction(1, 2), "MEDIAN"), "MEDIAN"),
        (
            make_plan(CountRows(), ages(), ages(centre=1)),
            VarianceOf(REAL, 2, 1, 0, Fraction(1), Fraction(0), Fraction(0), Fraction(9), 0),
            "variance",
        ),
        (make_plan(CountRows(), ages()), MEAN, "how many rows"),
        (
            make_plan(CountRows(), ages()),
            Calculation(REAL, "/", (total(0), total(1))),
            "depends on the data",
        ),
    ],
)
def test_errors_that_depend_on_the_data_are_refused(plan, output, why):
    with pytest.raises(RefusedQuery, match=why):
        fitted(plan, [output], 50)


def test_numbers_that_are_not_shown_are_refused():
    with pytest.raises(RefusedQuery, match="not shown"):
        fitted(make_plan(CountRows(), ages()), [total(0)], 50)


def test_an_accuracy_out_of_reach_is_refused_and_not_searched_for_ever():
    plan = make_plan(CountRows())
    shares = fitted(plan, [total(0)], "0.5 at 99.9999 %")
    assert shares.aggregates[0].epsilon > 10
    huge = make_plan(CountRows(), rows_per_group=10**6)
    (share,) = fitted(huge, [total(0)], 1).aggregates.values()
    assert share.epsilon > 10**6


def test_a_premise_is_named_as_one():
    text = described_premise(Accuracy(within=2, group_size=500))
    assert "assumption" in text
    assert "500" in text
    assert "assumption" not in described_premise(Accuracy(within=2))
