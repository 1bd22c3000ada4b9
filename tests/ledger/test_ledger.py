"""Budgets, shares, versions and releases, one ledger at a time."""

import json
import threading
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.errors import BudgetError, BudgetExhausted, LedgerError, Unsupported
from discreet.core.loss import ApproximateZcdp, GaussianDp, Pure, Zcdp
from discreet.core.numbers import exact
from discreet.ledger.budget import FINEST, Allocation, Budget
from discreet.ledger.chain import Kind
from discreet.ledger.gate_rules import GateRules
from discreet.ledger.ledger import Ledger
from discreet.ledger.order import Receipt, Ticket
from discreet.ledger.sqlite_store import SqliteStore
from tests.ledger.orders import RELEASE, new_ledger, order


def kinds(ledger: Ledger) -> list[str]:
    return [entry.kind.value for entry in ledger.entries()]


def test_declaring_twice_changes_nothing_and_raising_keeps_what_was_spent(ledger):
    ledger.reserve(order(Pure(3)))
    ledger.declare(Budget("people", Pure(3)))
    assert kinds(ledger) == ["budget", "reserve"]
    ledger.declare(Budget("people", Pure(5)))
    assert ledger.budget("people") == Budget("people", Pure(5))
    assert ledger.spent("people") == Pure(3)
    assert ledger.remaining("people") == Pure(2)
    ledger.verify()


def test_a_cap_below_what_was_spent_leaves_nothing(ledger):
    ledger.reserve(order(Pure(2)))
    ledger.declare(Budget("people", Pure(1)))
    assert ledger.remaining("people") == Pure(0)
    with pytest.raises(BudgetExhausted, match="only the owner"):
        ledger.reserve(order(Pure("1e-9")))
    ledger.verify()


def test_a_budget_in_use_keeps_its_measure(ledger):
    ledger.declare(Budget("people", Zcdp(rho=1)))
    ledger.reserve(order(Zcdp(rho="0.5")))
    with pytest.raises(Unsupported, match="keeps its measure") as refused:
        ledger.declare(Budget("people", Pure(1)))
    assert "declare what holds, ρ = 1, or more" in str(refused.value)
    ledger.verify()


def test_an_unknown_id_space_is_refused_everywhere(ledger, rng):
    uses = [
        lambda: ledger.budget("shops"),
        lambda: ledger.spent("shops"),
        lambda: ledger.remaining("shops"),
        lambda: ledger.allocate(Allocation("shops", "ann", Pure(1))),
        lambda: ledger.data_version("shops", rng),
        lambda: ledger.advance_version("shops", rng),
        lambda: ledger.reserve(order(spaces=("people", "shops"))),
    ]
    for use in uses:
        with pytest.raises(BudgetError, match="No budget is declared for the id space 'shops'"):
            use()
    assert kinds(ledger) == ["budget"]


def test_names_that_are_not_text_are_refused(ledger):
    with pytest.raises(LedgerError, match="valid Unicode"):
        ledger.remaining("\ud800")


def test_a_charge_in_another_measure_is_refused(ledger):
    with pytest.raises(Unsupported, match="another measure"):
        ledger.reserve(order(Zcdp(rho="0.1")))
    with pytest.raises(Unsupported, match="measured like the budget"):
        ledger.allocate(Allocation("people", "ann", Zcdp(rho=1)))
    assert ledger.spent("people") == Pure(0)


def test_a_refusal_says_what_is_left_what_it_costs_and_what_to_do(ledger):
    ledger.declare(Budget("people", Pure("1/3")))
    with pytest.raises(BudgetExhausted) as caught:
        ledger.reserve(order(Pure("0.5")))
    error = caught.value
    assert str(error) == (
        "The budget of 'people' cannot pay for this. It must cost at most what is left, "
        "ε = 0.3333; got ε = 0.5. Nothing was spent. Ask for less, or see 'discreet budget'."
    )
    assert error.code == "budget_exhausted"
    ledger.reserve(order(Pure("0.333333")))


def test_an_order_is_charged_in_every_id_space_or_in_none(ledger):
    ledger.declare(Budget("shops", Pure(1)))
    ledger.reserve(order(Pure(1), spaces=("people", "shops")))
    with pytest.raises(BudgetExhausted, match="'shops'"):
        ledger.reserve(order(Pure(1), spaces=("people", "shops")))
    assert ledger.spent("people") == ledger.spent("shops") == Pure(1)
    ledger.verify()


