"""Ledgers that earlier versions wrote open, verify, say what they said, and go on."""

from pathlib import Path

import pytest

from discreet.core.loss import Approximate, ApproximateZcdp, PrivacyLoss, Pure
from discreet.ledger.chain import Kind
from discreet.ledger.ledger import Ledger
from discreet.ledger.sqlite_store import create_sqlite
from tests.ledger.orders import RELEASE, order
from tests.ledger.stored import NAMES, restore
from tests.support.projects.gate import pass_gate

HEADS = {
    "exact": (9, "b7297c9e8af8929d87970090dd95b2d66d7b2bca146ae08ddd24a1fd42894fd7"),
    "pure": (17, "a1f74455b7fec2de2b244d584dfb61d4026205b35dab2132de02a671cdb0e944"),
    "several-spaces": (10, "f34ad1360cabac61c45909fedbad2c37e40a28c73cf55fd1070ca94d8d330ad2"),
    "unused": (1, "000ef9fa7c56845660cce7a3f71eb6c6db91a8f37f11e52ebf43f202c6595651"),
}
"""How many entries each has, and the digest of the last, as they were written."""

SPENT: dict[str, dict[str, PrivacyLoss]] = {
    "exact": {"people": Pure("1/4") + Pure("1/3")},
    "pure": {"people": Pure("1/3") + Pure("1/7") + Pure("1/4") + Pure("1/100") + Pure("1/5")},
    "several-spaces": {
        "people": ApproximateZcdp("11/1000", "2e-12"),
        "calls": ApproximateZcdp("31/1000", "1.002e-9"),
    },
    "unused": {"people": Approximate(0, 0)},
}

SMALL: dict[str, PrivacyLoss] = {
    "exact": Pure("1/1000"),
    "pure": Pure("1/1000"),
    "several-spaces": ApproximateZcdp("1/1000", 0),
    "unused": Approximate("1/1000", 0),
}


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_every_stored_ledger_is_known():
    assert set(NAMES) == set(HEADS) == set(SPENT) == set(SMALL)


def test_it_verifies_and_says_what_it_said(tmp_path: Path, name: str):
    ledger = Ledger(create_sqlite(restore(name, tmp_path)))
    ledger.verify()
    entries = ledger.entries()
    assert (len(entries), entries[-1].digest) == HEADS[name]
    for id_space, spent in SPENT[name].items():
        assert ledger.spent(id_space) == spent


def test_it_goes_on(tmp_path: Path, name: str, rng):
    ledger = Ledger(create_sqlite(restore(name, tmp_path)))
    before = ledger.entries()
    ledger.data_version("people", rng)
    asked = order(SMALL[name], plan="new")
    release, receipt = pass_gate(ledger, asked, lambda: RELEASE)
    assert release == RELEASE
    ledger.verify(receipt)
    assert ledger.entries()[: len(before)] == before
    assert ledger.spent("people") == SPENT[name]["people"] + SMALL[name]


def test_stored_releases_are_found_again(tmp_path: Path):
    ledger = Ledger(create_sqlite(restore("pure", tmp_path)))
    commits = [entry for entry in ledger.entries() if entry.kind is Kind.COMMIT]
    assert len(commits) == 3
    for commit in commits:
        found = ledger.release_of(commit.payload["ticket"])
        assert found is not None
        assert found[1].head == commit.digest
