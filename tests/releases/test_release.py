"""Releases: what is published, kept, read again and shown to people."""

import datetime
import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pyarrow as pa
import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.canonical import canonical
from discreet.core.errors import InvalidArgument, LedgerError, MissingDependency
from discreet.core.loss import Pure
from discreet.curator.price import ChosenGroups, PricedPlan
from discreet.curator.publish import publish
from discreet.curator.randomise import Noisy
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.stability.thresholded_keys import ThresholdedKeys
from discreet.releases.body import Body
from discreet.releases.release import Release, _pandas_column
from discreet.releases.shown_column import ShownColumn
from discreet.tables.keyset import PrivateKeys
from discreet.tables.plans.plan import BoundedPlan
from tests.support.projects.shown_answers import EVENT, LIMITS, RECEIPT, Hand, outputs, row, visits
from tests.support.statistics.exact_tests import alpha, binomial_p_value
from tests.support.statistics.numbered_rng import NumberedRng

ROWS = [
    row(person=str(i), clinic="a", age=20 + i, cost=2, urgent=i % 2 == 0, code=i % 3)
    for i in range(30)
]
QUERY = (
    "SELECT clinic, COUNT(*) AS n, AVG(age) AS mean, MAX(cost) AS dearest,"
    " COUNT(DISTINCT code) AS codes FROM visits GROUP BY clinic"
)


def hand(sql: str = QUERY, **changes: Any) -> Hand:
    groups: dict[Any, Sequence[Any]] = {("a",): ROWS, ("b",): ROWS[:10]}
    return evolve(Hand(outputs=outputs(sql), groups=groups, fields=(1,), scale=5), **changes)


def test_a_body_is_exact_and_survives_the_ledger() -> None:
    body = hand().body()
    again = Body.from_json(json.loads(canonical(body.to_json())))
    assert again.to_json() == body.to_json()
    release = hand().release()
    assert Release(view=release.view, body=again, receipt=RECEIPT).rows == release.rows


def test_a_body_says_what_it_holds() -> None:
    body = hand().body().to_json()
    assert body["format"] == 2
    assert body["keys"] == {
        "columns": ["clinic"],
        "types": ["text"],
        "places": [[0]],
        "rows": [["a"], ["b"]],
        "sets": [0, 0],
    }
    assert body["limits"] == {"rows_per_group": 3, "groups_per_unit": 2, "leave_out": True}
    texts = {aggregate["text"] for aggregate in body["aggregates"]}
    assert texts == {
        "COUNT(*)",
        "COUNT(*) where age IS NOT NULL",
        "SUM(age - 55)",
        "QUANTILE(cost, 0.99)",
        "COUNT(DISTINCT code)",
    }


def test_a_body_of_an_unknown_layout_is_refused() -> None:
    release = hand().release()
    with pytest.raises(LedgerError, match="unknown format"):
        Body.from_json(release.body.to_json() | {"format": 1})


def test_rows_have_plain_values() -> None:
    release = hand().release()
    assert release.columns == ("clinic", "n", "mean", "dearest", "codes")
    assert release.rows == (("a", 30, 34.5, 2.0, 3), ("b", 10, 24.5, 2.0, 3))
    assert release.to_dicts()[1]["mean"] == 24.5


def test_counts_and_sums_have_one_error_bar_and_means_have_intervals() -> None:
    release = hand().release()
    bar = int(DiscreteLaplace(scale=5).error_quantile("0.05"))
    assert release.errors() == {"n": bar, "codes": bar}
    assert release.error("n", 0.99) == DiscreteLaplace(scale=5).error_quantile("0.01")
    assert release.intervals("n") == ((30 - bar, 30 + bar), (10 - bar, 10 + bar))
    with pytest.raises(InvalidArgument, match="no error bar"):
        release.error("mean")
    for (low, high), value in zip(release.intervals("mean"), (34.5, 24.5), strict=True):  # type: ignore[misc]
        assert 0 <= low < value < high <= 110
    assert release.intervals("dearest") == (None, None)


def test_a_name_that_has_no_noise_is_refused() -> None:
    for name in ("clinic", "nothing"):
        with pytest.raises(InvalidArgument, match="No noisy output"):
            hand().release().intervals(name)


