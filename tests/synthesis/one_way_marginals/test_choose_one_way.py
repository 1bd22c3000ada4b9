"""The choice of a noise: the best one, what it spends, and what nothing can do better."""

import functools
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.accounting.accounting_question import account
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Approximate, Pure, Zcdp
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.noise.linf_exponential import LinfExponential
from discreet.synthesis.one_way_marginals.choose_one_way import choose_one_way
from discreet.synthesis.one_way_marginals.expected_error import OneWayError, expected_error
from discreet.synthesis.one_way_marginals.lower_bounds import lower_bound
from discreet.synthesis.one_way_marginals.two_stage_noise import TwoStageNoise

LOSSES = [Pure(1), Zcdp(rho="0.1"), Approximate(1, "1e-6")]


@pytest.mark.parametrize(
    ("columns", "loss"),
    [(1, Pure(1)), (60, Pure(1)), (1, LOSSES[1]), (60, LOSSES[1]), (60, LOSSES[2])],
)
@pytest.mark.parametrize("error", OneWayError)
def test_the_choice_is_the_best_and_above_what_is_possible(loss, error, columns: int):
    choice = choose_one_way([2] * columns, loss=loss, error=error)
    assert choice.error <= min((value for _, value in choice.others), default=math.inf)
    assert choice.lower_bound is None or choice.lower_bound <= choice.error
    assert choice.kind is error


@pytest.mark.parametrize(
    ("columns", "loss", "error", "name"),
    [
        (1000, Pure(1), "l1", "noise in a cube"),
        (1000, Pure(1), "max", "noise in a cube"),
        (1000, Zcdp(rho="0.1"), "l1", "Gaussian noise"),
        (200, Approximate(1, "1e-6"), "max", "noise in a cube"),
        (200, Approximate(1, "1e-6"), "l2", "Gaussian noise"),
        (5000, Zcdp(rho="0.1"), "max", "Gaussian noise in two stages"),
    ],
)
def test_each_noise_is_the_best_somewhere(columns: int, loss, error: str, name: str):
    assert choose_one_way([2] * columns, loss=loss, error=error).name == name


def test_laplace_noise_is_the_best_for_few_columns_of_many_values():
    assert choose_one_way([2, 5, 9], loss=Pure(1), error="l1").name == "Laplace noise"


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("rows_per_unit", [1, 5])
def test_the_choice_spends_no_more_than_was_said(loss, rows_per_unit: int):
    choice = choose_one_way([2, 3, 4] * 20, loss=loss, error="max", rows_per_unit=rows_per_unit)
    assert choice.lower_bound is None, "none is known where columns have more than two values"
    spent = choice.method.loss(rows_per_unit)
    if isinstance(loss, Approximate):
        found = account(choice.method.event(rows_per_unit), delta=loss.delta).loss
        assert isinstance(found, Approximate)
        assert found.epsilon <= loss.epsilon * Fraction(1001, 1000)
        return
    if isinstance(spent, Pure) and isinstance(loss, Zcdp):
        spent = Zcdp(rho=spent.epsilon**2 / 2)
    assert spent <= loss
    assert not choice.method.loss(rows_per_unit + 1) <= loss


def test_a_person_of_more_rows_costs_as_many_times_the_error():
    one, five = (choose_one_way([2] * 30, loss=Pure(1), rows_per_unit=m) for m in (1, 5))
    assert five.error == pytest.approx(5 * one.error, rel=0.1)
    assert one.lower_bound is not None
    assert five.lower_bound == 5 * one.lower_bound


# ---------------------------------------------------------------- errors by other means


@pytest.mark.parametrize(
    "noise",
    [
        DiscreteLaplace(scale=30),
        DiscreteGaussian(sigma_squared=400),
        LinfExponential(scale=3, dimension=40),
        TwoStageNoise(
            dimension=40, first_variance=400, second_variance=90, rounds=2, temperature=9
        ),
    ],
)
def test_expected_errors_are_those_of_draws(noise, rng):
    """Forty numbers, 150 times, and six deviations: of two stages bounds are stated."""
    zeros = np.zeros(40, dtype=np.int64)
    drawn = np.abs([noise.release(zeros, rng) for _ in range(150)])
    for error, seen in (
        ("l1", drawn.mean(axis=1)),
        ("l2", np.sqrt((drawn.astype(float) ** 2).mean(axis=1))),
        ("linf", drawn.max(axis=1)),
    ):
        mean = math.sqrt((seen**2).mean()) if error == "l2" else seen.mean()
        off = 6 * seen.std() / math.sqrt(len(seen))
        expected = expected_error(noise, 40, error)
        assert mean <= expected + off + 0.01 * mean
        assert isinstance(noise, TwoStageNoise) or expected <= mean + off + 0.01 * mean
    assert (drawn.max(axis=1) > expected_error(noise, 40, "max")).mean() < 0.15


@pytest.mark.parametrize("dimension", [5, 50])
def test_the_cube_is_better_on_average_too(dimension: int):
    """Remark 4.4.2: its mean error is (1 + 1/d)/2 of independent Laplace noise of the same ε.

    It is the Laplace noise that dominates, not the other way round.
    """
    cube = expected_error(LinfExponential(scale=1000, dimension=dimension), dimension, "l1")
    laplace = expected_error(DiscreteLaplace(scale=1000 * dimension), dimension, "l1")
    assert cube / laplace == pytest.approx((1 + 1 / dimension) / 2, rel=1e-3)


def test_the_largest_error_of_the_cube_and_of_laplace():
    """D = 20 in units of Δ/ε: 20 against 72 (20 times the 20th harmonic number)."""
    cube = expected_error(LinfExponential(scale=1000, dimension=20), 20, "linf") / 1000
    laplace = expected_error(DiscreteLaplace(scale=20_000), 20, "linf") / 1000
    assert cube == pytest.approx(20, rel=1e-3)
    assert laplace == pytest.approx(20 * sum(1 / k for k in range(1, 21)), rel=1e-3)


