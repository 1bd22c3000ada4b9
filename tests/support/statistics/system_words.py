"""What is drawn from the system is fixed by the name of the test, so that it can be replayed.

Analysts' doors take no generator, so tests of them draw from the system's. Its keys are derived
from the name of what runs and the run number; all else about it (AES, threads, forks) is as it is.
A child process draws from the system itself, for its words must not be its parent's.
"""

import hashlib
import os
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from discreet.randomness import rng as rng_module


class NumberedSystem:
    """Stands in for ``os.urandom``: bytes fixed by a label, a number and how many came before."""

    def __init__(self, label: str, number: int) -> None:
        self._prefix = f"discreet-tests/system/{label}/{number}/".encode()
        self._process = os.getpid()
        self._turn = threading.Lock()
        self._count = 0

    def urandom(self, size: int) -> bytes:
        if os.getpid() != self._process:
            return os.urandom(size)
        with self._turn:
            self._count += 1
            seed = self._prefix + self._count.to_bytes(8, "big")
        return hashlib.shake_256(seed).digest(size)


@contextmanager
def numbered_system(label: str, number: int) -> Iterator[None]:
    """Let generators, those that are open already included, take their keys from a label."""
    system = NumberedSystem(label, number)
    with pytest.MonkeyPatch.context() as patch:
        # The module's own name for the system alone: os.urandom stays what it is for all others.
        like_os = SimpleNamespace(urandom=system.urandom, getpid=os.getpid)
        patch.setattr(rng_module, "os", like_os)
        # What ``secrets`` draws from, for devices, which have the standard library alone.
        patch.setattr(random, "_urandom", system.urandom)
        rng_module._count_fork()
        yield
    rng_module._count_fork()
