"""Laws that tests of the gate use."""

import pytest

from discreet.noiseless.exact import exact_statistics
from tests.support.projects.exact import Stated


@pytest.fixture(autouse=True)
def stated_law(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let declarations have laws of kind "stated"."""
    monkeypatch.setitem(exact_statistics.LAWS, "stated", Stated)
