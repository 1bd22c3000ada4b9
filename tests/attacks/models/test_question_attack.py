"""Questions through the gate: what asking again, in other words and at once recovers."""

from fractions import Fraction
from functools import partial

import pytest

from discreet.attacks.differencing import difference
from discreet.attacks.models.asked_questions import AskedQuestions, BatchedQuestions
from discreet.attacks.models.question_attack import OTHERS, QuestionAttack, Rooms, attack_questions
from discreet.attacks.reconstruction.guess_ceiling import GuessingRecord, guess_ceiling
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Pure
from tests.support.statistics.exact_tests import alpha

PLENTY = {"epsilon": Fraction(1000)}


@pytest.mark.parametrize("epsilon", ["1/10", "1", "3"])
def test_no_way_of_asking_passes_its_ceiling(epsilon, rng):
    report = attack_questions(QuestionAttack(epsilon=epsilon, times=3, rooms=300), rng)
    assert report["exact counts"].share == 1
    assert not report.breaks_ceiling(Fraction(alpha("attacks/models/questions", parts=3)))
    assert {one.record.ceiling for one in report.attempts[1:4]} == {guess_ceiling(Pure(epsilon))}
    assert report["in other words"].note.startswith("8 questions, 2 refused")


def test_the_same_words_again_cost_nothing_and_tell_nothing(rng):
    rooms = QuestionAttack(epsilon=1, rooms=20).draw_rooms(rng)
    (pair,) = QuestionAttack(epsilon=1).pairs(1)
    with rooms.asked(budget={"epsilon": Fraction(1)}, name="again") as connection:
        asked = AskedQuestions(connection=connection, epsilon="1/2")
        cells = [(text, room) for room in range(20) for text in pair]
        first = asked.answers(cells)
        assert connection.budget()[0].spent == Pure(1)
        assert asked.answers(cells) == first
        assert None not in first
        assert asked.answers([("SELECT room, COUNT(*) AS m FROM people GROUP BY room", 0)]) == [
            None
        ]


def test_a_budget_that_nobody_keeps_is_caught(rng):
    """The broken twin spends 20 on each pair and claims 1 for all of them."""
    attack = QuestionAttack(epsilon=40, times=2, rooms=200)
    found = attack.played(
        [attack.pairs(2)],
        lambda connection: AskedQuestions(connection=connection, epsilon=10),
        rng,
        delta=Fraction(0),
    )
    claimed = GuessingRecord(right=found.record.right, trials=200, ceiling=guess_ceiling(Pure(1)))
    assert claimed.breaks_ceiling("1e-9")


def test_a_connection_is_a_query_interface():
    rooms = Rooms(is_there=(True, False))
    with rooms.asked(budget=PLENTY, name="interface") as connection:
        asked = AskedQuestions(connection=connection, epsilon=50)
        text = "SELECT COUNT(*) AS n FROM people WHERE room = {}{}"
        for room, is_there in enumerate(rooms.is_there):
            pair = (text.format(room, ""), text.format(room, " AND NOT sought"))
            assert difference(asked, [pair]).guess is is_there


def test_refusals_are_told_and_leave_nothing_to_guess():
    with Rooms(is_there=(True,)).asked(budget={"epsilon": Fraction(1)}, name="refused") as one:
        poor = AskedQuestions(connection=one, epsilon=2)
        pair = QuestionAttack(epsilon=1).pairs(1)[0]
        assert difference(poor, [((pair[0], 0), (pair[1], 0))]).guess is None
        assert poor.answers(["SELECT age FROM people"]) == [None]
        with pytest.raises(InvalidArgument, match="No row of the answer"):
            AskedQuestions(connection=one, epsilon=1).answers([(pair[0], 7)])
    budget = {"epsilon": Fraction(1), "delta": Fraction(1, 10**6)}
    with Rooms(is_there=(True,)).asked(budget=budget, name="refused batch") as one:
        batch = BatchedQuestions(connection=one, epsilon=2, delta="1e-6")
        assert batch.answers([(text, 0) for text in pair]) == [None, None]


def test_rooms_hold_who_is_there():
    table = Rooms(is_there=(True, False, True)).table()
    assert table.num_rows == 3 * OTHERS + 2
    assert [bool(one) for one in table["sought"].to_pylist()].count(True) == 2


@pytest.mark.parametrize("wrong", [{"epsilon": 0}, {"epsilon": 1, "times": 0}])
def test_bad_input_is_refused(wrong):
    with pytest.raises(InvalidArgument):
        partial(QuestionAttack, rooms=3)(**wrong)
