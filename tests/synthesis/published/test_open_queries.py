"""A dialogue is charged as a whole when it is opened, and lives once."""

import copy
import gc
import os
import pickle
import re
import traceback
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NoReturn, cast

import pytest
from attrs import evolve

from discreet.core.contribution import Contribution
from discreet.core.errors import AnswerFailed, DiscreetError, InvalidArgument, Unsupported
from discreet.core.loss import Pure
from discreet.ledger.ledger import Ledger
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.thresholds.sparse_vector import SparseVectorRun
from discreet.project.charged import charged
from discreet.project.terms import Terms
from discreet.randomness.rng import SystemRng
from discreet.synthesis.published.open_queries import MachineOpening, dialogue_plan
from discreet.synthesis.published.query_machines import query_machine
from tests.support.projects.frames import owned as owned_frames
from tests.synthesis.published.test_publish import COLUMNS, visits

ASKED: dict[str, Any] = {"columns": ["region", "urgent"], "options": {"rows": 600}, "epsilon": 4}


@pytest.fixture
def own(tmp_path):
    def own(**said):
        usual: dict[str, Any] = {
            "ledger": tmp_path / "ledger",
            "id_space": tmp_path.name,
            "columns": {"visits": COLUMNS},
            "budget": {"epsilon": 100},
        }
        return owned_frames({"visits": visits()}, **usual | said)

    return own


@pytest.mark.parametrize("machine", ["weights", "median"])
def test_it_is_charged_whole_and_each_answer_is_free(own, machine):
    with own() as owner:
        connection = owner.connect()
        told = connection.explain_open_queries("visits", machine=machine, rows_per_unit=3, **ASKED)
        assert "cost nothing more" in str(told)
        assert told.is_affordable()
        assert told.to_json()["rows_per_unit"] == 3
        assert connection.budget()[0].spent == Pure(0)
        dialogue = connection.open_queries("visits", machine=machine, rows_per_unit=3, **ASKED)
        assert dialogue.cost == told.cost
        event = dialogue._plan.mechanism.event(Contribution(l1=3))
        assert dialogue.cost == charged(event, Pure(100))
        assert 3.9 < dialogue.cost.epsilon <= 4
        first = dialogue.ask({"region": "north"})
        assert dialogue.ask({"region": "north"}) == first
        dialogue.ask({"region": "south", "urgent": True})
        assert len(dialogue.answers) == 2
        assert connection.budget()[0].spent == dialogue.cost
        assert dialogue.error() is not None
        again = connection.open_queries("visits", machine=machine, rows_per_unit=3, **ASKED)
        assert connection.budget()[0].spent == dialogue.cost + again.cost, "no dialogue is stored"
        assert len(connection.releases()) == 0
        connection.verify(dialogue.receipt)


def test_what_is_asked_is_said_by_columns_and_may_be_null(own):
    with own() as owner:
        dialogue = owner.connect().open_queries("visits", machine="weights", **ASKED)
        dialogue.ask({"urgent": None})
        for asked in (None, "region", [("region", "north")]):
            with pytest.raises(InvalidArgument, match="not said by columns"):
                dialogue.ask(asked)


def test_a_part_of_a_cell_is_refused_and_costs_nothing(own):
    """Half a cell has no count; the whole of it is another question, which the refusal names."""
    with own() as owner:
        dialogue = owner.connect().open_queries(
            "visits", machine="weights", columns=["cost"], epsilon=4, options={"rows": 300}
        )
        with pytest.raises(InvalidArgument, match=r"whole cells, such as 0 to \d") as caught:
            dialogue.ask({"cost": (0, 10.5)})
        assert not dialogue.answers
        end = re.search(r"0 to ([0-9.]+)", str(caught.value))
        assert end is not None
        dialogue.ask({"cost": (0, end[1].rstrip("."))})
        assert len(dialogue.answers) == 1


def test_the_machine_sees_a_unit_with_as_many_rows_as_it_may(own):
    """The largest distance is that of ``rows_per_unit``; the twin has the event of one row."""
    with own() as owner:
        said = Terms(epsilon=4, rows_per_unit=5)
        machine = query_machine("weights", {"rows": 600})
        found = dialogue_plan(owner._project, "visits", machine, said, Terms(), ["region"])
        assert found.loss == charged(found.mechanism.event(Contribution(l1=5)), Pure(100))
        twin = charged(found.mechanism.event(Contribution(l1=1)), Pure(100))
        assert twin * 5 == found.loss == Pure(4)


