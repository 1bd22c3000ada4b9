"""Rule 8: an exact order is admitted behind its mark alone, and the mark never goes away."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from attrs import evolve

from discreet.core.errors import AnswerFailed, InvalidArgument, LedgerError
from discreet.core.loss import Pure
from discreet.core.permit import Permit
from discreet.ledger import books, exact_claims
from discreet.ledger import gate as gate_module
from discreet.ledger.anchor import Anchor
from discreet.ledger.budget import Budget
from discreet.ledger.chain import Kind
from discreet.ledger.exact_claims import ExactClaim
from discreet.ledger.gate import Release, pass_gate
from discreet.ledger.ledger import Ledger
from discreet.ledger.order import Order
from discreet.ledger.sqlite_file import EXACT_VERSION, VERSION
from discreet.ledger.sqlite_store import create_sqlite
from tests.ledger.orders import RELEASE, new_ledger, order
from tests.support.house.mutant import mutant

NOTHING = Pure(0)


def claim(checked: int = 0, name: str = "total") -> ExactClaim:
    return ExactClaim(
        id_space="people",
        name=name,
        plan_digest=name,
        data_version=1,
        asserted={"statistic": "sum"},
        checked=checked,
    )


def exact_order(made: ExactClaim, plan: str = "", version: int = 1) -> Order:
    asked = order(NOTHING, plan=plan or made.plan_digest, version=version, analyst="owner")
    return evolve(asked, exact=made.digest)


def publish(ledger: Ledger, name: str = "total") -> None:
    made = claim(ledger.claims("people").newest_charge, name)
    pass_gate(ledger, exact_order(made), lambda _: RELEASE, claim=made)


def schema_version(file: Path) -> int:
    with closing(sqlite3.connect(file)) as connection:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def test_an_exact_release_costs_nothing_and_ends_the_worst_case_claim(tmp_path):
    ledger = new_ledger(tmp_path)
    assert not ledger.is_void("people")
    publish(ledger)
    assert ledger.is_void("people")
    assert ledger.spent("people") == NOTHING
    assert ledger.remaining("people") == Pure(3)
    kinds = [entry.kind for entry in ledger.entries()]
    assert kinds[-3:] == [Kind.EXACT, Kind.RESERVE, Kind.COMMIT]
    ledger.verify()
    (noted,) = ledger.claims("people").claims
    assert noted.claim.asserted == {"statistic": "sum"}
    assert ledger.release_of(noted.ticket) is not None


def test_other_id_spaces_keep_theirs(tmp_path):
    ledger = new_ledger(tmp_path)
    ledger.declare(Budget("shops", Pure(1)))
    publish(ledger)
    assert not ledger.is_void("shops")


def test_the_filter_goes_on_as_before(tmp_path):
    ledger = new_ledger(tmp_path)
    publish(ledger)
    pass_gate(ledger, order(), lambda _: RELEASE)
    assert ledger.spent("people") == Pure(1)
    assert ledger.is_void("people")
    ledger.verify()


def test_the_mark_stays_when_the_work_fails(tmp_path):
    ledger, made = new_ledger(tmp_path), claim()

    def work(_: Permit) -> Release:
        assert ledger.is_void("people"), "the mark is durable before any work"
        raise RuntimeError

    with pytest.raises(AnswerFailed):
        pass_gate(ledger, exact_order(made), work, claim=made)
    assert ledger.is_void("people")
    ledger.verify()


def test_an_exact_order_without_its_mark_is_refused(tmp_path):
    ledger, made = new_ledger(tmp_path), claim()
    worked: list[Permit] = []

    def work(permit: Permit) -> Release:
        worked.append(permit)
        return RELEASE

    with pytest.raises(LedgerError, match="has no mark in the ledger"):
        pass_gate(ledger, exact_order(made), work)
    assert not worked
    other = claim(name="other")
    with pytest.raises(LedgerError, match="has no mark in the ledger"):
        pass_gate(ledger, exact_order(made), lambda _: RELEASE, claim=other)
    assert not ledger.is_void("people"), "what was refused noted nothing"


def test_a_mark_serves_one_order(tmp_path):
    ledger, made = new_ledger(tmp_path), claim()
    pass_gate(ledger, exact_order(made), lambda _: RELEASE, claim=made)
    with pytest.raises(LedgerError, match="has no mark in the ledger"):
        pass_gate(ledger, exact_order(made, plan="another plan"), lambda _: RELEASE)


def test_a_mark_is_for_one_plan_and_one_version(tmp_path):
    ledger, made = new_ledger(tmp_path), claim()
    for other in (exact_order(made, plan="another"), exact_order(made, version=2)):
        with pytest.raises(LedgerError, match="has no mark in the ledger"):
            pass_gate(ledger, other, lambda _: RELEASE, claim=made)


def test_an_exact_order_pays_nothing_and_is_about_one_id_space(tmp_path):
    ledger, made = new_ledger(tmp_path), claim()
    ledger.declare(Budget("shops", Pure(1)))
    priced = evolve(order(Pure(1), plan="total"), exact=made.digest)
    with pytest.raises(InvalidArgument, match="has no price in the filter"):
        pass_gate(ledger, priced, lambda _: RELEASE, claim=made)
    two = evolve(order(NOTHING, plan="total", spaces=("people", "shops")), exact=made.digest)
    with pytest.raises(InvalidArgument, match="is about one id space"):
        pass_gate(ledger, two, lambda _: RELEASE, claim=made)


def test_a_noisy_order_is_still_not_free(tmp_path):
    ledger = new_ledger(tmp_path)
    with pytest.raises(Exception, match="costs more than that"):
        pass_gate(ledger, order(NOTHING), lambda _: RELEASE)


def test_what_was_charged_meanwhile_must_be_looked_at(tmp_path):
    """Of two exact releases that race, the second is refused until it has seen the first."""
    ledger = new_ledger(tmp_path)
    first, second = claim(name="first"), claim(name="second")
    pass_gate(ledger, exact_order(first), lambda _: RELEASE, claim=first)
    with pytest.raises(LedgerError, match="Something was charged to 'people' while 'second'"):
        pass_gate(ledger, exact_order(second), lambda _: RELEASE, claim=second)
    assert [one.claim.name for one in ledger.claims("people").claims] == ["first"]
    publish(ledger, "second")
    assert [one.claim.name for one in ledger.claims("people").claims] == ["first", "second"]
    ledger.verify()


def test_permits_of_noisy_orders_give_no_exact_numbers(tmp_path):
    ledger = new_ledger(tmp_path)

    def noisy(permit: Permit) -> Release:
        permit.require_open()
        with pytest.raises(AnswerFailed):
            permit.require_exact()
        return RELEASE

    def exact(permit: Permit) -> Release:
        permit.require_exact()
        return RELEASE

    pass_gate(ledger, order(), noisy)
    made = claim(ledger.claims("people").newest_charge)
    pass_gate(ledger, exact_order(made), exact, claim=made)


# ---- Stored forms: older ledgers open, and older programs do not open newer ones.


def test_the_file_has_another_version_from_the_first_mark_on(tmp_path):
    ledger, file = new_ledger(tmp_path), tmp_path / "ledger.sqlite"
    pass_gate(ledger, order(), lambda _: RELEASE)
    assert schema_version(file) == VERSION == 1
    publish(ledger)
    assert schema_version(file) == EXACT_VERSION == 2
    again = Ledger(create_sqlite(file))
    again.verify()
    assert again.is_void("people")


def test_a_claim_that_was_refused_changes_no_version(tmp_path):
    ledger = new_ledger(tmp_path)
    with pytest.raises(LedgerError):
        pass_gate(ledger, exact_order(claim()), lambda _: RELEASE, claim=claim(name="other"))
    assert schema_version(tmp_path / "ledger.sqlite") == VERSION


def test_the_golden_form_of_a_claim():
    made = claim(7)
    assert made.to_json() == {
        "id_space": "people",
        "name": "total",
        "plan_digest": "total",
        "data_version": 1,
        "asserted": {"statistic": "sum"},
        "checked": 7,
    }
    assert ExactClaim.from_json(made.to_json()) == made


def test_noisy_orders_are_written_as_before():
    assert "exact" not in order().to_json()
    made = claim()
    assert Order.from_json(exact_order(made).to_json()) == exact_order(made)


# ---- A ledger that was lost keeps the mark, as it keeps what was spent.


@pytest.fixture
def anchored(tmp_path):
    anchor = Anchor(tmp_path / "project.anchor")
    ledger = Ledger(create_sqlite(tmp_path / "ledger.sqlite"), anchors=(anchor,))
    ledger.declare(Budget("people", Pure(3)))
    return ledger


def test_a_lost_ledger_keeps_the_mark(tmp_path, anchored):
    publish(anchored)
    pass_gate(anchored, order(), lambda _: RELEASE)
    fresh = Ledger(create_sqlite(tmp_path / "other.sqlite"), anchors=anchored.anchors)
    with pytest.raises(LedgerError, match="not the one that its anchor"):
        fresh.is_void("people")
    fresh.begin_again()
    fresh.declare(Budget("people", Pure(3)))
    assert fresh.is_void("people")
    assert fresh.spent("people") == Pure(1)
    fresh.verify()
    assert anchored.anchors[0].read().void == ("people",)


def test_an_anchor_without_a_mark_is_written_as_before(anchored):
    pass_gate(anchored, order(), lambda _: RELEASE)
    mark = anchored.anchors[0].read()
    assert "void" not in mark.to_text()
    assert type(mark).from_text(mark.to_text()) == mark


# ---- Broken twins. Each names what must catch it.


def reserve_by_hand(ledger: Ledger, made: ExactClaim) -> None:
    """Write the charge of an exact order into the chain, and nothing else."""
    written = exact_order(made).as_written()
    nothing = NOTHING.to_json()
    total = {"id_space": "people", "everybody": nothing, "analyst": nothing}
    payload = {
        "order": written.to_json(),
        "order_digest": written.digest,
        "totals": [total | {"open": [], "counter": None}],
        "reserved_at": "2026-01-01T00:00:00+00:00",
    }
    with ledger.store.write() as transaction:
        transaction.append(Kind.RESERVE, payload)


@pytest.mark.parametrize("is_forgotten", [True, False])
def test_a_ledger_that_forgets_the_mark_is_caught_by_verification(tmp_path, is_forgotten):
    """Mutant of rule 8: the order goes through, and nobody notes that the claim has ended."""
    ledger, made = new_ledger(tmp_path), claim()
    if not is_forgotten:
        with ledger.store.write() as transaction:
            transaction.append(Kind.EXACT, made.to_json())
    reserve_by_hand(ledger, made)
    if is_forgotten:
        with pytest.raises(LedgerError, match="entry 2: this reserve was not allowed there"):
            ledger.verify()
    else:
        ledger.verify()


def test_a_book_that_asks_for_no_mark_is_caught(tmp_path, monkeypatch):
    """Mutant of the books: admitted without the mark, the release says nothing is void.

    The house's verification, with the rule itself, names the entry.
    """
    lenient = mutant(
        books,
        (
            "    if order.exact is not None:\n        require_claimed(latest, order)\n",
            "",
        ),
    )
    ledger, made = new_ledger(tmp_path), claim()
    monkeypatch.setattr("discreet.ledger.ledger.reservation", lenient.reservation)
    pass_gate(ledger, exact_order(made), lambda _: RELEASE)
    assert not ledger.is_void("people")
    with pytest.raises(LedgerError, match="this reserve was not allowed there"):
        ledger.verify()


def test_a_gate_that_makes_every_permit_exact_is_caught(tmp_path):
    """Mutant of the gate: noisy orders would get exact numbers."""
    twin = mutant(
        gate_module, ("Permit(is_exact=order.exact is not None)", "Permit(is_exact=True)")
    )
    ledger, seen = new_ledger(tmp_path), []

    def work(permit: Permit) -> Release:
        permit.require_exact()
        seen.append(True)
        return RELEASE

    twin.pass_gate(ledger, order(), work)
    assert seen, "the twin is broken"
    with pytest.raises(AnswerFailed):
        pass_gate(ledger, order(plan="other"), work)


def test_a_claim_that_looks_at_nothing_earlier_is_caught(tmp_path, monkeypatch):
    """Mutant: two exact releases race, and neither knows of the other."""
    ledger = new_ledger(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(exact_claims, "require_checked", lambda latest, claim: None)
        for name in ("first", "second"):
            made = claim(name=name)
            pass_gate(ledger, exact_order(made), lambda _: RELEASE, claim=made)
    with pytest.raises(LedgerError, match="this exact was not allowed there"):
        ledger.verify()


def test_a_renewal_that_forgets_the_mark_is_caught(tmp_path, anchored):
    publish(anchored)
    payload = {
        "lost": [{"sequence": 9, "head": "0" * 64}],
        "totals": [{"id_space": "people", "everybody": NOTHING.to_json()}],
    }
    with anchored.store.write() as transaction:
        transaction.append(Kind.RENEWAL, payload)
    with pytest.raises(LedgerError, match="this renewal was not allowed there"):
        anchored.verify()
