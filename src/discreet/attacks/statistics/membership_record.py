r"""How often an attack took members and strangers for members, and what privacy allows."""

from fractions import Fraction

from attrs import frozen

from discreet.audit.binomial import lower_confidence, upper_confidence
from discreet.core.loss import Approximate, Pure
from discreet.core.numbers import Number, exact, float_down
from discreet.core.rounding import exp_up, log_down


@frozen(kw_only=True, eq=False)
class MembershipRecord:
    """How often members and strangers were taken for members, in independent rounds.

    Attributes:
        rounds: How many rounds were played.
        traced: In how many of them the member was accused.
        false_alarms: In how many the stranger was.

    Example:
        >>> record = MembershipRecord(rounds=1000, traced=980, false_alarms=20)
        >>> record.breaks(Pure(1), failure="1e-6"), record.least_epsilon(failure="1e-6") > 2
        (True, True)
    """

    rounds: int
    traced: int
    false_alarms: int

    def __str__(self) -> str:
        return (
            f"Members were traced in {self.traced} and strangers accused in {self.false_alarms} "
            f"of {self.rounds} rounds."
        )

    def breaks(self, loss: Pure | Approximate, *, failure: Number) -> bool:
        r"""Tell whether the mechanism is certainly not as private as ``loss`` says.

        Guarantee:
            For a mechanism that has ``loss`` the answer is yes with probability at most
            ``failure``.

            Proof. Exchange the member for the stranger: the data change in one person, and that
            the first of them is accused turns from a hit into a false alarm. So
            :math:`P[hit] \le e^\varepsilon P[alarm] + \delta`. Both have bounds [CP34] that fail
            with half of ``failure`` each.
        """
        low, high = self._bounds(failure)
        return low > exp_up(loss.epsilon) * high + delta_of(loss)

    def least_epsilon(self, *, delta: Number = 0, failure: Number) -> float:
        """Return a lower confidence bound on ε, rounded down; 0 if nothing is shown."""
        low, high = self._bounds(failure)
        gain = low - exact(delta)
        if gain <= 0 or high <= 0:
            return 0.0
        return max(0.0, float_down(log_down(gain / high)))

    def _bounds(self, failure: Number) -> tuple[Fraction, Fraction]:
        half = exact(failure) / 2
        low = lower_confidence(self.traced, self.rounds, half)
        return low, upper_confidence(self.false_alarms, self.rounds, half)

    def to_json(self) -> dict[str, int]:
        """Return the record for other programs."""
        counted = {"traced": self.traced, "false_alarms": self.false_alarms}
        return {"rounds": self.rounds, **counted}


def delta_of(loss: Pure | Approximate) -> Fraction:
    """Return the δ of a loss, which is 0 if it is pure."""
    return loss.delta if isinstance(loss, Approximate) else Fraction(0)
