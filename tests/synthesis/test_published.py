"""What was published before counts: which releases are of the same rows, and that rows agree."""

import datetime
import json
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.errors import InvalidArgument
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.synthesis.marginals.coarse_values import CoarseValues
from discreet.synthesis.published_table import PublishedTable
from discreet.synthesis.related.related_file import open_synthetic
from discreet.synthesis.synthetic_release import METADATA
from tests.support.projects.frames import owned as owned_frames

FIRST, LAST = datetime.date(2025, 1, 1), datetime.date(2025, 12, 31)
COLUMNS = {
    "patient": "integer",
    "clinic": {"type": "text", "keys": ["a", "b", "c"]},
    "age": {"type": "integer", "min": 0, "max": 30},
    "day": {"type": "date", "min": FIRST, "max": LAST},
    "urgent": "boolean",
}
NAMES = ["clinic", "age", "day", "urgent"]
SOME = ["clinic", "urgent"]


def _rows(units: int = 600, each: int = 3) -> pa.Table:
    """Return rows of which some have no declared value, or one beyond a range."""
    random = np.random.default_rng(3)
    count = units * each
    clinic = np.array(["a", "a", "b", "c", "A", None])[random.integers(0, 6, count)]
    age = random.integers(-5, 40, count)
    days = random.integers(-40, 400, count)
    return pa.table(
        {
            "patient": np.repeat(np.arange(units), each),
            "clinic": pa.array(clinic, pa.string()),
            "age": pa.array(age, mask=random.random(count) < 0.1),
            "day": [FIRST + datetime.timedelta(int(one)) for one in days],
            "urgent": pa.array(clinic == "a", mask=random.random(count) < 0.1),
        }
    )


@pytest.fixture
def owned(tmp_path):
    """Own visits, of which each patient has at most three, with a ledger on disk."""

    def own(columns=None, most=3, **said):
        table = {} if most is None else {"visits": {"most_rows_per_unit": most}}
        usual = {"budget": {"rho": 90_000, "delta": 1e-6}, "rows_per_unit": 3}
        usual |= {"rows_per_group": 3, "groups_per_unit": 3}
        usual |= {"ledger": tmp_path / "ledger", "id_space": tmp_path.name}
        usual |= {"declaration": {"tables": table, "least_price": {"rho": Decimal("1e-6")}}}
        columns = {"visits": COLUMNS | (columns or {})}
        return owned_frames({"visits": _rows()}, columns=columns, **usual | said)

    return own


EXACT = 5_000
"""A price for which noise is nearly always 0 or 1."""

USED = [
    "SELECT COUNT(*) FROM visits",
    "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic",
    "SELECT urgent, COUNT(*) AS n, AVG(age) FROM visits GROUP BY urgent HAVING n > 3",
    "SELECT day, COUNT(*) FROM visits GROUP BY day",
    "SELECT date_trunc('month', day) AS m, clinic, COUNT(*) FROM visits GROUP BY m, clinic",
    "SELECT clinic, urgent, COUNT(*) FROM visits GROUP BY ROLLUP (clinic, urgent)",
    "SELECT age // 10 AS decade, COUNT(*) FROM visits GROUP BY decade",
]
UNUSED = [
    "SELECT clinic, COUNT(*) FROM visits WHERE urgent GROUP BY clinic",
    "SELECT COUNT(*) FROM visits WHERE clinic IN ('a', 'b', 'c')",
    "SELECT clinic, COUNT(DISTINCT patient) FROM visits GROUP BY clinic",
    "SELECT clinic, COUNT(age) FROM visits GROUP BY clinic",
    "SELECT COUNT(*) FROM (SELECT DISTINCT patient, clinic FROM visits) AS some",
    "SELECT lower(clinic) AS low, COUNT(*) FROM visits GROUP BY low",
    "SELECT month(day) AS m, COUNT(*) FROM visits GROUP BY m",
    "SELECT COUNT(*) FROM visits AS one JOIN visits AS two ON one.patient = two.patient",
]