def test_a_calculation_has_the_bars_of_all_its_parts() -> None:
    asked = "SELECT COUNT(*) * 2 - SUM(cost) / 4 AS x FROM visits GROUP BY clinic"
    noise = DiscreteLaplace(scale=5).error_quantile("0.025")
    assert hand(asked).release().error("x") == 2 * noise + noise / 4 / 4


def test_the_table_shows_bars_and_intervals_and_notes() -> None:
    text = str(hand().release())
    assert "30 ± 15" in text
    assert "34.5 (2.2 to 42.6)" in text
    assert "± and (… to …) hold for 95 % of values, noise only; cost ε = 0.5" in text
    assert "dearest: MAX is the private 0.99-quantile" in text
    assert "put in order, the rows that count have the " in text
    assert "COUNT(DISTINCT code) counts at most 3 values of one unit in a group" in text
    stored = evolve(hand().release(), is_stored=True)
    assert "nothing more is charged" in str(stored)


def test_the_table_of_a_quantile_claims_no_interval() -> None:
    text = str(hand("SELECT MEDIAN(age) AS m FROM visits").release())
    assert "±" not in text.split("\n")[2]
    assert "hold" not in text.split("\n")[4]


def test_markup_in_a_key_is_escaped() -> None:
    groups: dict[Any, Sequence[Any]] = {("<b>",): ROWS}
    page = hand(groups=groups)
    assert "&lt;b&gt;" in page.release()._repr_html_()


def test_json_is_plain_and_complete() -> None:
    asked = "SELECT day, COUNT(*) AS n, AVG(age) AS mean FROM visits GROUP BY day"
    groups: dict[Any, Sequence[Any]] = {(datetime.date(2025, 3, 1),): ROWS, (None,): []}
    release = evolve(hand(asked), groups=groups, fields=(5,)).release()
    data = json.loads(json.dumps(release.to_json()))
    assert data["rows"][0][0] == "2025-03-01"
    assert data["rows"][1][0] is None
    assert set(data["errors"]) == {"confidence", "half_width", "intervals"}
    assert [len(pair) for pair in data["errors"]["intervals"]["mean"]] == [2, 2]
    first, second = data["notes"]
    assert first.startswith("at most 3 rows of one")
    assert second == "age outside 0 to 110 (declared) counts as the nearer end"


def test_arrow_has_the_types_of_the_outputs() -> None:
    asked = (
        "SELECT day, COUNT(*) AS n, SUM(cost) AS total, COUNT(*) > 3 AS many, NULL AS nothing"
        " FROM visits GROUP BY day"
    )
    groups: dict[Any, Sequence[Any]] = {(datetime.date(2025, 3, 1),): ROWS}
    table = evolve(hand(asked), groups=groups, fields=(5,)).release().to_arrow()
    assert table.schema.types == [pa.date32(), pa.int64(), pa.float64(), pa.bool_(), pa.float64()]
    empty = evolve(hand(asked), groups={}, fields=(5,)).release().to_arrow()
    assert empty.schema == table.schema


def test_pandas_has_the_columns_even_without_rows() -> None:
    assert list(hand(groups={}).release().to_pandas().columns) == list(hand().release().columns)


def test_grouping_sets_are_told_apart() -> None:
    asked = "SELECT clinic, GROUPING(clinic) AS all_, COUNT(*) AS n FROM visits GROUP BY clinic"
    groups: dict[Any, Sequence[Any]] = {("a",): ROWS, (None,): ROWS * 2}
    rolled = evolve(hand(asked), groups=groups, places=((0,), ()), sets=(0, 1)).release()
    assert rolled.rows == (("a", 0, 30), (None, 1, 60))
    assert "NULL" in str(rolled)


def private_release() -> Release:
    asked = outputs("SELECT clinic FROM visits GROUP BY clinic")
    keys = ThresholdedKeys(noise=DiscreteLaplace(scale=3), threshold=45)
    plan = BoundedPlan(
        relation=visits(),
        keys=PrivateKeys(fields=(1,), allowed=(None,)),
        limits=LIMITS,
        aggregates=asked.aggregates,
    )
    chosen = ChosenGroups(mechanism=keys, event=EVENT)
    priced = PricedPlan(plan=plan, groups=chosen, answers=(), loss=Pure(Fraction(1)))
    body = publish(Noisy(keys=(("a",), (None,)), sets=(0, 0), columns=()), priced)
    return Release(view=asked.view, body=body, receipt=RECEIPT)


