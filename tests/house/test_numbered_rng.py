"""The replayable stream is one stream however it is read, and looks uniform."""

import numpy as np

from tests.support.statistics.exact_tests import alpha, binomial_p_value, cells_p_value, dkw_p_value
from tests.support.statistics.numbered_rng import NumberedRng
from tests.support.statistics.soak import Soak


def test_same_number_same_words():
    assert (NumberedRng(5).words(10_000) == NumberedRng(5).words(10_000)).all()


def test_number_and_label_change_the_words():
    streams = [NumberedRng(5), NumberedRng(6), NumberedRng(5, label="a"), NumberedRng(5, label="b")]
    firsts = {int(stream.words(1)[0]) for stream in streams}
    assert len(firsts) == len(streams)


def test_reading_in_pieces_gives_the_same_stream():
    whole, pieces = NumberedRng(1).words(9_000), NumberedRng(1)
    read = np.concatenate([pieces.words(count) for count in (0, 1, 4095, 4096, 5, 803)])
    assert (read == whole).all()


def test_words_are_writable_64_bit_integers():
    words = NumberedRng(0).words(3)
    words[:] = 0
    assert words.dtype == np.uint64


def test_words_are_uniform(rng, soak: Soak):
    words = rng.words(soak.cases(100_000))
    share = alpha("numbered_rng/uniform", parts=3)
    ones = int(np.bitwise_count(words).sum())
    assert binomial_p_value(ones, 64 * len(words), 0.5) > share
    top = (words >> np.uint64(48)).astype(np.int64)
    assert dkw_p_value(top, lambda k: min(1.0, max(0, k + 1) / 2**16)) > share
    low = (words & np.uint64(15)).astype(np.int64)
    assert cells_p_value(low, dict.fromkeys(range(16), 1 / 16)) > share


def test_fixture_is_this_tests_own(rng, request):
    assert rng.label == request.node.nodeid
