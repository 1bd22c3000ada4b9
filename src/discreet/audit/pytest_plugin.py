"""The pytest plugin: audit your own mechanisms in your own tests.

Pytest finds it by its entry point. Nothing heavy is loaded until a test asks for the fixture.
"""

from typing import Any

import pytest

from discreet.core.optional import load

_SUITE = pytest.StashKey[Any]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the two options."""
    group = parser.getgroup("privacy audit")
    group.addoption(
        "--audit-alpha",
        default="1e-6",
        metavar="RATE",
        help="false-alarm rate of all sampling audits of the run together (default 1e-6)",
    )
    group.addoption(
        "--audit-samples",
        type=int,
        default=20_000,
        metavar="N",
        help="outputs drawn on each of two data sets by one audit (default 20000)",
    )


@pytest.fixture(scope="session")
def privacy_audit(pytestconfig: pytest.Config) -> Any:
    """Audits that share the run's false-alarm rate: ``assert_private`` and ``assert_replays``."""
    alpha = load("discreet.core.numbers").exact(pytestconfig.getoption("--audit-alpha"))
    suite = load("discreet.audit.sampling").AuditSuite(alpha=alpha / _workers(pytestconfig))
    pytestconfig.stash[_SUITE] = suite
    assertions = load("discreet.audit.assertions")
    return assertions.PrivacyAudit(suite, samples=pytestconfig.getoption("--audit-samples"))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say how many audits shared which rate."""
    suite = config.stash.get(_SUITE, None)
    if suite is not None:
        noun = "audit" if suite.audits == 1 else "audits"
        terminalreporter.write_line(
            f"privacy audit: {suite.audits} sampling {noun}, together a false alarm in at most "
            f"{float(suite.alpha):.2g} of runs"
        )


def _workers(config: pytest.Config) -> int:
    """Return how many processes share the run's rate: pytest-xdist has one suite in each."""
    return int(getattr(config, "workerinput", {}).get("workercount", 1))
