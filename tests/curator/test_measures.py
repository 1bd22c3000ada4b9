"""Budgets in every measure, prices in ε and ρ, and batches."""

from fractions import Fraction

import pytest

from discreet.accounting.account import account
from discreet.core.errors import BudgetExhausted, InvalidArgument, RefusedQuery, Unsupported
from discreet.core.loss import Approximate, ApproximateZcdp, Pure, Zcdp
from discreet.curator.batch import price_batch
from discreet.curator.connection import connect
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from tests.support.clinic import make_curator, visit, write_project

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
        connection.ledger().verify()


def test_rho_buys_the_noise_that_errs_less(project):
    with connect(project("{ rho = 1 }", groups_per_unit=4, rows_per_group=1)) as connection:
        many = connection.sql(COUNTS, rho="1/8").body["aggregates"][0]["noise"]
        one = connection.sql(ONE, rho="1/8").body["aggregates"][0]["noise"]
    # Four groups move by √4 in the L2 norm and by 4 in the L1 norm; one group moves by 1 in both,
    # and there a Gaussian of σ = 2 has a 95 % bar of 4 and Laplace noise of scale 2 one of 6.
    assert DiscreteGaussian(sigma_squared=4).error_quantile("0.05") == 4
    assert DiscreteLaplace(scale=2).error_quantile("0.05") == 6
    assert many == {"law": "discrete_gaussian", "sigma_squared": "16"}
    assert one == {"law": "discrete_gaussian", "sigma_squared": "4"}


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


def test_a_batch_is_charged_once_by_its_certified_loss(project):
    with connect(project("{ epsilon = 2, delta = 1e-5 }")) as connection:
        releases = connection.batch(BATCH, epsilon=1, delta="1e-6")
        (status,) = connection.budget()
        assert status.spent <= Approximate(1, "1e-6")
        assert not status.spent <= Approximate("0.999", "1e-6")
        assert [release.columns for release in releases] == [("n",), ("clinic", "n"), ("a",)]
        assert len({release.receipt.ticket.number for release in releases}) == 1
        again = connection.batch(BATCH, epsilon=1, delta="1e-6")
        assert all(release.is_stored for release in again)
        assert [r.rows for r in again] == [r.rows for r in releases]
        assert connection.budget()[0].spent == status.spent
        with pytest.raises(BudgetExhausted):
            connection.batch([ONE], epsilon="1.5", delta="1e-6")
        connection.ledger().verify()


def test_the_certificate_of_a_batch_is_the_accountants(project, rng):
    curator = make_curator(project("{ epsilon = 2, delta = 1e-5 }"), rng)
    batch = price_batch(curator, BATCH, Approximate(1, "1e-6"))
    events = [priced.event for priced in batch.plans]
    assert account(events, delta="1e-6").loss == batch.loss


def test_a_batch_beats_asking_one_by_one(project, rng):
    curator = make_curator(project("{ epsilon = 2, delta = 1e-5 }", groups_per_unit=4), rng)
    questions = [
        f"SELECT clinic, COUNT(*) FROM visits WHERE age > {i} GROUP BY clinic" for i in range(40)
    ]
    batch = price_batch(curator, questions, Approximate(1, "1e-6"))
    together = batch.plans[0].mechanisms[0].error_quantile("0.05")
    alone = Fraction(4 * 2 * 40) * 3  # Laplace of scale l1/(ε/40): about three scales at 95 %
    assert together < alone / 4


def test_batches_that_cannot_be(project):
    with connect(project("{ epsilon = 2 }")) as connection:
        with pytest.raises(Unsupported, match="has none"):
            connection.batch([ONE], epsilon=1, delta="1e-6")
        with pytest.raises(RefusedQuery, match="no questions"):
            connection.batch([], epsilon=1, delta="1e-6")
        with pytest.raises(InvalidArgument):
            connection.batch([ONE], epsilon=1, delta=1)
        assert connection.budget()[0].spent == Pure(0)


def test_a_batch_on_a_zcdp_budget_pays_its_rho(project):
    with connect(project("{ rho = 1, delta = 1e-6 }")) as connection:
        connection.batch(BATCH, epsilon=1, delta="1e-6")
        spent = connection.budget()[0].spent
        assert isinstance(spent, ApproximateZcdp)
        assert 0 < spent.rho < Fraction(1, 20)
