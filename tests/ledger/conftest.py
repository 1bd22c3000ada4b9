"""A ledger with one budget of epsilon 3."""

from pathlib import Path

import pytest

from discreet.ledger.ledger import Ledger
from tests.ledger.orders import new_ledger


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return new_ledger(tmp_path)
