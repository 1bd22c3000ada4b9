"""The nouns of the ledger: what they accept, what they write, and that it reads back."""

import json
from fractions import Fraction

import pytest

from discreet.accounting.losses.gaussian_dp import GaussianDp
from discreet.accounting.losses.mean_concentrated import MeanConcentrated
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import ApproximateZcdp, Pure, Zcdp
from discreet.ledger.budget import FINEST, Allocation, Budget, accumulate
from discreet.ledger.chain import public_json
from discreet.ledger.order import Charge, Order, Receipt, Ticket
from discreet.ledger.versions import DataVersion
from tests.ledger.orders import order, tells_no_cause

RECEIPT = Receipt(
    ticket=Ticket(4, "abc"),
    charges=(Charge("people", Pure("1/3")), Charge("shops", Pure(1))),
    plan_digest="plan",
    data_version=2,
    release_digest="def",
    head="123",
)


@pytest.mark.parametrize("make", [Budget, lambda *args: Allocation(args[0], "ann", args[1])])
def test_a_cap_needs_a_filter(make):
    make("people", ApproximateZcdp(rho=1, delta="1e-6"))
    make("people", GaussianDp(mu_squared=1))
    with pytest.raises(Unsupported):
        make("people", MeanConcentrated(mu=1, tau_squared=1))


@pytest.mark.parametrize("make", [Budget, Charge])
@pytest.mark.parametrize("loss", [Pure("1e51"), Pure(f"1/{2**FINEST}")])
def test_a_loss_that_could_not_be_read_back_is_refused(make, loss):
    with pytest.raises(InvalidArgument, match="cannot be written"):
        make("people", loss)


@pytest.mark.parametrize("make", [Budget, Charge])
def test_names_are_not_empty(make):
    with pytest.raises(InvalidArgument):
        make("", Pure(1))


def test_a_charge_reads_back():
    charge = Charge("people", Zcdp(rho="1/3", xi="0.1"))
    assert Charge.from_json(charge.to_json()) == charge


def test_an_order_reads_back_and_has_a_stable_digest():
    again = Order.from_json(json.loads(json.dumps(order().to_json())))
    assert again == order()
    assert again.digest == order().digest != order(Pure("0.9")).digest


@pytest.mark.parametrize("spaces", [(), ("people", "people")])
def test_an_order_names_each_id_space_once(spaces):
    with pytest.raises(InvalidArgument, match="once"):
        order(spaces=spaces)


@pytest.mark.parametrize(
    "description", [{"x": 0.5}, {"x": {1, 2}}, {1: "x"}, {"x": "\ud800"}, ["x"], "x", None]
)
def test_a_description_is_canonical_json(description):
    with pytest.raises(InvalidArgument) as caught:
        Order(
            plan_digest="p",
            data_version=1,
            analyst="ann",
            charges=(Charge("people", Pure(1)),),
            description=description,
        )
    assert tells_no_cause(caught.value)


def test_an_order_keeps_its_own_description():
    mine = {"sql": "SELECT 1"}
    made = Order(
        plan_digest="p",
        data_version=1,
        analyst="ann",
        charges=(Charge("people", Pure(1)),),
        description=mine,
    )
    mine["sql"] = "changed"
    assert made.description == {"sql": "SELECT 1"}


def test_public_json_refuses_what_contains_itself():
    loop: dict = {}
    loop["loop"] = loop
    with pytest.raises(InvalidArgument):
        public_json(loop)


def test_a_receipt_reads_back():
    assert Receipt.from_json(json.loads(json.dumps(RECEIPT.to_json()))) == RECEIPT


def test_a_receipt_has_no_field_that_could_measure_work():
    assert set(RECEIPT.to_json()) == {
        "ticket",
        "charges",
        "plan_digest",
        "data_version",
        "release_digest",
        "head",
    }
    assert set(RECEIPT.to_json()["ticket"]) == {"number", "order_digest"}


@pytest.mark.parametrize("data", [{}, {"ticket": 3}, [], RECEIPT.to_json() | {"rows": 7}])
def test_what_is_not_a_receipt_is_refused(data):
    with pytest.raises(InvalidArgument, match="not a receipt"):
        Receipt.from_json(data)


def test_a_salt_is_not_shown():
    version = DataVersion(3, b"\x5a" * 32)
    assert repr(version) == "DataVersion(number=3)"


def test_totals_are_exact_until_digits_run_out_and_then_round_up():
    assert accumulate(None, Pure("1/3")) == Pure("1/3")
    assert accumulate(Pure("1/3"), Pure("2/3")) == Pure(1)
    first, second = Pure(f"1/{3**600}"), Pure(f"1/{7**360}")
    total = accumulate(first, second)
    assert first + second <= total
    assert isinstance(total, Pure)
    assert total.epsilon - (first + second).epsilon < Fraction(1, 2**FINEST)
    assert total.epsilon.denominator.bit_length() <= FINEST + 1
