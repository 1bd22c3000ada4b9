"""Choices through the gate: the outcome becomes public, and none of the numbers behind it."""

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import discreet
from discreet.cli.main import main
from discreet.core.errors import AnswerFailed, DiscreetError, InvalidArgument, RefusedQuery
from discreet.engines.duckdb.engine import DuckDbEngine
from discreet.ledger.chain import Kind
from discreet.noiseless.exact import exact_certificate
from discreet.noiseless.exact.exact_release import ExactRelease
from discreet.roles.connection import Connection
from tests.support.projects.exact import declare, make_school, release, write_rows

EXACTLY = {"rows_exact": "true"}
MANY = {**EXACTLY, "rows": 4000}
YES = {**MANY, "law": '"bernoulli(0.6)"'}
GRADED = {**MANY, "law": '"shares(0.5, 0.3, 0.2)"'}


def people(*groups: tuple[int, object, str], score: object = 50) -> list[list[object]]:
    """Return rows: so many people with a value of ``passed`` and a grade."""
    found: list[list[object]] = []
    for count, passed, grade in groups:
        for _ in range(count):
            found.append([len(found), score, 1, passed, grade, "north"])
    return found


def published(folder: Path, rows: list[list[object]], made: str) -> ExactRelease:
    folder.mkdir(exist_ok=True)
    declare(folder, made)
    write_rows(folder, rows)
    with discreet.own(folder) as owner:
        return owner.publish_exact("one")


# ---- What the answer is.


@pytest.mark.parametrize(("yeses", "answer"), [(29, False), (30, True), (31, True)])
def test_a_threshold_says_whether_there_are_so_many(tmp_path, yeses, answer):
    made = release("one", "threshold", '["passed"]', threshold=30, **YES)
    # A value that is missing is none, and neither is a row without a person.
    rows = people((yeses, True, "a"), (20, False, "a"), (9, "", "b"))
    rows += [["", 50, 1, True, "a", "north"]] * 40
    rows += [[0, 50, 1, True, "a", "north"]] * 40
    assert published(tmp_path, rows, made).answer is answer


@pytest.mark.parametrize(("yeses", "answer"), [(30, False), (31, True)])
def test_a_majority_is_more_than_half_of_the_declared_rows(tmp_path, yeses, answer):
    more = {**YES, "rows": 60, "law": '"bernoulli(0.9)"', "values": '["a", "b"]'}
    made = release("one", "majority", '["grade"]', **more)
    rows = people((yeses - 9, True, "a"), (9, True, "b"), (3, True, "c"), (5, True, ""))
    assert published(tmp_path, rows, made).answer is answer


@pytest.mark.parametrize(
    ("counts", "answer"),
    [((5, 3, 2), "a"), ((3, 5, 2), "b"), ((4, 4, 2), "a"), ((1, 4, 4), "b"), ((0, 0, 0), "a")],
)
def test_the_most_common_key_is_the_first_of_those_that_most_have(tmp_path, counts, answer):
    made = release("one", "argmax", '["grade"]', **GRADED)
    groups = [(count, True, grade) for count, grade in zip(counts, "abc", strict=True)]
    rows = people(*groups, (7, True, "unheard"), (8, True, ""))
    rows += [["", 50, 1, True, "c", "north"]] * 40
    assert published(tmp_path, rows, made).answer == answer


@pytest.mark.parametrize(
    ("score", "declared", "answer"),
    [("60.5", 60.5 * 60, True), ("60.5", 60.5 * 60 + 0.25, False), ("", 3000, True)],
)
def test_a_total_is_compared_as_it_would_be_published(tmp_path, score, declared, answer):
    """What is missing counts as the middle, 50."""
    more = {"law": '"uniform(0, 100)"', "epsilon": 1, "delta": "0.1"}
    made = release("one", "threshold", threshold=declared, **more)
    rows = people((60, True, "a"), score=score)
    assert published(tmp_path, rows, made).answer is answer


def test_a_part_of_a_split_has_a_choice_of_its_own(tmp_path):
    south = {"split": '"campus"', "parts": '["south"]', **GRADED}
    made = release("one", "argmax", '["grade"]', **south)
    rows = people((3, True, "b"))
    rows += [[f"1{row[0]}", *row[1:4], "c", "south"] for row in people((2, True, ""))]
    assert published(tmp_path, rows, made).answer == "c"


# ---- What becomes public, and what does not.


def dumped(folder: Path) -> str:
    """Return the text of all ledgers in a folder."""
    texts: list[str] = []
    for path in folder.rglob("*"):
        if path.is_file() and path.read_bytes().startswith(b"SQLite format 3"):
            with closing(sqlite3.connect(path)) as database:
                texts.extend(database.iterdump())
    return "\n".join(texts)


