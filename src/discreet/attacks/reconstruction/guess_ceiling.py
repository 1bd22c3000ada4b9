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
from discreet.core.numbers import Number, float_up
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
    count = check.at_least_one(steps, "steps")
    try:
        total = loss if count == 1 else group(loss, count).loss
    except Unsupported:
        return Fraction(1)
    delta = total.delta if isinstance(total, Approximate) else Fraction(0)
    if not isinstance(total, Pure | Approximate) or total.epsilon > _CERTAIN:
        return Fraction(1)
    factor = exp_up(total.epsilon)
    return min(Fraction(1), (factor + delta) / (1 + factor))


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

    def lowest(self, failure: Number) -> Fraction:
        """Return a success probability that the true one is below at most ``failure`` often."""
        return lower_confidence(self.right, self.trials, failure)

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
        return {"right": self.right, "trials": self.trials, "ceiling": float_up(self.ceiling)}


def play_guessing(
    world: Callable[[bool], QueryInterface],
    attack: Callable[[QueryInterface], bool | None],
    *,
    trials: int,
    loss: Pure | Approximate,
    rng: Rng,
    steps: int = 1,
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
    for bit, coin in zip(bits, coins, strict=True):
        guess = attack(world(bit))
        right += (coin if guess is None else guess) == bit
    return GuessingRecord(right=right, trials=count, ceiling=guess_ceiling(loss, steps=steps))
