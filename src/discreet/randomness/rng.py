"""The generator: unpredictable 64-bit words, in bulk, from the operating system and AES-256."""

import os
import threading
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from discreet.core.errors import InvalidArgument

_KEY_BYTES = 32
_NONCE_BYTES = 16
_PIECE_WORDS = 1 << 14
_PIECE = bytes(8 * _PIECE_WORDS)
_BUFFER_WORDS = 1 << 10
_WORDS_PER_KEY = 1 << 24

_forks = 0


def _count_fork() -> None:
    global _forks  # noqa: PLW0603 - the one fact that a child process must learn
    _forks += 1


os.register_at_fork(after_in_child=_count_fork)


class SystemRng:
    """Words from AES-256 in counter mode, keyed from the operating system's generator.

    Guarantee:
        *Computational.* Telling the words from ideal ones means telling AES-256 from a random
        permutation, or the operating system's keys from uniform ones, up to the collisions that a
        permutation lacks: a key is thrown away after 2**24 words (2**23 blocks), which costs a
        distinguisher's advantage at most 2**-83 per key (the switching lemma for ``q`` blocks,
        ``q**2 / 2**129``: Bellare and Rogaway, IACR eprint 2004/331, Lemma 1).

        *Fresh.* Each thread has a key of its own, so threads share no state. A forked child finds
        the fork counter or the process number changed and takes a new key before its first word.
        Copies and pickles of a generator are new generators. No word is handed out twice, and a
        word is wiped from the buffer when it is handed out.

    There is no seed: nobody, the program included, can ask for the same words again.

    Example:
        >>> SystemRng().words(3).dtype
        dtype('uint64')
    """

    def __init__(self) -> None:
        self._streams = threading.local()

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return ``count`` fresh words."""
        if isinstance(count, bool) or not hasattr(count, "__index__") or count < 0:
            raise InvalidArgument(
                "The number of words is out of range",
                must="be an integer, at least 0",
                got=str(count),
            )
        stream: _Stream | None = getattr(self._streams, "stream", None)
        if stream is None or stream.is_stale():
            stream = self._streams.stream = _Stream()
        return stream.words(int(count))

    def __reduce__(self) -> tuple[type["SystemRng"], tuple[()]]:
        return SystemRng, ()


class _Stream:
    """The key stream of one thread in one process."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._forks = _forks
        self._buffer = np.zeros(_BUFFER_WORDS, dtype=np.uint64)
        self._used = _BUFFER_WORDS
        self._rekey()

    def is_stale(self) -> bool:
        """Tell whether a parent process has used this key."""
        return self._forks != _forks or self._process != os.getpid()

    def words(self, count: int) -> NDArray[np.uint64]:
        if count > _BUFFER_WORDS // 4:
            fresh = np.empty(count, dtype=np.uint64)
            self._fill(fresh)
            return fresh
        if self._used + count > _BUFFER_WORDS:
            self._fill(self._buffer)
            self._used = 0
        taken = self._buffer[self._used : self._used + count]
        handed = taken.copy()
        taken.fill(0)
        self._used += count
        return handed

    def _fill(self, target: NDArray[np.uint64]) -> None:
        target_bytes = target.view(np.uint8).data
        for start in range(0, len(target_bytes), len(_PIECE)):
            size = min(len(_PIECE), len(target_bytes) - start)
            if self._left < size:
                self._rekey()
            self._left -= size
            self._encryptor.update_into(_PIECE[:size], target_bytes[start : start + size])

    def _rekey(self) -> None:
        key, nonce = os.urandom(_KEY_BYTES), os.urandom(_NONCE_BYTES)
        self._encryptor: Any = Cipher(algorithms.AES(key), modes.CTR(nonce)).encryptor()
        self._left = 8 * _WORDS_PER_KEY