def test_a_share_lies_inside_the_budget(ledger):
    ledger.reserve(order(Pure("0.5"), analyst="bob"))
    ledger.allocate(Allocation("people", "ann", Pure(2)))
    ledger.allocate(Allocation("people", "ann", Pure(2)))
    ledger.allocate(Allocation("people", "bob", Pure(2)))
    assert kinds(ledger).count("allocation") == 2
    assert ledger.remaining("people", "bob") == Pure("1.5"), "earlier spending counts"
    for _ in range(4):
        ledger.reserve(order(Pure("0.5"), analyst="ann"))
    with pytest.raises(BudgetExhausted, match="share of 'ann'"):
        ledger.reserve(order(Pure("0.1"), analyst="ann"))
    assert ledger.remaining("people", "bob") == ledger.remaining("people") == Pure("0.5")
    with pytest.raises(BudgetExhausted, match="budget of 'people'"):
        ledger.reserve(order(Pure(1), analyst="bob"))
    assert ledger.spent("people", "ann") == Pure(2)
    ledger.verify()


def test_once_there_are_shares_a_new_name_has_none(ledger):
    ledger.allocate(Allocation("people", "ann", Pure(1)))
    assert ledger.remaining("people", "eve") == Pure(0)
    with pytest.raises(BudgetExhausted, match="share of 'eve'"):
        ledger.reserve(order(analyst="eve"))


def test_names_with_separators_are_different_names(ledger):
    for name in ("a/b", 'a","b', "a\x00b"):
        ledger.declare(Budget(name, Pure(1)))
        ledger.reserve(order(Pure(1), spaces=(name,)))
        assert ledger.remaining(name) == Pure(0)
    ledger.verify()


def test_a_version_begins_once_and_keeps_its_salt(ledger, rng):
    first = ledger.data_version("people", rng)
    assert first.number == 1
    assert len(first.salt) == 32
    assert ledger.data_version("people", rng) == first
    second = ledger.advance_version("people", rng)
    assert second.number == 2
    assert second.salt != first.salt
    assert ledger.data_version("people", rng) == second
    ledger.verify()


def test_the_quicker_process_begins_the_version(ledger, rng):
    class SlowRng:
        """While its words are drawn, somebody else begins the version."""

        def words(self, count: int):
            ledger.data_version("people", rng)
            return rng.words(count)

    assert ledger.data_version("people", SlowRng()) == ledger.data_version("people", rng)
    assert kinds(ledger) == ["budget", "version"]


def test_a_salt_is_in_no_entry(ledger, rng):
    version = ledger.data_version("people", rng)
    shown = json.dumps([entry.to_json() for entry in ledger.entries()])
    assert version.salt.hex() not in shown
    assert kinds(ledger) == ["budget", "version"]
    assert ledger.entries()[-1].payload == {"id_space": "people", "number": 1}


def test_only_committed_releases_are_found(ledger):
    ticket = ledger.reserve(order())
    assert ledger.find_release("plan", 1) is None
    receipt = ledger.commit(ticket, RELEASE)
    assert ledger.find_release("plan", 1) == (RELEASE, receipt)
    assert ledger.find_release("plan", 2) is None
    assert ledger.find_release("other", 1) is None
    assert receipt.head == ledger.entries()[-1].digest
    assert receipt.ticket == ticket
    assert Receipt.from_json(receipt.to_json()) == receipt
    ledger.verify(receipt)


def test_two_races_to_one_plan_are_both_paid_and_both_kept(ledger):
    first, second = ledger.reserve(order()), ledger.reserve(order())
    newer = ledger.commit(second, {"n": 2})
    older = ledger.commit(first, {"n": 1})
    assert ledger.find_release("plan", 1) == ({"n": 1}, older)
    assert ledger.spent("people") == Pure(2)
    ledger.verify(older, newer)


@pytest.mark.parametrize("first", ["commit", "fail"])
@pytest.mark.parametrize("second", ["commit", "fail"])
def test_a_ticket_is_settled_once(ledger, first, second):
    ticket = ledger.reserve(order())
    settle = {"commit": lambda: ledger.commit(ticket, RELEASE), "fail": lambda: ledger.fail(ticket)}
    settle[first]()
    with pytest.raises(LedgerError, match=f"got {first}"):
        settle[second]()
    ledger.verify()


def test_a_ticket_must_be_from_this_ledger(ledger):
    ticket = ledger.reserve(order())
    for wrong in (Ticket(99, ticket.order_digest), Ticket(ticket.number, "x"), Ticket(1, "x")):
        with pytest.raises(LedgerError):
            ledger.commit(wrong, RELEASE)
    assert ledger.find_release("plan", 1) is None


def test_only_a_reserve_has_a_time(ledger, rng):
    ledger.data_version("people", rng)
    ledger.commit(ledger.reserve(order()), RELEASE)
    ledger.fail(ledger.reserve(order()))
    payloads = {entry.kind: set(entry.payload) for entry in ledger.entries()}
    assert payloads[Kind.RESERVE] == {"order", "order_digest", "reserved_at", "totals"}
    assert payloads[Kind.COMMIT] == {"ticket", "plan_digest", "data_version", "release_digest"}
    assert payloads[Kind.FAIL] == {"ticket", "failures"}


