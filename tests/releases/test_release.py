"""Releases: what is published, kept, read again and shown to people."""

import datetime
import json
import re
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.canonical import canonical
from discreet.core.errors import InvalidArgument, LedgerError, MissingDependency
from discreet.core.loss import Pure
from discreet.curator.price.price import ChosenGroups, PricedPlan
from discreet.curator.publishing.publish import publish
from discreet.curator.publishing.randomise import Noisy
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.stability.thresholded_keys import ThresholdedKeys
from discreet.releases.body import Body
from discreet.releases.release import Release
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


def test_the_table_of_a_quantile_says_that_its_error_is_unknown() -> None:
    text = str(hand("SELECT MEDIAN(age) AS m FROM visits").release())
    assert "(unknown)" in text.split("\n")[2]
    assert "hold" not in text.split("\n")[4]
    assert text.endswith("m: unknown means that how far noise has moved the value is not known")


def shown_cells(sql: str, **changes: Any) -> list[list[str]]:
    """Return the cells of a table as a reader sees them, without the first column."""
    return [line[1:] for line in hand(sql, **changes).release()._shown.rows()]


@pytest.mark.parametrize(
    "item",
    [
        "100.0 * SUM(cost) / COUNT(*)",
        "MEDIAN(age)",
        "ROW_NUMBER() OVER (ORDER BY COUNT(*))",
        "RANK() OVER (ORDER BY COUNT(*) DESC)",
        "SUM(COUNT(*)) OVER (ORDER BY COUNT(*))",
        "COUNT(*) % 7",
        "COUNT(*) > 12",
        "CASE WHEN COUNT(*) > 12 THEN 'many' ELSE 'few' END",
        "DATE '2025-01-01' + COUNT(*)",
        "LN(COUNT(*) - 9)",
        "COUNT(*) * 100.0 / SUM(COUNT(*)) OVER ()",
        "COUNT(*) FILTER (WHERE urgent) / COUNT(*)",
        "AVG(COUNT(*)) OVER ()",
        "SUM(age) + 1",
        "AVG(age)",
    ],
)
def test_no_number_with_noise_is_bare(item: str) -> None:
    sql = f"SELECT clinic, {item} AS x FROM visits GROUP BY clinic"
    for (text,) in shown_cells(sql, scale=20):
        assert re.fullmatch(r".+ ± .+|.+ \(.+ to .+\)|\S+ \(unknown\)|NULL", text), text


def test_what_is_least_certain_looks_so_beside_what_is_known() -> None:
    sql = "SELECT clinic, SUM(cost) / COUNT(*) AS x, COUNT(*) AS n FROM visits GROUP BY clinic"
    groups: dict[Any, Sequence[Any]] = {("a",): ROWS * 9, ("b",): ROWS[:7]}
    release = hand(sql, groups=groups).release()
    (known, _), (unknown, count) = shown_cells(sql, groups=groups)
    assert re.fullmatch(r"2 \(1\.\d+ to 2\.\d+\) \[1.* to [23].*\]", known)
    assert (unknown, count) == ("2 (unknown)", "7 ± 15")
    assert release.to_json()["unknown"] == {"x": True, "n": False}
    assert release.to_json()["intervals"]["x"][1] is None
    assert "x: unknown means" in release.notes()[-1]
    assert "2 (unknown)" in release._repr_html_()


def test_keys_and_constants_are_bare() -> None:
    sql = "SELECT clinic, 7 AS seven, ROW_NUMBER() OVER (ORDER BY clinic) AS x, COUNT(*) AS n"
    assert [cells[:2] for cells in shown_cells(f"{sql} FROM visits GROUP BY clinic")] == [
        ["7", "1"],
        ["7", "2"],
    ]


def test_windows_say_what_they_are_about() -> None:
    sql = "SELECT clinic, SUM(COUNT(*)) OVER () AS x FROM visits GROUP BY clinic"
    about = "about the rows that HAVING left"
    assert not any(about in note for note in hand(sql).release().notes())
    left = hand(f"{sql} HAVING COUNT(*) > 12").release()
    assert any(about in note for note in left.notes())
    beta = Fraction(1, 40)  # of both groups, although one is left
    # Without noise any of 30 and 10 might be left, both or none.
    assert left.intervals("x") == ((10 - bar(beta), 30 + 10 + 2 * bar(beta)),)
    ranked = hand("SELECT RANK() OVER (ORDER BY COUNT(*)) AS x FROM visits GROUP BY clinic")
    assert any("in which order" in note for note in ranked.release().notes())


def bar(beta: Fraction) -> int:
    return int(DiscreteLaplace(scale=5).error_quantile(beta))


def test_markup_in_a_key_is_escaped() -> None:
    groups: dict[Any, Sequence[Any]] = {("<b>",): ROWS}
    page = hand(groups=groups)
    assert "&lt;b&gt;" in page.release()._repr_html_()


def test_json_is_plain_and_complete() -> None:
    asked = "SELECT day, COUNT(*) AS n, AVG(age) AS mean FROM visits GROUP BY day"
    groups: dict[Any, Sequence[Any]] = {(datetime.date(2025, 3, 1),): ROWS, (None,): []}
    release = evolve(hand(asked), groups=groups, fields=(5,)).release(is_cut=True)
    data = json.loads(json.dumps(release.to_json()))
    assert data["rows"][0][0] == "2025-03-01"
    assert data["rows"][1][0] is None
    assert set(data["errors"]) == {"confidence", "half_width", "intervals"}
    assert set(data["errors"]["intervals"]) == {"mean"}
    assert [len(pair) for pair in data["intervals"]["mean"]] == [2, 2]
    assert data["intervals"]["n"] == [list(pair) for pair in release.intervals("n") if pair]
    assert data["unknown"] == {"n": False, "mean": True}
    assert data["totals"]["mean"] == [[None, None]] * str(release).count("[unknown]")
    first, second = data["notes"]
    assert first.startswith("at most 3 rows of one")
    assert second == "age outside 0 to 110 (declared) counts as the nearer end"


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


def test_a_picture_shows_what_is_unknown(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path, word = tmp_path / "answer.svg", "hollow: unknown"
    sql = "SELECT clinic, SUM(cost) / COUNT(*) AS x FROM visits GROUP BY clinic"
    hand(sql).release().plot(path)
    assert word in path.read_text(encoding="utf-8")  # text is drawn, and written in a comment
    hand("SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic").release().plot(path)
    assert word not in path.read_text(encoding="utf-8")


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
