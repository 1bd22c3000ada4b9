"""A holdout of a declared table: what is asked, counted, charged, found again and refused."""

import multiprocessing
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from discreet.adaptive.gated.first_questions import FirstQuestions
from discreet.adaptive.gated.gated_promise import ONE_PERSON
from discreet.adaptive.gated.holdout_plan import holdout_plan
from discreet.adaptive.gated.person_query import count_plan, sum_plan
from discreet.adaptive.gated.table_holdout import TableHoldout, open_holdout
from discreet.adaptive.guarantee import STEPS
from discreet.adaptive.question_mix import QuestionMix
from discreet.adaptive.row_values import DeclaredRange
from discreet.core.errors import BudgetExhausted, DiscreetError, RefusedQuery, Unsupported
from discreet.core.loss import Pure
from discreet.noiseless.exact import publish_exact
from discreet.project.open_ledger import open_ledger
from discreet.project.passage import go_through
from discreet.project.terms import Terms
from discreet.roles.connection import Connection, connect
from discreet.roles.owner import own
from discreet.tables.declarations.declaration import read_catalog
from tests.support.projects.clinic import exact_columns, make_curator, visit, write_project
from tests.support.projects.exact import make_school, release, stated_or_real

PEOPLE = 3_000


def rows(people=PEOPLE) -> list[dict[str, Any]]:
    """Every third person is 60 years old, and every second one comes twice, once urgently."""
    found = []
    for number in range(people):
        age = 60 if number % 3 == 0 else 30
        found.append(visit(f"p{number}", age=age, cost=2.5))
        if number % 2 == 0:
            found.append(visit(f"p{number}", "b", age=age, urgent=True, cost=7.5))
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_project(tmp_path / "clinic", rows(), epsilon="10")


@pytest.fixture
def project(folder, rng):
    return make_curator(folder, rng)


def held(project, *, questions=4, epsilon="1", analyst="ann", beta="0.05") -> TableHoldout:
    plan = holdout_plan(
        project,
        "visits",
        questions=questions,
        beta=beta,
        terms=Terms(epsilon=epsilon),
        default=Terms(),
    )
    return open_holdout(project, plan, analyst=analyst)


def test_answers_are_shares_of_people_near_the_truth(project):
    """At ε = 0.2 a question, noise of a sum has a scale of 5 people; 100 are 20 of them."""
    holdout = held(project)
    assert abs(holdout.units - PEOPLE) < 100
    asked: tuple[tuple[str, dict[str, Any], Fraction], ...] = (
        ("max(age) > 50", {}, Fraction(1, 3)),
        ("bool_or(urgent)", {}, Fraction(1, 2)),
        ("avg(cost)", {"low": 0, "high": 10}, Fraction(15, 4)),
        ("count(*)", {"low": 1, "high": 3}, Fraction(3, 2)),
    )
    for number, (text, within, truth) in enumerate(asked):
        answer = holdout.ask(text, **within)
        width = within.get("high", 1) - within.get("low", 0)
        assert answer.low <= truth <= answer.high
        assert abs(answer.value - truth) < width * Fraction(1, 12)
        assert (answer.number, answer.is_stored) == (number + 1, False)
    assert holdout.left == 0
    with pytest.raises(DiscreetError, match="All questions were asked"):
        holdout.ask("count(*) > 1")
    assert project.ledger.spent("people") == Pure(1)
    assert holdout.ask("max(age) > 50").is_stored, "a stored answer is given again at the end"


def exact(project, text, low=0, high=1):
    plan = sum_plan(project, project.catalog.table("visits"), text, DeclaredRange(low, high))
    ((total,),) = exact_columns(project.engine, plan)
    return int(total), plan


def test_sums_are_those_of_each_person_in_steps(tmp_path, rng):
    """Against Python: NULL is the middle, and what is outside of the range its nearer end."""
    costs: tuple[list[float | None], ...] = ([2.0, 4.0], [None], [9.0], [0.0, None])
    visits = [visit(f"p{number}", cost=cost) for number, each in enumerate(costs) for cost in each]
    folder = write_project(tmp_path, visits)
    project = make_curator(folder, rng)
    # Of 1 to 5, the means 3, none, 9 and 0 are at 1/2, 1/2, 1 and 0.
    assert exact(project, "avg(cost)", 1, 5)[0] == STEPS * 2
    assert exact(project, "max(cost) > 3")[0] == STEPS * Fraction(5, 2)
    table: Any = project.catalog.table("visits")
    ((people,),) = exact_columns(project.engine, count_plan(project, table))
    assert people == 4