def test_odd_denominators_cannot_stop_the_ledger(ledger):
    finest = [Fraction(1, prime**e) for prime, e in ((3, 640), (5, 440), (7, 360), (11, 290))]
    ledger.set_rules(GateRules(id_space="people", least_price=min(finest)))
    for epsilon in finest:
        ledger.reserve(order(Pure(epsilon)))
    ledger.reserve(order(Pure(1)))
    spent = ledger.spent("people")
    assert sum(finest) + 1 <= spent.epsilon <= sum(finest) + 1 + Fraction(4, 2**FINEST)
    ledger.verify()


@settings(max_examples=12)
@given(
    cap=st.fractions(min_value=Fraction(1, 1000), max_value=10, max_denominator=10**6),
    parts=st.integers(min_value=1, max_value=12),
    wrap=st.sampled_from(
        [Pure, lambda x: Zcdp(rho=x), lambda x: ApproximateZcdp(rho=x, delta=exact(x) / 100)]
    ),
)
def test_a_split_budget_is_spent_to_the_last_part(tmp_path_factory, cap, parts, wrap):
    ledger = new_ledger(tmp_path_factory.mktemp("split"), wrap(cap))
    ledger.set_rules(GateRules(id_space="people", most_in_flight=12))
    for number in range(parts):
        assert ledger.spent("people") == wrap(cap * number / parts)
        ledger.reserve(order(wrap(cap / parts)))
    assert ledger.remaining("people") == wrap(cap * 0)
    with pytest.raises(BudgetExhausted):
        ledger.reserve(order(wrap(Fraction(1, 10**40))))
    ledger.verify()


@settings(max_examples=12)
@given(st.lists(st.fractions(Fraction(1, 97), 2, max_denominator=97), max_size=12))
def test_whatever_is_asked_the_sum_of_what_was_admitted_stays_below_the_cap(
    tmp_path_factory, losses
):
    ledger = new_ledger(tmp_path_factory.mktemp("any"))
    ledger.set_rules(GateRules(id_space="people", most_in_flight=12))
    spent = Fraction(0)
    for epsilon in losses:
        if spent + epsilon <= 3:
            ledger.reserve(order(Pure(epsilon)))
            spent += epsilon
        else:
            with pytest.raises(BudgetExhausted):
                ledger.reserve(order(Pure(epsilon)))
    assert ledger.spent("people") == Pure(spent)
    assert ledger.remaining("people") == Pure(3 - spent)
    ledger.verify()


def test_threads_share_a_ledger(ledger):
    admitted = []

    def spend() -> None:
        for _ in range(4):
            with suppress(BudgetExhausted):
                admitted.append(ledger.reserve(order(Pure("0.5"))))

    threads = [threading.Thread(target=spend) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(admitted) == 6
    assert ledger.spent("people") == Pure(3)
    ledger.verify()


def test_another_opening_sees_the_same(ledger, tmp_path: Path):
    ledger.reserve(order())
    again = Ledger(SqliteStore(tmp_path / "ledger.sqlite"))
    assert again.entries() == ledger.entries()
    assert again.remaining("people") == Pure(2)


def test_a_gaussian_budget_adds_up_squares(tmp_path):
    """Every part of a split budget can be spent, nothing after it, and the chain verifies."""
    ledger = new_ledger(tmp_path, GaussianDp(mu_squared=1))
    for number in range(7):
        ledger.reserve(order(GaussianDp(mu_squared="1/7"), plan=f"plan {number}"))
    assert ledger.spent("people") == GaussianDp(mu_squared=1)
    assert ledger.remaining("people") == GaussianDp(mu_squared=0)
    with pytest.raises(BudgetExhausted):
        ledger.reserve(order(GaussianDp(mu_squared="1e-30"), plan="one more"))
    with pytest.raises(Unsupported, match="another measure"):
        ledger.reserve(order(Zcdp(rho="1e-9")))
    with pytest.raises(Unsupported, match="keeps its measure"):
        ledger.declare(Budget("people", Zcdp(rho="1/2")))
    ledger.verify()


def test_a_share_of_a_gaussian_budget(tmp_path):
    ledger = new_ledger(tmp_path, GaussianDp(mu_squared=1))
    ledger.allocate(Allocation("people", "ann", GaussianDp(mu_squared="1/4")))
    with pytest.raises(Unsupported, match="measured like"):
        ledger.allocate(Allocation("people", "bob", Zcdp(rho="1/8")))
    ledger.reserve(order(GaussianDp(mu_squared="1/8")))
    assert ledger.remaining("people", "ann") == GaussianDp(mu_squared="1/8")
    with pytest.raises(BudgetExhausted, match="share"):
        ledger.reserve(order(GaussianDp(mu_squared="1/5"), plan="other"))
    ledger.verify()
