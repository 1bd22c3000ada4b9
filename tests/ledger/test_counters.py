"""Whose failures count for whom: the ledger against a model of the rule, and its broken twins."""

import threading
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.errors import BelowLeastPrice, Busy, InvalidArgument, LedgerError, Suspended
from discreet.core.loss import Pure
from discreet.ledger import books, suspension
from discreet.ledger import ledger as ledger_module
from discreet.ledger.budget import Allocation, Budget
from discreet.ledger.chain import Kind
from discreet.ledger.failures import OpenTickets
from discreet.ledger.gate_rules import GateRules
from tests.ledger.counter_game import (
    ALL,
    CHEAP,
    ONE,
    OTHERS,
    PLACES,
    RULES,
    SHARED,
    SHARERS,
    Game,
    Step,
    failed,
)
from tests.ledger.orders import new_ledger, order

VERBS = ("reserve", "reserve", "reserve", "fail", "fail", "commit", "wait", "allocate", "resume")
STEPS = st.lists(
    st.tuples(st.sampled_from([*VERBS, "resume_all"]), st.sampled_from([*SHARERS, *OTHERS])),
    min_size=10,
    max_size=60,
)


@settings(max_examples=60, deadline=None)
@given(STEPS)
def test_the_ledger_counts_as_the_model_does_and_every_entry_can_be_checked(steps):
    Game().play(steps).store.replay()


MOVES: list[list[Step]] = [
    failed("bob"),
    failed("cat"),
    [("reserve", "bob"), ("reserve", "cat"), ("reserve", "mallory")],
    [("wait", ""), ("wait", "")],
    [("resume", "bob")],
]
"""What others can do to an analyst with a share, and what the owner does for them."""


def test_nothing_that_others_do_stops_an_analyst_with_a_share_below_the_total():
    stopped = 0
    for moves in product(MOVES, repeat=3):
        game = Game().play([*failed("eve"), *SHARED, *(step for move in moves for step in move)])
        is_full = game.model.failures() >= ALL
        assert game.model.expected("ann") is (Suspended if is_full else None)
        game.reserve("ann")
        stopped += is_full
    assert 0 < stopped < 50


STORY: list[Step] = [
    *failed("eve"),
    *SHARED,
    *failed("ann"),
    ("reserve", "bob"),
    ("reserve", "bob"),
    ("reserve", "bob"),
    *failed("ann"),
    ("reserve", "ann"),
    ("resume", "ann"),
    ("reserve", "ann"),
    ("wait", ""),
    ("wait", ""),
    ("reserve", "bob"),
    *failed("cat"),
    ("reserve", "ann"),
    ("resume_all", ""),
    *failed("ann", "ann", "bob", "bob"),
    ("reserve", "cat"),
]
"""All that can happen, once: the broken twins are caught by it."""


def test_the_story_goes_as_the_model_says():
    Game().play(STORY).store.replay()


def test_failures_of_all_together_stop_everybody_and_say_so():
    game = Game().play([*SHARED, *failed("ann", "ann", "bob", "bob")])
    with pytest.raises(Suspended) as caught:
        game.ledger.reserve(order(CHEAP, analyst="cat"))
    assert str(caught.value) == (
        "Questions about 'people' are suspended, whoever asks. It must have fewer than 4 failed "
        "answers of all analysts together since the owner last resumed them. Nothing was spent. "
        "The owner looks for the cause, and then runs 'discreet resume people'."
    )


def test_a_full_counter_names_its_analyst_and_the_command_that_clears_it():
    game = Game()
    name = "ann o'hara"
    game.ledger.allocate(Allocation("people", name, Pure(1)))
    for _ in range(ONE):
        game.ledger.fail(game.ledger.reserve(order(CHEAP, analyst=name)))
    with pytest.raises(Suspended) as caught:
        game.ledger.reserve(order(CHEAP, analyst=name))
    assert caught.value.what == f"Questions about 'people' by '{name}' are suspended"
    assert caught.value.next.endswith(
        """runs 'discreet resume people --analyst 'ann o'"'"'hara''"""
    )


def test_a_full_common_counter_says_who_is_counted_in_it():
    game = Game().play([*failed("eve", "mallory"), *SHARED])
    with pytest.raises(Suspended) as caught:
        game.ledger.reserve(order(CHEAP, analyst="eve"))
    assert caught.value.what == "Questions about 'people' by analysts without a share are suspended"
    game.play([("reserve", "ann"), ("resume", "mallory")])
    assert game.ledger.failures("people") == 0