def test_a_threshold_of_ones_own_promises_nothing_and_costs_the_same(own):
    with own() as owner:
        connection = owner.connect()
        asked = ASKED | {"options": {"rows": 600, "threshold": 40}}
        told = connection.explain_open_queries("visits", **asked)
        assert told.cost == connection.explain_open_queries("visits", **ASKED).cost
        assert told.to_json()["error"] is None
        assert "not known" in str(told)


def test_it_lives_once(own, monkeypatch):
    with own() as owner:
        dialogue = owner.connect().open_queries("visits", **ASKED)
        for copied in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(Unsupported, match="cannot be copied"):
                copied(dialogue)
        first = dialogue.ask({"region": "north"})
        assert "OpenQueries about visits, open, 1 answered" in repr(dialogue)
        process = os.getpid()
        monkeypatch.setattr(os, "getpid", lambda: process + 1)
        with pytest.raises(Unsupported, match="another process"):
            dialogue.ask({"region": "south"})
        assert dialogue.ask({"region": "north"}) == first, "what is public stays so"


def test_it_is_about_the_rows_that_it_was_opened_for(own):
    with own() as owner:
        connection = owner.connect()
        dialogue = connection.open_queries("visits", **ASKED)
        owner.ledger().advance_version(connection.catalog().id_spaces[0].name, SystemRng())
        with pytest.raises(InvalidArgument, match="replaced"):
            dialogue.ask({"region": "north"})


def test_it_ends_with_its_block_and_its_connection_and_overwrites_what_it_held(own):
    with own() as owner, owner.connect() as connection:
        first, second, third = (connection.open_queries("visits", **ASKED) for _ in range(3))
        held = [one._run._rows for one in (first, second, third)]
        assert all(rows.any() for rows in held)
        with first:
            known = first.ask({"region": "north"})
        assert first.ended
        assert first.ask({"region": "north"}) == known, "what is public stays so"
        for _ in range(2):
            second.close()
        with pytest.raises(Unsupported, match="has ended"):
            second.ask({"region": "north"})
        assert not third.ended
        connection.close()
        assert third.ended
        assert not any(rows.any() for rows in held)


def test_what_is_let_go_of_is_overwritten(own):
    with own() as owner:
        dialogue = owner.connect().open_queries("visits", **ASKED)
        rows = dialogue._run._rows
        del dialogue
        gc.collect()
        assert not rows.any()


def test_a_process_that_is_forked_off_has_nothing_of_it(own):
    """The child finds zeros, an end and a free lock, even if a thread was asking meanwhile."""
    with own() as owner:
        dialogue = owner.connect().open_queries("visits", **ASKED)
        dialogue._lock.acquire()  # as a thread would that asks at this moment
        child = os.fork()
        if not child:
            is_bare = not dialogue._run._rows.any() and dialogue.ended
            os._exit(0 if is_bare and not dialogue._lock.locked() else 1)
        dialogue._lock.release()
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert dialogue._run._rows.any()
        assert not dialogue.ended
        dialogue.ask({"region": "north"})


@pytest.mark.parametrize("cause", [KeyboardInterrupt, MemoryError, ZeroDivisionError])
@pytest.mark.parametrize("place", [SparseVectorRun, DiscreteLaplace])
def test_what_stops_an_answer_ends_it_and_takes_no_frame_along(own, monkeypatch, cause, place):
    """Whoever shows the frames of an error sees none below the dialogue: there stand counts."""
    with own() as owner:
        dialogue = owner.connect().open_queries("visits", **ASKED)

        def stop(*_):
            raise cause("601 rows")

        monkeypatch.setattr(SparseVectorRun, "ask", lambda *_: True)
        monkeypatch.setattr(place, "ask" if place is SparseVectorRun else "release", stop)
        with pytest.raises((KeyboardInterrupt, Unsupported)) as caught:
            dialogue.ask({"region": "north"})
        assert isinstance(caught.value, KeyboardInterrupt) == (cause is KeyboardInterrupt)
        assert caught.value.__context__ is None
        assert caught.value.__cause__ is None
        assert "601" not in str(caught.value)
        shown = [frame.f_code.co_qualname for frame, _ in traceback.walk_tb(caught.tb)]
        assert shown[-1] == "OpenQueries._answered"
        assert not any("GuessAndCheckRun" in name for name in shown)
        assert dialogue.ended
        assert not dialogue._run._rows.any()
        with pytest.raises(Unsupported, match="has ended"):
            dialogue.ask({"urgent": None})


