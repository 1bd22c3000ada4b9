"""Generators for tests: words from a script, words that must not be drawn, and fast words."""

import hashlib
from collections import deque
from collections.abc import Iterable

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from discreet.core.protocols import Rng


class ScriptedRng:
    """Hands out the words of a script, then those of another generator; none without one."""

    def __init__(self, script: Iterable[int], then: Rng | None = None) -> None:
        self.script = deque(script)
        self.then = then

    def words(self, count: int) -> NDArray[np.uint64]:
        taken = [self.script.popleft() for _ in range(min(count, len(self.script)))]
        missing = count - len(taken)
        if missing and self.then is None:
            raise AssertionError(f"the script is {missing} words short")
        rest = self.then.words(missing) if self.then and missing else np.empty(0, np.uint64)
        return np.concatenate([np.array(taken, dtype=np.uint64), rest])


class SilentRng:
    """Fails when a word is drawn."""

    def words(self, count: int) -> NDArray[np.uint64]:
        raise AssertionError(f"{count} words were drawn")


class FastNumberedRng:
    """A numbered stream at a billion bytes a second, where a test needs a lot."""

    def __init__(self, number: int, label: str) -> None:
        key = hashlib.sha256(f"discreet-tests/fast/{label}/{number}".encode()).digest()
        self.encryptor = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()

    def words(self, count: int) -> NDArray[np.uint64]:
        return np.frombuffer(self.encryptor.update(bytes(8 * count)), dtype=np.uint64)
