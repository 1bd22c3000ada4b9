"""Partition and AdaptiveThresholds: the map of the cuts, tried on every small case."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting.accountants.approximate import approximate
from discreet.core.contribution import Contribution, Metric
from discreet.core.event_json import event_from_json
from discreet.core.loss import Approximate
from discreet.mechanisms.thresholds.adaptive_thresholds import AdaptiveThresholds
from discreet.mechanisms.thresholds.partition import noisy_cuts
from tests.randomness.scripted_rng import ScriptedRng

Cuts = tuple[int, ...]
Chunks = list[tuple[int, ...]]

VALUES = tuple(range(10, 15))
"""Five values, all different: the hardest case for a partition by rank."""


def chunks(values: tuple[int, ...], cuts: Cuts) -> Chunks:
    ranks = np.maximum.accumulate(np.maximum(np.array(cuts), 0))
    return [tuple(part.tolist()) for part in np.split(np.array(values), ranks)]


def first_beyond(cuts: Cuts, rank: int) -> int:
    return next((m for m, cut in enumerate(cuts) if cut > rank), len(cuts))


def removed(cuts: Cuts, rank: int) -> Cuts:
    """Our map: the cut that ends the value's chunk stays, the later ones go down by 1."""
    stays = first_beyond(cuts, rank)
    return tuple(cut - (m > stays) for m, cut in enumerate(cuts))


def added(cuts: Cuts, rank: int) -> Cuts:
    """For an addition at a rank every cut beyond it goes up by 1."""
    start = first_beyond(cuts, rank)
    return tuple(cut + (m >= start) for m, cut in enumerate(cuts))


def printed(cuts: Cuts, rank: int) -> Cuts:
    """The map of the source: the cut that ends the value's chunk goes down too."""
    start = first_beyond(cuts, rank)
    return tuple(cut - (m >= start) for m, cut in enumerate(cuts))


def moved_counts(first: Chunks, second: Chunks) -> list[int]:
    """How far the number of values up to any point moves, chunk by chunk."""
    return [
        max(abs(sum(v <= y for v in a) - sum(v <= y for v in b)) for y in range(9, 16))
        for a, b in zip(first, second, strict=True)
    ]


ALL_CUTS = list(itertools.product(range(-1, 7), repeat=3))


@pytest.mark.parametrize("rank", range(5))
def test_removal_changes_two_chunks_by_one(rank: int):
    smaller = VALUES[:rank] + VALUES[rank + 1 :]
    images = set()
    for cuts in ALL_CUTS:
        image = removed(cuts, rank)
        images.add(image)
        moved = moved_counts(chunks(VALUES, cuts), chunks(smaller, image))
        assert max(moved) <= 1
        assert sum(moved) <= 2
    assert len(images) == len(ALL_CUTS), "the map must be one-to-one"


@pytest.mark.parametrize("rank", range(5))
def test_addition_changes_one_chunk_by_one(rank: int):
    smaller = VALUES[:rank] + VALUES[rank + 1 :]
    images = set()
    for cuts in ALL_CUTS:
        image = added(cuts, rank)
        images.add(image)
        assert sum(moved_counts(chunks(smaller, cuts), chunks(VALUES, image))) == 1
    assert len(images) == len(ALL_CUTS)


@pytest.mark.parametrize("rank", range(5))
def test_enumeration_catches_the_printed_map(rank: int):
    """It is not one-to-one: cuts before and after the value come to lie at one place."""
    images = {printed(cuts, rank) for cuts in ALL_CUTS}
    assert len(images) < len(ALL_CUTS)
    assert printed((rank, 9, 9), rank)[0] == printed((rank + 1, 9, 9), rank)[0]


def test_no_map_does_what_the_source_says():
    """One cut, one value changed: two cuts must go to the same one, so there is no bijection."""
    before, after = (10, 20, 30, 40), (20, 30, 40, 50)  # 10 is removed, 50 is added

    def changes(cut: int, other: int) -> int:
        pairs = zip(chunks(before, (cut,)), chunks(after, (other,)), strict=True)
        return sum(len(set(a) ^ set(b)) for a, b in pairs)

    allowed = {cut: [o for o in range(5) if changes(cut, o) <= 2] for cut in range(5)}
    assert allowed[0] == allowed[1] == [0]


@pytest.mark.parametrize("depth", [1, 2, 3, 5])
def test_later_cuts_are_few_nodes(depth: int):
    """From any cut on, the cuts are the leaves below at most ``depth`` nodes, none of them all."""
    size = 1 << depth
    for start in range(1, size):
        nodes = {(depth, start)}
        for level in range(1, depth + 1):
            prefix = start >> (depth - level)
            if prefix % 2 == 0:
                nodes.add((level, prefix + 1))
        leaves = sorted(
            leaf
            for level, prefix in nodes
            for leaf in range(prefix << (depth - level), (prefix + 1) << (depth - level))
        )
        assert leaves == list(range(start, size))
        assert len(nodes) <= depth


def test_cuts_share_their_noise_along_the_tree(rng):
    """Neighbouring leaves of a subtree differ only below their last common prefix."""
    runs = np.array(
        [noisy_cuts(8 * 10**6, depth=3, scale=Fraction(50), rng=rng) for _ in range(400)]
    )
    noise = runs - np.arange(1, 8) * 10**6
    near = np.var(noise[:, 6] - noise[:, 5])  # 7 and 6 share two prefixes, not the last
    far = np.var(noise[:, 6] - noise[:, 0])  # 7 and 1 share none
    one = 2 * 50**2
    assert 0.5 < near / (2 * one) < 2
    assert 0.5 < far / (6 * one) < 2


@pytest.mark.parametrize(("metric", "parts"), [(Metric.ADD_REMOVE, 3), (Metric.CHANGE_ONE, 5)])
def test_budget(metric: Metric, parts: int):
    d_in = Contribution(linf=1, metric=metric)
    machine = AdaptiveThresholds.calibrate(
        d_in=d_in, loss=Approximate(1, "1e-6"), alpha="0.1", beta="0.05", queries=1000
    )
    event = machine.event(d_in)
    assert event_from_json(event.to_json()) == event
    share = Fraction(1, parts)
    assert machine.depth / machine.cut_scale == share
    assert approximate(event.chunk).epsilon == share
    loss = machine.loss(d_in)
    assert loss <= Approximate(1, "1e-6")
    assert loss.epsilon == 1
    # The source asks for n' = 4841 and n = 290 450, for a change and by a proof that fails.
    assert machine.least_size("0.05", queries=1000) < 100_000


def test_too_few_values_have_no_bound():
    machine = AdaptiveThresholds.calibrate(
        d_in=Contribution(linf=1), loss=Approximate(1, "1e-6"), alpha="0.5", beta="0.1", queries=10
    )
    least = machine.least_size("0.1", queries=10)
    assert machine.error_quantile("0.1", queries=10, size=least) <= Fraction(1, 2)
    with pytest.raises(Exception, match="too few"):
        machine.error_quantile("0.1", queries=10, size=least - 1)
    with pytest.raises(Exception, match="too small"):
        machine.least_size("0.1", queries=10**9)


@given(st.integers(1, 2**62 - 1) | st.just(2**62 - 1), st.integers(1, 8))
def test_cuts_without_noise_are_the_exact_shares(size: int, depth: int):
    """Also where the number of a cut times the size does not fit 64 bits."""
    rng = ScriptedRng([0x1234_1234_1234_1234] * 4096)
    cuts = noisy_cuts(size, depth=depth, scale=Fraction(1, 1000), rng=rng)
    assert cuts.tolist() == [m * size >> depth for m in range(1, 1 << depth)]