def test_private_keys_can_be_all_that_is_asked_for() -> None:
    release = private_release()
    assert release.rows == (("a",), (None,))
    assert release.errors() == {}
    assert "groups of fewer than about 45 units are not shown" in release.notes()[0]
    assert " ± " not in str(release).split("cost")[0]


def test_a_picture_is_written(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "answer.png"
    hand().release().plot(path)
    assert path.read_bytes().startswith(b"\x89PNG")
    with pytest.raises(InvalidArgument, match="kind of picture"):
        hand().release().plot(tmp_path / "answer.gif")
    with pytest.raises(InvalidArgument, match="nothing to draw"):
        private_release().plot(path)
    with pytest.raises(InvalidArgument, match="cannot be drawn"):
        hand(groups={}).release().plot(path)


def test_a_picture_without_matplotlib_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(_: str) -> Any:
        raise MissingDependency("This needs the library 'matplotlib', which is not installed")

    monkeypatch.setattr("discreet.core.optional.load", missing)
    with pytest.raises(MissingDependency, match="matplotlib"):
        hand().release().plot(tmp_path / "answer.png")


NUMBERS = st.fractions(-(10**6), 10**6, max_denominator=10**4)


@given(values=st.lists(NUMBERS, min_size=1, max_size=4), bar=NUMBERS.map(abs))
def test_a_bar_that_is_shown_claims_no_more_than_the_true_one(
    values: list[Fraction], bar: Fraction
) -> None:
    shown = ShownColumn(name="x", values=values, bar=bar).texts()
    for value, text in zip(values, shown, strict=True):
        middle, width = (Fraction(part) for part in text.split(" ± "))
        assert middle - width <= value - bar
        assert value + bar <= middle + width


@given(values=st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), min_size=1, max_size=4))
def test_an_interval_that_is_shown_claims_no_more_than_the_true_one(
    values: list[tuple[Fraction, Fraction, Fraction]],
) -> None:
    ordered = [tuple(sorted(three)) for three in values]
    intervals = [(three[0], three[2]) for three in ordered]
    column = ShownColumn(name="x", values=[three[1] for three in ordered], intervals=intervals)
    for (low, high), text in zip(intervals, column.texts(), strict=True):
        ends = text[text.index("(") + 1 : -1].split(" to ")
        assert Fraction(ends[0]) <= low <= high <= Fraction(ends[1])


def covered(trials: int, *, shrink: Fraction) -> int:
    """Return in how many of many groups the interval of a mean at 80 % holds the true mean."""
    asked = outputs("SELECT AVG(cost) AS x FROM visits")
    rows = [row(person=str(i), cost=i % 11) for i in range(40)]
    many = Hand(outputs=asked, groups={(): rows}, scale=30)
    exact = np.array([[column[0]] * trials for column in many.exact()])
    rng = NumberedRng(1, label="release/coverage")
    noisy = tuple(DiscreteLaplace(scale=30).release(column, rng) for column in exact)
    told = evolve(many, scale=30 * shrink).body()
    body = evolve(
        told,
        keys=evolve(told.keys, rows=[[]] * trials, sets=[0] * trials),
        aggregates=tuple(
            evolve(part, values=column.tolist())
            for part, column in zip(told.aggregates, noisy, strict=True)
        ),
    )
    truth = sum(i % 11 for i in range(40)) / 40
    found = Release(view=asked.view, body=body, receipt=RECEIPT).intervals("x", "0.8")
    return sum(1 for pair in found if pair is not None and pair[0] <= truth <= pair[1])


def test_intervals_of_real_noise_hold_as_often_as_they_say() -> None:
    trials = 2_000
    share = alpha("release/coverage", parts=2)
    held = covered(trials, shrink=Fraction(1))
    assert held >= 0.8 * trials or binomial_p_value(held, trials, 0.8) > share
    lied = covered(trials, shrink=Fraction(1, 6))
    assert lied < 0.8 * trials
    assert binomial_p_value(lied, trials, 0.8) < share


def test_whole_numbers_beside_null_stay_whole_in_pandas():
    """As floats, two that differ in the last digit would be one."""
    numbers = [2**53, 2**53 + 1, None]
    assert _pandas_column(numbers, pandas).tolist()[:2] == numbers[:2]
    assert _pandas_column([2**80, None], pandas).tolist() == [2**80, None]
    assert _pandas_column([1.5, None], pandas) == [1.5, None]
    assert _pandas_column([1, 2], pandas) == [1, 2]
