"""An answer from text to release: what it says, what it costs, what it never says."""

import json

import pytest

from discreet.core.errors import AnswerFailed, RefusedQuery
from discreet.core.loss import Pure
from discreet.curator.answer import answer, explain
from discreet.engines.duckdb.engine import DuckDbEngine
from discreet.ledger.ledger import Ledger
from discreet.ledger.order import Receipt
from discreet.roles.connection import connect
from tests.support.house.narrow import number, whole
from tests.support.projects.clinic import make_curator, visit, write_project
from tests.support.projects.owner import owner_of

SQL = "SELECT clinic AS place, COUNT(*) AS n, SUM(cost) AS paid FROM visits GROUP BY clinic"
ROWS = [visit(f"p{i}", "abc"[i % 3], cost=i % 10) for i in range(300)]


@pytest.fixture
def folder(tmp_path):
    return write_project(tmp_path, ROWS, epsilon="10")


def test_noise_is_small_when_epsilon_is_large(folder):
    with connect(folder, epsilon="10") as connection:
        release = connection.sql(SQL)
    assert release.columns == ("place", "n", "paid")
    # The noise of a count has scale 6/5 here, so 200 away has probability below e^-160.
    counts = {row["place"]: whole(row["n"]) for row in release.to_dicts()}
    assert all(abs(counts[clinic] - 100) < 200 for clinic in "abc")
    assert abs(counts["d"]) < 200


def test_every_public_key_has_its_row_in_the_declared_order(folder, rng):
    release = answer(make_curator(folder, rng), SQL, terms=Pure(1), analyst="a")
    assert [row[0] for row in release.rows] == ["a", "b", "c", "d"]


def test_costs_are_exact_and_add_up(folder, rng):
    curator = make_curator(folder, rng)
    third = Pure("1/3")
    for where in ("age > 1", "age > 2", "age > 3"):
        answer(
            curator,
            f"SELECT COUNT(*), SUM(age) FROM visits WHERE {where}",
            terms=third,
            analyst="a",
        )
    assert curator.ledger.spent("people") == Pure(1)
    curator.ledger.verify()


def test_the_same_question_is_answered_once(folder, rng):
    curator = make_curator(folder, rng)
    first = answer(curator, SQL, terms=Pure(1), analyst="a")
    renamed = SQL.replace("AS place", "AS site").replace("\n", " ").lower()
    again = answer(curator, renamed, terms=Pure(1), analyst="b")
    assert again.is_stored
    assert again.rows == first.rows
    assert again.columns == ("site", "n", "paid")
    assert curator.ledger.spent("people") == Pure(1)
    # A higher price buys less noise, so that one is paid for.
    assert answer(curator, SQL, terms=Pure("3/2"), analyst="a").rows != first.rows
    assert curator.ledger.spent("people") == Pure("5/2")


def test_new_data_is_a_new_question_from_the_same_budget(folder):
    with connect(folder, epsilon=1) as connection:
        connection.sql(SQL)
        assert owner_of(connection).data_changed("people") == 2
        assert not connection.sql(SQL).is_stored
        assert owner_of(connection).ledger().spent("people") == Pure(2)


def test_moving_or_renaming_a_table_opens_no_new_budget(folder):
    with connect(folder, epsilon=1) as connection:
        connection.sql(SQL)
    (folder / "visits.parquet").rename(folder / "moved.parquet")
    text = (folder / "discreet.toml").read_text()
    text = text.replace("visits.parquet", "moved.parquet").replace("tables.visits", "tables.seen")
    (folder / "discreet.toml").write_text(text)
    with connect(folder, epsilon=1) as connection:
        connection.sql(SQL.replace("visits", "seen"))
        assert owner_of(connection).ledger().spent("people") == Pure(2)


def test_one_aggregate_twice_is_paid_once(folder, rng):
    sql = "SELECT COUNT(*) AS n, COUNT(*) AS m FROM visits"
    release = answer(make_curator(folder, rng), sql, terms=Pure(1), analyst="a")
    assert release.rows[0][0] == release.rows[0][1]
    assert len(release.body.aggregates) == 1


def test_explain_says_what_answer_does(folder, rng):
    curator = make_curator(folder, rng)
    before = explain(curator, SQL, terms=Pure(1), analyst="a")
    assert before.cost == Pure(1)
    assert curator.ledger.spent("people") == Pure(0)
    release = answer(curator, SQL, terms=Pure(1), analyst="a")
    columns = before.to_json()["columns"]
    steps = [aggregate.to_json()["noise"]["scale"] for aggregate in release.body.aggregates]
    assert sorted(steps, key=int) == ["12", "480"]
    assert [column["error"] for column in columns] == list(release.errors().values())
    # 3 groups of 2 rows: a count moves by 6, and half of ε = 1 goes to it.
    assert columns[0]["contribution"] == {"l0": "3", "linf": "2", "l1": "6", "l2_squared": "12"}
    assert columns[0]["scale"] == "12"
    # A cost is at most 40 steps of 0.25.
    assert columns[1]["scale"] == "120"
    after = explain(curator, SQL, terms=Pure(1), analyst="a")
    assert after.is_stored
    assert after.cost == Pure(0)
    for word in ("a person", "ε = 1", "± 36"):
        assert word in str(before)


