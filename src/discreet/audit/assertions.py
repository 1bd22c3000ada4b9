"""Assertions for tests: this mechanism keeps its promise, this function replays."""

from collections.abc import Callable, Hashable
from typing import Any

from discreet.audit.finding import AuditedFunction, replay_audit
from discreet.audit.sampling import AuditResult, AuditSuite
from discreet.core.loss import PrivacyLoss
from discreet.randomness.rng import SystemRng

DEFAULT_ALPHA = "1e-6"
"""The false-alarm rate of a whole test run, unless it is given."""

DEFAULT_SAMPLES = 20_000
"""How many outputs are drawn on each data set, unless it is given."""


class PrivacyAudit:
    """Audits for one run of tests, with one false-alarm rate for all of them together."""

    def __init__(self, suite: AuditSuite, *, samples: int) -> None:
        self.suite = suite
        self.samples = samples

    def assert_private(
        self,
        on_first: Callable[[], Any],
        on_second: Callable[[], Any],
        *,
        loss: PrivacyLoss,
        samples: int | None = None,
        statistic: Callable[[Any], Hashable] | None = None,
    ) -> AuditResult:
        """Fail if samples on two neighbouring data sets refute ``loss``; return what was found."""
        result = self.suite.audit(
            on_first,
            on_second,
            samples=samples or self.samples,
            loss=loss,
            statistic=statistic,
        )
        if result.refutes(loss):
            raise AssertionError(f"The claimed loss ({loss}) is broken: {result}")
        return result

    def assert_replays(self, function: AuditedFunction, data: Any, neighbour: Any) -> None:
        """Fail if ``function`` depends on the data other than through its watched mechanisms."""
        assert_replays(function, data, neighbour)


def assert_private(
    on_first: Callable[[], Any],
    on_second: Callable[[], Any],
    *,
    loss: PrivacyLoss,
    samples: int = DEFAULT_SAMPLES,
    alpha: str = DEFAULT_ALPHA,
    statistic: Callable[[Any], Hashable] | None = None,
) -> AuditResult:
    """Fail if samples on two neighbouring data sets refute ``loss``; return what was found.

    A sound mechanism fails with probability at most ``alpha``. The ``privacy_audit`` fixture of the
    pytest plugin shares one rate among all tests instead.

    Example:
        >>> from discreet import Pure
        >>> assert_private(lambda: 0, lambda: 1, loss=Pure(1), samples=1000)
        Traceback (most recent call last):
        ...
        AssertionError: The claimed loss (ε = 1) is broken: ε is at least ...
    """
    audit = PrivacyAudit(AuditSuite(alpha=alpha), samples=samples)
    return audit.assert_private(on_first, on_second, loss=loss, statistic=statistic)


def assert_replays(function: AuditedFunction, data: Any, neighbour: Any) -> None:
    """Fail if ``function`` depends on the data other than through its watched mechanisms."""
    findings = replay_audit(function, data, neighbour, SystemRng())
    if findings:
        raise AssertionError("\n".join(["The function does not replay:", *map(str, findings)]))
