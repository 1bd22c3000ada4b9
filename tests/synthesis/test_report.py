"""The report: what it bounds is bounded, what it says can be read, and judging moves no more."""

import json
import warnings

import numpy as np
import pytest
from attrs import evolve

from discreet.core.errors import InvalidArgument
from discreet.core.loss import Zcdp
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.synthesis.counted.counted_rows import CountedRows
from discreet.synthesis.counted.value_cells import value_cells
from discreet.synthesis.judge import Judge
from discreet.synthesis.marginals.choose_tables import all_pairs
from discreet.synthesis.marginals.coarse_values import CoarseValues
from discreet.synthesis.marginals.measure import MarginalMechanism
from discreet.synthesis.report import SyntheticReport
from discreet.synthesis.report_picture import DrawnShares, coarse_labels, shortened, svg
from discreet.synthesis.synthetic_model import SyntheticModel
from discreet.tables.column import Bounds, Column, ColumnType

CELLS = tuple(
    value_cells(one)
    for one in (
        Column(name="sex", type=ColumnType.TEXT, keys=("f", "m"), nullable=False),
        Column(name="age", type=ColumnType.INTEGER, bounds=Bounds(lower=0, upper=49)),
        Column(name="ok", type=ColumnType.BOOLEAN),
        Column(name="<b>", type=ColumnType.INTEGER, keys=(1, 2, 3)),
    )
)


def _rows(count=6_000):
    random = np.random.default_rng(1)
    codes = np.stack([random.integers(0, one.inner, count) for one in CELLS], axis=1)
    codes[:, 1] = 25 * codes[:, 0] + random.integers(0, 25, count)
    codes[:, 3] = (codes[:, 2] + random.integers(0, 2, count)) % 3
    return CountedRows(tuple(one.size for one in CELLS), codes, np.ones(count, np.int64))


def _model(rows, rho, rng, **said):
    mechanism = MarginalMechanism(
        columns=tuple(one.counted() for one in CELLS), rows_per_unit=2, price=Zcdp(rho), **said
    )
    return SyntheticModel.of(CELLS, mechanism.release(rows, rng))


def _truths(rows, model):
    """Return how far the model is from the truth in each pair, in coarse values."""
    grouped = rows.grouped([one.numbers for one in model.measured.coarse])
    total = model.estimated.total
    return {
        tuple(CELLS[c].column.name for c in pair): float(
            np.abs(grouped.table(pair) - total * model.estimated.model.marginal(pair)).sum()
        )
        / total
        / 2
        for pair in all_pairs(len(CELLS))
    }


def test_bounds_hold_the_truth(rng):
    """Each bound holds with 95 %: of six pairs, at two prices, with and without a judgement.

    False alarms: a bound fails if its own noise is large, and noises are independent. So of 24
    bounds 12 fail with a probability of at most C(24, 12) * .05 ** 12 = 7e-10.
    """
    rows = _rows()
    for rho in (0.05, 50):
        for judged in (False, True):
            failures = 0
            for _ in range(4):
                model = _model(rows, rho, rng)
                found = Judge.of_model(model, 2, Zcdp(rho)).judged(rows, rng)
                report = SyntheticReport(
                    title="t", model=model, notes=(), judged=found if judged else None
                )
                truths = _truths(rows, model)
                failures += sum(truths[one.columns] > (one.of_groups or 0) for one in report.pairs)
                assert all((one.of_groups or 0) <= (one.at_most or 0) for one in report.pairs)
            assert failures < 12


def test_a_pair_that_was_measured_twice_is_known_by_the_mean(rng, monkeypatch):
    """The noise of two measurements for half a ρ each is that of one for both, and so is the bound.

    One of them alone errs by 1.41 times as much. False alarms: the sum of the sizes of the noise in
    50 cells has a deviation of .107 of its mean, and .7 of the mean are 6.5 of these.
    """
    rows = _rows()
    model = _model(rows, 1, rng, has_residuals=True)
    measured = model.measured
    twice = [one.columns for one in measured.tables if one.columns == (0, 1)]
    assert len(twice) == 2
    report = SyntheticReport(title="t", model=model, notes=())
    (found,) = (one for one in report.pairs if one.columns == ("sex", "age"))
    grouped = rows.grouped([one.numbers for one in measured.coarse])
    off = np.abs(measured.mean((0, 1))[0] - grouped.table((0, 1))).sum() / 2
    total = model.estimated.total
    precise = sum(1 / one.variance for one in measured.tables if one.columns == (0, 1))
    cells = grouped.table((0, 1)).size
    assert cells >= 50
    assert found.noise == pytest.approx(cells * (2 / np.pi / precise) ** 0.5 / 2 / total)
    assert off / total == pytest.approx(found.noise, rel=0.7)
    drawn = []
    monkeypatch.setattr(DrawnShares, "draw", lambda shares, _: drawn.append(shares))
    report.plot_pair("sex", "age", axes=object())
    assert drawn[0].measured * total == pytest.approx(measured.mean((0, 1))[0])
    assert drawn[0].band * total == pytest.approx(1.96 * precise**-0.5)


