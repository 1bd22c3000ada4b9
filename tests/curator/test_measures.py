"""Budgets in every measure, prices in ε, ρ and accuracy, fresh answers, and batches."""

import json
from fractions import Fraction

import pytest

from discreet.accounting.conversions.convert import convert
from discreet.cli.main import main
from discreet.core.errors import (
    BudgetExhausted,
    InvalidArgument,
    MissingLoss,
    RefusedQuery,
    UndeclaredKeys,
    Unsupported,
)
from discreet.core.loss import Approximate, ApproximateZcdp, GaussianDp, Pure, Zcdp
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.releases.accuracy import Accuracy, read_accuracy
from discreet.roles.connection import connect
from tests.support.house.narrow import delta_of, number
from tests.support.projects.clinic import visit, write_project

ROWS = [visit(f"p{i}", "abcd"[i % 4], age=i % 90) for i in range(400)]
COUNTS = "SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic"
ONE = "SELECT COUNT(*) AS n FROM visits"
BATCH = [ONE, COUNTS, "SELECT SUM(age) AS a FROM visits WHERE urgent = FALSE"]


@pytest.fixture
def project(tmp_path):
    def make(budget: str, **limits):
        folder = write_project(tmp_path, ROWS, **limits)
        text = (folder / "discreet.toml").read_text()
        (folder / "discreet.toml").write_text(text.replace("{ epsilon = 10 }", budget))
        return folder

    return make


@pytest.mark.parametrize(
    ("budget", "price", "spent"),
    [
        ("{ epsilon = 2 }", {"epsilon": "1/2"}, Pure("1/2")),
        ("{ epsilon = 2, delta = 1e-6 }", {"epsilon": "1/2"}, Approximate("1/2", 0)),
        ("{ rho = 1 }", {"epsilon": "1/2"}, Zcdp("1/8")),
        ("{ rho = 1 }", {"rho": "1/8"}, Zcdp("1/8")),
        ("{ rho = 1, delta = 1e-6 }", {"rho": "1/8"}, ApproximateZcdp("1/8", 0)),
    ],
)
def test_every_budget_takes_its_prices(project, budget, price, spent):
    with connect(project(budget, groups_per_unit=4, rows_per_group=1)) as connection:
        assert connection.explain(COUNTS, **price).cost == spent
        connection.sql(COUNTS, **price)
        (status,) = connection.budget()
        assert status.spent == spent
        assert status.spent <= status.cap
        connection.verify()


@pytest.mark.parametrize(
    ("budget", "price"),
    [
        ("{ mu = 1 }", {"epsilon": "1/10"}),
        ("{ mu = 1 }", {"accuracy": 60}),
        ('{ epsilon = 3, delta = 1e-6, kept_as = "mu" }', {"rho": "1/100"}),
    ],
)
def test_a_gaussian_budget_is_charged_what_the_noise_costs(project, budget, price):
    """What is charged is the accountant's bound on the event, and the sum of the squares."""
    with connect(project(budget, groups_per_unit=4, rows_per_group=1)) as connection:
        costs = [connection.explain(sql, **price).cost for sql in (COUNTS, ONE)]
        for sql in (COUNTS, ONE):
            connection.sql(sql, **price)
        (status,) = connection.budget()
        assert isinstance(status.spent, GaussianDp)
        assert status.spent == costs[0] + costs[1]
        assert GaussianDp(mu_squared="1e-6") <= costs[0] <= status.spent <= status.cap


def test_a_gaussian_budget_refuses_private_keys(project):
    with (
        connect(project("{ mu = 1 }")) as connection,
        pytest.raises(UndeclaredKeys, match="no δ"),
    ):
        connection.sql("SELECT note, COUNT(*) FROM visits GROUP BY note", epsilon=1, delta="1e-9")


@pytest.mark.parametrize("kept_as", ["rho", "mu"])
def test_an_epsilon_and_delta_that_take_gaussian_noise(project, kept_as):
    """Each question costs ρ; six of them are close to what an ε of 1 allows."""
    budget = f'{{ epsilon = 1, delta = 1e-6, kept_as = "{kept_as}" }}'
    with connect(project(budget, groups_per_unit=4, rows_per_group=1)) as connection:
        for _ in range(6):
            connection.sql(ONE, rho="1/250", fresh=True)
        with pytest.raises(BudgetExhausted):
            connection.sql(ONE, rho="1/200", fresh=True)
        (status,) = connection.budget()
        found = convert(status.spent, to="approximate", delta="1e-6").loss
        assert isinstance(found, Approximate)
        assert Fraction("0.9") < found.epsilon <= 1


