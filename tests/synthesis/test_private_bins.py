"""Ranges that are divided where the rows are: for which part of the price, and how well."""

import datetime
import json
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from discreet.core.errors import DiscreetError, InvalidArgument
from discreet.core.loss import Approximate, Pure, Zcdp
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.project.terms import Terms
from discreet.synthesis.counted.value_cells import MOST_CELLS, ValueCells
from discreet.synthesis.price import synthesis_price
from discreet.synthesis.private_bins import BINS, PrivateBins, binned_cells
from discreet.synthesis.related.related_file import open_synthetic
from discreet.tables.column import Bounds, Column, ColumnType
from tests.support.projects.frames import owned as owned_frames
from tests.synthesis.published.test_neighbours import Shown

DAY = datetime.date(2020, 1, 1)
COLUMNS = {
    "patient": "integer",
    "income": {"type": "integer", "min": 0, "max": 1_000_000},
    "cost": {"type": "real", "min": -10, "max": 5_000, "step": 0.25},
    "day": {"type": "date", "min": DAY, "max": datetime.date(2025, 12, 31)},
    "rich": {"type": "text", "keys": ["yes", "no"], "nullable": False},
    "spent": {"type": "integer", "min": -5_000, "max": 5_000, "nullable": False},
}
PEOPLE = 20_000


def _visits():
    random = np.random.default_rng(11)
    income = np.clip(np.exp(random.normal(9.5, 0.8, PEOPLE)), 0, 1_100_000).astype(np.int64)
    income[random.random(PEOPLE) < 0.2] = 0
    income[:20] = 2_000_000
    days = np.where(random.random(PEOPLE) < 0.9, random.integers(0, 60, PEOPLE), 1_500)
    return pa.table(
        {
            "patient": np.arange(PEOPLE) // 2,
            "income": pa.array(income, mask=random.random(PEOPLE) < 0.1),
            "cost": random.gamma(2, 20, PEOPLE) - 20,
            "day": [DAY + datetime.timedelta(int(one)) for one in days],
            "spent": pa.array(random.integers(0, 90, PEOPLE), mask=random.random(PEOPLE) < 0.1),
            "rich": ["yes" if one > 15_000 else "no" for one in income],
        }
    )


@pytest.fixture(scope="module")
def visits():
    return _visits()


@pytest.fixture
def owner(tmp_path, visits):
    with owned_frames(
        {"visits": visits},
        columns={"visits": COLUMNS},
        budget={"rho": 1_000, "delta": 1e-6},
        rows_per_group=2,
        groups_per_unit=2,
        ledger=tmp_path / "ledger",
        id_space=tmp_path.name,
    ) as found:
        yield found


# ---- What it costs.


@pytest.mark.parametrize("price", [Pure(1), Pure("1/10"), Zcdp(rho="1/2")])
@pytest.mark.parametrize("limit", [5, 1])
def test_one_person_moves_no_more_than_is_paid_for(price, limit, monkeypatch, rng):
    """Of a person five rows count; the twin takes a row for a person."""
    bins = PrivateBins(cells=300, rows_per_unit=limit, price=price, most=16)
    base = np.bincount(np.minimum(np.arange(900) % 70, 299), minlength=300).astype(np.int64)
    more = base.copy()
    more[299] += 5
    budget = price.epsilon if isinstance(price, Pure) else price.rho
    for first, second in ((base, more), (more, base)):
        here = Shown()
        here.watch(monkeypatch)
        ends = bins.ends(first, rng)
        there = Shown(here.given)
        there.watch(monkeypatch)
        assert bins.ends(second, rng) == ends  # all that comes out follows from what was shown
        lost = Fraction(0)
        for (noise, one), (_, other) in zip(here.drawn, there.drawn, strict=True):
            moved = [abs(int(a) - int(b)) for a, b in zip(one.ravel(), other.ravel(), strict=True)]
            if isinstance(noise, DiscreteLaplace):
                lost += sum(moved) / noise.scale
            else:
                assert isinstance(noise, DiscreteGaussian)
                lost += Fraction(sum(m * m for m in moved)) / (2 * noise.sigma_squared)
        assert here.drawn
        assert (lost <= budget) is (limit == 5)


