"""The generator: words that look uniform, never come twice, and cannot be asked for again."""

import copy
import inspect
import os
import pickle
import threading
import warnings

import numpy as np
import pytest

from discreet.core.errors import InvalidArgument
from discreet.core.protocols import Rng
from discreet.randomness import rng as rng_module
from discreet.randomness.rng import SystemRng
from tests.support.statistics.exact_tests import alpha, binomial_p_value, cells_p_value

pytestmark = pytest.mark.system_words

SIZES = [0, 1, 5, 255, 256, 257, 1024, 16_384, 16_385, 100_000]


@pytest.mark.parametrize("count", SIZES)
def test_words(count):
    words = SystemRng().words(count)
    assert words.dtype == np.uint64
    assert words.shape == (count,)


def test_is_an_rng_without_a_seed():
    assert isinstance(SystemRng(), Rng)
    assert not inspect.signature(SystemRng).parameters


def test_words_do_not_come_twice():
    """A billion billion words apart: a repeat among 330,000 has a chance below 2**-28."""
    rng = SystemRng()
    words = np.concatenate([rng.words(count) for count in SIZES * 2])
    assert len(np.unique(words)) == len(words)


def test_words_are_wiped_from_the_buffer():
    rng = SystemRng()
    handed = rng.words(10)
    buffer = rng._streams.stream._buffer
    assert not buffer[:10].any()
    assert not np.isin(handed, buffer).any()


def test_each_bit_is_fair_and_bytes_are_uniform():
    words = np.concatenate([SystemRng().words(40_000), *(SystemRng().words(8) for _ in range(500))])
    share = alpha("rng/uniform", parts=65)
    for bit in range(64):
        ones = int(np.count_nonzero(words >> np.uint64(bit) & np.uint64(1)))
        assert binomial_p_value(ones, words.size, 0.5) > share
    assert cells_p_value(words.view(np.uint8), dict.fromkeys(range(256), 1 / 256)) > share


@pytest.mark.parametrize("count", [-1, 1.5, "3", None, True])
def test_bad_counts_are_refused(count):
    with pytest.raises(InvalidArgument):
        SystemRng().words(count)


def test_keys_are_thrown_away(monkeypatch):
    drawn, real = [], os.urandom

    def counted(size: int) -> bytes:
        drawn.append(size)
        return real(size)

    monkeypatch.setattr(rng_module, "_WORDS_PER_KEY", 1 << 15)
    monkeypatch.setattr(os, "urandom", counted)
    rng = SystemRng()
    for _ in range(10):
        rng.words(1 << 15)
    assert drawn == [32, 16] * 10


def test_keys_serve_no_more_than_their_words(monkeypatch):
    monkeypatch.setattr(rng_module, "_WORDS_PER_KEY", 1 << 15)
    rng, keys = SystemRng(), set()
    for count in [10_000] * 10:
        rng.words(count)
        keys.add(id(rng._streams.stream._encryptor))
        assert rng._streams.stream._left >= 0
    assert len(keys) > 1


@pytest.mark.parametrize(
    "remake", [copy.copy, copy.deepcopy, lambda r: pickle.loads(pickle.dumps(r))]
)
def test_copies_are_new_generators(remake):
    rng = SystemRng()
    rng.words(1)
    assert not np.isin(remake(rng).words(500), rng.words(500)).any()


def in_child(work) -> bytes:
    """Run ``work`` in a forked child and return the bytes that it gives back."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            os.write(writer, work())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return answer


@pytest.mark.parametrize("count", [100, 1000])
def test_a_forked_child_has_words_of_its_own(count):
    rng = SystemRng()
    rng.words(1)
    children = [
        np.frombuffer(in_child(lambda: rng.words(count).tobytes()), dtype=np.uint64)
        for _ in range(3)
    ]
    words = np.concatenate([*children, rng.words(count)])
    assert words.size == 4 * count
    assert len(np.unique(words)) == words.size


@pytest.mark.parametrize("clue", ["forks", "process"])
def test_either_clue_is_enough_to_notice_a_fork(clue, monkeypatch):
    rng = SystemRng()
    rng.words(1)
    stream = rng._streams.stream
    if clue == "forks":
        monkeypatch.setattr(rng_module, "_forks", rng_module._forks + 1)
    else:
        monkeypatch.setattr(os, "getpid", lambda: -1)
    rng.words(1)
    assert rng._streams.stream is not stream


def test_threads_share_no_words():
    rng, found = SystemRng(), []

    def work() -> None:
        words = np.concatenate([rng.words(count) for count in [7, 300, 5000] * 20])
        found.append(words)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    words = np.concatenate(found)
    assert words.size == 8 * 20 * 5307
    assert len(np.unique(words)) == words.size