def test_threads_share_one_life(own):
    """Of eight threads that ask the same, all get one answer; none is measured twice."""
    with own() as owner:
        dialogue = owner.connect().open_queries("visits", **ASKED)
        asked = [{"urgent": one} for one in (True, False, None)] * 8
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(dialogue.ask, asked))
        assert len(dialogue.answers) == 3
        for place in range(3):
            assert len(set(found[place::3])) == 1


def test_nothing_of_it_shows_or_travels(own):
    with own() as owner:
        dialogue = owner.connect().open_queries("visits", **ASKED)
        for part in (dialogue, dialogue._run, dialogue._run._comparisons):
            assert not re.search(r"\b(600|[0-9]{3})\b", repr(part))
            for copied in (copy.copy, copy.deepcopy, pickle.dumps):
                with pytest.raises(Unsupported, match="cannot be copied"):
                    copied(part)


def test_after_its_last_measurement_it_has_ended(own, monkeypatch):
    with own() as owner:
        dialogue = owner.connect().open_queries("visits", **ASKED)
        first = dialogue.ask({"region": "north"})
        monkeypatch.setattr(dialogue._run, "_ended", True)
        assert dialogue.ended
        with pytest.raises(Unsupported, match="has ended"):
            dialogue.ask({"region": "south"})
        assert dialogue.ask({"region": "north"}) == first


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"options": {}}, "rows"),
        ({"machine": "oracle"}, "no such machine"),
        ({"columns": ["word"]}, "not declared"),
        ({"columns": ["age", "cost", "day"]}, "too large"),
        ({"columns": ["age"], "machine": "median"}, "data sets"),
        ({"epsilon": "1e-30"}, "not drawn|range"),
    ],
)
def test_what_cannot_be_opened_is_refused_and_costs_nothing(own, asked, said):
    with own() as owner:
        connection = owner.connect()
        with pytest.raises(DiscreetError, match=said):
            connection.open_queries("visits", **ASKED | asked)
        assert connection.budget()[0].spent == Pure(0)


def test_where_a_deadline_is_declared_there_is_no_dialogue(own):
    with own() as owner:
        gate = evolve(owner.catalog().gate, deadline=20)
        hurried = evolve(owner._project, catalog=evolve(owner.catalog(), gate=gate))
        machine = query_machine("weights", {"rows": 600})
        with pytest.raises(Unsupported, match="deadline"):
            dialogue_plan(hurried, "visits", machine, Terms(epsilon=4), Terms(), ["region"])


def test_a_rho_is_no_price_of_a_dialogue(own):
    with own(budget={"rho": 10}) as owner:
        asked = {name: value for name, value in ASKED.items() if name != "epsilon"}
        with pytest.raises(Unsupported, match="pure price"):
            owner.connect(rho=1).open_queries("visits", **asked)
        assert owner.connect().open_queries("visits", **ASKED).cost.rho <= 8


class Made:
    """A machine, as far as its end goes."""

    has_ended = False

    def end(self) -> None:
        self.has_ended = True


def test_an_error_does_not_lead_to_a_machine(own, monkeypatch):
    made: list[Made] = []

    def release(self: MachineOpening, *_: Any) -> None:
        made.append(Made())
        self._opened = cast(Any, made[0])

    def full(*_: Any, **__: Any) -> NoReturn:
        raise OSError("the disk is full")

    with own() as owner:
        connection = owner.connect()
        monkeypatch.setattr(MachineOpening, "release", release)
        monkeypatch.setattr(Ledger, "commit_sealed", full)
        with pytest.raises(AnswerFailed):
            connection.open_queries("visits", **ASKED)
        assert Pure(3) <= connection.budget()[0].spent
    assert [one.has_ended for one in made] == [True]


def test_a_machine_that_is_made_when_nobody_waits_any_more_ends_at_once(own, monkeypatch):
    made: list[Any] = []
    release = MachineOpening.release

    def left(self: MachineOpening, *given: Any) -> None:
        self.discard()
        release(self, *given)
        made.append(self._opened)

    with own() as owner:
        monkeypatch.setattr(MachineOpening, "release", left)
        with pytest.raises(AssertionError):
            owner.connect().open_queries("visits", **ASKED)
    assert made == [None]
