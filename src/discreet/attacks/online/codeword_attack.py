r"""Encrypted code words: with enough adaptive queries every mechanism is wrong.

The population is :math:`N` users, each with a key and a word of an interactive fingerprinting code
that only the attack knows. A query gives each user the sign of their word, encrypted for them
(:mod:`discreet.attacks.online.code_keys`). A mechanism that is right about the population must
answer, where all signs agree, with that sign: so it is a pirate, and its rows are accused one by
one. The accused are given 0 from then on. When all rows of the sample are, the mechanism knows
nothing of the words of the others, and is wrong about them: after a number of queries that grows as
the square of the number of rows [Ste16, theorem 6.3.2].
"""

import math
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Self

import numpy as np
from attrs import field, frozen

from discreet.attacks.online.code_keys import KeyedRow, KeyKind, draw_keys
from discreet.attacks.online.sample_answers import one_answer
from discreet.attacks.statistics.fingerprint_code import FingerprintCode
from discreet.attacks.statistics.interactive_code import Accuser
from discreet.attacks.statistics.membership_record import MembershipRecord
from discreet.attacks.statistics.pirates import Signs
from discreet.attacks.statistics.tracing import standard_score
from discreet.core.check import at_least_one, chosen
from discreet.core.errors import InvalidArgument
from discreet.core.protocols import QueryInterface, Rng
from discreet.randomness.samplers import uniform_integers

OpenRows = Callable[[Sequence[KeyedRow]], QueryInterface]
"""Makes an interface of a sample; it answers statistical queries with means in [−1, 1]."""

_PAPER_USERS = 2000
_USERS = 20
_ROUNDS = 50


class CiphertextKind(Enum):
    """What is encrypted for users outside the sample.

    Attributes:
        REAL: Their signs, as anybody would who does not know the sample.
        IDEAL: 0. No mechanism tells the difference, and one that learns nothing of the others'
            words cannot have them accused on purpose: that is the proof's device, the *ideal
            attack* [Ste16, figure 6.5].
    """

    REAL = "real"
    IDEAL = "ideal"


@frozen(kw_only=True)
class CodewordPlan:
    """How large an attack on a sample of so many rows is.

    Attributes:
        people: How many rows the mechanism has.
        code: The code: as many users as the population has, made against ``people`` pirates.
    """

    people: int
    code: FingerprintCode

    @classmethod
    def proved(cls, people: int, *, errors: float = 0.0) -> Self:
        r"""Return the attack with the constants of the proof: 2000 users a row, very long.

        Guarantee:
            Every mechanism is off by more than 0.99 in more than a share β of the
            :math:`\ell = 64\lceil 6\pi n/(1/2-\beta)^2\rceil^2\cdot 11` rounds, but for a
            probability of :math:`e^{-0.001(N-n)/8} + 10^{-3(1/2-\beta)n/2}`
            [Ste16, theorem 6.3.2], unless it breaks the keys; with pads, even then
            [Ste16, theorem 6.3.10].

        Example:
            >>> CodewordPlan.proved(2).code.length, CodewordPlan.proved(2).code.users
            (16051904, 4000)
        """
        count = at_least_one(people, "people")
        code = FingerprintCode.proved(
            users=_PAPER_USERS * count, colluders=count, errors=errors, failure=1 / 1000
        )
        return cls(people=count, code=code)

    @classmethod
    def practical(cls, people: int, *, users: int | None = None, failure: float = 0.01) -> Self:
        r"""Return an attack that can be run: the code's threshold is set by the normal law.

        Utility:
            :math:`\ell = 50\ln(2N/\beta)n^2`. A row gains about :math:`(2/\pi)(1-2\zeta)/n` a
            round, and :math:`20\ln(2N/\beta)n^2` rounds bring it to the threshold; the last rows
            take less. A calibration, and no proof.

        Example:
            >>> plan = CodewordPlan.practical(10)
            >>> plan.code.users, plan.code.length
            (200, 52984)
        """
        count = at_least_one(people, "people")
        size = _USERS * count if users is None else at_least_one(users, "users")
        if not 0 < failure < 1:
            raise InvalidArgument("failure is out of range", must="be between 0 and 1")
        length = math.ceil(_ROUNDS * math.log(2 * size / failure) * count**2)
        code = FingerprintCode.practical(
            users=size, colluders=count, length=length, failure=failure, fixed=3 / 8
        )
        return cls(people=count, code=code)


@frozen(kw_only=True, eq=False)
class CodewordAttack:
    """What came of the attack. Its people are made up.

    Attributes:
        people: How many rows the sample had, repeated ones counted once.
        queries: How many queries were asked.
        failed_at: Which query was the first that all users agree on and whose answer was off by
            more than ``alpha``; None if there was none.
        wrong: How many of the queries that all agree on were answered so.
        agreed: How many queries all users agree on.
        alpha: How far an answer may be off.
        accused_at: For each accused user, after which query.
        innocent: How many of them are not in the sample.
    """

    people: int
    queries: int
    failed_at: int | None
    wrong: int
    agreed: int
    alpha: float
    accused_at: dict[int, int] = field(repr=False)
    innocent: int

    @property
    def traced(self) -> int:
        """How many rows of the sample are accused."""
        return len(self.accused_at) - self.innocent

    def __str__(self) -> str:
        told = (
            f"{self.traced} of {self.people} rows and {self.innocent} others are accused after "
            f"{self.queries:,} queries."
        )
        off = f"off by more than {self.alpha:g}"
        if self.failed_at is None:
            return f"{told} No answer that all users agree on was {off}."
        return f"{told} The answer to query {self.failed_at:,}, that all users agree on, is {off}."

    def to_json(self) -> dict[str, object]:
        """Return the finding for other programs."""
        return {
            "rows": self.people,
            "queries": self.queries,
            "failed_at": self.failed_at,
            "wrong": self.wrong,
            "agreed": self.agreed,
            "alpha": self.alpha,
            "traced": self.traced,
            "innocent": self.innocent,
        }


