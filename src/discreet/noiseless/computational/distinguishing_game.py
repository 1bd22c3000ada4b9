"""The distinguishing game: a test is shown one release, and guesses which database it was of."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from attrs import frozen

from discreet.audit.binomial import lower_confidence, upper_confidence
from discreet.core.check import at_least_one, level
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact
from discreet.core.protocols import Rng
from discreet.core.rounding import exp_up
from discreet.noiseless.finite.checked_delta import LARGEST_EPSILON, shown_delta

RandomMechanism = Callable[[Any, Rng], Any]
"""What is tested: a database and fresh words to what is released."""

Distinguisher = Callable[[Any, Rng], bool]
"""A test of one release, with fresh words of its own."""


@frozen(kw_only=True)
class PlayedGame:
    r"""How often a test said yes to releases of two neighbours, and what follows.

    Attributes:
        epsilon: The ε that is claimed.
        trials: Releases of each database.
        yes: How often the test said yes, to the first and to the second.
        failure: The probability that the bounds below are wrong.
        advantage: The test's :math:`P[yes] - e^\varepsilon P[yes']` is at least this, in the better
            of the two directions; negative numbers say nothing.
    """

    epsilon: Fraction
    trials: int
    yes: tuple[int, int]
    failure: Fraction
    advantage: Fraction

    def refutes(self, delta: Number = 0) -> bool:
        """Tell whether the claim with this δ is wrong, with the stated confidence.

        A claim that is not refuted is not proved: another test may do better.
        """
        value = exact(delta)
        if not 0 <= value <= 1:
            raise InvalidArgument("delta is out of range", must="be from 0 to 1", got=str(value))
        return self.advantage > value

    def __str__(self) -> str:
        """Return what was found, and what that does not mean."""
        first, second = self.yes
        said = f"yes to {first} and {second} of {self.trials} releases each"
        if self.advantage <= 0:
            return (
                f"Not refuted at ε = {float(self.epsilon):.6g}: the test said {said}. That proves "
                "nothing: another test may do better."
            )
        least = shown_delta(self.advantage, self.advantage)
        return (
            f"Refuted at ε = {float(self.epsilon):.6g} for every δ below about {least}: the test "
            f"said {said}. The chance that this is wrong is at most {float(self.failure):.3g}."
        )


def play_distinguishing(
    mechanism: RandomMechanism,
    distinguisher: Distinguisher,
    neighbours: tuple[Any, Any],
    epsilon: Number,
    rng: Rng,
    *,
    trials: int = 1000,
    failure: Number = "0.05",
) -> PlayedGame:
    r"""Play the game of computational privacy with a test that is supplied.

    A family of mechanisms is :math:`\varepsilon`-IND-CDP if for every efficient test and all
    ordered neighbours :math:`P[A(F(x)) = 1] \le e^\varepsilon P[A(F(x')) = 1]` plus what is
    negligible in the security parameter [Gro14, definition 4.2]. One mechanism and one test are
    played here, in both directions.

    Guarantee:
        With probability at least :math:`1 - \beta` (``failure``) the test's advantage is at least
        what is returned. Proof. Each of four one-sided bounds of Clopper and Pearson fails with
        probability at most :math:`\beta/4` [CP34], and the advantage in each direction is at least
        the lower bound of one probability minus :math:`e^\varepsilon`, rounded up, times the upper
        bound of the other. So the game can refute a claim, with stated confidence. It can never
        prove one: that is about all tests.

    Assumes:
        The words of ``rng`` are fresh in each trial, and mechanism and test keep nothing between.

    Example:
        >>> from discreet import SystemRng
        >>> tells = lambda bit, rng: bit
        >>> game = play_distinguishing(tells, lambda out, rng: out == 1, (1, 0), 1, SystemRng())
        >>> game.refutes("0.9")
        True
    """
    claimed, count, beta = exact(epsilon), at_least_one(trials, "trials"), level(failure)
    if not 0 <= claimed <= LARGEST_EPSILON:
        raise InvalidArgument(
            "epsilon is out of range", must=f"be from 0 to {LARGEST_EPSILON}", got=str(claimed)
        )
    if len(neighbours) != 2:
        raise InvalidArgument("A game is about two databases", must="have a pair of neighbours")
    first, second = (
        sum(bool(distinguisher(mechanism(x, rng), rng)) for _ in range(count)) for x in neighbours
    )
    low = [lower_confidence(yes, count, beta / 4) for yes in (first, second)]
    high = [upper_confidence(yes, count, beta / 4) for yes in (first, second)]
    factor = exp_up(claimed)
    advantage = max(low[0] - factor * high[1], low[1] - factor * high[0])
    return PlayedGame(
        epsilon=claimed, trials=count, yes=(first, second), failure=beta, advantage=advantage
    )