def test_numbers_are_those_of_the_same_rows(owned):
    with owned() as owner:
        connection = owner.connect()
        asked = [*USED, *UNUSED]
        tickets = [connection.sql(sql, rho=EXACT).receipt.ticket.number for sql in asked]
        release = connection.synthesise("visits", columns=NAMES, rho=EXACT)
    used = {one.ticket for one in release.published}
    assert used == set(tickets[: len(USED)])
    measured = release.measured
    for table in release.published:
        exact = measured.one_way(table.columns[0])[0] if table.columns else np.array([1800.0])
        if len(table.columns) == 1:
            exact = np.bincount(table.groups[0], weights=exact)
        if len(table.columns) < 2:
            known = table.is_measured
            assert known.any(), table.what
            assert np.abs(table.values - exact)[known].max() < 8, table.what
    ages = next(one for one in release.published if "decade" in one.what)
    assert int(ages.is_measured.sum()) == 2, "only from 10 to 29 is no age beyond the range"


def test_rows_agree_with_what_was_published(owned, tmp_path):
    with owned() as owner:
        ann, bob = owner.connect(analyst="ann"), owner.connect(analyst="bob")
        published = ann.sql(USED[1], rho=EXACT)
        ticket = published.receipt.ticket.number
        alone = bob.synthesise("visits", columns=NAMES, rho=0.001, published=False)
        explained = bob.explain_synthesis("visits", columns=NAMES, rho=0.001)
        release = bob.synthesise("visits", columns=NAMES, rho=0.001)
        again = bob.synthesise("visits", columns=NAMES, rho=0.001, published=[ticket])
    assert (alone.published, release.is_stored) == ((), True)
    assert release.agrees_with == again.agrees_with == {ticket: USED[1]}
    assert explained.to_json()["published"] == [ticket]
    assert f"ticket {ticket}" in str(explained).replace("\n", " ")
    truth = dict(published.rows)
    rows = release.to_arrow()["clinic"].to_pylist()
    assert {key: rows.count(key) for key in truth} == pytest.approx(truth, abs=3)
    others = alone.to_arrow()["clinic"].to_pylist()
    assert max(abs(others.count(key) - truth[key]) for key in truth) > 3, "noise of 100 rows"
    assert any("reveal" in note and f"{ticket} (" in note for note in release.notes())
    assert not any("reveal" in note for note in alone.notes())
    place = release.write(tmp_path / "v.parquet")
    about = json.loads(pq.read_schema(place).metadata[METADATA])
    assert about["published"] == [{"ticket": ticket, "what": USED[1]}]
    answer = open_synthetic(place).sql("SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic")
    errors = dict(zip([row[0] for row in answer.rows], answer.errors["n"], strict=True))
    assert max(errors[key] for key in truth) < 5


@pytest.mark.parametrize(
    ("said", "limits", "are_used"),
    [
        ({}, {}, (True, True)),
        ({}, {"rows_per_unit": 2}, (False, False)),
        ({}, {"rows_per_group": 1, "groups_per_unit": 3}, (False, False)),
        ({"most": None}, {}, (True, False)),
        ({"most": None}, {"rows_per_unit": 4}, (False, False)),
        ({"most": 5}, {"rows_per_unit": 5}, (False, False)),
        ({"unit": {"each_row": True}, "most": None}, {}, (True, True)),
    ],
)
def test_limits_must_keep_the_same_rows(owned, said, limits, are_used):
    """Without a declared number of rows, only the number of all of them is known to be the same."""
    with owned(**said) as owner:
        connection = owner.connect()
        for sql in USED[:2]:
            connection.sql(sql, rho=10, **limits)
        release = connection.synthesise("visits", columns=NAMES[:1], rho=10)
    used = [one.what for one in release.published]
    assert tuple(sql in used for sql in USED[:2]) == are_used