def test_nothing_but_the_outcome_is_stored(tmp_path):
    """Two tables with one outcome leave the same traces, and no count is among them."""
    tables = [((71203, True, "a"), (50111, False, "b")), ((80307, True, "a"), (41007, False, "c"))]
    found = []
    for place, groups in enumerate(tables):
        folder = tmp_path / str(place)
        more = {**GRADED, "rows": 121314}
        one = published(folder, people(*groups), release("one", "argmax", '["grade"]', **more))
        with discreet.own(folder) as owner:
            body, _ = owner.ledger().release_of(one.receipt.ticket.number)
            (noted,) = owner.exact_claims()
        found.append((body, noted.claim, one.notes(), str(one), one._repr_html_()))
        text = dumped(folder)
        assert "which of" in text
        assert not [count for count, _, _ in groups if re.search(rf"\b{count}\b", text)]
    assert found[0] == found[1]
    assert found[0][0]["choice"] == {"of": "grade of most rows", "is": "a"}


def test_the_stored_form(tmp_path):
    made = release("one", "threshold", '["passed"]', threshold=30, **YES)
    one = published(tmp_path, people((30, True, "a")), made)
    with discreet.own(tmp_path) as owner:
        body, _ = owner.ledger().release_of(one.receipt.ticket.number)
    del body["bounding"]
    assert body == {
        "kind": "exact",
        "version": 2,
        "name": "one",
        "table": "exams",
        "rows": 4000,
        "choice": {"of": "rows with passed is True: 30 or more", "is": True},
    }
    said = one.claim.asserted
    assert said["format"] == "discreet.exact/2"
    assert said["features"] == ["whether count(passed in {True}) is at least 30"]
    assert said["choice"] == {"of": ["count(passed in {True})"], "rows_exact": True, "least": "30"}
    assert said["certificate"]["asserted"] == {
        "statistic": "threshold",
        "rows": 4000,
        "threshold": 30,
        "known": 0,
        "law": {"kind": "yes_or_no", "low": "3/5", "high": "3/5"},
    }


def test_the_exact_number_of_rows_is_in_the_ledger_before_a_row_is_read(tmp_path, monkeypatch):
    make_school(tmp_path, release("one", "argmax", '["grade"]', **GRADED))
    seen = []
    execute = DuckDbEngine.execute

    def spied(engine, plan, salt, permit):
        with discreet.connect(tmp_path) as other:
            seen.append([entry for entry in other.history() if entry.kind is Kind.EXACT])
        return execute(engine, plan, salt, permit)

    monkeypatch.setattr(DuckDbEngine, "execute", spied)
    with discreet.own(tmp_path) as owner:
        owner.publish_exact("one")
    (((mark,)),) = seen
    said = mark.payload["asserted"]
    assert (said["rows"], said["choice"]["rows_exact"]) == (4000, True)
    assert said["choice"]["ties"].startswith("the key that is declared first")
    assert any(
        "There are exactly 4,000 rows with a unit, and each has one of the keys" in one
        for one in said["certificate"]["assumptions"]
    )


def test_every_form_says_what_it_rests_on_and_the_worst_case_is_void(tmp_path, capsys):
    made = release("one", "majority", '["passed"]', **YES)
    make_school(tmp_path, made)
    assert main(["exact", "one", "--certify", "--project", str(tmp_path)]) == 0
    assert "There are exactly 4,000 rows with a unit" in capsys.readouterr().out
    assert main(["exact", "one", "--project", str(tmp_path)]) == 0
    assert re.search(r"rows with passed is True: 2001 or more +no", capsys.readouterr().out)
    with discreet.own(tmp_path) as owner:
        one = owner.publish_exact("one")
        assert one.is_stored
        assert owner.ledger().is_void("students")
        owner.ledger().verify()
        answer = owner.connect(epsilon=1).sql("SELECT COUNT(*) FROM exams")
    assert any("is void: one was published exactly" in note for note in answer.notes())
    for text in (str(one), one._repr_html_(), json.dumps(one.to_json()), one.card()):
        assert "exactly 4,000 rows are asserted" in " ".join(text.split())
    assert one.to_json()["choice"]["is"] is False
    assert one.to_json()["numbers"] == []
    with pytest.raises(InvalidArgument, match="has no numbers: they stayed behind the gate"):
        one.value()


def test_a_number_is_no_answer(tmp_path):
    total = release("one", law='"uniform(0, 100)"', epsilon=1, delta="0.1")
    found = published(tmp_path, people((3, True, "a")), total)
    with pytest.raises(InvalidArgument, match="is no choice"):
        _ = found.answer