@pytest.mark.parametrize(
    "text", ["max(age) > 50", "sum(cost) * 1e9", "count(*)", "-sum(age)", "1 / (count(*) - 1)"]
)
def test_no_person_moves_a_sum_by_more_than_one(text, tmp_path, rng):
    """Removed or replaced, whatever they bring: the plan says so, and so do the numbers."""
    heavy = [visit("x", age=90, cost=9.5) for _ in range(50)]
    light = [visit("x", age=None, cost=None)]
    usual = rows(20)
    totals = []
    for number, more in enumerate(([], heavy, light)):
        project = make_curator(write_project(tmp_path / str(number), [*usual, *more]), rng)
        total, plan = exact(project, text)
        totals.append(total)
        (moved,) = plan.contributions()
        assert moved.l1 == moved.linf == ONE_PERSON.linf
    assert max(totals) - min(totals) <= STEPS


def _ask_elsewhere(folder, place):
    with connect(folder, analyst="bob") as connection:
        holdout = connection.holdout("visits", questions=4, epsilon="1")
        place.put((holdout.left, str(holdout.ask("max(age) > 50").value), holdout.left))


def test_it_goes_on_in_another_process_and_for_another_analyst(folder, project):
    holdout = held(project)
    first = holdout.ask("max(age) > 50")
    context = multiprocessing.get_context("spawn")
    place = context.Queue()
    other = context.Process(target=_ask_elsewhere, args=(folder, place))
    other.start()
    assert place.get(timeout=120) == (3, str(first.value), 3)
    other.join()
    again = held(project)
    assert (again.units, again.left) == (holdout.units, 3)
    assert project.ledger.spent("people") == Pure(Fraction(2, 5))


def test_what_others_are_told_of_the_same_people_widens_intervals(folder):
    with connect(folder) as connection:
        holdout = connection.holdout("visits", questions=4, epsilon="0.4")
        before = holdout.alpha
        early = holdout.ask("max(age) > 50")
        connection.sql("SELECT COUNT(*) FROM visits", epsilon="0.3")
        assert holdout.alpha > before
        late = holdout.ask("bool_or(urgent)")
        assert late.high - late.low > early.high - early.low
        again = holdout.ask("max(age) > 50")
        assert (again.low, again.high) == (early.low, early.high), "what held then holds"
        connection.sql("SELECT COUNT(*) FROM visits", epsilon="8")
        spent = connection.budget()[0].spent
        with pytest.raises(Unsupported, match="Nothing can be promised"):
            holdout.ask("max(cost) > 3")
        assert connection.budget()[0].spent == spent


def test_what_a_lost_ledger_knew_widens_intervals(folder):
    """An older copy is put back; what was told since then is known to the anchor alone."""
    file = folder / ".discreet" / "ledger.sqlite"
    with connect(folder) as connection:
        holdout = connection.holdout("visits", questions=4, epsilon="0.4")
        early = holdout.ask("max(age) > 50")
    older = file.read_bytes()
    with connect(folder) as connection:
        connection.sql("SELECT COUNT(*) FROM visits", epsilon="0.5")
    file.write_bytes(older)
    open_ledger(read_catalog(folder), begin_again=True)
    with connect(folder) as connection:
        holdout = connection.holdout("visits", questions=4, epsilon="0.4")
        reach = holdout.alpha
        late = holdout.ask("bool_or(urgent)")
        assert late.high - late.low >= reach
        assert late.high - late.low > early.high - early.low
        again = holdout.ask("max(age) > 50")
        assert (again.low, again.high) == (early.low, early.high), "what held then holds"


def test_a_question_beyond_the_last_one_promises_nothing(project):
    """Two processes may both see one question left; the ledger says which one was last."""
    holdout = held(project, questions=1, epsilon="0.5")
    plan = holdout._plan
    late = plan.question(project, "bool_or(urgent)", DeclaredRange(0, 1))
    first = holdout.ask("max(age) > 50")
    passed = go_through(project, late, analyst="bob")
    second = holdout.release(passed)
    assert (first.number, second.number) == (1, 2)
    assert second.high - second.low == 1
    assert "nothing is promised" in str(second)