def test_private_keys_and_old_data_are_not_used(owned):
    word = {"clinic": "text"}
    with owned(word) as owner:
        connection = owner.connect()
        connection.sql(USED[1], rho=10, delta=1e-7)
        connection.sql(USED[0], rho=10)
        release = connection.synthesise("visits", columns=SOME, rho=10, delta=1e-7)
        assert [one.what for one in release.published] == [USED[0]]
        with pytest.raises(InvalidArgument, match="says nothing about the rows"):
            connection.synthesise("visits", columns=SOME, rho=11, delta=1e-7, published=[3])
        with pytest.raises(InvalidArgument, match="list of tickets"):
            connection.synthesise("visits", columns=SOME, rho=11, delta=1e-7, published="all")
        assert connection.budget()[0].spent.rho == 30
    with owned(word, data_changed=True) as owner:
        release = owner.connect().synthesise("visits", columns=SOME, rho=10, delta=1e-7)
        assert not release.is_stored
        assert release.published == ()


def test_a_column_that_leaves_rows_out_must_be_in_the_table(owned):
    strict = {"clinic": {"type": "text", "keys": ["a", "b", "c"], "nullable": False}}
    with owned(strict) as owner:
        connection = owner.connect()
        for sql in USED[:3]:
            connection.sql(sql, rho=10)
        release = connection.synthesise("visits", columns=SOME, rho=10)
        assert [one.what for one in release.published] == [USED[1]]


def test_earlier_syntheses_count_if_they_drew_the_same_rows(owned):
    """With limits that leave rows out, those of the same columns did."""
    with owned(most=None, rows_per_unit=2) as owner:
        connection = owner.connect()
        first = connection.synthesise("visits", columns=SOME, rho=10)
        assert first.published == ()
        other = connection.synthesise("visits", columns=SOME[:1], rho=10)
        assert other.published == ()
        again = connection.synthesise("visits", columns=SOME, rho=20)
        assert {one.ticket for one in again.published} == {first.receipt.ticket.number}
        exact = again.measured.one_way(0)[0]
        assert np.abs(again.published[0].values - exact).max() < 40


def test_earlier_syntheses_of_other_columns_count_if_all_rows_do(owned):
    with owned() as owner:
        connection = owner.connect()
        columns = ["urgent", "clinic"]
        tables = [columns]
        first = connection.synthesise("visits", columns=columns, tables=tables, rho=EXACT)
        release = connection.synthesise("visits", columns=NAMES, method="independent", rho=EXACT)
        assert {one.ticket for one in release.published} == {first.receipt.ticket.number}
        (both,) = [one for one in release.published if len(one.columns) == 2]
        assert both.columns == (0, 3)
        assert np.array_equal(both.values, first.measured.tables[0].values)
        frame = release.to_pandas()
        assert frame[frame.clinic == "a"].urgent.mean() > 0.9, "as measured together before"


@settings(max_examples=50)
@given(st.data())
def test_sums_are_of_the_same_cells(data):
    """Without noise, what a table says of coarser values is what these have."""
    sizes = data.draw(st.lists(st.integers(1, 6), min_size=0, max_size=3))
    division = [st.lists(st.integers(0, 3), min_size=size, max_size=size) for size in sizes]
    divisions = [[_numbered(data.draw(one)) for one in division] for _ in range(2)]
    rows = data.draw(st.lists(st.integers(0, 9), min_size=1, max_size=1))
    exact = np.arange(int(np.prod(sizes, dtype=int))).reshape(sizes) ** 2 % 17 + rows[0]
    table = PublishedTable(
        ticket=1,
        what="",
        columns=tuple(range(len(sizes))),
        groups=tuple(divisions[0]),
        noise=DiscreteLaplace(scale=1),
        values=(values := _summed(exact, divisions[0])),
        members=np.array(data.draw(st.lists(st.integers(0, 2), **_size(values)))).reshape(
            values.shape
        ),
    )
    coarse = [CoarseValues(one) for one in divisions[1]]
    found = table.measurement(coarse)
    if found is None:
        assert (table.members == 0).any()
        return
    counted = found.counted(_summed(exact, divisions[1]).astype(float))
    assert np.array_equal(counted[found.is_measured], found.counts[found.is_measured])
    assert (table.members == 0).any() or found.is_whole
    read = PublishedTable.from_json(json.loads(json.dumps(table.to_json())))
    assert np.array_equal(read.members, table.members)