def test_analysts_have_no_way_to_it_and_read_what_is_public(tmp_path):
    make_school(tmp_path, release("one", "majority", '["passed"]', **YES))
    assert not [name for name in dir(Connection) if "exact" in name]
    with discreet.own(tmp_path) as owner, owner.connect(epsilon=1) as connection:
        owner.publish_exact("one")
        (stored,) = connection.releases()
        assert stored.is_exact
        assert stored.open().answer is False


def test_a_failure_tells_nothing_and_can_be_tried_again(tmp_path, monkeypatch):
    make_school(tmp_path, release("one", "majority", '["passed"]', **YES))
    with discreet.own(tmp_path) as owner:
        with monkeypatch.context() as patched:
            patched.setattr(DuckDbEngine, "execute", None)
            with pytest.raises(AnswerFailed):
                owner.publish_exact("one")
        assert owner.publish_exact("one").answer is False


# ---- Beside other releases.

NORTH = {"split": '"campus"', "parts": '["north"]'}
SOUTH = {"split": '"campus"', "parts": '["south"]'}
STATED = {"given": '["first"]', "robust": '["first"]'}
ANY_TOTAL = {"law": '"uniform(0, 100)"', "epsilon": 1, "delta": "0.1"}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("majority", '["passed"]', YES), ("threshold", '["passed"]', {**YES, "threshold": 9})),
        (("majority", '["passed"]', YES), ("argmax", '["grade"]', GRADED)),
        (("majority", '["passed"]', YES), ("majority", '["passed"]', {**YES, **NORTH})),
        (("majority", '["passed"]', {**YES, **NORTH}), ("majority", '["passed"]', YES)),
        (("sum", '["score"]', ANY_TOTAL), ("majority", '["passed"]', YES)),
        (("majority", '["passed"]', YES), ("sum", '["score"]', ANY_TOTAL)),
        (("majority", '["passed"]', YES), ("count", '["passed"]', {"law": '"bernoulli(0.6)"'})),
        (
            ("majority", '["passed"]', YES),
            ("threshold", '["score"]', {**ANY_TOTAL, "threshold": 50}),
        ),
    ],
)
def test_a_choice_stands_beside_nothing_of_the_same_rows_whatever_is_stated(
    tmp_path, monkeypatch, first, second
):
    (kind, columns, more), (kind2, columns2, more2) = first, second
    loose = {"delta": "0.5", "epsilon": 2}
    make_school(
        tmp_path,
        release("first", kind, columns, **more),
        release("second", kind2, columns2, **{**more2, **loose, **STATED}),
    )
    with discreet.own(tmp_path) as owner:
        owner.publish_exact("first")
        before = owner.ledger().verify()
        monkeypatch.setattr(DuckDbEngine, "execute", None)
        with pytest.raises(RefusedQuery, match="are of the same rows, and one of them is a choice"):
            owner.publish_exact("second")
        assert owner.ledger().verify() == before


def test_without_that_rule_the_thresholds_one_after_another_are_the_count(tmp_path, monkeypatch):
    """Each of them is certified, all premises are stated, and 37 people have passed."""
    loose = {**YES, "epsilon": 2}
    tried = [
        release(
            f"from{least}",
            "threshold",
            '["passed"]',
            **loose,
            threshold=least,
            given=json.dumps([f"from{one}" for one in range(35, least)]),
            robust=json.dumps([f"from{one}" for one in range(35, least)]),
        )
        for least in range(35, 40)
    ]
    declare(tmp_path, *tried)
    write_rows(tmp_path, people((37, True, "a"), (20, False, "a")))
    with discreet.own(tmp_path) as owner:
        assert owner.publish_exact("from35").answer is True
        with pytest.raises(RefusedQuery, match="one of them is a choice"):
            owner.publish_exact("from36")
        monkeypatch.setattr(exact_certificate, "require_choices_apart", lambda *_: None)
        said = [owner.publish_exact(f"from{least}").answer for least in range(36, 40)]
    assert said == [True, True, False, False]


def test_another_version_or_another_name_has_the_same_rows(tmp_path):
    make_school(tmp_path, release("first", "majority", '["passed"]', **YES))
    with discreet.own(tmp_path) as owner:
        owner.publish_exact("first")
        owner.data_changed("students")
        with pytest.raises(RefusedQuery, match="'first@2' and 'first@1' are of the same rows"):
            owner.publish_exact("first")
    declared = tmp_path / "discreet.toml"
    text = declared.read_text(encoding="utf-8")
    table = text[text.index("[tables.exams]") : text.index("[exact")]
    again = release("second", "majority", '["passed"]', **YES, **STATED, table='"again"')
    twice = text + table.replace("tables.exams", "tables.again") + again
    declared.write_text(twice, encoding="utf-8")
    with discreet.own(tmp_path) as owner, pytest.raises(RefusedQuery, match="of the same rows"):
        owner.publish_exact("second")