@pytest.mark.parametrize("bins", [1, 3])
def test_bins_and_noise_share_the_price(bins):
    for terms, cap in (
        (Terms(epsilon=1), Approximate(3, "1e-6")),
        (Terms(rho="1/10"), Zcdp(rho=1)),
        (Terms(epsilon=1, delta="1e-9"), Approximate(3, "1e-6")),
    ):
        plain = synthesis_price(terms, cap, ())
        divided = synthesis_price(terms, cap, (), bins=bins)
        assert divided.charged == plain.charged
        assert divided.event == plain.event
        assert divided.of_bins == plain.of_noise * (BINS / bins)
        assert divided.of_noise == plain.of_noise * (1 - BINS)


# ---- What comes out.


def _column(*, upper=10_000, nullable=True):
    bounds = Bounds(lower=0, upper=upper)
    return Column(name="n", type=ColumnType.INTEGER, bounds=bounds, nullable=nullable)


@pytest.mark.parametrize("price", [Pure("1/1000"), Pure(1), Zcdp(rho=100)])
@pytest.mark.parametrize("rows", [0, 1, 1_000, 10**7])
def test_bins_divide_the_whole_range_whatever_the_rows_are(price, rows, rng):
    bins = PrivateBins(cells=5_000, rows_per_unit=1, price=price)
    shapes = [np.full(5_000, rows // 5_000), np.zeros(5_000), np.zeros(5_000)]
    shapes[1][4_999] = shapes[2][7] = rows
    for counts in shapes:
        ends = bins.ends(counts.astype(np.int64), rng)
        assert list(ends) == sorted(set(ends))
        assert 1 <= len(ends) <= MOST_CELLS
        assert (ends[0] >= 0, ends[-1]) == (True, 4_999)


def test_each_fine_cell_is_in_the_bin_that_ends_at_it_or_later():
    cells = binned_cells(_column(upper=3_000_000))
    assert cells.is_open
    assert cells.fine is not None
    assert cells.fine.width == 3
    found = ValueCells.from_json(
        json.loads(json.dumps({**cells.to_json(), "ends": [2, 8, 3_000_000]}))
    )
    assert not found.is_open
    numbers = found.numbers_of_groups()
    assert numbers[:4].tolist() == [0, 1, 1, 2]
    assert numbers[-2:].tolist() == [2, 3]  # the last of the range, and NULL
    assert numbers.size == len(found.grouped_by()) + 1
    assert ValueCells.from_json(found.to_json()) == found


def test_rows_follow_the_quantiles_of_a_skewed_column(owner, visits):
    connection = owner.connect()
    release = connection.synthesise(
        "visits", columns=["income", "rich"], quantiles=["INCOME"], rho=10
    )
    truth = visits["income"].drop_null().to_numpy()
    drawn = release.to_arrow()["income"].drop_null().to_numpy()
    assert len(drawn) == pytest.approx(len(truth), rel=0.02)
    for share in (0.1, 0.3, 0.5, 0.7, 0.9, 0.95):
        value = np.quantile(truth, share)
        assert (drawn <= value).mean() == pytest.approx((truth <= value).mean(), abs=0.02)
    assert (drawn == 0).mean() == pytest.approx((truth == 0).mean(), abs=0.01)
    assert drawn.max() <= 1_000_000
    assert ("income", "rich") in release.tables
    plain = connection.synthesise("visits", columns=["income", "rich"], rho=10, published=False)
    assert not plain.is_stored
    evenly = plain.to_arrow()["income"].drop_null().to_numpy()
    assert (evenly == 0).mean() < 0.02  # a cell has eight thousand values of which one is 0


def test_numbers_and_days_are_counted_in_their_bins(owner, visits):
    """With next to no noise every bin has the rows that the values themselves say."""
    names = ["cost", "day"]
    release = owner.connect().synthesise(
        "visits", columns=names, quantiles=names, tables=[names], rho=900
    )
    steps = {
        "cost": np.floor(np.clip(visits["cost"].to_numpy(), -10, 5_000) * 4 + 0.5),
        "day": visits["day"].cast(pa.int32()).to_numpy(),
    }
    for place, cells in enumerate(release.cells):
        counts, _ = release.measured.one_way(place)
        exact = np.searchsorted(cells.ends, steps[cells.column.name])
        expected = np.bincount(exact, minlength=cells.size)
        assert np.abs(counts - expected).max() <= 5
        assert 20 < cells.inner <= MOST_CELLS
    assert release.to_arrow().schema.types == [pa.float64(), pa.date32()]


def test_a_column_without_null_has_bins_beside_what_is_asserted(owner, visits):
    """A row without a value is left out, as it is where a range is divided evenly."""
    release = owner.connect().synthesise(
        "visits",
        columns=["spent", "rich"],
        quantiles=["spent"],
        impossible=[{"rich": "no"}],
        rows=500,
        rho=900,
    )
    counts, _ = release.measured.one_way(1)
    steps = visits["spent"].drop_null().to_numpy()
    cells = release.cells[1]
    exact = np.bincount(np.searchsorted(cells.ends, steps), minlength=cells.size)
    assert np.abs(counts - exact).max() <= 5
    rows = release.to_arrow()
    assert rows.num_rows == 500
    assert rows["spent"].null_count == 0
    assert set(rows["rich"].to_pylist()) == {"yes"}


def test_they_are_paid_for_once_and_found_again(owner, tmp_path):
    connection = owner.connect()
    asked = {"columns": ["income", "rich"], "quantiles": ["income"], "rho": 1}
    told = connection.explain_synthesis("visits", **asked)
    assert "divided privately where the rows are" in " ".join(str(told).split())
    assert "(ranks ±" in " ".join(str(told).split())
    release = connection.synthesise("visits", **asked)
    assert connection.synthesise("visits", **asked).cells == release.cells
    assert connection.synthesise("visits", **asked).is_stored
    assert any("income is divided where noisy counts say" in note for note in release.notes())
    opened = connection.releases()[-1].open()
    assert opened.cells == release.cells
    (space,) = connection.budget()
    assert str(space.spent) == "ρ = 1, δ = 0"
    answer = open_synthetic(release.write(tmp_path / "v.parquet")).sql(
        "SELECT COUNT(*) AS n FROM visits WHERE income < 5000", repeats=2
    )
    assert answer.columns == ("n",)
    assert connection.judge(release, rho=1).judged is not None
    other = connection.synthesise("visits", columns=["income", "rich"], rho=1)
    assert not other.is_stored
    assert other.cells != release.cells
    made_up = connection.rehearse_synthesis("visits", **asked)
    assert made_up.release.cells[0].fine is not None


@pytest.mark.parametrize(
    ("quantiles", "said"),
    [
        (["rich"], "'rich' cannot be divided by quantiles"),
        (["nothing"], "nothing"),
        (["day"], "'day' is not one of the columns"),
        ("income", "quantiles is not a list of names"),
        ([], "quantiles is not a list of names"),
    ],
)
def test_what_cannot_be_divided_is_refused_before_anything_is_spent(owner, quantiles, said):
    connection = owner.connect()
    with pytest.raises(DiscreetError, match=said):
        connection.synthesise("visits", columns=["income", "rich"], quantiles=quantiles, rho=1)
    (space,) = connection.budget()
    assert str(space.spent) == "ρ = 0, δ = 0"


def test_a_range_of_few_steps_needs_no_bins():
    with pytest.raises(InvalidArgument, match="each of which is a cell anyway"):
        binned_cells(_column(upper=100))
