"""What nobody can prevent: a fact about everybody tells something about one who is not there."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from attrs import frozen

from discreet.attacks.reconstruction.guess_ceiling import GuessingRecord, guess_ceiling
from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Pure
from discreet.core.numbers import Number, exact
from discreet.core.protocols import Rng
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.randomness.samplers import bernoulli


@frozen(kw_only=True)
class PopulationFact:
    """How often somebody's bit is guessed from a fact, with that person in the data and without."""

    present: GuessingRecord
    absent: GuessingRecord
    added: Fraction
    """The most that taking part can add to the share of right guesses."""

    def __str__(self) -> str:
        """Return both shares in a sentence."""
        most = math.ceil(self.added * 1000) / 10
        shares = [f"{one.right / one.trials:.1%}" for one in (self.absent, self.present)]
        return (
            f"The bit is guessed right {shares[0]} of the time from the data of others alone, and "
            f"{shares[1]} with the person among them. Privacy bounds the difference, by "
            f"{most}%, and not what a fact about everybody tells."
        )

    def to_json(self) -> dict[str, Any]:
        """Return both records for other programs."""
        return {
            "absent": self.absent.to_json(),
            "present": self.present.to_json(),
            "added": float(self.added),
        }


def play_population_fact(
    people: int, *, epsilon: Number, trials: int, rng: Rng, gap: Number = Fraction(1, 5)
) -> PopulationFact:
    r"""Let an adversary guess the bit of somebody who is said to have it if a fact holds.

    The fact is that the bit is frequent: half the people have it, and half of ``gap`` more or less,
    by the toss of a coin. The adversary knows "if it is frequent, then this person has it, else
    not", and sees one private count.

    Guarantee:
        Let people not be few. The noise is small beside ``people * gap``, so the count tells
        whether the fact holds, and with it the bit, even of somebody whose row was never read.
        So no useful release keeps what Dalenius asked for, that nothing can be learnt about a
        person that was not known before [Gro14, section 2.7.1]. What a private count promises is
        less: let the guess be right with probability :math:`a` with the person's row and :math:`b`
        without. Then :math:`a \le e^\varepsilon b` and
        :math:`1 - b \le e^\varepsilon (1 - a)`, so
        :math:`a - b \le (e^\varepsilon - 1)/(e^\varepsilon + 1)`, and so for :math:`b - a`.

    Example:
        >>> from discreet import SystemRng
        >>> found = play_population_fact(4000, epsilon=1, trials=20, rng=SystemRng())
        >>> found.absent.right
        20
    """
    count, games = check.at_least_one(people, "people"), check.at_least_one(trials, "trials")
    loss, wide = Pure(epsilon), exact(gap)
    if loss.epsilon <= 0 or not 0 < wide <= 1:
        raise InvalidArgument(
            "There is no such game", must="have an epsilon above 0 and a gap above 0 and up to 1"
        )
    ceiling = guess_ceiling(loss)
    records = [_play(count, loss, games, rng, wide, is_there) for is_there in (True, False)]
    present, absent = (
        GuessingRecord(right=right, trials=games, ceiling=ceiling) for right in records
    )
    return PopulationFact(present=present, absent=absent, added=2 * ceiling - 1)


def _play(people: int, loss: Pure, trials: int, rng: Rng, gap: Fraction, is_there: bool) -> int:
    noise = DiscreteLaplace(scale=1 / loss.epsilon)
    facts = bernoulli(Fraction(1, 2), trials, rng)
    right = 0
    for fact in facts.tolist():
        share = Fraction(1, 2) + (gap if fact else -gap) / 2
        held = int(bernoulli(share, people, rng).sum()) + (fact if is_there else 0)
        (seen,) = noise.release(np.array([held], dtype=np.int64), rng).tolist()
        right += (2 * seen > people + is_there) == fact
    return right
