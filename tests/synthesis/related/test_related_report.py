"""The report of two tables: joined tables are those of drawn rows, and bounds hold the truth."""

import json
from fractions import Fraction

import numpy as np
import pytest

from discreet.accounting.accountants.pure import pure_loss
from discreet.accounting.accountants.zcdp import zcdp_loss
from discreet.core.errors import UnknownTable
from discreet.core.loss import Approximate, Pure, Zcdp
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.synthesis.counted.counted_rows import CountedRows
from discreet.synthesis.judge import Judge
from discreet.synthesis.marginals.choose_tables import all_pairs
from discreet.synthesis.marginals.measured import noise_variance
from discreet.synthesis.related.joined_tables import JoinedTables
from discreet.synthesis.related.judge_related import RelatedJudges, with_cluster
from tests.synthesis.related.related_people import MOST, PEOPLE, owned_people, people


@pytest.fixture(scope="module")
def owner(tmp_path_factory):
    with owned_people(people(), tmp_path_factory.mktemp("report")) as found:
        yield found


@pytest.fixture(scope="module")
def release(owner):
    return owner.connect().synthesise_related("patients", "visits", rho=20)


@pytest.fixture(scope="module")
def judged(owner, release):
    return owner.connect().judge(release, rho=5)


def _joined_rows():
    """Return all children of the truth: cost, kind, and their parents' age, sex and number."""
    tables = {name: table.to_pandas() for name, table in people().items()}
    parents, children = tables["patients"], tables["visits"]
    number = children.groupby("patient").size().reindex(parents["patient"]).fillna(0)
    parents = parents.assign(number=number.clip(upper=MOST).to_numpy())
    both = children.merge(parents, on="patient")
    codes = np.stack(
        [both.cost, both.kind == "y", both.age, both.sex == "m", both.number], axis=1
    ).astype(np.int64)
    # Of a unit with more children than count, each counts a little less here: in expectation.
    weights = np.minimum(1, MOST / both.groupby("patient").cost.transform("size")).to_numpy()
    return codes, weights


