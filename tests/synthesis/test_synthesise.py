"""A table is synthesised through the gate: what is charged, what comes out, what is refused."""

import datetime
import json
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from attrs import evolve

from discreet.core.errors import BudgetError, DiscreetError, InvalidArgument, MissingLoss
from discreet.synthesis.related.related_file import open_synthetic
from discreet.synthesis.synthetic_release import METADATA
from tests.support.projects.frames import owned as owned_frames

DAY = datetime.date(2025, 1, 1)
COLUMNS = {
    "patient": "integer",
    "clinic": {"type": "text", "keys": ["a", "b", "c"], "nullable": False},
    "age": {"type": "integer", "min": 0, "max": 100},
    "cost": {"type": "real", "min": 0, "max": 500, "step": 0.5},
    "day": {"type": "date", "min": DAY, "max": datetime.date(2025, 12, 31)},
    "seen": {"type": "timestamp", "min": DAY, "max": datetime.date(2025, 12, 31)},
    "at": "time",
    "urgent": "boolean",
    "word": "text",
}


@pytest.fixture
def owned(tmp_path):
    """Own the visits of patients, with a ledger on disk."""

    def own(rows, declared=None, more=None, **said):
        columns = {"patient": "integer"} | (COLUMNS if declared is None else declared)
        said |= {"ledger": tmp_path / "ledger", "id_space": tmp_path.name}
        return owned_frames({"visits": rows}, columns={"visits": columns} | (more or {}), **said)

    return own


NAMES = [name for name in COLUMNS if name != "patient"]


def _table(count=4_000, *, people=1_000, number=1):
    random = np.random.default_rng(number)
    clinic = random.integers(0, 3, count)
    age = np.clip(20 + 25 * clinic + random.integers(0, 20, count), 0, 100)
    seconds = random.integers(0, 86_400, count)
    days = random.integers(0, 365, count)
    instants = [
        datetime.datetime.combine(DAY, datetime.time()) + datetime.timedelta(int(d), int(s))
        for d, s in zip(days, seconds, strict=True)
    ]
    return pa.table(
        {
            "patient": random.integers(0, people, count),
            "clinic": [["a", "b", "c"][one] for one in clinic],
            "age": pa.array(age, mask=random.random(count) < 0.1),
            "cost": np.where(random.random(count) < 0.01, np.nan, random.gamma(2, 50, count)),
            "day": [one.date() for one in instants],
            "seen": pa.array(instants, pa.timestamp("us")),
            "at": [one.time() for one in instants],
            "urgent": random.random(count) < 0.3,
            "word": [["yes", "no", "perhaps"][one] for one in random.integers(0, 3, count)],
        }
    )


def _kept(most):
    """Return how many rows count, if so many of each patient do."""
    sizes = np.bincount(_table()["patient"].to_numpy())
    return int(np.minimum(sizes, most).sum())


@pytest.fixture
def owner(owned):
    budget = {"rho": 20, "delta": 1e-6}
    with owned(_table(), budget=budget, rows_per_group=4, groups_per_unit=4) as found:
        yield found


def test_rows_have_the_types_and_values_that_are_declared(owner):
    connection = owner.connect()
    release = connection.synthesise("visits", rho=5, delta=1e-7, rows_per_unit=4)
    rows = release.to_arrow()
    assert rows.column_names == NAMES
    kinds = {name: str(rows.schema.field(name).type) for name in NAMES}
    assert kinds == {
        "clinic": "string",
        "age": "int64",
        "cost": "double",
        "day": "date32[day]",
        "seen": "timestamp[us]",
        "at": "time64[us]",
        "urgent": "bool",
        "word": "string",
    }
    found = rows.to_pydict()
    assert set(found["clinic"]) == {"a", "b", "c"}
    assert set(found["word"]) - {None} == {"yes", "no", "perhaps"}
    assert all(0 <= one <= 100 for one in found["age"] if one is not None)
    assert all(0 <= one <= 500 and one * 2 % 1 == 0 for one in found["cost"] if one is not None)
    assert all(one is None or one.year == 2025 for one in found["day"] + found["seen"])
    assert found["age"].count(None) / rows.num_rows == pytest.approx(0.1, abs=0.02)
    assert rows.num_rows == pytest.approx(_kept(4), rel=0.02)
    assert ("clinic", "age") in release.tables


def test_what_depends_on_each_other_still_does(owner):
    columns = ["clinic", "age"]
    release = owner.connect().synthesise("visits", rho=5, columns=columns, rows_per_unit=4)
    frame = release.to_pandas()
    means = frame.groupby("clinic")["age"].mean()
    assert means.to_dict() == pytest.approx({"a": 29.5, "b": 54.5, "c": 79.5}, abs=2)