def attack_codewords(
    open_rows: OpenRows,
    *,
    plan: CodewordPlan,
    rng: Rng,
    keys: KeyKind | str = KeyKind.STREAM,
    ciphertexts: CiphertextKind | str = CiphertextKind.REAL,
    alpha: float = 0.9,
    most: int | None = None,
    to_the_end: bool = False,
) -> CodewordAttack:
    r"""Ask encrypted code words until the mechanism is wrong about its own population.

    In each round the code gives every user a sign. The query has it for those who are not accused,
    and 0 for those who are; both are encrypted alike, so a mechanism does not see who is accused
    [Ste16, figure 6.4, has the list of the accused in the clear, which the code's pirate must not
    see]. The sign of the answer goes to the code, which accuses.

    Args:
        open_rows: Makes the mechanism under attack of its sample.
        plan: How large the attack is.
        rng: Coins for keys, words and the sample.
        keys: How rows read queries.
        ciphertexts: What is encrypted for users outside the sample.
        alpha: An answer that is farther off than this is wrong. The accused are a share of the
            population: it must be below one less that share to be reached.
        most: Stop after so many queries.
        to_the_end: Whether to go on after the first wrong answer.

    Example:
        >>> from discreet import SystemRng
        >>> from discreet.attacks.online.sample_answers import ExactMeans
        >>> found = attack_codewords(
        ...     lambda rows: ExactMeans(rows=rows), plan=CodewordPlan.practical(2, users=60),
        ...     rng=SystemRng(),
        ... )
        >>> found.traced == found.people, found.failed_at is not None
        (True, True)
    """
    kind = chosen(KeyKind, keys, noun="kind of keys")
    hidden = chosen(CiphertextKind, ciphertexts, noun="kind of ciphertexts")
    if not 0 < alpha < 2:
        raise InvalidArgument("alpha is out of range", must="be above 0 and below 2")
    code = plan.code
    last = code.length if most is None else min(code.length, at_least_one(most, "most"))
    ring = draw_keys(kind, users=code.users, length=last, rng=rng)
    sample = uniform_integers(code.users, plan.people, rng).tolist()
    members = sorted(set(sample))
    interface = open_rows([ring.row(user) for user in sample])
    shown = np.ones(code.users, dtype=np.int8)
    encrypted = _encrypted(hidden, code.users, members)
    accuser = Accuser(code, rng)
    agreed, wrong = 0, list[int]()
    for number, column in enumerate(accuser.columns()):
        query = ring.encrypt(number, column * shown * encrypted)
        answer = one_answer(interface.answers([query]))
        if abs(int(column.sum(dtype=np.int64))) == code.users:
            agreed += 1
            if abs(answer - float((column * shown).mean())) > alpha:
                wrong.append(number + 1)
        shown[accuser.hear(1 if answer >= 0 else -1)] = 0
        if number + 1 == last or (wrong and not to_the_end):
            break
    return CodewordAttack(
        people=len(members),
        queries=accuser.heard,
        failed_at=wrong[0] if wrong else None,
        wrong=len(wrong),
        agreed=agreed,
        alpha=alpha,
        accused_at=accuser.accused_at,
        innocent=len(set(accuser.accused_at) - set(members)),
    )


def _encrypted(kind: CiphertextKind, users: int, members: Sequence[int]) -> Signs:
    """Return 1 for users whose sign is encrypted, and 0 for others."""
    if kind is CiphertextKind.REAL:
        return np.ones(users, dtype=np.int8)
    inside = np.zeros(users, dtype=np.int8)
    inside[members] = 1
    return inside


def play_codewords(
    open_rows: OpenRows,
    *,
    people: int,
    queries: int,
    rounds: int,
    rng: Rng,
    level: float = 0.05,
) -> MembershipRecord:
    r"""Play the membership game by code words: one row, and one user outside, in each round.

    Nobody is shut out here: after all queries a user is accused whose score is above what an
    innocent's exceeds with probability about ``level``.

    Guarantee:
        The words, and so the queries, do not depend on who is in the sample. Exchanging the row for
        the user outside changes one row; so :meth:`MembershipRecord.breaks` is right.
    """
    count, asked = at_least_one(people, "people"), at_least_one(queries, "queries")
    played = at_least_one(rounds, "rounds")
    fixed = 1 / 8
    cut = standard_score(level) * math.sqrt((1 - 2 * fixed) * asked)
    code = FingerprintCode(
        users=count + 1,
        colluders=count,
        length=asked,
        threshold=math.inf,
        edge=1 / (8 * count),
        fixed=fixed,
    )
    hits = alarms = 0
    for _ in range(played):
        ring = draw_keys(KeyKind.STREAM, users=code.users, length=asked, rng=rng)
        interface = open_rows([ring.row(user) for user in range(count)])
        accuser = Accuser(code, rng)
        for number, column in enumerate(accuser.columns()):
            answer = one_answer(interface.answers([ring.encrypt(number, column)]))
            accuser.hear(1 if answer >= 0 else -1)
        hits += int(accuser.scores[0] > cut)
        alarms += int(accuser.scores[count] > cut)
    return MembershipRecord(rounds=played, traced=hits, false_alarms=alarms)
