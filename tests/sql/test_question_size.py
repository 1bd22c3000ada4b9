"""How much a question may ask for: public numbers, told before anything is charged or read."""

from collections import Counter

import pytest
from attrs import evolve

from discreet.core.errors import RefusedQuery
from discreet.core.loss import Approximate, Pure
from discreet.curator.answer import answer, read_questions
from discreet.curator.batch import price_batch
from discreet.engines.duckdb import engine
from discreet.sql import question as questions
from discreet.sql.aggregates.call import MOST_AGGREGATES
from discreet.sql.aggregates.clamps import nothing_chosen
from discreet.sql.parse import parse
from discreet.sql.question import MOST_CELLS
from discreet.sql.resolve import resolve
from discreet.sql.rows.grouping import MOST_KEYS
from discreet.sql.rows.keys import KeyRoom
from discreet.tables.functions.call import CALLED
from discreet.tables.functions.function import Without
from discreet.tables.functions.public_values import MOST_WORKED_OUT, Enumeration
from discreet.tables.keyset import LARGEST_KEYSET, PrivateKeys, PublicKeys
from tests.support.projects.clinic import make_curator, visit, write_project

COUNTED = "SELECT COUNT(*) AS n FROM visits"
BUCKET = "CAST(width_bucket(age, 0, 100, {}) AS TEXT)"


@pytest.fixture
def curator(tmp_path, rng):
    return make_curator(write_project(tmp_path, [visit("p")], epsilon="10, delta = 1e-6"), rng)


@pytest.fixture
def ask(curator):
    def read(sql: str):
        return resolve(parse(sql), curator.catalog, curator.engine.public_rows)

    return read


@pytest.fixture
def worked_out(monkeypatch):
    """Count how often each function of keys is worked out."""
    found: Counter[str] = Counter()

    def counting(name, function):
        def count(*arguments):
            found[name] += 1
            return function(*arguments)

        return count

    for name, function in list(CALLED.items()):
        if not isinstance(function.on_keys, Without):
            counted = evolve(function, on_keys=counting(name, function.on_keys))
            monkeypatch.setitem(CALLED, name, counted)
    return found


def pairs(buckets: int, count: int) -> str:
    """Return computed columns, each of which has the square of so many keys."""
    one = BUCKET.format(buckets)
    return ", ".join(f"{one} || {one} || '{i}' AS c{i}" for i in range(count))


# ---- Keys.


def test_keys_that_nobody_groups_by_are_not_worked_out(ask, worked_out):
    inner = f"SELECT person, clinic, {pairs(30, 5)} FROM visits"
    assert ask(f"SELECT clinic, COUNT(*) FROM ({inner}) GROUP BY clinic").keys.size() == 4
    assert not worked_out


def test_keys_are_worked_out_once_however_often_they_are_read(ask, worked_out):
    steps = ["t0 AS (SELECT person, CAST(urgent AS TEXT) AS t FROM visits)"]
    steps += [f"t{i} AS (SELECT person, t || t AS t FROM t{i - 1})" for i in range(1, 5)]
    keys = ask(f"WITH {', '.join(steps)} SELECT t, COUNT(*) FROM t4 GROUP BY t").keys
    assert isinstance(keys, PublicKeys)
    assert keys.size() == 2**16
    assert worked_out == {"cast": 2, "||": 2**2 + 2**4 + 2**8 + 2**16}


def test_a_chain_whose_keys_double_too_often_is_refused(ask, worked_out):
    steps = ["t0 AS (SELECT person, clinic AS t FROM visits)"]
    steps += [f"t{i} AS (SELECT person, t || t AS t FROM t{i - 1})" for i in range(1, 35)]
    with pytest.raises(RefusedQuery, match="too many public values"):
        ask(f"WITH {', '.join(steps)} SELECT t, COUNT(*) FROM t34 GROUP BY t")
    assert worked_out.total() <= MOST_WORKED_OUT


def test_many_dear_keys_are_refused_before_they_are_worked_out(ask, worked_out):
    sql = f"WITH t AS (SELECT person, {pairs(990, 25)} FROM visits) SELECT c0, COUNT(*) FROM t"
    with pytest.raises(RefusedQuery, match="too many public values") as refusal:
        ask(f"{sql} GROUP BY c0")
    assert refusal.value.got == "c0"
    assert "LAPLACE_THRESHOLD" in refusal.value.next
    assert worked_out.total() <= MOST_WORKED_OUT


