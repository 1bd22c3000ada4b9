"""A ledger with one budget of epsilon 3."""

from pathlib import Path

import pytest

from discreet.ledger import kept_open
from discreet.ledger.ledger import Ledger
from tests.ledger.orders import new_ledger


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return new_ledger(tmp_path)


@pytest.fixture
def at_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave ledgers as they are when nobody has used them for a moment: all is in the one file."""
    monkeypatch.setattr(kept_open, "MOST_KEPT", 0)
    kept_open.KEPT_OPEN.close()