def test_without_scores_nothing_bounds_what_was_not_measured(rng):
    model = _model(_rows(), 1, rng, tables=((0, 1),))
    report = SyntheticReport(title="t", model=model, notes=())
    known = {one.columns: one.of_groups for one in report.pairs}
    assert (known.pop(("sex", "age")) or 2) < 1
    assert set(known.values()) == {None}
    assert "unknown" in str(report)


def test_where_all_values_stand_together_nothing_is_known(rng):
    """At a tiny price the ages become one coarse value; what depends within it is not bounded."""
    for _ in range(20):
        model = _model(_rows(), 2e-6, rng)
        report = SyntheticReport(title="t", model=model, notes=())
        lost = {
            CELLS[place].column.name
            for place, one in enumerate(model.measured.coarse)
            if one.size == 1 < len(one.numbers)
        }
        for one in report.pairs:
            if lost.intersection(one.columns):
                assert one.at_most is None
                assert one.put_together == pytest.approx(1)
        if lost:
            break
    else:
        pytest.fail("no price is small enough")
    precise = SyntheticReport(title="t", model=_model(_rows(), 1e6, rng), notes=())
    assert all(one.put_together < 1e-9 for one in precise.pairs if "age" not in one.columns)


def test_one_unit_moves_no_distance_by_more_than_its_rows(rng, monkeypatch):
    rows = _rows()
    judge = Judge.of_model(_model(rows, 1, rng), 2, Zcdp(1))
    exact = []
    drawn = DiscreteGaussian.release

    def release(noise, values, rng):
        exact.append(values)
        return drawn(noise, values, rng)

    monkeypatch.setattr(DiscreteGaussian, "release", release)
    judge.judged(rows, rng)
    more = CountedRows(
        rows.sizes, np.concatenate([rows.codes, [[0, 9, 2, 1]]]), np.append(rows.counts, 2)
    )
    judge.judged(more, rng)
    moved = np.abs(exact[0] - exact[1])
    assert moved.max() == 2, "a twin that takes a row for a unit says 1"
    assert (moved**2).sum() <= judge.distance.l2_squared


def test_a_letter_that_no_font_has_is_text_for_whoever_shows_it():
    def draw(axes):
        axes.set_title("東病棟 <b>")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "東病棟 &lt;b&gt;</text>" in svg(draw)


def test_forms(rng, tmp_path):
    report = SyntheticReport(title="<rows>", model=_model(_rows(), 1, rng), notes=("a note",))
    page = report.write(tmp_path / "r.html").read_text(encoding="utf-8")
    assert "&lt;rows&gt;" in page
    assert "<rows>" not in page
    assert page.count("<svg") == len(CELLS) + len(report.model.measured.together)
    data = json.loads(report.write(tmp_path / "r.json").read_text(encoding="utf-8"))
    assert [one["name"] for one in data["columns"]] == ["sex", "age", "ok", "<b>"]
    assert data["columns"][0]["values"] == ["f", "m"]
    aged = report.plot("age")
    assert aged.get_title(loc="left") == "age"
    assert aged.get_xticklabels()[-1].get_text() == "NULL", "or it would seem to be the oldest"
    first, second = (CELLS[one].column.name for one in report.model.measured.together[0])
    axes = report.plot_pair(second, first)
    assert axes.get_title(loc="left") == f"{first} with {second}"
    assert len(axes.get_lines()) >= 2
    with pytest.raises(InvalidArgument, match="not measured together"):
        report.plot_pair(first, first)
    for bad in (lambda: report.plot("nope"), lambda: report.write(tmp_path / "r.txt")):
        with pytest.raises(InvalidArgument):
            bad()


def test_labels_in_any_script_are_texts_and_null_has_one():
    """The font by which they are placed has no letters for some of them; a browser has."""
    labels = ("北京", "<i>$a$</i>", *map(str, range(29)), "NULL")
    shares = np.full(len(labels), 1 / len(labels))
    every = -(-len(labels) // 12)
    drawn = DrawnShares(names=("城市",), labels=(labels,), model=shares, measured=shares, band=0.01)
    few = evolve(drawn, labels=(labels[:2],), model=shares[:2], measured=shares[:2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pictures = svg(drawn.draw) + svg(few.draw)
    for text in ("城市", "北京", "&lt;i&gt;$a$&lt;/i&gt;", ">NULL<"):
        assert text in pictures
    assert "<i>" not in pictures
    assert (len(labels) - 1) % every, "the last label would not be shown by its place"


def test_labels_in_pictures_say_where_something_was_cut_off():
    column = Column(name="n", type=ColumnType.REAL, bounds=Bounds(lower=0, upper=9, step="1/4"))
    cells = value_cells(column, 5)
    coarse = CoarseValues(np.array([0, 0, 1, 2, 2, 3]))
    labels = coarse_labels(cells, coarse)
    assert labels == ("0 to 3.75", "4 to 5.75", "6 to 9", "NULL")
    assert shortened("2024-01-01 to 2024-01-02") == "2024-01-01 to 2024-01-02"
    assert shortened("a" * 25) == "a" * 23 + "…"
