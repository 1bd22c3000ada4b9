r"""The game of copies: how well a code traces a mechanism that publishes the means of its words."""

import math

from discreet.attacks.statistics.fingerprint_code import FingerprintCode
from discreet.attacks.statistics.membership_record import MembershipRecord
from discreet.attacks.statistics.pirates import Pirate
from discreet.attacks.statistics.tracing import standard_score
from discreet.core.check import at_least_one
from discreet.core.protocols import Rng


def play_copies(
    pirate: Pirate, *, colluders: int, length: int, rounds: int, rng: Rng, level: float = 0.05
) -> MembershipRecord:
    r"""Let a pirate copy from a new book in each round, and look at a member and at a stranger.

    Whoever scores more than an innocent does with probability about ``level`` is accused.

    Guarantee:
        The words of members and stranger are drawn alike. Exchanging one for the other changes one
        row of what the pirate has; so if the pirate is a private mechanism,
        :math:`P[hit] \le e^\varepsilon P[alarm] + \delta`, and
        :meth:`MembershipRecord.breaks` is right.

    Example:
        >>> from discreet import SystemRng
        >>> from discreet.attacks.statistics.pirates import majority
        >>> play_copies(
        ...     majority, colluders=1, length=200, rounds=20, rng=SystemRng(), level=1e-4
        ... ).traced
        20
    """
    count, played = at_least_one(colluders, "colluders"), at_least_one(rounds, "rounds")
    size = at_least_one(length, "length")
    code = FingerprintCode(
        users=count + 1,
        colluders=count,
        length=size,
        threshold=standard_score(level) * math.sqrt(size),
        edge=1 / (8 * count),
        fixed=0.0,
    )
    hits = alarms = 0
    for _ in range(played):
        book = code.draw(rng)
        accused = book.accuse(pirate(book.words[:count], rng)).accused
        hits += int(accused[0])
        alarms += int(accused[count])
    return MembershipRecord(rounds=played, traced=hits, false_alarms=alarms)