def test_rho_buys_the_noise_that_errs_less(project):
    with connect(project("{ rho = 1 }", groups_per_unit=4, rows_per_group=1)) as connection:
        many = connection.sql(COUNTS, rho="1/8").body.aggregates[0].noise
        one = connection.sql(ONE, rho="1/8").body.aggregates[0].noise
    # Four groups move by √4 in the L2 norm and by 4 in the L1 norm; one group moves by 1 in both,
    # and there a Gaussian of σ = 2 has a 95 % bar of 4 and Laplace noise of scale 2 one of 6.
    assert DiscreteGaussian(sigma_squared=4).error_quantile("0.05") == 4
    assert DiscreteLaplace(scale=2).error_quantile("0.05") == 6
    assert many == DiscreteGaussian(sigma_squared=16)
    assert one == DiscreteGaussian(sigma_squared=4)


def test_gaussian_noise_needs_a_budget_that_knows_it(project):
    with (
        connect(project("{ epsilon = 2 }", groups_per_unit=4)) as connection,
        pytest.raises(Unsupported, match="rho with delta"),
    ):
        connection.sql(COUNTS, rho="1/8")


def test_two_prices_are_one_too_many(project):
    with (
        connect(project("{ rho = 1 }")) as connection,
        pytest.raises(InvalidArgument, match="Two prices"),
    ):
        connection.sql(ONE, rho=1, epsilon=1)


def test_a_default_price_in_rho(project):
    with connect(project("{ rho = 1 }"), rho="1/4") as connection:
        connection.sql(ONE)
        assert connection.budget()[0].spent <= Zcdp("1/4")


# ---- Private keys: the δ is theirs.

NOTES = "SELECT note, COUNT(DISTINCT person) AS n FROM visits GROUP BY note"


@pytest.mark.parametrize(
    ("budget", "price"),
    [
        ("{ epsilon = 2, delta = 1e-5 }", {"epsilon": 1}),
        ("{ rho = 1, delta = 1e-5 }", {"epsilon": 1}),
        ("{ rho = 1, delta = 1e-5 }", {"rho": "1/8"}),
        ("{ rho = 1, delta = 1e-5 }", {"accuracy": Accuracy(within=20, group_size=200)}),
    ],
)
def test_private_keys_are_paid_with_a_delta(project, budget, price):
    with connect(project(budget)) as connection:
        with pytest.raises(MissingLoss, match="delta="):
            connection.sql(NOTES, **price)
        release = connection.sql(NOTES, delta="1e-6", **price)
        (status,) = connection.budget()
        assert 0 < delta_of(status.spent) <= Fraction(1, 10**6)
        assert status.spent == release.cost
        # Everybody's note is NULL: one group, of 400 people.
        ((note, count),) = release.rows
        assert note is None
        assert abs(number(count) - 400) < 200
        connection.verify()


def test_public_keys_leave_the_delta_alone(project):
    with connect(project("{ epsilon = 2, delta = 1e-5 }"), epsilon=1, delta="1e-6") as connection:
        assert connection.sql(COUNTS).cost == Approximate(1, 0)


def test_private_keys_need_a_budget_with_a_delta(project):
    with connect(project("{ epsilon = 2 }"), epsilon=1, delta="1e-6") as connection:
        with pytest.raises(UndeclaredKeys, match="delta"):
            connection.sql(NOTES)
        assert connection.budget()[0].spent == Pure(0)


# ---- Where the price is said.

WITH_PRICE = (
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.5, delta = 1e-6) COUNT(*) AS n"
    " FROM visits"
)


def test_a_price_in_the_query_comes_before_the_default(project):
    with connect(project("{ epsilon = 2, delta = 1e-5 }"), epsilon=1) as connection:
        assert connection.explain(WITH_PRICE).cost == Approximate("1/2", 0)
        assert connection.explain(WITH_PRICE, epsilon="0.5").cost == Approximate("1/2", 0)
        with pytest.raises(InvalidArgument, match="Two different prices"):
            connection.explain(WITH_PRICE, epsilon=1)
        with pytest.raises(InvalidArgument, match="Two different prices"):
            connection.explain(WITH_PRICE, delta="1e-9")


def test_a_declared_default_comes_last(project):
    folder = project("{ epsilon = 2 }")
    with connect(folder) as connection, pytest.raises(MissingLoss):
        connection.sql(ONE)
    file = folder / "discreet.toml"
    file.write_text("default = { epsilon = 0.25 }\n" + file.read_text())
    with connect(folder) as connection:
        assert connection.sql(ONE).cost == Pure("1/4")
    with connect(folder, epsilon="1/2") as connection:
        assert connection.sql(ONE).cost == Pure("1/2")


