"""Answers from synthetic rows: ± is as wide as it says, and what is in no ± is said."""

import datetime
from functools import partial

import numpy as np
import pytest

from discreet.core.loss import Zcdp
from discreet.synthesis.counted.counted_rows import CountedRows
from discreet.synthesis.counted.value_cells import value_cells
from discreet.synthesis.marginals.measure import MarginalMechanism
from discreet.synthesis.synthetic_answer import answer_from_rows, half_width, rows_again
from discreet.synthesis.synthetic_model import SyntheticModel
from discreet.tables.column import Bounds, Column, ColumnType, DateRange

INCOME = Column(name="Income", type=ColumnType.INTEGER, bounds=Bounds(lower=0, upper=999_999))
AGE = Column(name="age", type=ColumnType.INTEGER, bounds=Bounds(lower=0, upper=99))
SEX = Column(name="sex", type=ColumnType.TEXT, keys=("f", "m"))
TRIALS = 4_000
LARGE = Zcdp(1_000)


@pytest.mark.parametrize("repeats", [2, 3, 5, 20])
def test_half_widths_hold_normal_errors_as_often_as_they_say(repeats):
    """Repeats are off the value as the value is off the truth, with a deviation of 1."""
    random = np.random.default_rng(repeats)
    errors, others = random.normal(size=TRIALS), random.normal(size=(TRIALS, repeats))
    widths = [half_width(e, e + o) for e, o in zip(errors, others, strict=True)]
    assert np.mean(np.abs(errors) <= widths) >= 0.95
    assert np.median(widths) < 3.5 or repeats < 5


def test_half_widths_hold_an_error_that_repeats_show_in_part():
    """The value is off by 1.4 times as much on average as the repeats are from it."""
    random = np.random.default_rng(1)
    for aside in (0.5, 1, 3, 6):
        errors = random.normal(size=TRIALS) + 1.4 * aside
        others = random.normal(size=(TRIALS, 20)) + aside
        widths = [half_width(e, e + o) for e, o in zip(errors, others, strict=True)]
        assert np.mean(np.abs(errors) <= widths) >= 0.95


def _asking(rng, tables, price=LARGE):
    """Return what asks rows of a model in which tables of some columns were measured."""
    cells = tuple(map(value_cells, (INCOME, AGE, SEX)))
    codes = np.stack([np.zeros(5_000, np.int64), np.arange(5_000) % 100, np.arange(5_000) % 2])
    rows = CountedRows(tuple(one.size for one in cells), codes.T, np.ones(5_000, np.int64))
    columns = tuple(one.counted() for one in cells)
    mechanism = MarginalMechanism(columns=columns, rows_per_unit=1, price=price, tables=tables)
    model = SyntheticModel.of(cells, mechanism.release(rows, rng))
    made = {"people": model.to_arrow(model.sample(5_000, rng), rng)}
    return partial(
        answer_from_rows,
        made,
        known=model.known,
        drawn_again=partial(rows_again, model, "people", 5_000),
        rng=rng,
    )


def test_what_is_known_in_cells_only_is_said(rng):
    """Nearly all incomes are in the first of 126 cells, and far below its middle."""
    asking = _asking(rng, ())
    found = asking(sql="SELECT avg(income) AS a FROM people", repeats=4)
    ((mean,),), (error,) = found.rows, found.errors["a"]
    assert mean - error > 1_000, "so the answer does not hold a mean of a few hundred"
    said = "Income is known in cells only (128 cells of 7813 steps of 1, and NULL)"
    assert any(note.startswith(said) for note in found.notes)
    for sql, is_said in (
        ("SELECT sex, avg(age) AS a FROM people GROUP BY sex", False),
        ("SELECT count(*) AS n FROM people WHERE income < 500", True),
    ):
        assert ("known in cells only" in str(asking(sql=sql, repeats=0))) is is_said


def test_what_is_mostly_noise_is_said(rng):
    """At a small price the mean of a column of many values is that of its range, about, and so is
    that of the noise drawn anew: ± held the truth in 11 of 25 trials of a mean of 4 in 0 to 99.
    """
    sql = "SELECT avg(age) AS a FROM people WHERE sex = 'm'"
    for price, is_said in ((Zcdp("1/10000"), True), (Zcdp(1), False)):
        found = _asking(rng, (), price=price)(sql=sql, repeats=0)
        said = [note for note in found.notes if "more noise than rows" in note]
        assert bool(said) is is_said
        assert not is_said or "in the counts of age:" in said[0], "not of sex, nor of income"
        assert "more noise than rows" not in str(
            _asking(rng, (), price=price)(sql="SELECT count(*) AS n FROM people", repeats=0)
        )


def test_pairs_that_were_not_measured_together_are_named(rng):
    """All those of even ages are f; without their table, as many of any age seem to be."""
    sql = "SELECT count(*) AS n FROM people AS p WHERE p.Age % 2 = 0 AND sex = 'm'"
    lost = "not measured together here: age with sex"
    found = _asking(rng, ())(sql=sql, repeats=4)
    ((count,),), (error,) = found.rows, found.errors["n"]
    assert count - error > 1_000, "and it is 0"
    assert lost in found.notes
    known = _asking(rng, ((1, 2),))
    found = known(sql=sql, repeats=4)
    ((count,),), (error,) = found.rows, found.errors["n"]
    assert count - error > 1_000, "for neighbours of an age stand together in tables"
    assert lost not in found.notes
    assert "measured together in groups of values only: age;" in str(found)
    alone = str(known(sql="SELECT avg(age) AS a FROM people", repeats=0))
    assert "measured together here" not in alone
    assert "in groups of values" not in alone


def test_which_cells_are_wide():
    day = datetime.date(2024, 1, 1)
    short = DateRange(first=day, last=datetime.date(2024, 3, 1))
    wide = {
        "income": value_cells(INCOME),
        "time": value_cells(Column(name="at", type=ColumnType.TIME)),
        "instant": value_cells(Column(name="t", type=ColumnType.TIMESTAMP, dates=short)),
    }
    single = [AGE, SEX, Column(name="d", type=ColumnType.DATE, dates=short)]
    assert all(one.is_wide for one in wide.values())
    assert not any(value_cells(one).is_wide for one in single)
