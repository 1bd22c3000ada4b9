"""Options and fixtures for every test."""

import gc
import signal
from collections.abc import Generator
from contextlib import nullcontext

import pytest
from hypothesis import settings

from tests.support.statistics.numbered_rng import NumberedRng
from tests.support.statistics.soak import FACTOR, Soak
from tests.support.statistics.system_words import numbered_system

USUAL_EXAMPLES = 100

# A usual run is the same every time; a soak looks elsewhere each time, and prints how to replay.
settings.register_profile(
    "usual", deadline=None, derandomize=True, max_examples=USUAL_EXAMPLES, database=None
)
settings.register_profile(
    "soak", deadline=None, max_examples=USUAL_EXAMPLES * FACTOR, print_blob=True, database=None
)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("discreet")
    group.addoption("--soak", action="store_true", help="multiply case counts: the long run")
    group.addoption(
        "--run-number", type=int, default=0, help="number of the random streams, to replay a run"
    )


def pytest_configure(config: pytest.Config) -> None:
    # What a shell starts in the background ignores Ctrl-C; tests that press it mean a terminal's.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    settings.load_profile("soak" if config.getoption("--soak") else "usual")
    config.addinivalue_line("markers", "system_words: draws from the system as it is")
    # Collecting makes sixteen thousand tests and hardly any garbage, and looking for some among
    # them takes most of its time.
    gc.disable()


def pytest_collection_finish() -> None:
    # What was collected stays to the end, so nobody needs to look through it again.
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_unconfigure() -> None:
    gc.enable()
    gc.unfreeze()


def pytest_report_header(config: pytest.Config) -> str:
    return f"discreet: run number {config.getoption('--run-number')}"


def run_number(config: pytest.Config) -> int:
    number = config.getoption("--run-number")
    assert isinstance(number, int)
    return number


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """A test, or an example of a docstring, draws from the system what it drew before."""
    is_real = item.get_closest_marker("system_words") is not None
    with nullcontext() if is_real else numbered_system(item.nodeid, run_number(item.config)):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    """What several tests share is the same whichever of them comes first."""
    shared = request.scope != "function"
    label = f"{request.node.nodeid}/{fixturedef.argname}/{getattr(request, 'param_index', 0)}"
    with numbered_system(label, run_number(request.config)) if shared else nullcontext():
        return (yield)


@pytest.fixture
def soak(pytestconfig: pytest.Config) -> Soak:
    """Case counts of this run: ``soak.cases(10)``."""
    return Soak(active=bool(pytestconfig.getoption("--soak")))


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> NumberedRng:
    """A stream of this test's own, fixed by the test's name and the run number."""
    return NumberedRng(run_number(request.config), label=request.node.nodeid)