def test_limits_of_a_question_win(project):
    with connect(project("{ epsilon = 2 }"), epsilon=1) as connection:
        usual, other = (
            connection.explain(COUNTS, rows_per_group=rows, groups_per_unit=groups).to_json()
            for rows, groups in ((None, None), (1, 4))
        )
        assert usual["columns"][0]["scale"] == "6"
        assert other["columns"][0]["scale"] == "4"
        with pytest.raises(InvalidArgument, match="rows_per_group"):
            connection.sql(COUNTS, rows_per_group=0)


# ---- An accuracy is a price.


def test_an_accuracy_is_kept(project):
    with connect(project("{ epsilon = 20 }")) as connection:
        release = connection.sql(COUNTS, accuracy="±5 at 99 %")
        assert release.error("n", "0.99") <= 5
        assert connection.budget()[0].spent == release.cost
        assert connection.sql(COUNTS, accuracy="±5 at 99 %").is_stored
        with pytest.raises(RefusedQuery, match="MEDIAN"):
            connection.sql("SELECT MEDIAN(age) FROM visits", accuracy=5)


# ---- Stored and fresh.


def test_a_fresh_answer_pays_again_and_is_the_one_that_is_kept(project):
    with connect(project("{ epsilon = 2 }"), epsilon="1/2") as connection:
        first = connection.sql(COUNTS)
        assert connection.sql(COUNTS).rows == first.rows
        fresh = connection.sql(COUNTS, fresh=True)
        assert not fresh.is_stored
        assert fresh.rows != first.rows  # four values of scale 12 agree with chance below 1e-4
        again = connection.sql(COUNTS)
        assert again.is_stored
        assert again.rows == fresh.rows
        assert connection.budget()[0].spent == Pure(1)
        connection.verify()


SHARES = """
[analysts.ann.allocations]
people = { epsilon = 1 }

[analysts.bob.allocations]
people = { epsilon = 0.5 }
"""


def test_a_stored_release_costs_no_analyst_anything(project):
    folder = project("{ epsilon = 2 }")
    file = folder / "discreet.toml"
    file.write_text(file.read_text() + SHARES)
    with connect(folder, epsilon=1, analyst="ann") as connection:
        first = connection.sql(COUNTS)
        assert connection.budget()[0].own_remaining == Pure(0)
        assert connection.sql(COUNTS).is_stored
        with pytest.raises(BudgetExhausted):
            connection.sql(COUNTS, fresh=True)
    with connect(folder, epsilon=1, analyst="bob") as connection:
        assert connection.sql(COUNTS).rows == first.rows  # ε = 1 is more than all of his share
        assert connection.budget()[0].own_spent == Pure(0)
        assert connection.budget()[0].spent == Pure(1)
    with (
        connect(folder, epsilon=1, analyst="eve") as connection,
        pytest.raises(BudgetExhausted),
    ):
        connection.sql(ONE)


# ---- The same on the command line.


def test_options_of_the_command_line(project, capsys):
    folder = str(project("{ epsilon = 2, delta = 1e-5 }"))

    def run(*words: str) -> tuple[int, str]:
        status = main([*words, "--project", folder])
        shown = capsys.readouterr()
        return status, shown.out + shown.err

    within = ("--within", "30", "--confidence", "0.9", "--json")
    status, text = run("explain", COUNTS, *within, "--rows-per-group", "1")
    assert status == 0
    assert json.loads(text)["accuracy"] == "± 30 at 90 %"
    assert json.loads(text)["limits"]["rows_per_group"] == 1
    status, text = run("query", NOTES, "--epsilon", "0.5", "--delta", "1e-6")
    assert status == 0
    assert "1e-6" in text or "e-7" in text
    assert run("query", NOTES, "--epsilon", "0.5", "--delta", "1e-6", "--fresh")[0] == 0
    assert "ε = 1" in run("budget")[1]
    status, text = run("query", COUNTS, "--confidence", "0.9")
    assert status == 2
    assert "--within" in text
    status, text = run("data-changed", "nobody")
    assert status == 2
    assert "people" in text


def test_nothing_is_certain_within_a_bound():
    with pytest.raises(InvalidArgument, match="No noise is certain"):
        read_accuracy("±50 at 1")
    assert read_accuracy("±50 at 1 %").confidence == Fraction(1, 100)
