r"""Queries that only the rows themselves can read: a code word, encrypted for each row.

A row is a user's number and a key. A query holds, for every user, one number modulo 3: the user's
sign, or 0, plus the key's next number. Whoever has the row takes it off again. Whoever has not sees
a uniform number, or one that no efficient program tells from it; so a mechanism learns of a query
no more than what it says about the rows of its own sample [Ste16, sections 6.3 and 6.4].
"""

import hashlib
from enum import Enum
from functools import lru_cache
from typing import Protocol

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.attacks.statistics.pirates import Signs
from discreet.core.errors import InvalidArgument
from discreet.core.protocols import Rng
from discreet.randomness.samplers import uniform_integers

_BLOCK = 512
_KEY_WORDS = 4
_MOST_PADS = 10**9


class CodeKey(Protocol):
    """What a row needs in order to read queries."""

    def block(self, number: int) -> NDArray[np.int64]:
        """Return the numbers modulo 3 of a block of 512 queries."""
        ...


@frozen(eq=False)
class PadKey:
    """A one-time pad: as many random numbers modulo 3 as there will be queries.

    Guarantee:
        A number plus a uniform one modulo 3 is uniform, so a query tells nothing of the signs of
        others to anybody, however powerful. A sign, or 0, needs three values: bits would not do.
    """

    pad: Signs = field(repr=False)

    def block(self, number: int) -> NDArray[np.int64]:
        """Return a part of the pad."""
        return self.pad[number * _BLOCK : (number + 1) * _BLOCK].astype(np.int64)


@frozen
class StreamKey:
    """A short key, stretched by SHAKE-256 to any length.

    Guarantee:
        As good as a pad against every program that cannot tell SHAKE-256 of a secret key from
        random bytes. Bytes of 255 are left out, so that the rest are uniform modulo 3.
    """

    secret: bytes = field(repr=False)

    def block(self, number: int) -> NDArray[np.int64]:
        """Return a part of the stream."""
        return _stretched(self.secret, number)


@lru_cache(maxsize=4096)
def _stretched(secret: bytes, number: int) -> NDArray[np.int64]:
    """Return the numbers of one block: 768 bytes hold 512 below 255, or else twice as many do."""
    size = _BLOCK + _BLOCK // 2
    while True:
        drawn = hashlib.shake_256(secret + number.to_bytes(8, "big")).digest(size)
        usable = np.frombuffer(drawn, dtype=np.uint8).astype(np.int64)
        usable = usable[usable < 255]
        if usable.size >= _BLOCK:
            return usable[:_BLOCK] % 3
        size *= 2


@frozen(eq=False)
class KeyedRow:
    """A row of the attack's population: who it is, and the key."""

    user: int
    key: CodeKey = field(repr=False)


@frozen(eq=False)
class EncryptedQuery:
    """A statistical query with values −1, 0 and 1, which a row finds out for itself alone.

    Attributes:
        number: Which query it is, counted from 0.
        ciphertexts: One number modulo 3 for each user. Public.
    """

    number: int
    ciphertexts: NDArray[np.int64] = field(repr=False)

    def __call__(self, row: KeyedRow) -> int:
        """Give a row its value."""
        block, place = divmod(self.number, _BLOCK)
        plain = int(self.ciphertexts[row.user] - row.key.block(block)[place]) % 3
        return -1 if plain == 2 else plain


class KeyKind(Enum):
    """How rows read queries.

    Attributes:
        STREAM: By a short key. No efficient mechanism reads more.
        PAD: By a pad as long as the attack. No mechanism reads more; rows are that long.
    """

    STREAM = "stream"
    PAD = "pad"


@frozen(eq=False, repr=False)
class KeyRing:
    """The keys of all users. Secret: the attack has it, and each row its own."""

    keys: tuple[CodeKey, ...]

    def row(self, user: int) -> KeyedRow:
        """Return the row of one user."""
        return KeyedRow(user, self.keys[user])

    def encrypt(self, number: int, values: NDArray[np.integer]) -> EncryptedQuery:
        """Return the query that gives each user a value of −1, 0 or 1.

        Example:
            >>> from discreet import SystemRng
            >>> ring = draw_keys(KeyKind.STREAM, users=3, length=1, rng=SystemRng())
            >>> query = ring.encrypt(0, np.array([1, 0, -1]))
            >>> [query(ring.row(user)) for user in range(3)]
            [1, 0, -1]
        """
        block, place = divmod(number, _BLOCK)
        pads = _pads(self, block)[place]
        return EncryptedQuery(number, (values.astype(np.int64) + pads) % 3)


@lru_cache(maxsize=2)
def _pads(ring: KeyRing, block: int) -> NDArray[np.int64]:
    """Return what is added to the values of all users in a block, one row for each query."""
    return np.stack([key.block(block) for key in ring.keys], axis=1)


def draw_keys(kind: KeyKind, *, users: int, length: int, rng: Rng) -> KeyRing:
    """Draw a key for each user, for so many queries."""
    if kind is KeyKind.STREAM:
        words = rng.words(users * _KEY_WORDS).reshape(users, _KEY_WORDS)
        return KeyRing(tuple(StreamKey(row.tobytes()) for row in words))
    if users * length > _MOST_PADS:
        raise InvalidArgument(
            "The pads are too long to be drawn",
            must=f"have at most {_MOST_PADS} numbers",
            got=str(users * length),
            next="Use short keys ('stream')",
        )
    pads = (uniform_integers(3, length, rng).astype(np.int8) for _ in range(users))
    return KeyRing(tuple(PadKey(pad) for pad in pads))
