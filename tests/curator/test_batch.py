"""Batches: many questions, one certified loss, one charge."""

import re
from fractions import Fraction

import pytest

from discreet.accounting.accounting_question import account
from discreet.accounting.conversions.convert import convert
from discreet.core.errors import (
    BelowLeastPrice,
    BudgetExhausted,
    InvalidArgument,
    RefusedQuery,
    Unsupported,
)
from discreet.core.loss import Approximate, ApproximateZcdp, GaussianDp, Pure
from discreet.curator.batch import price_batch
from discreet.roles.connection import Connection, connect
from discreet.roles.owner import own
from tests.support.house.narrow import known
from tests.support.projects.clinic import make_curator, visit, write_project, write_rows

ROWS = [visit(f"p{i}", "abcd"[i % 4], age=i % 90) for i in range(400)]
NOTES = "SELECT note, COUNT(DISTINCT person) AS n FROM visits GROUP BY note"
ONE = "SELECT COUNT(*) AS n FROM visits"
BATCH = [
    ONE,
    "SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic",
    "SELECT SUM(age) AS a FROM visits WHERE urgent = FALSE",
]


@pytest.fixture
def project(tmp_path):
    def make(budget: str, **limits):
        folder = write_project(tmp_path, ROWS, **limits)
        text = (folder / "discreet.toml").read_text()
        (folder / "discreet.toml").write_text(text.replace("{ epsilon = 10 }", budget))
        return folder

    return make


def test_a_batch_takes_counts_and_sums_only(project):
    with connect(project("{ epsilon = 2, delta = 1e-5 }")) as connection:
        for sql, why in ((NOTES, "public keys"), ("SELECT MEDIAN(age) FROM visits", "quantile")):
            with pytest.raises(RefusedQuery, match=why):
                connection.batch([ONE, sql], epsilon=1, delta="1e-6")
        both = connection.batch([ONE, "SELECT AVG(age) AS a FROM visits"], epsilon=1, delta="1e-6")
        assert [release.columns for release in both] == [("n",), ("a",)]


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
        connection.verify()


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


def test_the_cost_of_a_batch_is_what_was_charged(project):
    with connect(project("{ rho = 1, delta = 1e-6 }")) as connection:
        releases = connection.batch(BATCH, epsilon=1, delta="1e-6")
        assert {release.cost for release in releases} == {connection.budget()[0].spent}


def test_noise_that_cannot_be_drawn_is_refused_before_anybody_pays(project):
    """Behind the gate it would be a failure that everybody is charged and suspended for."""
    wide = "SELECT SUM(CLAMP(age, 0, 1000000000000, 0.001)) AS s FROM visits"
    with connect(project("{ rho = 10, delta = 1e-3 }")) as connection:
        with pytest.raises(RefusedQuery, match="noise outside the range"):
            connection.batch([wide], epsilon="0.0001", delta="1e-6")
        with pytest.raises(RefusedQuery, match="noise outside the range"):
            connection.sql(wide, epsilon="1e-400")
        spent = connection.budget()[0].spent
        assert spent == spent * 0


@pytest.mark.parametrize(("unit", "price"), [("ε", "1e-400"), ("ε", "1e-16"), ("ρ", "1e-40")])
def test_it_is_said_which_price_would_do(project, unit, price):
    wide = "SELECT SUM(CLAMP(age, 0, 1000000000000, 0.001)) AS s FROM visits"

    def explain(connection: Connection, offered: Fraction) -> None:
        if unit == "ε":
            connection.explain(wide, epsilon=offered)
        else:
            connection.explain(wide, rho=offered)

    with connect(project("{ rho = 10, delta = 1e-3 }")) as connection:
        with pytest.raises(RefusedQuery, match="Offer a higher price") as refused:
            explain(connection, Fraction(price))
        told = re.search(rf"this {unit} times (\S+[0-9])", str(refused.value))
        times = Fraction(known(told)[1])
        explain(connection, Fraction(price) * times)
        with pytest.raises(RefusedQuery, match="Offer a higher price"):
            explain(connection, Fraction(price) * times * Fraction(3, 4))


def test_a_question_with_its_own_price_is_no_part_of_a_batch(project):
    priced = ONE.replace("SELECT", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.01)", 1)
    with (
        connect(project("{ epsilon = 2, delta = 1e-5 }")) as connection,
        pytest.raises(RefusedQuery, match="price of its own"),
    ):
        connection.batch([ONE, priced], epsilon=1, delta="1e-6")


def test_a_batch_on_a_gaussian_budget_pays_the_squares_of_its_noise(project):
    """What is charged is the accountant's bound on all events together, whatever was offered."""
    with connect(project("{ mu = 1 }")) as connection:
        releases = connection.batch(BATCH, epsilon=1, delta="1e-6")
        (status,) = connection.budget()
        assert isinstance(status.spent, GaussianDp)
        assert {release.cost for release in releases} == {status.spent}
        again = connection.batch(BATCH, epsilon=1, delta="1e-6")
        assert all(release.is_stored for release in again)
        assert connection.budget()[0].spent == status.spent
    back = convert(status.spent, to="approximate", delta="1e-6").loss
    assert isinstance(back, Approximate)
    assert Fraction("0.999") < back.epsilon < Fraction("1.001"), "the noise uses up what it may"


def test_a_batch_pays_the_least_price_once(project):
    """Apart, each of its questions would be below it; together they are one charge and one bit."""
    folder = project("{ epsilon = 2, delta = 1e-5 }\nleast_price = { epsilon = 0.5 }")
    with connect(folder) as connection:
        with pytest.raises(BelowLeastPrice):
            connection.batch(BATCH, epsilon="0.4", delta="1e-6")
        assert connection.budget()[0].spent == Approximate(0, 0)
        connection.batch(BATCH, epsilon="0.6", delta="1e-6")
        assert Approximate("0.5", 0) <= connection.budget()[0].spent <= Approximate("0.6", "1e-6")


def test_a_batch_takes_the_limits_of_a_profile_and_chooses_none_itself(project):
    folder = project("{ epsilon = 1000, delta = 0.1 }")
    write_rows(folder, [visit(f"p{i}", "abcd"[j % 4]) for i in range(50) for j in range(20)])
    with connect(folder) as connection:
        with pytest.raises(RefusedQuery, match="only from a profile") as refused:
            connection.batch(BATCH, epsilon=1, delta="1e-6", limits="auto")
        assert "one by one" in str(refused.value)
        assert connection.budget()[0].spent == Approximate(0, 0)
    with own(folder) as owner:
        owner.profile("visits", epsilon=500)
    with connect(folder) as connection:
        releases = connection.batch(BATCH, epsilon=50, delta="1e-6", limits="auto")
        everything, by_clinic, _ = (release.body.limits for release in releases)
        assert 20 <= everything.rows_per_group < 30
        assert 5 <= by_clinic.rows_per_group < 10
        assert by_clinic.groups_per_unit == 4
        assert everything.chosen is None
        for bad in ({"limits": "auto", "rows_per_group": 1}, {"limits": "best"}):
            with pytest.raises(InvalidArgument):
                connection.batch(BATCH, epsilon=1, delta="1e-6", **bad)