def test_it_is_paid_for_once_and_found_again(owner):
    connection = owner.connect()
    first = connection.synthesise("visits", rho=1, columns=["clinic", "age"])
    assert str(first.cost) == "ρ = 1, δ = 0"
    again = connection.synthesise("visits", rho=1, columns=["clinic", "age"])
    assert again.is_stored
    assert again.measured.to_json() == first.measured.to_json()
    assert connection.explain_synthesis("visits", rho=1, columns=["clinic", "age"]).is_stored
    (budget,) = connection.budget()
    assert budget.spent.rho == 1
    others: list[dict[str, Any]] = [
        {"columns": ["clinic", "age"], "method": "tree"},
        {"columns": ["clinic", "age"], "rows_per_unit": 2},
        {"columns": ["clinic", "age"], "tables": [["clinic", "age"]]},
        {"columns": ["clinic", "age"], "fresh": True},
    ]
    for other in others:
        assert not connection.synthesise("visits", rho=1, **other).is_stored
    assert len(connection.releases()) == 5


def test_columns_in_another_order_are_not_paid_for_again(owner):
    connection = owner.connect()
    tables = [["clinic", "urgent"], ["age", "clinic"]]
    connection.synthesise("visits", columns=["age", "clinic", "urgent"], tables=tables, rho=1)
    again = connection.synthesise(
        "visits", columns=["urgent", "AGE", "clinic"], tables=[["clinic", "age"], *tables], rho=1
    )
    assert again.is_stored
    assert again.columns == ("clinic", "age", "urgent")


def test_a_unit_counts_with_as_many_rows_as_it_may(owned):
    rows = {"patient": [1] * 3_000 + list(range(2, 1_002)), "clinic": ["a"] * 3_000 + ["b"] * 1_000}
    with owned(pa.table(rows), {"clinic": COLUMNS["clinic"]}, budget={"rho": 100}) as owner:
        release = owner.connect().synthesise("visits", rho=50, rows_per_unit=3)
        assert release.measured.one_way(0)[0] == pytest.approx([3, 1_000, 0], abs=5)


def test_values_that_are_not_declared_are_null_or_leave_their_row_out(owned):
    rows = {"patient": range(900), "clinic": ["a", "x", None] * 300, "age": [7, -5, 700] * 300}
    declared = {"clinic": {"type": "text", "keys": ["a", "b"]}, "age": COLUMNS["age"]}
    with owned(pa.table(rows), declared, budget={"rho": 200}) as owner:
        measured = owner.connect().synthesise("visits", rho=100, rows_per_unit=1).measured
    assert measured.one_way(0)[0] == pytest.approx([300, 0, 600], abs=3)
    ages = measured.one_way(1)[0]
    assert ages[[0, 7, 100]] == pytest.approx([300, 300, 300], abs=4), "ends of the range"


def test_a_file_says_what_it_is(owner, tmp_path):
    release = owner.connect().synthesise("visits", rho=1, columns=["clinic", "urgent"])
    about = json.loads(pq.read_schema(release.write(tmp_path / "v.parquet")).metadata[METADATA])
    assert about["synthetic"] is True
    assert about["table"] == "visits"
    assert about["data_version"] == 1
    release.write(tmp_path / "v.csv")
    assert json.loads((tmp_path / "v.csv.json").read_text())["synthetic"] is True
    assert pa.ipc.open_file(release.write(tmp_path / "v.arrow")).read_all().num_rows == len(release)
    with pytest.raises(InvalidArgument, match="kind of the file"):
        release.write(tmp_path / "v.txt")


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({}, "how much privacy"),
        ({"rho": 1, "accuracy": 3}, "unexpected"),
        ({"rho": 1}, "δ"),
        ({"rho": 1, "columns": ["nope"]}, "nope"),
        ({"rho": 1, "columns": ["patient"]}, "whose row"),
        ({"rho": 1, "columns": ["age", "age"]}, "twice"),
        ({"rho": 1, "columns": []}, "at least one"),
        ({"rho": 1, "columns": ["age"], "method": "magic"}, "no such method"),
        ({"rho": 1, "columns": ["age"], "tables": [["age", "clinic"]]}, "clinic"),
        ({"rho": 1, "columns": ["age"], "tables": [["age"]]}, "several columns"),
        ({"rho": 1, "columns": ["age"], "rows_per_unit": 0}, "out of range"),
        ({"rho": 1, "columns": [1]}, "list of names"),
        ({"rho": 1, "columns": 5}, "list of names"),
        ({"rho": 1, "columns": ["age", "cost"], "tables": 5}, "together"),
        ({"rho": 1, "columns": ["age", "cost"], "tables": [[1, 2]]}, "list of names"),
        ({"rho": 1, "columns": NAMES[:7], "tables": [NAMES[:7]]}, "overlap too much"),
        ({"rho": 1000, "columns": ["age"]}, "budget"),
        ({"rho": "1e-30", "columns": ["age"]}, "noise"),
    ],
)
def test_bad_input_costs_nothing(owner, said, words):
    connection = owner.connect()
    with pytest.raises((DiscreetError, TypeError), match=words):
        connection.synthesise("visits", **said)
    (budget,) = connection.budget()
    assert budget.spent.rho == 0