def test_table_4_1():
    """How the errors grow with the columns, at losses and errors of the table.

    (ε, 0): d for both errors by the cube, d ln d for the largest by Laplace noise. (ε, δ): √d on
    average, √(d ln d) for the largest by Gaussian noise, and less than that in two stages.
    """

    @functools.cache
    def errors(loss, error: str, columns: int) -> dict[str, float]:
        choice = choose_one_way([2] * columns, loss=loss, error=error)
        return dict([(choice.name, choice.error), *choice.others])

    def growth(loss, error: str, name: str) -> float:
        few, many = (errors(loss, error, columns)[name] for columns in (2000, 16_000))
        return many / few

    pure, zcdp = Pure(1), Zcdp(rho="0.1")
    log = math.log(2 * 16_000 / 0.05) / math.log(2 * 2000 / 0.05)
    assert growth(pure, "l1", "noise in a cube") == pytest.approx(8, rel=0.01)
    assert growth(pure, "max", "noise in a cube") == pytest.approx(8, rel=0.05)
    assert growth(pure, "max", "Laplace noise") == pytest.approx(8 * log, rel=0.02)
    assert growth(zcdp, "l1", "Gaussian noise") == pytest.approx(8**0.5, rel=0.01)
    plain = growth(zcdp, "max", "Gaussian noise")
    assert plain == pytest.approx(math.sqrt(8 * log), rel=0.02)
    assert growth(zcdp, "max", "Gaussian noise in two stages") < 0.97 * plain


# ---------------------------------------------------------------- lower bounds


def test_fingerprints_have_two_thirds():
    """E[f Σ(x_i - p) + 2|f - x̄|] is at least 2/3 over all f, and 2/3 at f = x̄: exact sums."""
    for rows in (1, 2, 3, 5):
        least = Fraction(0)
        for ones in range(rows + 1):
            # p uniform in [-1, 1]: the chance of so many ones, and the mean of Σ(x_i - p) given it.
            chance = Fraction(1, rows + 1)
            mean = Fraction(2 * ones - rows, rows)
            lean = 2 * rows * mean / (rows + 2)
            tried = [f * lean + 2 * abs(f - mean) for f in (mean, Fraction(1), Fraction(-1))]
            assert min(tried) == tried[0]
            least += chance * tried[0]
        assert least == Fraction(2, 3)


def test_pure_bounds_by_hand():
    assert (
        lower_bound(Pure(1), columns=1000, error="max")
        == math.ceil(1000 * math.log(2) + math.log(0.95)) - 1
    )
    # One column and one unit: the sign is guessed, and e^ε makes it at most e^ε/2 right.
    assert lower_bound(Pure("0.1"), columns=1, error="l1") == pytest.approx(
        max(k * (1 - math.exp(0.1 * k) / 2) for k in range(1, 8)), rel=0.05
    )
    assert lower_bound(Pure(3), columns=1, error="max") == 0


def test_gaussian_noise_is_within_a_constant_of_what_is_possible():
    for columns, rho in itertools.product((100, 10_000), ("0.01", "0.1")):
        choice = choose_one_way([2] * columns, loss=Zcdp(rho=rho), error="l1")
        assert choice.gap is not None
        assert 18 * math.sqrt(2 / math.pi) <= choice.gap <= 17


def test_no_bound_is_made_up():
    assert lower_bound(Zcdp(rho=1, xi=1), columns=100, error="l1") == 0
    assert lower_bound(Zcdp(rho=100), columns=2, error="l1") == 0
    assert lower_bound(Approximate(1, "0.9"), columns=100, error="max") == 0


# ---------------------------------------------------------------- words and refusals


def test_what_a_choice_says():
    text = str(choose_one_way([2] * 1000, loss=Pure(1)))
    assert text.splitlines() == [
        "noise in a cube: 1,093 rows (bound for the largest error)",
        "  Laplace noise: 9,978",
        "No release can do better than 693: this one is within a factor of 1.58.",
    ]


def test_a_delta_that_allows_to_publish_a_row_is_said():
    silent = choose_one_way([2] * 9, loss=Approximate(1, "1e-9"), rows=10_000)
    assert silent.warnings == ()
    loud = choose_one_way([2] * 9, loss=Approximate(1, "1e-3"), rows=10_000)
    assert "of 10,000 rows about 10" in loud.warnings[0]
    assert "Take a δ far below 0.0001" in loud.warnings[0]
    asked = choose_one_way([2] * 9, loss=Approximate(1, "1e-3"))
    assert "far fewer than 1,000 units" in str(asked)
    assert choose_one_way([2] * 9, loss=Pure(1), rows=10).warnings == ()


@pytest.mark.parametrize(
    ("bad", "kind"),
    [
        (lambda: choose_one_way([2], loss=Pure(0)), InvalidArgument),
        (lambda: choose_one_way([2], loss=Zcdp(rho=1, xi=1)), Unsupported),
        (lambda: choose_one_way([2], loss=Pure(1), error="mean"), InvalidArgument),
        (lambda: choose_one_way([2], loss=Pure(1), rows_per_unit=0), InvalidArgument),
        (lambda: choose_one_way([], loss=Pure(1)), InvalidArgument),
        (lambda: choose_one_way([2], loss=Pure(1), beta=0), InvalidArgument),
        (lambda: expected_error(Contribution(l1=1), 3, "l1"), Unsupported),
    ],
)
def test_what_makes_no_sense_is_refused(bad, kind):
    with pytest.raises(kind):
        bad()
