"""Once something is published exactly, everything that tells a loss says so."""

import json
import signal
import subprocess
import sys
from fractions import Fraction

import pytest

import discreet
from discreet.cli.main import main
from discreet.core.errors import Unsupported
from discreet.noiseless.exact import publish_exact
from discreet.planner.question_plan import plan_question
from discreet.project import worst_case
from tests.support.house.paths import ROOT
from tests.support.projects.exact import make_school, release, stated_or_real
from tests.support.projects.killed_exact import STEPS

pytestmark = pytest.mark.usefixtures("stated_law")


VOID = "the worst-case claim of students is void: total was published exactly"
SQL = "SELECT grade, COUNT(*) AS n FROM exams GROUP BY grade"


@pytest.fixture(scope="module")
def school(tmp_path_factory):
    """A school that answered one question before it published a total."""
    folder = make_school(tmp_path_factory.mktemp("school"), release("total", given="[3]"))
    with pytest.MonkeyPatch.context() as patched, discreet.own(folder) as owner:
        patched.setattr(publish_exact, "statistic_of", stated_or_real)
        before = owner.connect(epsilon="0.1").sql(SQL)
        assert "void" not in str(before)
        assert before.receipt.ticket.number == 3
        owner.publish_exact("total")
    return folder


def forms(release_) -> dict[str, str]:
    """Return a release in all of its forms."""
    return {
        "text": str(release_).replace("\n  ", " "),
        "html": release_._repr_html_(),
        "json": json.dumps(release_.to_json()),
    }


def silent(release_) -> list[str]:
    return [name for name, text in forms(release_).items() if VOID not in text]


def test_every_later_answer_says_so_in_every_form(school):
    with discreet.connect(school, epsilon="0.1") as connection:
        answers = [connection.sql(SQL, fresh=True), connection.sql(SQL)]
        assert [answer.is_stored for answer in answers] == [False, True]
        for answer in answers:
            assert not silent(answer)
            assert VOID in answer.card()
            assert "the budget bounds all" not in answer.card()
            assert any(VOID in note for note in answer.to_pandas().attrs["discreet"]["notes"])


def test_answers_from_before_say_so_when_they_are_given_again(school):
    with discreet.connect(school, epsilon="0.1") as connection:
        for stored in connection.releases():
            assert not silent(stored.open())


def test_explanations_say_so(school):
    with discreet.connect(school, epsilon="0.1") as connection:
        explained = connection.explain("SELECT SUM(hours) FROM exams")
        publishing = connection.explain_publishing("exams", columns=["grade"], method="cells")
        assert not silent(explained)
        assert not silent(publishing)
        assert explained.to_json()["worst_case"]


def test_an_explanation_of_a_holdout_says_so_and_promises_nothing(school):
    with discreet.connect(school) as connection:
        explained = connection.explain_holdout("exams", units=10**6, questions=2, epsilon=1)
        told = {"text": str(explained), "json": json.dumps(explained.to_json())}
        assert not [name for name, text in told.items() if VOID not in text]
        assert explained.alpha == 1
        assert set(explained.alphas.values()) == {Fraction(1)}
        assert explained.least is None
        with pytest.raises(Unsupported):
            connection.holdout("exams", questions=2, epsilon=1)


def test_a_plan_for_a_question_says_so(school):
    with discreet.connect(school) as connection:
        planned = plan_question(connection, SQL)
        told = {"text": str(planned), "json": json.dumps(planned.to_json())}
        assert not [name for name, text in told.items() if VOID not in text]


def test_answers_from_synthetic_rows_say_so(school):
    with discreet.connect(school, epsilon="0.3") as connection:
        rows = connection.synthesise("exams", columns=["grade", "campus"])
        assert not silent(rows.sql("SELECT COUNT(*) FROM exams", repeats=2))


def test_what_is_published_synthesised_and_profiled_says_so(school):
    with discreet.own(school) as owner, owner.connect(epsilon="0.3") as connection:
        found = [
            owner.profile("exams", epsilon="0.3"),
            connection.profile("exams"),
            connection.publish("exams", columns=["grade"], method="cells"),
            connection.synthesise("exams", columns=["grade", "campus"]),
        ]
        for one in found:
            assert not [name for name in silent(one) if name != "html"], type(one)
            assert VOID in one._repr_html_(), type(one)