def test_the_keys_of_one_question_are_counted_together(ask, worked_out):
    some = f"SELECT person, {pairs(200, 4)} FROM visits"
    ask(f"SELECT c0, COUNT(*) FROM ({some}) GROUP BY c0")
    with pytest.raises(RefusedQuery, match="too many public values"):
        ask(f"SELECT c0, c1, c2, c3, COUNT(*) FROM ({some}) GROUP BY ALL")
    assert worked_out.total() <= 2 * MOST_WORKED_OUT


def test_groups_are_found_among_the_rows_if_the_query_says_so(ask):
    options = "WITH DIFFERENTIAL_PRIVACY OPTIONS(group_selection_strategy = LAPLACE_THRESHOLD)"
    one = BUCKET.format(990)
    keys = ask(f"SELECT {options} {one} || {one} AS c, COUNT(*) FROM visits GROUP BY c").keys
    assert keys == PrivateKeys(fields=keys.fields, allowed=(None,))
    # Beside a column that nobody declared, too many public values decide nothing.
    keys = ask(f"SELECT note, {one} || {one} AS c, COUNT(*) FROM visits GROUP BY 1, 2").keys
    assert isinstance(keys, PrivateKeys)


@pytest.mark.parametrize(("second", "is_public"), [("upper(clinic)", True), ("'A'", False)])
def test_a_union_has_keys_if_both_sides_have_the_same(ask, second, is_public):
    sides = f"SELECT person, upper(clinic) AS c FROM visits UNION ALL SELECT person, {second}"
    keys = ask(f"SELECT c, COUNT(*) FROM ({sides} FROM visits) GROUP BY c").keys
    assert isinstance(keys, PublicKeys) == is_public


def test_the_least_of_a_unit_has_the_keys_of_the_value(ask):
    inner = "SELECT person, MIN(upper(clinic)) AS c FROM visits GROUP BY person"
    (keys,) = ask(f"SELECT c, COUNT(*) FROM ({inner}) GROUP BY c").keys.sets
    assert keys.rows == (("A",), ("B",), ("C",), ("D",))


def test_long_texts_are_counted_by_their_characters():
    enumeration = Enumeration(characters=10)
    assert enumeration.holds("four")
    assert enumeration.holds("sixsix")
    assert not enumeration.is_cut
    assert not enumeration.holds("!")
    assert enumeration.is_cut


def test_a_text_that_doubles_is_cut_by_its_characters(ask, monkeypatch):
    monkeypatch.setattr("discreet.sql.resolve.Enumeration", lambda: Enumeration(characters=300))
    text = "CAST(width_bucket(age, 0, 100, 10) AS TEXT)"
    ask(f"SELECT {text} AS c, COUNT(*) FROM visits GROUP BY c")
    with pytest.raises(RefusedQuery, match="too many public values"):
        ask(f"SELECT {text} || '{'x' * 30}' AS c, COUNT(*) FROM visits GROUP BY c")


def test_the_days_of_many_expressions_are_counted(ask, worked_out):
    days = " ".join(f"WHEN age = {i} THEN clamp(age + {i}, 0, 9000)" for i in range(100))
    with pytest.raises(RefusedQuery, match="too many public values"):
        ask(f"SELECT CASE {days} END AS n, COUNT(*) FROM visits GROUP BY n")


# ---- Combinations of keys.


def test_the_groups_of_all_sets_are_counted_together(ask):
    wide = "clamp(age, 0, 399) AS a, clamp(change + 400, 0, 399) AS b"
    keys = ask(f"SELECT {wide}, COUNT(*) FROM visits GROUP BY GROUPING SETS ((a, b), (a))").keys
    assert keys.size() == 400 * 400 + 400
    with pytest.raises(RefusedQuery, match="too many combinations") as refusal:
        ask(f"SELECT {wide}, COUNT(*) FROM visits GROUP BY CUBE (a, b, clinic, urgent)")
    assert f"{LARGEST_KEYSET:,} groups" in refusal.value.must


def test_many_columns_of_keys_are_many_cells():
    two = (("a",), ("b",))
    KeyRoom().take([two] * 10)
    with pytest.raises(RefusedQuery, match="cells"):
        KeyRoom().take([two] * 19)


