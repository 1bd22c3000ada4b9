"""The interactive game of a fingerprinting code: positions one by one, the accused are shut out."""

from collections.abc import Iterator

import numpy as np
from attrs import define, field, frozen
from numpy.typing import ArrayLike, NDArray

from discreet.attacks.statistics.fingerprint_code import FingerprintCode, score_parts
from discreet.attacks.statistics.pirates import Pirate, Signs
from discreet.attacks.statistics.sign_data import Floats, uniforms
from discreet.core.errors import InvalidArgument
from discreet.core.protocols import Rng

_BLOCK = 512


@define(eq=False, repr=False)
class Accuser:
    """The code's side of the game: it gives out columns, hears answers, and accuses. Private.

    Attributes:
        code: The code.
        rng: Coins for biases and signs.
        accused_at: For each accused user, in which round.
        scores: Each user's score.
        heard: How many answers it has heard.
    """

    code: FingerprintCode
    rng: Rng
    accused_at: dict[int, int] = field(factory=dict, init=False)
    scores: Floats = field(init=False)
    heard: int = field(default=0, init=False)
    _part: tuple[float, Floats] = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Begin with nobody suspected."""
        self.scores = np.zeros(self.code.users)
        self._part = (0.0, self.scores)

    def columns(self) -> Iterator[Signs]:
        """Give the columns of the code, one sign for each user; ``hear`` is called after each."""
        drawn = 0
        while drawn < self.code.length:
            step = min(_BLOCK, self.code.length - drawn)
            drawn += step
            biases = self.code.draw_biases(step, self.rng)
            middle, half = score_parts(biases)
            ones = uniforms((step, self.code.users), self.rng) < biases[:, np.newaxis]
            signs = (2 * ones.astype(np.int8) - 1).astype(np.int8)
            for column, m, h in zip(signs, middle, half, strict=True):
                self._part = (float(m), column * h)
                yield column

    def hear(self, answer: int) -> list[int]:
        """Add one answer to all scores, and return who is accused because of it."""
        middle, part = self._part
        self.heard += 1
        self.scores += answer * (middle + part)
        over = np.flatnonzero(self.scores > self.code.threshold).tolist()
        fresh = [who for who in over if who not in self.accused_at]
        self.accused_at.update(dict.fromkeys(fresh, self.heard))
        return fresh


@frozen(kw_only=True, eq=False)
class CodeGame:
    """What came of an interactive game. Private.

    Attributes:
        accused_at: For each accused user, in which round.
        innocent: How many of them were no pirates.
        inconsistent: In how many rounds the answer was one that no user had.
        rounds: How many rounds were played.
    """

    accused_at: dict[int, int]
    innocent: int
    inconsistent: int
    rounds: int


def play_code(
    code: FingerprintCode, pirate: Pirate, members: ArrayLike, rng: Rng, *, to_the_end: bool = False
) -> CodeGame:
    r"""Play the interactive game: positions one by one, and the accused are shut out at once.

    The pirate sees the signs of those members alone who are not accused yet
    [Ste16, figures 6.1 and 6.2]. When nobody is left it answers +1.

    Args:
        code: The code.
        pirate: How the coalition answers.
        members: Which users it has.
        rng: Coins for the code and for the pirate.
        to_the_end: Whether to go on when all members are accused, to count wrong answers.
    """
    left = _members(members, code.users)
    guilty = set(left.tolist())
    accuser, wrong = Accuser(code, rng), 0
    for column in accuser.columns():
        answer = int(pirate(column[left, np.newaxis], rng)[0]) if len(left) else 1
        wrong += not (column == answer).any()
        fresh = accuser.hear(answer)
        if fresh:
            left = left[~np.isin(left, fresh)]
            if not len(left) and not to_the_end:
                break
    return CodeGame(
        accused_at=accuser.accused_at,
        innocent=len(set(accuser.accused_at) - guilty),
        inconsistent=wrong,
        rounds=accuser.heard,
    )


def _members(members: ArrayLike, users: int) -> NDArray[np.int64]:
    found = np.asarray(members)
    if found.ndim != 1 or found.size == 0 or found.dtype.kind not in "iu":
        raise InvalidArgument("The members are no list of users", must="be at least one number")
    if len(np.unique(found)) != len(found) or found.min() < 0 or found.max() >= users:
        raise InvalidArgument(
            "The members are no users of this code", must=f"be different, from 0 to {users - 1}"
        )
    return found.astype(np.int64)