def test_a_release_in_every_form(folder, rng):
    release = answer(make_curator(folder, rng), SQL, terms=Pure(1), analyst="a")
    data = json.loads(json.dumps(release.to_json()))
    assert data["columns"] == ["place", "n", "paid"]
    assert [tuple(row) for row in data["rows"]] == list(release.rows)
    assert data["errors"]["half_width"]["n"] == release.error("n") == 36
    assert Receipt.from_json(data["receipt"]) == release.receipt
    names = ["place", "n", "n_low", "n_high", "paid", "paid_low", "paid_high"]
    assert release.to_arrow().column_names == names
    assert list(release.to_pandas().columns) == names
    assert list(release.to_pandas(errors=False).columns) == ["place", "n", "paid"]
    assert "± 36" in str(release)
    assert "place</th>" in release._repr_html_()
    assert release.error("n", confidence="0.5") < 36


def test_grid_values_are_whole_steps(folder, rng):
    release = answer(make_curator(folder, rng), SQL, terms=Pure(1), analyst="a")
    assert all((number(paid) * 4) % 1 == 0 for _, _, paid in release.rows)


class FailingEngine(DuckDbEngine):
    """Fails after the gate, with a message that quotes a row."""

    def execute(self, plan, salt, permit):
        raise ValueError("could not convert 'Alice Smith, HIV positive' to INT64")


def test_after_the_gate_all_failures_look_alike_and_keep_the_charge(folder, rng):
    curator = make_curator(folder, rng, engine=FailingEngine())
    with pytest.raises(AnswerFailed) as caught:
        answer(curator, SQL, terms=Pure(1), analyst="a")
    shown = f"{caught.value} {caught.value.__cause__} {caught.value.__context__}"
    assert "Alice" not in shown
    assert curator.ledger.spent("people") == Pure(1)
    assert "Alice" not in json.dumps([entry.to_json() for entry in curator.ledger.entries()])


class RecordingEngine(DuckDbEngine):
    """Notes what the ledger says is spent at the moment when rows are read."""

    ledger: Ledger

    def execute(self, plan, salt, permit):
        self.spent_when_reading = self.ledger.spent("people")
        return super().execute(plan, salt, permit)


def test_the_charge_stands_before_a_row_is_read(folder, rng):
    engine = RecordingEngine()
    curator = make_curator(folder, rng, engine=engine)
    engine.ledger = curator.ledger
    answer(curator, SQL, terms=Pure(1), analyst="a")
    assert engine.spent_when_reading == Pure(1)


def test_nothing_public_holds_an_exact_value_or_the_salt(folder, rng):
    curator = make_curator(folder, rng)
    release = answer(curator, SQL, terms=Pure(1), analyst="a")
    salt = curator.ledger.data_version("people", rng).salt
    public = repr(release) + str(release) + json.dumps(release.to_json())
    public += repr(curator.ledger.data_version("people", rng))
    public += json.dumps([entry.to_json() for entry in curator.ledger.entries()])
    assert salt.hex() not in public
    assert repr(salt) not in public


def nested(depth: int) -> str:
    inner = "visits"
    for i in range(depth):
        where = f"cost + {i} > -{i + 1} AND person IN (SELECT person FROM visits)"
        inner = f"(SELECT DISTINCT person, clinic, cost FROM {inner} WHERE {where})"
    return f"SELECT COUNT(*) FROM {inner}"


def at_depth(frames: int, action):
    return action() if frames == 0 else at_depth(frames - 1, action)


def test_where_the_stack_ends_a_question_is_refused_and_never_paid_for_in_vain(folder):
    answered, refusals = 0, []
    with connect(folder, epsilon="0.1") as connection:
        for frames in range(0, 880, 80):
            spent = connection.budget()[0].spent
            query = nested(14) if frames % 160 else nested(6)
            try:
                at_depth(frames, lambda asked=query: connection.sql(asked, fresh=True))
                answered += 1
            except RefusedQuery as error:
                refusals.append(str(error))
                assert connection.budget()[0].spent == spent
    assert answered >= 2
    assert len(refusals) >= 2
    assert all("nested too deeply" in refusal for refusal in refusals)