def _size(values):
    return {"min_size": values.size, "max_size": values.size}


def _numbered(labels):
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def _summed(table, divisions):
    for axis, numbers in enumerate(divisions):
        parts = np.eye(int(numbers.max()) + 1, dtype=np.int64)[numbers]
        table = np.moveaxis(np.tensordot(table, parts, axes=(axis, 0)), -1, axis)
    return table


# ---------------------------------------------------------------- counts by a method

COUNTED = [("cells", ["urgent", "clinic"]), ("tables", ["clinic", "age", "urgent"])]
COUNTED += [("points", ["clinic", "urgent"]), ("clamped-points", ["age"])]


def test_published_counts_are_measurements_too(owned):
    """Tables of the same rows, in any order of columns, NULL with the others; and no others."""
    with owned() as owner:
        connection = owner.connect()

        def ticket(method, columns, **said):
            found = connection.publish("visits", columns=columns, method=method, rho=EXACT, **said)
            return found.receipt.ticket.number

        used = [ticket(method, columns) for method, columns in COUNTED]
        unused = [
            ticket("cells", ["clinic"], rows_per_unit=2),
            ticket("contrasts", ["clinic", "urgent"]),
            ticket("tree", ["age"]),
        ]
        release = connection.synthesise("visits", columns=NAMES, rho=EXACT)
        again = connection.synthesise("visits", columns=NAMES, rho=EXACT, published=[used[0]])
        with pytest.raises(InvalidArgument, match="says nothing"):
            connection.synthesise("visits", columns=NAMES, rho=EXACT, published=[unused[0]])
    assert {one.ticket for one in release.published} == set(used)
    assert again.agrees_with == {used[0]: "counts of visits by urgent, clinic"}
    sizes = {len(one.columns) for one in release.published if one.ticket == used[1]}
    assert sizes == {2}, "three tables of two columns"
    for table in release.published:
        exact = [release.measured.one_way(column)[0] for column in table.columns]
        for axis, counts in enumerate(exact):
            others = tuple(at for at in range(len(exact)) if at != axis)
            assert np.abs(table.values.sum(axis=others) - counts).max() < 80, table.what


def test_published_counts_of_other_rows_are_none(owned):
    """Without a declared number of rows, counts by other columns may be of another sample."""
    with owned(most=None) as owner:
        connection = owner.connect()
        for columns in (["clinic"], NAMES):
            connection.publish("visits", columns=columns[:2], method="cells", rho=EXACT)
        same = connection.synthesise("visits", columns=NAMES[:2], rho=EXACT)
        other = connection.synthesise("visits", columns=NAMES, rho=EXACT)
        same_order = [one.what for one in same.published if "counts of" in one.what]
    assert same_order == ["counts of visits by clinic, age"], "the same plan drew the same rows"
    assert not any("counts of" in one.what for one in other.published)


def test_counts_by_listed_values_are_none(owned):
    """Which values a column has is then found by the synthesis itself."""
    with owned({"clinic": "text"}) as owner:
        connection = owner.connect()
        connection.publish(
            "visits", columns=SOME, method="cells", keys={"clinic": ["a", "b"]}, rho=EXACT
        )
        told = connection.explain_synthesis("visits", columns=SOME, rho=EXACT, delta="1e-9")
    assert told.published == ()
