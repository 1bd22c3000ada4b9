"""Many audits with one false-alarm rate."""

import threading
from collections.abc import Callable, Hashable
from fractions import Fraction
from typing import Any

from discreet.audit.sampling import AuditResult, audit
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Approximate, PrivacyLoss
from discreet.core.numbers import Number, exact


class AuditSuite:
    r"""A family of audits that together raise a false alarm with probability at most ``alpha``.

    Guarantee:
        The :math:`k`-th audit may fail with probability :math:`\alpha / (k(k+1))`. These sum to
        less than :math:`\alpha` however many audits there are, so the number need not be known
        beforehand, and by the union bound all bounds of the suite hold at once with probability
        at least :math:`1 - \alpha`. A small share costs little: the number of samples needed grows
        with its logarithm.

    Assumes:
        Each audit draws its own samples; repeating one until it passes is not a new suite.

    Example:
        >>> suite = AuditSuite(alpha="0.001")
        >>> suite.take_share(), suite.take_share()
        (Fraction(1, 2000), Fraction(1, 6000))
    """

    def __init__(self, *, alpha: Number) -> None:
        self.alpha = exact(alpha)
        if not 0 < self.alpha < 1:
            raise InvalidArgument(
                "alpha is out of range", must="lie strictly between 0 and 1", got=str(alpha)
            )
        self._lock = threading.Lock()
        self._taken = 0

    @property
    def audits(self) -> int:
        """How many audits the suite has paid for."""
        return self._taken

    def take_share(self) -> Fraction:
        """Return the failure probability of the next audit, and count it."""
        with self._lock:
            self._taken += 1
            return self.alpha / (self._taken * (self._taken + 1))

    def audit(
        self,
        on_first: Callable[[], Any],
        on_second: Callable[[], Any],
        *,
        samples: int,
        loss: PrivacyLoss | None = None,
        statistic: Callable[[Any], Hashable] | None = None,
    ) -> AuditResult:
        """Audit one mechanism with the next share; a claimed ``loss`` sets the δ to look at."""
        return audit(
            on_first,
            on_second,
            samples=samples,
            delta=loss.delta if isinstance(loss, Approximate) else 0,
            confidence=1 - self.take_share(),
            statistic=statistic,
        )