def test_prices_of_every_kind(owner):
    connection = owner.connect()
    for price in ({"rho": 1}, {"epsilon": 1}, {"epsilon": 1, "delta": 1e-9}):
        release = connection.synthesise("visits", columns=["clinic", "age"], **price)
        assert len(release) > 0


@pytest.mark.parametrize("budget", [{"epsilon": 5}, {"epsilon": 5, "delta": 1e-6}])
def test_budgets_in_epsilon(owned, budget):
    with owned(_table(500), budget=budget) as owner:
        connection = owner.connect()
        assert connection.synthesise("visits", epsilon=1, columns=["clinic"]).cost.epsilon == 1
        if "delta" in budget:
            release = connection.synthesise("visits", epsilon=1, delta=1e-7)
            assert release.cost.epsilon <= 1
            assert release.cost.delta <= 1e-7
        with pytest.raises(BudgetError):
            connection.synthesise("visits", epsilon=50, columns=["clinic"])


def test_explanation_says_what_is_measured_and_reads_nothing(owner):
    found = owner.connect().explain_synthesis("visits", rho=1, delta=1e-8)
    text = str(found)
    for word in (*NAMES, "found privately", "pairs", "ρ = 1"):
        assert word in text
    assert found.is_affordable()
    assert not found.is_stored
    assert json.loads(json.dumps(found.to_json()))["rows_per_unit"] == 16
    assert "<table>" in found._repr_html_()


def test_no_price_is_refused(owner):
    with pytest.raises(MissingLoss):
        owner.connect().explain_synthesis("visits")


def test_an_empty_table_gives_rows_all_the_same(owned):
    with owned(_table(0), budget={"rho": 5, "delta": 1e-6}) as owner:
        release = owner.connect().synthesise("visits", rho=1, delta=1e-7)
        assert release.to_arrow().column_names == NAMES
        assert "synthetic rows" in str(release)


def test_rows_can_be_asked_with_what_noise_may_have_done(owner, tmp_path):
    """The truth of what was measured together lies within three times the half-widths."""
    columns = ["clinic", "urgent", "day"]
    release = owner.connect().synthesise("visits", rho=5, columns=columns, rows_per_unit=1)
    sql = "SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic ORDER BY n DESC"
    found = release.sql(sql, repeats=8)
    assert found.columns == ("clinic", "n")
    assert all(error is not None and 0 < error < 200 for error in found.errors["n"])
    assert "from synthetic rows" in str(found)
    assert "<table>" in found._repr_html_()
    file = open_synthetic(release.write(tmp_path / "v.parquet"))
    again = file.sql(sql, repeats=0)
    assert again.rows == found.rows
    assert "unknown" in str(again)
    plain = file.sql("SELECT * FROM visits LIMIT 3")
    assert len(plain.rows) == 3
    assert plain.errors == {}
    with pytest.raises(DiscreetError, match="nope"):
        file.sql("SELECT nope FROM visits")
    pq.write_table(_table(5), tmp_path / "real.parquet")
    for path in (tmp_path / "real.parquet", tmp_path / "none.parquet", tmp_path / "v.csv"):
        with pytest.raises(InvalidArgument):
            open_synthetic(path)


def test_nothing_is_charged_for_noise_that_cannot_be_drawn(owned):
    with owned(_table(10), budget={"epsilon": 10**6}) as owner:
        connection = owner.connect()
        with pytest.raises(DiscreetError, match="noise"):
            connection.synthesise("visits", columns=["clinic", "age"], epsilon=10**5)
        (status,) = connection.budget()
        assert status.spent == status.spent * 0


def test_values_that_nobody_shares_are_null_in_the_rows(owned):
    """An open column that is declared to have no NULL, and of whose values none is found."""
    rows = {"patient": range(4), "word": ["a", "b", "c", "d"]}
    declared = {"word": {"type": "text", "nullable": False}}
    with owned(pa.table(rows), declared, budget={"epsilon": 5, "delta": 1e-6}) as owner:
        release = owner.connect().synthesise("visits", epsilon=1, delta=1e-7)
        assert set(release.to_arrow()["word"].to_pylist()) == {None}


