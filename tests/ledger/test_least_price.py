"""No question is charged next to nothing, so nobody buys any number of failures."""

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting.filters.rules import admits, left
from discreet.core.errors import BelowLeastPrice, BudgetError, BudgetExhausted, Unsupported
from discreet.core.loss import (
    Approximate,
    ApproximateZcdp,
    GaussianDp,
    MeanConcentrated,
    PrivacyLoss,
    Pure,
    Zcdp,
)
from discreet.core.numbers import exact
from discreet.ledger import books
from discreet.ledger.budget import Allocation, Budget
from discreet.ledger.gate_rules import MOST_QUESTIONS, GateRules, amount, least_price, require_price
from discreet.ledger.ledger import Ledger
from tests.ledger.memory_store import MemoryStore
from tests.ledger.orders import RELEASE, new_ledger, order


def ledger_of(cap: PrivacyLoss, **rules: object) -> Ledger:
    ledger = Ledger(MemoryStore())
    ledger.declare(Budget("people", cap))
    ledger.set_rules(GateRules(id_space="people", **rules))  # type: ignore[arg-type]
    return ledger


def ask(ledger: Ledger, loss: PrivacyLoss, **parts: str) -> None:
    ledger.commit(ledger.reserve(order(loss, **parts)), RELEASE)  # type: ignore[arg-type]


CAPS: list[tuple[PrivacyLoss, str]] = [
    (Pure(3), "3"),
    (Approximate(3, "1e-6"), "3"),
    (Zcdp(rho=2, xi=1), "3"),
    (ApproximateZcdp(rho=3, delta="1e-9"), "3"),
    (GaussianDp(mu_squared=3), "3"),
]


@pytest.mark.parametrize(("cap", "size"), CAPS)
def test_the_usual_one_is_a_ten_thousandth_in_every_measure(cap, size):
    assert MOST_QUESTIONS == 10_000
    assert least_price(cap, None) == exact(size) / 10_000
    ledger = ledger_of(cap)
    assert ledger.least_price("people") == exact(size) / 10_000
    ask(ledger, cap * Fraction(1, 10_000))
    with pytest.raises(BelowLeastPrice):
        ask(ledger, cap * Fraction(1, 10_001))
    assert ledger.spent("people") == cap * Fraction(1, 10_000)


@pytest.mark.parametrize(
    ("cap", "loss"),
    [
        (Pure(3), Pure(0)),
        (Approximate(3, "1e-6"), Approximate(0, "1e-6")),
        (Approximate(0, "1e-6"), Approximate(0, "1e-6")),
        (ApproximateZcdp(0, "1e-6"), ApproximateZcdp(0, "1e-6")),
    ],
)
def test_a_delta_alone_is_no_price_and_nothing_is_none(cap, loss):
    with pytest.raises(BelowLeastPrice):
        ask(ledger_of(cap), loss)


def test_what_is_just_below_is_not_shown_as_enough():
    """Noise for an ε with a δ costs a little less, which rounded up is the least price."""
    with pytest.raises(BelowLeastPrice, match=r"at least ε = 0\.1; got ε = 0\.09999"):
        require_price(Approximate("0.0999999", "1e-6"), exact("0.1"), Pure(3), "people")


def test_a_question_that_is_dear_by_xi_alone_pays():
    ask(ledger_of(Zcdp(rho=1, xi=1)), Zcdp(rho=0, xi=1))


def test_an_unknown_measure_is_refused():
    with pytest.raises(Unsupported, match="No least price is known"):
        amount(MeanConcentrated(1, 1))


def test_the_owner_declares_another_one(tmp_path: Path):
    ledger = new_ledger(tmp_path)
    ledger.set_rules(GateRules(id_space="people", least_price="1/2"))
    with pytest.raises(BelowLeastPrice) as caught:
        ask(ledger, Pure("1/3"))
    assert isinstance(caught.value, BudgetError)
    assert caught.value.code == "below_least_price"
    assert str(caught.value) == (
        "A question about 'people' costs more than that. It must cost at least ε = 0.5; got "
        "ε = 0.3333. Nothing was spent. Ask with a higher price; several questions can share one "
        "as a batch, and what was answered before is given again for nothing. The owner can "
        "declare another id_spaces.people.least_price."
    )
    assert ledger.spent("people") == Pure(0)
    ledger.verify()


def test_the_last_part_can_be_spent_by_everybody_and_by_a_share():
    ledger = ledger_of(Pure(1), least_price="1/10")
    ledger.allocate(Allocation("people", "ann", Pure("0.15")))
    ledger.allocate(Allocation("people", "bob", Pure(1)))
    ask(ledger, Pure("0.1"))
    with pytest.raises(BelowLeastPrice):
        ask(ledger, Pure("0.04"))
    with pytest.raises(BudgetExhausted):
        ask(ledger, Pure("0.06"))
    ask(ledger, Pure("0.05"))
    with pytest.raises(BudgetExhausted):
        ask(ledger, Pure("0.05"))
    ask(ledger, Pure("0.8"), analyst="bob")
    ask(ledger, Pure("0.05"), analyst="bob")
    assert ledger.remaining("people") == Pure(0)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["ann", "bob"]), st.integers(0, 12)), max_size=60),
    st.integers(2, 6),
)
def test_no_more_questions_are_charged_than_the_price_allows(asked, parts):
    ledger = ledger_of(Pure(1), least_price=Fraction(1, parts))
    for name in ("ann", "bob"):
        ledger.allocate(Allocation("people", name, Pure("3/4")))
    charged = 0
    for name, twelfths in asked:
        loss = Pure(Fraction(twelfths, 24))
        rest = amount(ledger.remaining("people", name))
        is_enough = loss.epsilon >= Fraction(1, parts) or loss.epsilon == rest
        if 0 < loss.epsilon <= rest and is_enough:
            ask(ledger, loss, analyst=name)
            charged += 1
        else:
            with pytest.raises((BelowLeastPrice, BudgetExhausted)):
                ask(ledger, loss, analyst=name)
    assert charged <= parts + 1 + 2
    ledger.store.replay()  # type: ignore[attr-defined]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=40))
def test_in_two_numbers_the_amounts_add_up_as_the_filter_adds_them(asked):
    cap, spent, charged = Zcdp(rho=1, xi="1/2"), Zcdp(0), 0
    for rho, xi in asked:
        loss = Zcdp(rho=Fraction(rho, 24), xi=Fraction(xi, 24))
        try:
            require_price(loss, Fraction(1, 4), left(cap, spent), "people")
        except BelowLeastPrice:
            continue
        if admits(cap, spent, loss):
            spent, charged = spent + loss, charged + 1
    assert charged <= Fraction(3, 2) / Fraction(1, 4) + 1


def test_a_gate_without_a_least_price_is_caught(tmp_path: Path, monkeypatch):
    ledger = new_ledger(tmp_path)
    monkeypatch.setattr(books, "require_price", lambda *_: None)
    ask(ledger, Pure("1e-9"))
    monkeypatch.undo()
    with pytest.raises(Exception, match="entry 2: this reserve was not allowed"):
        ledger.verify()