def test_questions_that_are_refused_change_nothing(project):
    holdout = held(project)
    before = project.ledger.spent("people")
    wrongs: tuple[Any, ...] = (
        "1) AS value FROM visits WHERE (true",
        "1; DROP TABLE visits",
        "",
        "age > 50",  # a person has several rows
        "max(agee) > 50",
        "max(person)",
        "(SELECT max(age) FROM visits)",
        "count(*) OVER ()",
        "max(age",
        7,
    )
    for wrong in wrongs:
        with pytest.raises(DiscreetError):
            holdout.ask(wrong)
    with pytest.raises(DiscreetError, match="range is empty"):
        holdout.ask("max(age)", low=3, high=3)
    assert project.ledger.spent("people") == before
    assert holdout.left == 4


def test_of_one_row_a_person_there_is_no_aggregate(tmp_path, rng):
    folder = write_project(tmp_path, [visit(f"p{number}") for number in range(PEOPLE)])
    declared = folder / "discreet.toml"
    text = declared.read_text(encoding="utf-8")
    one = 'unit = "person"\nmost_rows_per_unit = 1'
    declared.write_text(text.replace('unit = "person"', one), encoding="utf-8")
    project = make_curator(folder, rng)
    holdout = held(project)
    before = project.ledger.spent("people")
    for wrong in ("max(age) > 50", "1 + count(*)", "coalesce(sum(cost), 0)"):
        with pytest.raises(RefusedQuery, match="expression of that row"):
            holdout.ask(wrong)
    assert project.ledger.spent("people") == before
    assert holdout.ask("age > 50").number == 1


def test_holdouts_that_are_refused(folder, tmp_path):
    with connect(folder) as connection:
        usual: dict[str, Any] = {"questions": 3, "epsilon": "1"}
        wrongs: tuple[tuple[dict[str, Any], str], ...] = (
            ({"table": "nothing"}, "nothing"),
            ({"table": "visits", "questions": 0}, "questions"),
            ({"table": "visits", "epsilon": "0"}, "epsilon"),
            ({"table": "visits", "epsilon": None}, "how much privacy"),
            ({"table": "visits", "epsilon": None, "rho": "0.1"}, "ε"),
            ({"table": "visits", "beta": "2"}, "beta"),
        )
        for wrong, said in wrongs:
            with pytest.raises(DiscreetError, match=said):
                connection.holdout(**usual | wrong)
        with pytest.raises(Unsupported, match="With no number of people"):
            connection.holdout("visits", questions=1, epsilon="40")
        assert connection.budget()[0].spent == Pure(0)
    with connect(write_project(tmp_path / "small", rows(20), epsilon="0.1")) as connection:
        with pytest.raises(BudgetExhausted):
            connection.holdout("visits", questions=1, epsilon="1")
        assert connection.budget()[0].spent == Pure(0)


def test_a_slip_in_the_first_question_costs_nothing(folder):
    within = DeclaredRange(0, 1)
    slip = FirstQuestions(texts=("max(agee) > 50",), within=within)
    twice = FirstQuestions(texts=("max(age)", "MAX(age)"), within=within, is_choice=True)
    mix = QuestionMix(means=0, choices=1, candidates=2)
    with connect(folder) as connection:
        with pytest.raises(DiscreetError, match="agee"):
            connection.holdout("visits", questions=3, epsilon="1", first=slip)
        with pytest.raises(DiscreetError, match="ask the same"):
            connection.holdout("visits", questions=mix, epsilon="1", first=twice)
        assert connection.budget()[0].spent == Pure(0)


def test_periods_of_a_person_are_no_people(folder):
    text = (folder / "discreet.toml").read_text()
    unit = 'unit = { column = "person", period = "day", date = "day" }'
    (folder / "discreet.toml").write_text(text.replace('unit = "person"', unit))
    with connect(folder) as connection, pytest.raises(Unsupported, match="not independent"):
        connection.holdout("visits", questions=3, epsilon="1")


def test_few_people_have_no_promise(tmp_path, rng):
    project = make_curator(write_project(tmp_path, rows(20)), rng)
    holdout = held(project)
    assert holdout.alpha == 1
    spent = project.ledger.spent("people")
    with pytest.raises(Unsupported, match="enough people"):
        holdout.ask("max(age) > 50")
    assert project.ledger.spent("people") == spent


