"""Differencing and averaging through the gate: asked once, asked again, in other words, at once."""

from collections.abc import Callable, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from attrs import evolve, field, frozen

from discreet.attacks.differencing import difference
from discreet.attacks.models.asked_questions import AskedQuestions, BatchedQuestions
from discreet.attacks.models.attempt import CERTAIN, AttackReport, Attempt
from discreet.attacks.reconstruction.guess_ceiling import GuessingRecord, guess_ceiling
from discreet.core import check, optional
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Approximate, Pure
from discreet.core.numbers import exact
from discreet.core.protocols import QueryInterface, Rng
from discreet.randomness.samplers import bernoulli
from discreet.roles.connection import Connection
from discreet.roles.owner import own

OTHERS = 5
"""How many people are in each room besides the one whose presence is guessed."""

_DELTA = Fraction(1, 10**6)
_EVERYBODY = "SELECT room, COUNT(*) AS n FROM people WHERE person >= {} GROUP BY room"
_WITHOUT = "SELECT room, COUNT(*) AS n FROM people WHERE person >= {} AND NOT sought GROUP BY room"

Pair = tuple[str, str]


@frozen(kw_only=True)
class Rooms:
    """People in rooms. In each room one person is there or not, as a fair coin fell."""

    is_there: tuple[bool, ...] = field(repr=False)

    def table(self) -> Any:
        """Return the people who are there, as a table of Arrow."""
        size = OTHERS + 1
        there = np.ones((len(self.is_there), size), dtype=np.bool_)
        there[:, 0] = self.is_there
        people = np.flatnonzero(there.ravel())
        columns = {"person": people, "room": people // size, "sought": people % size == 0}
        return optional.load("pyarrow").table(columns)

    @contextmanager
    def asked(self, *, budget: dict[str, Fraction], name: str) -> Any:
        """Open a project of these people, and yield a connection to it."""
        with TemporaryDirectory(prefix="discreet-attack-") as folder:
            keys = list(range(len(self.is_there)))
            owner = own(
                {"people": self.table()},
                unit="person",
                id_space=name,
                budget=budget,
                columns={
                    "people": {
                        "person": "integer",
                        "room": {"type": "integer", "keys": keys},
                        "sought": "boolean",
                    }
                },
                rows_per_unit=1,
                ledger=Path(folder) / "ledger",
            )
            with owner, owner.connect() as connection:
                yield connection


@frozen(kw_only=True)
class _RoomAnswers:
    """Answers that were given before: what one room sees of them."""

    replies: Sequence[Any]

    def answers(self, queries: Sequence[Any]) -> Sequence[Any]:
        return self.replies


Interface = Callable[[Connection], QueryInterface]


@frozen(kw_only=True)
class QuestionAttack:
    r"""A game about presence, played in many rooms at once through one connection.

    Guarantee:
        Whether one person is in one room makes two neighbouring tables, and that person's row is in
        no other room. So each room is a game of its own with the loss of *all* questions together,
        as the ledger has it, and no adversary guesses more often right than the ceiling
        :math:`(e^\varepsilon + \delta)/(1 + e^\varepsilon)` of it
        (:func:`~discreet.attacks.reconstruction.guess_ceiling.guess_ceiling`). Coins and noise of
        the rooms are independent, and whether a question is refused depends on no row, so the
        number of right guesses is a sum of independent ones, and tails of the binomial law with
        the ceiling bound it.

    Assumes:
        The rows are made up. No project and no file is read; what is attacked is the machine.
    """

    epsilon: Fraction = field(converter=exact)
    times: int = field(default=4, converter=check.whole, validator=check.positive)
    rooms: int = field(default=500, converter=check.whole, validator=check.positive)

    def __attrs_post_init__(self) -> None:
        if self.epsilon <= 0:
            raise InvalidArgument(
                "epsilon is out of range", must="be greater than 0", got=str(self.epsilon)
            )

    @property
    def price(self) -> Fraction:
        """The price of one question: all pairs together cost ``epsilon``."""
        return self.epsilon / (2 * self.times)

    def pairs(self, count: int) -> list[Pair]:
        """Return pairs of questions that mean the same, in other words each time."""
        return [(_EVERYBODY.format(-one), _WITHOUT.format(-one)) for one in range(1, count + 1)]

    def draw_rooms(self, rng: Rng) -> Rooms:
        """Return new rooms."""
        return Rooms(is_there=tuple(bernoulli(Fraction(1, 2), self.rooms, rng).tolist()))

    def played(
        self, calls: Sequence[Sequence[Pair]], interface: Interface, rng: Rng, *, delta: Fraction
    ) -> Attempt:
        """Ask pairs in new rooms, one call after the other, and guess from all answers."""
        rooms = self.draw_rooms(rng)
        budget = {"epsilon": self.epsilon} | ({"delta": delta} if delta else {})
        name = f"attacked {int(rng.words(1)[0]):016x}"
        told: list[list[Any]] = [[] for _ in rooms.is_there]
        with rooms.asked(budget=budget, name=name) as connection:
            asked = interface(connection)
            for call in calls:
                texts = [text for pair in call for text in pair]
                cells = [(text, room) for room in range(self.rooms) for text in texts]
                replies = asked.answers(cells)
                for room, replied in enumerate(told):
                    replied += replies[room * len(texts) : (room + 1) * len(texts)]
            (status,) = connection.budget()
        spent = status.spent
        if not isinstance(spent, Pure | Approximate):
            raise Unsupported("This budget has no ceiling", must="be of ε, or of ε and δ")
        refused = sum(reply is None for reply in told[0])
        note = f"{len(told[0])} questions, {refused} refused; together {spent}."
        return Attempt(
            release="", record=_guessed(rooms, told, guess_ceiling(spent), rng), note=note
        )


def _guessed(
    rooms: Rooms, told: Sequence[Sequence[Any]], ceiling: Fraction, rng: Rng
) -> GuessingRecord:
    """Guess by the differences in each room; where nothing was told, by a coin."""
    count = len(rooms.is_there)
    coins = bernoulli(Fraction(1, 2), count, rng).tolist()
    right = 0
    for replies, coin, bit in zip(told, coins, rooms.is_there, strict=True):
        pairs = [("", "")] * (len(replies) // 2)
        guess = difference(_RoomAnswers(replies=replies), pairs).guess
        right += (coin if guess is None else guess) == bit
    return GuessingRecord(right=right, trials=count, ceiling=ceiling)


def _exactly(rooms: Rooms, rng: Rng) -> GuessingRecord:
    """Guess from counts to which nothing is done."""
    told = [[OTHERS + is_there, OTHERS] for is_there in rooms.is_there]
    return _guessed(rooms, told, CERTAIN, rng)


def attack_questions(
    attack: QuestionAttack, rng: Rng, *, on_step: Callable[[int, int], None] | None = None
) -> AttackReport:
    r"""Play the game without protection, and in four ways through the gate.

    The first pair of counts is asked once, for the whole budget. Then the same words are asked
    again: the ledger has the answer, which costs nothing and tells nothing new. Then the pairs are
    asked in other words, each for a share of the budget, and one pair more, which is refused. Last
    they are asked in one batch, at an :math:`(\varepsilon, \delta)` for all.

    Example:
        >>> from discreet import SystemRng
        >>> report = attack_questions(QuestionAttack(epsilon=1, times=2, rooms=20), SystemRng())
        >>> [one.release for one in report.attempts]
        ['exact counts', 'asked once', 'the same words again', 'in other words', 'in one batch']
    """
    at_half = partial(AskedQuestions, epsilon=attack.epsilon / 2)
    in_part = partial(AskedQuestions, epsilon=attack.price)
    at_once = partial(BatchedQuestions, epsilon=attack.epsilon, delta=_DELTA)
    once, many, more = (attack.pairs(count) for count in (1, attack.times, attack.times + 1))
    ways: list[tuple[str, Sequence[Sequence[Pair]], Any, Fraction]] = [
        ("asked once", [once], at_half, Fraction(0)),
        ("the same words again", [once] * attack.times, at_half, Fraction(0)),
        ("in other words", [more], in_part, Fraction(0)),
        ("in one batch", [many], at_once, _DELTA),
    ]
    plain = _exactly(attack.draw_rooms(rng), rng)
    attempts = [Attempt(release="exact counts", record=plain, note="their difference is the bit.")]
    for release, calls, kind, delta in ways:
        found = attack.played(calls, partial(_opened, kind), rng, delta=delta)
        attempts.append(evolve(found, release=release))
        if on_step is not None:
            on_step(len(attempts), 1 + len(ways))
    return AttackReport(
        attack="Is one person in the table? Counts with and without that person are compared.",
        attempts=tuple(attempts),
    )


def _opened(kind: Callable[..., QueryInterface], connection: Connection) -> QueryInterface:
    return kind(connection=connection)
