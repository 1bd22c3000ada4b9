"""The contract of engines: each test here is run on every engine that there is."""

from collections.abc import Iterator

import pytest

from tests.support.projects.engines import ENGINES, EngineUnderTest
from tests.support.projects.memory import MemoryEngine


@pytest.fixture(scope="module", params=ENGINES)
def under_test(request: pytest.FixtureRequest) -> EngineUnderTest:
    return ENGINES[request.param]


@pytest.fixture(scope="module")
def engine(under_test: EngineUnderTest) -> Iterator[MemoryEngine]:
    engine = under_test.make()
    yield engine
    engine.close()