def test_too_many_in_flight_says_to_wait_and_spends_nothing():
    game = Game().play([*SHARED, ("reserve", "ann"), ("reserve", "ann")])
    with pytest.raises(Busy) as caught:
        game.ledger.reserve(order(CHEAP, analyst="ann"))
    assert caught.value.code == "busy"
    assert caught.value.what == "Too many questions about 'people' by 'ann' are in flight"
    assert caught.value.must == "be fewer than 2 before another is asked"
    assert "Nothing was spent. Wait" in caught.value.next
    game.play([("reserve", "bob"), ("commit", "ann"), ("reserve", "ann")])


def test_in_every_id_space_of_an_order_there_must_be_room():
    game = Game()
    game.ledger.declare(Budget("shops", Pure(3)))
    for _ in range(8):
        game.ledger.reserve(order(CHEAP, spaces=("shops",)))
    with pytest.raises(Busy, match="'shops'"):
        game.ledger.reserve(order(CHEAP, spaces=("people", "shops")))
    assert game.ledger.spent("people") == Pure(0)


def test_no_race_passes_the_number_in_flight(tmp_path: Path):
    ledger = new_ledger(tmp_path)
    ledger.set_rules(RULES)
    outcomes: list[str] = []

    def ask() -> None:
        try:
            ledger.reserve(order(CHEAP))
            outcomes.append("admitted")
        except Busy:
            outcomes.append("busy")

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["admitted"] * PLACES + ["busy"] * (8 - PLACES)
    ledger.verify()


def test_attempts_below_the_least_price_stop_nobody():
    game = Game().play(SHARED)
    for _ in range(50):
        with pytest.raises(BelowLeastPrice):
            game.ledger.reserve(order(Pure("1e-6"), analyst="bob"))
    game.play([("reserve", "bob"), ("reserve", "ann")])


def test_a_ticket_counts_where_it_was_reserved_whatever_shares_are_given_later():
    game = Game().play([("reserve", "ann"), ("allocate", "ann"), ("fail", "ann")])
    assert [one.analyst for one in game.ledger.counters("people")] == [None]
    game.store.replay()


# ---- Broken twins.


def patched(monkeypatch: pytest.MonkeyPatch, name: str, twin: Any) -> None:
    for place in (books, suspension, ledger_module, OpenTickets):
        if hasattr(place, name):
            monkeypatch.setattr(place, name, twin)


@pytest.mark.parametrize(
    ("name", "twin"),
    [
        ("counter_of", lambda *_: None),
        ("counter_of", lambda _, __, analyst: analyst),
        ("require_room", lambda *_: None),
        ("require_active", lambda *_: None),
        ("require_few_in_all", lambda *_: None),
        ("in_flight", lambda *_: []),
        ("abandoned", lambda *_: []),
        ("after_resumption", lambda _, id_space, __: {"id_space": id_space}),
    ],
)
def test_a_broken_rule_is_caught_by_the_model(monkeypatch, name, twin):
    patched(monkeypatch, name, twin)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        Game().play(STORY)


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        (Kind.FAIL, {"count": 2, "earlier": 0, "counter": {"analyst": "ann", "count": 1}}),
        (Kind.FAIL, {"count": 1, "earlier": 0, "counter": {"analyst": "ann", "count": 0}}),
        (Kind.FAIL, {"count": 1, "earlier": 0, "counter": {"analyst": "bob", "count": 1}}),
        (Kind.FAIL, {"count": 1, "earlier": 0, "counter": {"analyst": None, "count": 1}}),
        (Kind.FAIL, {"count": 1, "earlier": 1, "counter": {"analyst": "ann", "count": 1}}),
        (Kind.FAIL, {"count": 1}),
        (Kind.RESUME, {"count": 1, "earlier": 0, "counter": {"analyst": "ann", "count": 0}}),
        (Kind.RESUME, {"count": 0, "earlier": 0, "counter": {"analyst": "eve", "count": 0}}),
        (Kind.RESUME, {"count": 0, "earlier": 0, "counter": {"analyst": "ann", "count": 1}}),
    ],
)
def test_counts_that_the_ledger_would_not_write_are_found(kind, payload):
    game = Game().play([*SHARED, ("reserve", "ann")])
    game.store.replay()
    number = game.model.asked[0].ticket.number
    counts = {"id_space": "people"} | payload
    game.store.append(
        kind, counts if kind is Kind.RESUME else {"ticket": number, "failures": [counts]}
    )
    with pytest.raises(LedgerError, match=f"this {kind.value} was not allowed there"):
        game.store.replay()


@pytest.mark.parametrize(
    "parts", [{"suspend_all_after": 4}, {"most_in_flight": 0}, {"least_price": 0}]
)
def test_rules_that_cannot_hold_are_refused(parts):
    with pytest.raises(InvalidArgument):
        GateRules(**({"id_space": "people"} | parts))