def test_long_keys_are_counted_for_every_group():
    numbers = tuple((i,) for i in range(1_000))
    KeyRoom().take([numbers, (("x" * 10_000,),)])
    with pytest.raises(RefusedQuery, match="characters"):
        KeyRoom().take([numbers, (("x" * 60_000,),)])


def test_rows_that_are_looked_at_for_each_set_are_counted():
    room, rows = KeyRoom(), ((0, 0),) * 1_000_000
    room.look(rows, 2)
    room.look(rows, 2)
    with pytest.raises(RefusedQuery, match="cells"):
        room.look(rows, 2)


def test_a_question_groups_by_so_many_columns(ask):
    keys = ", ".join(f"age > {i}" for i in range(MOST_KEYS + 1))
    with pytest.raises(RefusedQuery, match="groups by too many columns"):
        ask(f"SELECT COUNT(*) FROM visits GROUP BY note, {keys}")


# ---- Aggregates.


def sums(count: int) -> str:
    return ", ".join(f"SUM(age) FILTER (WHERE age > {i})" for i in range(count))


def test_a_question_has_so_many_aggregates(ask):
    assert len(ask(f"SELECT {sums(MOST_AGGREGATES)} FROM visits").aggregates) == MOST_AGGREGATES
    with pytest.raises(RefusedQuery, match="too many aggregates") as refusal:
        ask(f"SELECT {sums(MOST_AGGREGATES + 1)} FROM visits")
    assert refusal.value.must
    assert refusal.value.next


def test_the_same_aggregate_counts_once(ask):
    same = ", ".join(f"COUNT(*) AS n{i}" for i in range(MOST_AGGREGATES + 1))
    assert len(ask(f"SELECT {same} FROM visits").aggregates) == 1


def test_the_numbers_of_an_answer_are_groups_times_aggregates(ask):
    groups = "FROM visits GROUP BY clamp(age, 0, 9999), clinic"
    assert len(ask(f"SELECT {sums(50)} {groups}").aggregates) == 50
    with pytest.raises(RefusedQuery, match="Too much is asked for at once") as refusal:
        ask(f"SELECT {sums(60)} {groups}")
    assert f"{MOST_CELLS:,}" in refusal.value.must
    assert refusal.value.got == f"{60 * 4 * 10_000:,}"


# ---- Batches.


@pytest.mark.parametrize("bound", ["MOST_TOGETHER", "MOST_CELLS"])
def test_the_questions_of_a_batch_count_together(curator, monkeypatch, bound):
    monkeypatch.setattr(questions, bound, 10)
    question = f"SELECT {sums(3)} FROM visits"
    assert len(read_questions(curator, [question] * 3, [nothing_chosen] * 3)) == 3
    with pytest.raises(RefusedQuery, match="Too much is asked for at once") as refusal:
        price_batch(curator, [question] * 4, Approximate(1, "1e-7"))
    assert refusal.value.got == "12"


def test_the_keys_of_a_batch_count_together(curator, worked_out):
    one = BUCKET.format(200)
    questions = [
        f"SELECT {one} || {one} || '{i}' AS c, COUNT(*) FROM visits GROUP BY c" for i in range(5)
    ]
    assert read_questions(curator, questions[:1], [nothing_chosen])
    with pytest.raises(RefusedQuery, match="too many public values"):
        read_questions(curator, questions, [nothing_chosen] * len(questions))
    assert worked_out.total() <= 2 * MOST_WORKED_OUT


def test_what_grows_when_it_is_written_out_is_refused_before_it_is_tried(curator, monkeypatch):
    """An engine takes seconds and gigabytes to read it, and nobody would be charged for that."""
    conditions = " OR ".join(f"width_bucket(age, 0, 100, 1000) = {number}" for number in range(20))
    tried = []
    monkeypatch.setattr(engine, "_answer", lambda *parts, **_: tried.append(parts))
    with pytest.raises(RefusedQuery, match="too long for the engine") as refused:
        answer(curator, f"{COUNTED} WHERE {conditions}", terms=Pure(1), analyst="a")
    assert f"{engine.MOST_WRITTEN:,} characters" in str(refused.value)
    assert not tried
    assert curator.ledger.spent("people") == Approximate(0, 0)