def test_batches_and_dialogues_say_so(tmp_path):
    make_school(tmp_path, release("total"))
    declared = tmp_path / "discreet.toml"
    text = declared.read_text().replace("epsilon = 3", "epsilon = 3, delta = 1e-6")
    declared.write_text(text)
    with discreet.own(tmp_path) as owner, owner.connect(epsilon="0.3") as connection:
        owner.publish_exact("total")
        queries = [SQL, "SELECT SUM(hours) FROM exams"]
        for answer in connection.batch(queries, epsilon=1, delta="1e-9"):
            assert not silent(answer)
        with connection.open_queries("exams", columns=["grade"], options={"rows": 100}) as opened:
            assert VOID in repr(opened)


def test_the_budget_says_so(school):
    with discreet.connect(school) as connection:
        budgets = connection.budget()
        assert VOID[1:] in str(budgets).replace("\n  ", " ")
        assert VOID[1:] in budgets._repr_html_()
        assert VOID in budgets[0].to_json()["worst_case"][0]
    with discreet.own(school) as owner:
        assert owner._repr_html_().count(VOID[1:]) == 1


@pytest.mark.parametrize(
    "command",
    [
        ["budget"],
        ["check"],
        ["ledger"],
        ["explain", SQL, "--epsilon", "0.1"],
        ["query", SQL, "--epsilon", "0.1"],
        ["meaning", "--epsilon", "1"],
        ["exact", "total"],
        ["releases", "show", "3"],
    ],
)
@pytest.mark.parametrize("is_json", [False, True])
def test_commands_say_so(school, command, is_json, capsys, monkeypatch):
    monkeypatch.chdir(school)
    assert main([*command, *(["--json"] if is_json else [])]) == 0
    said = " ".join(capsys.readouterr().out.split())
    if (command[0], is_json) == ("ledger", True):
        assert '"kind": "exact"' in said
    else:
        assert VOID[1:] in said


def test_nothing_says_so_before(tmp_path, capsys, monkeypatch):
    make_school(tmp_path, release("total"))
    monkeypatch.chdir(tmp_path)
    for command in (["budget"], ["ledger"], ["meaning", "--epsilon", "1"]):
        assert main(command) == 0
    assert "void" not in capsys.readouterr().out
    assert main(["exact", "list"]) == 0
    assert "allowed" in capsys.readouterr().out
    assert main(["exact", "total", "--certify"]) == 0
    assert "worst-case claim of the id space is void" in " ".join(capsys.readouterr().out.split())
    with discreet.own(tmp_path) as owner:
        assert not owner.ledger().is_void("students")


def test_meaning_goes_on_beside_a_broken_declaration(tmp_path, capsys, monkeypatch):
    (tmp_path / "discreet.toml").write_text("[tables")
    monkeypatch.chdir(tmp_path)
    assert main(["meaning", "--epsilon", "1"]) == 0
    assert "the project here cannot be looked at" in capsys.readouterr().out
    assert main(["meaning", "--epsilon", "1", "--project", str(tmp_path)]) == 2


def test_a_twin_that_forgets_to_say_so_is_caught(school, monkeypatch):
    """Mutant of rule 8: the mark is in the ledger, and answers keep silent about it."""
    monkeypatch.setattr(worst_case, "void_remarks", lambda *_: ())
    with discreet.connect(school, epsilon="0.1") as connection:
        assert silent(connection.sql(SQL)) == ["text", "html", "json"]


@pytest.mark.parametrize("step", STEPS)
def test_a_kill_between_mark_and_release_leaves_the_mark(tmp_path, step):
    make_school(tmp_path, release("total"))
    command = [sys.executable, "-m", "tests.support.projects.killed_exact", str(tmp_path), step]
    child = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert child.returncode == -signal.SIGKILL, child.stderr
    assert not child.stdout.strip()
    with discreet.own(tmp_path) as owner:
        owner.ledger().verify()
        assert owner.ledger().is_void("students") == (step != "before the mark")
        is_stored = step == "after the release is stored"
        assert owner.publish_exact("total").is_stored == is_stored
        owner.ledger().verify()