def test_keys_of_a_public_table_are_public(owned):
    rows = {"patient": range(300), "clinic": ["a", "x", "zz"] * 100}
    declared = {"clinic": {"type": "text", "keys": {"table": "codes", "column": "code"}}}
    codes = pa.table({"code": ["a", "q", "x"]})
    with owned(
        pa.table(rows),
        declared,
        budget={"epsilon": 500},
        public={"codes": codes},
        more={"codes": {"code": "text"}},
        rows_per_unit=1,
    ) as owner:
        measured = owner.connect().synthesise("visits", epsilon=200).measured
    assert measured.one_way(0)[0] == pytest.approx([100, 0, 100, 100], abs=3)


def test_two_rounds_where_they_cost_next_to_nothing(owned):
    """Precisions of normal noise add up to that of one round; those of Laplace noise do not."""
    with owned(_table(), budget={"epsilon": 9000, "delta": 1e-6}) as owner:
        connection = owner.connect()

        def rounds(**options):
            found = connection.explain_synthesis("visits", columns=["clinic", "urgent"], **options)
            said = "once more, by scores of what a model of these misses" in " ".join(
                str(found).split()
            )
            assert said == (found.to_json()["rounds"] == 2)
            return len(found.mechanism.rounds), found.table_error(1)

        assert rounds(epsilon=1, delta=1e-8)[0] == 2
        assert rounds(epsilon=1)[0] == 1
        assert rounds(epsilon=1, method="residuals")[0] == 2
        assert rounds(epsilon=1, delta=1e-8, method="tree")[0] == 1
        assert rounds(epsilon=1, delta=1e-8, tables=[["clinic", "urgent"]])[0] == 1
        (_, twice), (_, once) = (
            rounds(epsilon=1, delta=1e-8, method=method) for method in ("auto", "tree")
        )
        assert once <= twice <= 1.05 * once
        assert rounds(epsilon=8000, delta=1e-8)[1] == 0


def test_of_one_column_there_is_one_round(owned):
    """Its release has the name that it always had, so it is found again and not paid for twice."""
    with owned(_table(), budget={"rho": 20}) as owner:
        connection = owner.connect()

        def plan(**options):
            return connection.explain_synthesis("visits", columns=["urgent"], **options).plan

        for method in ("auto", "residuals"):
            found = plan(rho=1, method=method)
            assert found.name() == evolve(found, has_residuals=False).name()


def test_a_judgement_is_of_its_own_model(owned):
    """Columns that are the same, in a model without their dependence and in one with it."""
    a = np.array([True, False] * 200)
    table = pa.table({"patient": range(400), "a": a, "b": a})
    boolean = {"type": "boolean", "nullable": False}
    found = []
    with owned(table, {"a": boolean, "b": boolean}, budget={"epsilon": 2000}) as owner:
        connection = owner.connect()
        for number, method in enumerate(("independent", "auto")):
            release = connection.synthesise(
                "visits", epsilon=300 + number, method=method, rows_per_unit=1
            )
            found.append(connection.judge(release, epsilon=50).judged.distances.values.tolist())
    assert found[0][0] == pytest.approx(400, abs=20)
    assert found[1][0] == pytest.approx(0, abs=20)


def test_a_release_of_earlier_rows_is_not_judged_by_later_ones(owned):
    budget = {"rho": 20, "delta": 1e-6}
    with owned(_table(), budget=budget) as owner:
        release = owner.connect().synthesise("visits", columns=["clinic", "urgent"], rho=1)
    with owned(_table(number=2), budget=budget, data_changed=True) as owner:
        connection = owner.connect()
        before = str(connection.budget())
        with pytest.raises(InvalidArgument, match="have changed since"):
            connection.judge(release, rho=1)
        assert str(connection.budget()) == before


def test_a_rehearsal_costs_nothing_and_is_of_no_real_rows(owner):
    """No real row has urgent NULL; made-up ones have, for the column is not declared otherwise."""
    connection = owner.connect()
    before = str(connection.budget())
    columns = ["clinic", "urgent"]
    found = connection.rehearse_synthesis("visits", columns=columns, rho=10, made_up=3_000)
    assert found.made_up == 3_000
    assert "Nothing was spent" in str(found)
    assert found.to_json()["rehearsal"] is True
    rows = found.release.to_arrow()
    assert set(rows.column("clinic").to_pylist()) <= {"a", "b", "c"}
    assert rows.column("urgent").null_count > 0
    without = connection.rehearse_synthesis(
        "visits", columns=columns, rho=10, impossible=[{"clinic": "a", "urgent": [True, None]}]
    )
    held = without.release.to_pandas()
    assert set(held[held["clinic"] == "a"]["urgent"]) == {False}
    assert str(connection.budget()) == before
    with pytest.raises(InvalidArgument, match="rows is out of range"):
        connection.rehearse_synthesis("visits", rho=1, made_up=0)