def test_data_that_are_replaced_end_it(folder):
    with own(folder) as owner, owner.connect(analyst="ann") as connection:
        holdout = connection.holdout("visits", questions=4, epsilon="1")
        holdout.ask("max(age) > 50")
        owner.data_changed("people")
        with pytest.raises(DiscreetError, match="replaced"):
            holdout.ask("max(age) > 50")
        fresh = connection.holdout("visits", questions=4, epsilon="1")
        assert fresh.left == 4
        assert fresh.alpha > holdout._plan.reach(holdout.units), "the old answers are told besides"


def test_an_answer_about_data_that_were_replaced_meanwhile_promises_nothing(folder):
    """Its sum is about new rows, and the number of people about the old ones."""
    with own(folder) as owner, owner.connect(analyst="ann") as connection:
        holdout: Any = connection.holdout("visits", questions=4, epsilon="0.4")
        project, old = connection._project, holdout._require_same_data

        def replaced_after_a_look():
            old()
            owner.data_changed("people")

        holdout._require_same_data = replaced_after_a_look
        answer = holdout.ask("max(age) > 50")
        assert answer.receipt.data_version != holdout.receipt.data_version
        assert (answer.low, answer.high) == (0, 1)
        assert project.ledger.spent("people") == Pure("0.16")


def test_a_public_exact_number_ends_all_promises(tmp_path, monkeypatch):
    """Of the answers to come, and of those that were given: somebody may have known it earlier."""
    count, given = 4_000, '["ticket 3", "ticket 5"]'
    monkeypatch.setattr(publish_exact, "statistic_of", stated_or_real)
    with own(
        make_school(tmp_path, release("scores", rows=count, given=given), count=count)
    ) as owner:
        connection: Connection = owner.connect(analyst="ann")
        holdout = connection.holdout("exams", questions=4, epsilon="0.4")
        early = holdout.ask("max(passed)")
        assert early.high - early.low < 1
        owner.publish_exact("scores")
        with pytest.raises(Unsupported, match="nothing exactly"):
            holdout.ask("max(hours) > 3")
        again: Any = holdout.ask("max(passed)")
        assert (again.low, again.high) == (0, 1)
        assert again.remarks
        with pytest.raises(Unsupported, match="Exact numbers"):
            connection.holdout("exams", questions=4, epsilon="1")


def test_stored_answers_are_opened_by_their_ticket(folder):
    with connect(folder) as connection:
        holdout = connection.holdout("visits", questions=4, epsilon="1")
        asked = holdout.ask("max(age) > 50")
        count, stored = connection.releases()
        opened: Any = stored.open()
        assert (opened.value, opened.low, opened.high) == (asked.value, asked.low, asked.high)
        assert opened.is_stored
        people: Any = count.open()
        assert people.value == holdout.units
        assert people.number == 0
        assert "visits" in stored.sql
        assert "questions left" in repr(holdout)


def test_an_explanation_costs_nothing_and_is_what_is_promised(folder):
    with connect(folder) as connection:
        told = connection.explain_holdout("visits", units=5_000, questions=4, epsilon="0.4")
        assert connection.budget()[0].spent == Pure(0)
        assert "5,000 people" in str(told)
        holdout = connection.holdout("visits", questions=4, epsilon="0.4")
        assert told.alpha == holdout._plan.reach(5_000)
        assert told.plan.answers.whole == Pure(Fraction(2, 5))
        poor = connection.explain_holdout("visits", units=5, questions=4, epsilon="0.4")
        assert "promises nothing" in str(poor)
        one = connection.explain_holdout("visits", units=1, questions=4, epsilon="0.4")
        assert "If there is 1 person, it" in str(one)
        least: Any = poor.least
        assert f"With {least:,} people all answers would be within 0.5" in str(poor)
        enough = connection.explain_holdout("visits", units=least, questions=4, epsilon="0.4")
        fewer = connection.explain_holdout("visits", units=least - 10, questions=4, epsilon="0.4")
        assert enough.alpha <= Fraction(1, 2) < fewer.alpha
        none = connection.explain_holdout("visits", units=5, questions=4, epsilon="10")
        assert none.least is None
        assert "nor with any other number" in str(none)
