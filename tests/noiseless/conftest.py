"""Laws that tests of the gate use."""

import pytest

from discreet.noiseless.exact import publish_exact
from tests.support.projects.exact import stated_or_real


@pytest.fixture
def stated_law(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let declarations have laws of kind "stated"."""
    monkeypatch.setattr(publish_exact, "statistic_of", stated_or_real)