def test_disjoint_parts_have_choices_side_by_side(tmp_path):
    make_school(
        tmp_path,
        release("first", "majority", '["passed"]', **YES, **NORTH),
        release("second", "majority", '["passed"]', **YES, **SOUTH),
    )
    with discreet.own(tmp_path) as owner:
        rules = [
            owner.publish_exact(name).claim.asserted["composed"]["rule"]
            for name in ("first", "second")
        ]
    assert rules == ["first", "parallel"]


def test_a_function_of_what_is_public_is_taken_from_it(tmp_path):
    count = {"law": '"bernoulli(0.6)"', "delta": "0.5"}
    make_school(
        tmp_path,
        release("count", "count", '["passed"]', **count),
        release("many", "threshold", '["passed"]', **YES, threshold=30),
    )
    with discreet.own(tmp_path) as owner:
        owner.publish_exact("count")
        with pytest.raises(RefusedQuery, match="is a function of what 'count@1' has released"):
            owner.publish_exact("many")


def test_the_same_outcome_asked_in_another_way_is_the_same_again(tmp_path):
    made = release("one", "majority", '["passed"]', **YES)
    other = release("two", "threshold", '["passed"]', **YES, threshold=2001)
    make_school(tmp_path, made, other)
    with discreet.own(tmp_path) as owner:
        first = owner.publish_exact("one")
        again = owner.publish_exact("two")
    assert again.is_stored
    assert again.receipt == first.receipt


def test_noisy_answers_before_it_are_given(tmp_path):
    make_school(tmp_path, release("one", "majority", '["passed"]', **YES))
    with discreet.own(tmp_path) as owner:
        owner.connect(epsilon="0.1").sql("SELECT COUNT(*) FROM exams")
        with pytest.raises(RefusedQuery, match="ignores it"):
            owner.publish_exact("one")
        assert not owner.ledger().is_void("students")


# ---- Laws.


@pytest.mark.parametrize(
    ("statistic", "columns", "law", "because"),
    [
        ("majority", '["passed"]', "floor(0.1, 0, 1)", "no such law for a count that is compared"),
        ("majority", '["passed"]', "bernoulli(1.5)", "low"),
        ("majority", '["passed"]', "yes(0.6, 0.5)", "high is out of range"),
        ("majority", '["passed"]', "yes(0.1, 0.2, 0.3)", "is not written as it must be"),
        ("argmax", '["grade"]', "bernoulli(0.5)", "no such law for the most common key"),
        ("argmax", '["grade"]', "shares(0.5, 0.5)", "have a share for each of a, b, c"),
        ("argmax", '["grade"]', "shares(a=0.5, b=0.3, d=0.2)", "have a share for each of a, b, c"),
        ("argmax", '["grade"]', "shares(0.5, 0.3, 0.3)", "The law cannot be true"),
    ],
)
def test_laws_of_something_else_are_refused_by_place(tmp_path, statistic, columns, law, because):
    make_school(tmp_path, release("one", statistic, columns, **MANY, law=f'"{law}"'))
    with discreet.own(tmp_path) as owner:
        with pytest.raises(DiscreetError, match=because) as refused:
            owner.publish_exact("one")
        assert "exact.one" in str(refused.value)
        assert not owner.ledger().is_void("students")


def test_shares_by_name_are_those_of_the_keys_in_any_order(tmp_path):
    laws = {
        "text": '"shares(c=0.2, a=0.5, b=0.3)"',
        "table": '{ kind = "shares", c = 0.2, a = 0.5, b = 0.3 }',
    }
    made = [release(name, "argmax", '["grade"]', **MANY, law=law) for name, law in laws.items()]
    make_school(tmp_path, *made)
    with discreet.own(tmp_path) as owner:
        for name in laws:
            said = owner.certify_exact(name).asserted()["certificate"]["asserted"]
            assert said["law"]["shares"] == ["1/2", "3/10", "1/5"]


def test_too_near_a_threshold_is_refused_before_anything_is_noted(tmp_path):
    near = {**YES, "law": '"bernoulli(0.5)"', "epsilon": "0.001"}
    make_school(tmp_path, release("one", "majority", '["passed"]', **near))
    with discreet.own(tmp_path) as owner:
        with pytest.raises(RefusedQuery, match="does not keep what is declared"):
            owner.publish_exact("one")
        assert not owner.ledger().is_void("students")