def test_joined_tables_are_those_of_drawn_rows(release):
    """Drawn counts differ from the expected ones by chance alone.

    A cell of mean c has a deviation of at most about sqrt(4c), as children come in sixes at most:
    ten of these are passed by chance in less than one of 10^20 runs.
    """
    joined, parents = JoinedTables(release.model), 40_000
    drawn = release.sample(parents)
    both = drawn["visits"].to_pandas().merge(drawn["patients"].to_pandas(), on="patient")
    tens = np.minimum(np.arange(100) // 10, 9)
    scale = parents / release.model.parents.rows
    found = np.zeros((2, 10))
    np.add.at(found, ((both.kind == "y").astype(int), tens[both.age]), 1)
    expected = scale * joined.table(1, 0, (np.arange(2), tens))
    assert (np.abs(found - expected) < 10 * np.sqrt(4 * expected + 1)).all()
    owners = drawn["visits"].to_pandas().groupby("patient").patient.transform("size")
    numbers = np.bincount(owners, minlength=MOST + 1)
    expected = scale * joined.table(1, 2, (np.zeros(2, int), np.arange(MOST + 1)))[0]
    assert (np.abs(numbers - expected) < 10 * np.sqrt(4 * MOST * expected + 1)).all()
    assert joined.total == pytest.approx(sum(one.sum() for one in joined.masses))
    assert 0 <= joined.shift < 0.1


def test_bounds_hold_the_truth(release, judged):
    """Each of 12 bounds holds with 95 %, and with noise of their own: 7 fail with 5e-7 at most."""
    codes, weights = _joined_rows()
    model, failures = release.model, 0
    for one in (release, judged):
        report = one.report()
        bounds = {pair.columns: pair for pair in report.pairs}
        assert len(bounds) == 6
        for child, parent in ((c, p) for c in range(2) for p in range(3)):
            names = (
                f"visits.{model.own_cells[child].column.name}",
                f"patients.{model.parents.cells[parent].column.name}",
            )
            groups = (
                model.children.measured.coarse[child].numbers,
                model.parents.measured.coarse[parent].numbers,
            )
            truth = np.zeros([int(part.max()) + 1 for part in groups])
            places = (groups[0][codes[:, child]], groups[1][codes[:, 2 + parent]])
            np.add.at(truth, places, weights)
            off = np.abs(truth - report.joined.table(child, parent, groups)).sum() / 2
            failures += off / report.joined.total > (bounds[names].at_most or 1)
            if one is judged:
                assert off / report.joined.total < 0.2, "the model is not far from the truth"
    assert failures < 7


def test_a_judgement_makes_bounds_tighter(release, judged):
    before, after = (
        {pair.columns: pair.of_groups for pair in one.report().pairs} for one in (release, judged)
    )
    loose = ("visits.cost", "patients.number of visits")
    assert after[loose] < before[loose] / 2
    data = judged.report().to_json()
    assert data["judged"]
    assert not release.report().to_json()["judged"]
    assert data["tables"]["visits"]["shift"] > 0
    assert data["tables"]["patients"]["shift"] == 0


def test_a_shift_is_in_every_bound_of_children(judged):
    report = judged.report()
    for pair in report.children.pairs:
        assert pair.of_groups >= report.joined.shift


def test_forms(judged, tmp_path):
    report = judged.report()
    page = report.write(tmp_path / "r.html").read_text(encoding="utf-8")
    tables = (judged.of_parents.together, judged.of_children.measured.together)
    assert page.count("<svg") == 6 + sum(map(len, tables)), "columns of both, and pairs of them"
    assert page.count("<table>") == 3
    for words in ("order in time", "number of visits", "cluster of patients", "made up"):
        assert words in page
        assert words in str(report)
    data = json.loads(report.write(tmp_path / "r.json").read_text(encoding="utf-8"))
    assert [one["name"] for one in data["tables"]["patients"]["columns"]][-1] == "number of visits"
    assert report.plot("visits", "cost").get_title(loc="left") == "cost"
    with pytest.raises(UnknownTable):
        report.plot("nope", "cost")


def test_without_scores_only_what_makes_clusters_is_known(owner):
    named = owner.connect().synthesise_related("patients", "visits", rho=1, by=["sex"])
    known = {pair.columns: pair.of_groups for pair in named.report().pairs}
    assert {names[1] for names, bound in known.items() if bound is not None} == {"patients.sex"}
    assert "unknown" in str(named.report())


# ---- What judges moves by no more than a unit's rows.


def _rows(sizes, codes):
    return CountedRows(tuple(sizes), np.array(codes), np.ones(len(codes), dtype=np.int64))


def test_one_unit_moves_no_distance_by_more_than_its_rows(release, rng, monkeypatch):
    exact = []
    drawn = DiscreteGaussian.release

    def caught(noise, values, rng):
        exact.append(np.array(values))
        return drawn(noise, values, rng)

    judges = RelatedJudges.of(release, Zcdp(1))
    monkeypatch.setattr(DiscreteGaussian, "release", caught)
    cells = (*release.child_cells, *release.parent_cells)
    sizes = [one.size for one in cells]
    other = [[1, 0, 30, 0, 2], [5, 1, 30, 0, 2]]
    unit = [[90, 1, 80, 1, 6]] * MOST
    for rows in (other, other + unit):
        counted = with_cluster(_rows(sizes, rows), 2, release.of_children.cluster)
        judges.children.judged(counted, rng)
    moved = np.abs(exact[0] - exact[1])
    assert len(moved) == 3 + 2 * 3, "pairs of three columns, and two with three of the parents"
    assert moved.max() == MOST, "a twin that takes a row for a unit says 1"
    assert (moved**2).sum() <= judges.children.distance.l2_squared
    exact.clear()
    for rows in ([[30, 0, 2]], [[30, 0, 2], [80, 1, 6]]):
        judges.parents.judged(_rows(sizes[2:], rows), rng)
    moved = np.abs(exact[0] - exact[1])
    assert moved.max() == 1 == judges.parents.rows_per_unit


def test_noise_is_for_a_unit_and_not_for_a_row(release):
    """The twin whose unit is a row has noise that is narrower by the number of rows of a unit."""
    judges = RelatedJudges.of(release, Zcdp(1))
    row = Judge(
        groups=judges.children.groups,
        tables=judges.children.tables,
        rows_per_unit=1,
        price=judges.children.price,
    )
    ratio = noise_variance(judges.children.noise()) / noise_variance(row.noise())
    assert ratio == pytest.approx(MOST**2, rel=0.1)
    assert len(judges.parents.tables) == len(all_pairs(3))


@pytest.mark.parametrize("price", [Zcdp(Fraction(1, 7)), Pure(Fraction(1, 3))])
def test_the_noise_of_both_judges_is_within_what_is_charged(release, price):
    """By the accountants, which look at events alone; the twin with half of the noise is beyond."""
    judges = RelatedJudges.of(release, price)
    events = [judges.parents.event(), judges.children.event()]
    account = zcdp_loss if isinstance(price, Zcdp) else pure_loss
    assert account(events) <= price
    twice = [judges.parents.event(), judges.children.event(), judges.children.event()]
    assert not account(twice) <= price


def test_an_epsilon_with_a_delta_buys_one(tmp_path):
    budget = {"epsilon": 10, "delta": 1e-6}
    with owned_people(people(), tmp_path, budget=budget) as owner:
        connection = owner.connect()
        found = connection.synthesise_related("patients", "visits", epsilon=2, delta=1e-7)
        before = connection.budget()[0].spent
        connection.judge(found, epsilon=1, delta=1e-7)
        assert connection.budget()[0].spent <= before + Approximate(1, "1e-7")


def test_a_judgement_is_charged_once_and_found_again(owner, release, judged):
    connection = owner.connect()
    (before,) = connection.budget()
    again = connection.judge(release, rho=5)
    assert again.judged.children.to_json() == judged.judged.children.to_json()
    assert connection.budget()[0].spent == before.spent
    connection.judge(release.with_tours(9_999), rho=5)
    assert connection.budget()[0].spent == before.spent, "a longer search finds the same"
    connection.judge(release.with_tours(1), rho=5)
    spent = connection.budget()[0].spent.rho - before.spent.rho
    assert spent == 5, "another model is judged anew"
    assert len(release["patients"]) == pytest.approx(PEOPLE, abs=60)
