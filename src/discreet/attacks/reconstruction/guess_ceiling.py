"""The most that any attack can win against a private answer, and what an attack was seen to win."""

import math
from collections.abc import Callable
from fractions import Fraction

from attrs import field, frozen

from discreet.accounting.losses.group import group
from discreet.audit.binomial import lower_confidence, upper_confidence
from discreet.core import check
from discreet.core.errors import Unsupported
from discreet.core.loss import Approximate, Pure
from discreet.core.numbers import Number, exact, exp_bounds, float_up
from discreet.core.protocols import QueryInterface, Rng
from discreet.core.rounding import exp_up
from discreet.randomness.samplers import bernoulli

_CERTAIN = 64
"""From this ε on the ceiling is within 2**-90 of 1, and is called 1."""


def guess_ceiling(loss: Pure | Approximate, *, steps: int = 1) -> Fraction:
    r"""Return the largest probability with which anybody guesses a fair secret bit.

    ``loss`` is of *all* answers together. ``steps`` says how many neighbours lie between the two
    data sets: 1 if they are neighbours, 2 under add/remove if the person is there in both but
    different.

    Guarantee:
        Let the answers have the laws :math:`P_0` and :math:`P_1`, :math:`A` be where the guess is
        1, :math:`a = P_1(A)` and :math:`b = 1 - P_0(A)`. Privacy says
        :math:`a \le e^\varepsilon (1 - b) + \delta`, and, in the other direction for the
        complement, :math:`b \le e^\varepsilon (1 - a) + \delta`. Adding both,
        :math:`(a + b)(1 + e^\varepsilon) \le 2 e^\varepsilon + 2\delta`, and the guess is right
        with probability :math:`(a + b)/2 \le (e^\varepsilon + \delta)/(1 + e^\varepsilon)`. The
        exponential is rounded up, and the bound rises with it. Randomised response reaches it.

    Assumes:
        The bit is fair to whoever guesses, who may know everything else.

    Example:
        >>> float(guess_ceiling(Pure(0))), round(float(guess_ceiling(Pure(1))), 4)
        (0.5, 0.7311)
    """
    found = _over_steps(loss, steps)
    if found is None:
        return Fraction(1)
    factor, delta = exp_up(found[0]), found[1]
    return min(Fraction(1), (factor + delta) / (1 + factor))


def one_run_surplus(loss: Pure | Approximate, *, guesses: int, steps: int = 1) -> Fraction:
    r"""Return how much more often so many guesses about *one* run are right together.

    With a δ, guesses about one run are no games of their own: a run may tell everything, once in
    :math:`1/\delta`. So a binomial tail with the ceiling's chance does not bound them.

    Guarantee:
        If each guess is about a fair bit of its own, :math:`v` are right with probability at most
        :math:`P[Bin(r, c) \ge v] + r\delta/(1 + e^\varepsilon)`, for the ceiling :math:`c`
        and the result as the last term: the proof is that of
        :class:`~discreet.audit.one_run.OneRunResult`, and :math:`c` is at least its :math:`q`.

    Example:
        >>> one_run_surplus(Pure(1), guesses=100)
        Fraction(0, 1)
        >>> float(one_run_surplus(Approximate(0, "1e-6"), guesses=100))
        5e-05
    """
    found, count = _over_steps(loss, steps), check.at_least_one(guesses, "guesses")
    return Fraction(0) if found is None else count * found[1] / (1 + exp_bounds(found[0])[0])


def _over_steps(loss: Pure | Approximate, steps: int) -> tuple[Fraction, Fraction] | None:
    """Return ε and δ of so many steps, or ``None`` if they promise nothing."""
    count = check.at_least_one(steps, "steps")
    try:
        total = loss if count == 1 else group(loss, count).loss
    except Unsupported:
        return None
    if not isinstance(total, Pure | Approximate) or total.epsilon > _CERTAIN:
        return None
    return total.epsilon, total.delta if isinstance(total, Approximate) else Fraction(0)


@frozen(kw_only=True)
class GuessingRecord:
    """How often an attack guessed a fair bit, beside the most that it can.

    Example:
        >>> record = GuessingRecord(right=980, trials=1000, ceiling=guess_ceiling(Pure(1)))
        >>> record.breaks_ceiling("1e-6")
        True
    """

    right: int = field(converter=check.whole, validator=check.non_negative)
    trials: int = field(converter=check.whole, validator=check.positive)
    ceiling: Fraction
    surplus: Fraction = Fraction(0)
    """What :func:`one_run_surplus` says, if the guesses are about one run; else 0."""

    def lowest(self, failure: Number) -> Fraction:
        """Return a success probability that the true one is below at most ``failure`` often."""
        rest = exact(failure) - self.surplus
        return lower_confidence(self.right, self.trials, rest) if rest > 0 else Fraction(0)

    def highest(self, failure: Number) -> Fraction:
        """Return a success probability that the true one exceeds at most ``failure`` often."""
        return upper_confidence(self.right, self.trials, failure)

    def breaks_ceiling(self, failure: Number) -> bool:
        """Tell whether the promised loss is refuted; wrongly so at most ``failure`` often."""
        return self.lowest(failure) > self.ceiling

    def __str__(self) -> str:
        """Return the record in a sentence."""
        seen = f"{self.right:,} of {self.trials:,} guesses were right"
        share = Fraction(self.right, self.trials)
        most = math.ceil(self.ceiling * 10_000) / 100
        return f"{seen} ({float(share):.1%}); nobody can do better than {most} % in the long run."

    def to_json(self) -> dict[str, object]:
        """Return the record for other programs."""
        return {
            "right": self.right,
            "trials": self.trials,
            "ceiling": float_up(self.ceiling),
            "surplus": float_up(self.surplus),
        }


def play_guessing(
    world: Callable[[bool], QueryInterface],
    attack: Callable[[QueryInterface], bool | None],
    *,
    trials: int,
    loss: Pure | Approximate,
    rng: Rng,
    steps: int = 1,
    on_step: Callable[[int, int], None] | None = None,
) -> GuessingRecord:
    """Let an attack guess fair bits: ``world`` makes the interface that holds one of them.

    An attack that cannot tell gets the toss of a coin, which is the best that is left to it.

    Guarantee:
        The bits are fair and independent, and so are the worlds if ``world`` makes a new one each
        time. So the number of right guesses is binomial, and its mean is at most the ceiling.
    """
    count = check.at_least_one(trials, "trials")
    bits = bernoulli(Fraction(1, 2), count, rng).tolist()
    coins = bernoulli(Fraction(1, 2), count, rng).tolist()
    right = 0
    for game, (bit, coin) in enumerate(zip(bits, coins, strict=True)):
        guess = attack(world(bit))
        right += (coin if guess is None else guess) == bit
        if on_step is not None:
            on_step(game + 1, count)
    return GuessingRecord(right=right, trials=count, ceiling=guess_ceiling(loss, steps=steps))
