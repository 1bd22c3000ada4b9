"""Releases by earlier rules or earlier noise: never an answer again, readable, and flagged."""

import json
import re
from fractions import Fraction

import pytest
from attrs import evolve

from discreet.cli.main import main
from discreet.cli.spelling import spelled
from discreet.core.loss import Pure
from discreet.curator.price import price
from discreet.curator.publishing import publish
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.selection.quantile import Quantile
from discreet.releases.body import Body, GroupKeys, LimitsInForce, Made, NoisyAggregate
from discreet.releases.notes import superseded
from discreet.releases.release import Release
from discreet.roles.connection import connect
from discreet.tables.plans import plan
from tests.support.projects.clinic import visit, write_project

SQL = "SELECT clinic, COUNT(*) AS n, SUM(cost) AS paid FROM visits GROUP BY clinic"
ROWS = [visit("p"), visit("q", "b")]


def as_version_1(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make releases as the first version did: with other names, not saying what made them."""
    monkeypatch.setattr(plan, "BOUNDING", 1)
    monkeypatch.setattr(price, "NOISE", 1)
    right = publish.publish

    def old(*arguments):
        return evolve(right(*arguments), made=None)

    monkeypatch.setattr("discreet.curator.publishing.publish.publish", old)


def test_an_old_release_is_readable_flagged_and_never_an_answer(tmp_path):
    folder = write_project(tmp_path, ROWS)
    with pytest.MonkeyPatch.context() as monkeypatch, connect(folder, epsilon=1) as connection:
        as_version_1(monkeypatch)
        first = connection.sql(SQL)
        assert connection.sql(SQL).is_stored
    with connect(folder, epsilon=1) as connection:
        again = connection.sql(SQL)
        assert not again.is_stored
        read = connection.releases(first.receipt.ticket.number)[0].open()
        assert isinstance(read, Release)
        assert any("fair sample" in note for note in read.notes())
        assert read.to_dicts()[0]["COUNT(*)"] == first.to_dicts()[0]["n"]
        assert read.receipt == first.receipt
        fine = connection.releases(again.receipt.ticket.number)[0].open()
        assert isinstance(fine, Release)
        assert not any("earlier version" in note for note in fine.notes())


def test_the_command_reads_a_release_again(tmp_path, capsys):
    folder = write_project(tmp_path, ROWS)
    with connect(folder, epsilon=1) as connection:
        release = connection.sql(SQL)
    assert isinstance(release, Release)
    number = release.receipt.ticket.number
    assert main(["ledger", "--project", str(folder), "--release", str(number)]) == 0
    assert spelled(str(evolve(release, is_stored=True))) in capsys.readouterr().out
    assert main(["ledger", "--project", str(folder), "--release", "99", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "invalid_argument"


def test_a_batch_is_read_as_its_releases(tmp_path):
    folder = write_project(tmp_path, ROWS)
    file = folder / "discreet.toml"
    text = file.read_text(encoding="utf-8")
    wider = re.sub(r"(epsilon = \d+) }", r"\1, delta = 1e-6 }", text)
    file.write_text(wider, encoding="utf-8")
    with connect(folder) as connection:
        releases = connection.batch([SQL, "SELECT COUNT(*) FROM visits"], epsilon=1, delta="1e-7")
        number = releases[0].receipt.ticket.number
        assert [len(one.open().to_json()["rows"]) for one in connection.releases(number)] == [4, 1]


@pytest.mark.parametrize(
    ("noise", "is_faulty"),
    [
        (DiscreteLaplace(scale=8388607), False),
        (DiscreteLaplace(scale=8388608), True),
        (DiscreteGaussian(sigma_squared=2**46 - 1), False),
        (DiscreteGaussian(sigma_squared=2**46), True),
        (Quantile(quantile="1/2", lower=0, upper=9, scale=10**8), False),
    ],
)
def test_noise_is_flagged_from_the_scale_at_which_it_was_wrong(noise, is_faulty):
    body = Body(
        made=None,
        keys=GroupKeys(columns=(), types=(), places=((),), rows=[[]], sets=[0]),
        selection=None,
        limits=LimitsInForce(rows_per_group=1, groups_per_unit=1, leave_out=False),
        aggregates=(
            NoisyAggregate(kind="sum", text="", step=Fraction(1), noise=noise, values=[7]),
        ),
        cost=Pure(1),
    )
    assert bool(superseded(body)) == is_faulty
    assert superseded(evolve(body, made=Made(bounding=2, noise=2))) == []
