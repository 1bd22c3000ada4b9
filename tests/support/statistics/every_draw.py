"""Every sampler and every mechanism, each run at a scale: what a rule about all of them drives."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.core.contribution import Contribution
from discreet.core.loss import Approximate, Pure
from discreet.core.protocols import Rng
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.noise.grid import on_grid
from discreet.mechanisms.noise.integers import LARGEST_VALUE
from discreet.mechanisms.noise.linf_exponential import LinfExponential
from discreet.mechanisms.noise.noisy_histogram import NoisyHistogram
from discreet.mechanisms.noise.truncated_geometric import TruncatedGeometric
from discreet.mechanisms.noise.uniform_smoothing import UniformSmoothing
from discreet.mechanisms.query_release.guess_and_check import GuessAndCheck
from discreet.mechanisms.query_release.linear_queries import LinearQueries
from discreet.mechanisms.query_release.median_mechanism import MedianMechanism
from discreet.mechanisms.query_release.mwem import Mwem
from discreet.mechanisms.query_release.prefix_queries import PrefixQueries, PrefixRelease
from discreet.mechanisms.query_release.private_weights import PrivateMultiplicativeWeights
from discreet.mechanisms.query_release.public_weights import PublicWeights
from discreet.mechanisms.query_release.small_database import SmallDatabase
from discreet.mechanisms.response.approximate_response import ApproximateResponse
from discreet.mechanisms.response.categorical_response import CategoricalResponse
from discreet.mechanisms.response.sign_of_gaussian import SignOfGaussian
from discreet.mechanisms.response.two_coin_response import TwoCoinResponse
from discreet.mechanisms.selection.binary_search_quantile import BinarySearchQuantile
from discreet.mechanisms.selection.exponential_mechanism import ExponentialMechanism
from discreet.mechanisms.selection.laplace_noisy_max import LaplaceNoisyMax
from discreet.mechanisms.selection.permute_and_flip import PermuteAndFlip
from discreet.mechanisms.selection.quantile import Quantile
from discreet.mechanisms.selection.quantile_end import EndSide, QuantileEnd
from discreet.mechanisms.selection.quantiles import Quantiles
from discreet.mechanisms.selection.top_k import TopK
from discreet.mechanisms.stability.answer_net import AnswerNet
from discreet.mechanisms.stability.propose_test_release import ProposeTestRelease
from discreet.mechanisms.stability.stability_test import StabilityTest
from discreet.mechanisms.stability.stable_median import StableMedian
from discreet.mechanisms.stability.stable_mode import StableMode
from discreet.mechanisms.stability.thresholded_keys import ThresholdedKeys
from discreet.mechanisms.thresholds.adaptive_thresholds import AdaptiveThresholds
from discreet.mechanisms.thresholds.between_thresholds import BetweenThresholds
from discreet.mechanisms.thresholds.halting_sparse_vector import HaltingSparseVector
from discreet.mechanisms.thresholds.interior_point import InteriorPoint
from discreet.mechanisms.thresholds.numeric_sparse import NumericSparse
from discreet.mechanisms.thresholds.sparse_vector import Redraw, SparseVector
from discreet.mechanisms.thresholds.stage_wise import StageWise
from discreet.randomness.argmax import exponential_argmax, gumbel_argmax, weighted_argmax
from discreet.randomness.gamma_integer import _settle_carry, gamma_integer
from discreet.randomness.packed_bernoulli import packed_bernoulli
from discreet.randomness.samplers import (
    bernoulli,
    bernoulli_exp,
    bernoulli_exp_each,
    clamped_discrete_laplace,
    discrete_gaussian,
    discrete_laplace,
    geometric,
    uniform_integers,
)
from discreet.randomness.tables.blocks import Blocks, block_table, cut, table_of
from discreet.randomness.tables.draw import fill
from discreet.randomness.tables.law import NoiseLaw
from tests.randomness.judge import first_word
from tests.randomness.scripted_rng import ScriptedRng

Drive = Callable[[Fraction, Rng, Callable[[Any], Any]], Any]
"""Runs something at a scale, with a generator, on arrays that are wrapped before."""

SIZE = 500
ONE = Contribution(l0=1, linf=1)
LOSS = Approximate(1, "1e-6")
VALUES = [0, 1, -1, 12_345_677, LARGEST_VALUE, -LARGEST_VALUE]
SCORES = [-(2**63), -(2**62) + 1, -5, 0, 3, 2**62 - 1, 2**63 - 1]
SMALL_SCORES = [*range(40)]


def few_blocks(law: NoiseLaw, rng: Rng, wrap: Callable[[Any], Any]) -> None:
    """Draw from few blocks, so that wedges and tails are everyday."""
    blocks = cut(law)
    table = table_of(Blocks(law, blocks.width, max(1, blocks.per_side // 8)))
    fill(table, wrap(np.empty(SIZE, dtype=np.int64)), rng)


def noise(scale: Fraction) -> DiscreteLaplace:
    return DiscreteLaplace(scale=scale)


def variance(scale: Fraction) -> DiscreteGaussian:
    return DiscreteGaussian(sigma_squared=scale**2)


SAMPLERS: dict[str, Drive] = {
    "discrete_laplace": lambda s, rng, _: discrete_laplace(s, SIZE, rng),
    "discrete_gaussian": lambda s, rng, _: discrete_gaussian(s**2, SIZE, rng),
    "geometric": lambda s, rng, _: geometric(s, SIZE, rng),
    "clamped_discrete_laplace": lambda s, rng, _: clamped_discrete_laplace(s, 5, SIZE, rng),
    "gamma_integer": lambda s, rng, _: gamma_integer(3, s, SIZE // 3, rng),
    "gamma_integer of many": lambda s, rng, _: gamma_integer(1000, s, 2, rng),
    "carry of gamma_integer": lambda s, rng, _: _settle_carry(3, s, 2 * 2**32 - 1, rng),
    "few blocks of Laplace": lambda s, rng, wrap: few_blocks(
        NoiseLaw(Fraction(0), 1 / s), rng, wrap
    ),
    "few blocks of Gauss": lambda s, rng, wrap: few_blocks(
        NoiseLaw(1 / (2 * s**2), Fraction(0)), rng, wrap
    ),
    "few blocks of a part": lambda s, rng, wrap: few_blocks(
        NoiseLaw(Fraction(0), 1 / s, two_sided=False, length=8 + int(s)), rng, wrap
    ),
    "uniform_integers": lambda s, rng, _: [
        uniform_integers(upper, SIZE, rng) for upper in (int(s) + 1, 3 * 2**61, 2**63)
    ],
    "bernoulli": lambda s, rng, _: bernoulli(1 / (1 + s), SIZE, rng),
    "packed_bernoulli": lambda s, rng, _: packed_bernoulli(1 / (1 + s), SIZE, rng),
    "bernoulli_exp": lambda s, rng, _: bernoulli_exp(s / 2**50, SIZE, rng),
    "bernoulli_exp_each": lambda s, rng, wrap: [
        bernoulli_exp_each(wrap(np.arange(SIZE)), s, rng),
        bernoulli_exp_each(wrap(np.arange(SIZE, dtype=np.uint64)), s, rng),
        bernoulli_exp_each(wrap(np.arange(SIZE)[::2]), s, rng),
    ],
    "gumbel_argmax": lambda s, rng, wrap: gumbel_argmax(wrap(np.array(SCORES)), s, rng),
    "exponential_argmax": lambda s, rng, wrap: exponential_argmax(wrap(np.array(SCORES)), s, rng),
    "weighted_argmax": lambda s, rng, wrap: weighted_argmax(
        wrap(np.array(SCORES)), wrap(np.array([1, 0, 5, 2**62, 2**63 - 1, 3, 0])), s, rng
    ),
}

NOISES: dict[str, Drive] = {
    "DiscreteLaplace": lambda s, rng, wrap: noise(s).release(wrap(np.array(VALUES)), rng),
    "DiscreteGaussian": lambda s, rng, wrap: variance(s).release(wrap(np.array(VALUES)), rng),
    "TruncatedGeometric": lambda s, rng, wrap: TruncatedGeometric(scale=s, bound=2**62).release(
        wrap(np.array(VALUES)), rng
    ),
    "LinfExponential": lambda s, rng, wrap: LinfExponential(scale=s / 8, dimension=6).release(
        wrap(np.array(VALUES)), rng
    ),
    "NoisyHistogram": lambda s, rng, wrap: NoisyHistogram(noise=noise(s), cells=6).release(
        wrap(np.array(VALUES)), rng
    ),
    "UniformSmoothing": lambda s, rng, wrap: [
        UniformSmoothing(radius=radius).release(wrap(np.array(VALUES)), rng)
        for radius in (int(s), LARGEST_VALUE)
    ],
    "OnGrid": lambda s, rng, wrap: on_grid(noise(s), step="1/7", bound=10**6).release(
        wrap(np.array([0.5, -1e300, 3.25])), rng
    ),
}

RESPONSES: dict[str, Drive] = {
    "TwoCoinResponse": lambda _, rng, wrap: [
        TwoCoinResponse().randomise_all(wrap(np.arange(50) % 2), rng),
        TwoCoinResponse().randomise(1, rng),
    ],
    "CategoricalResponse": lambda s, rng, wrap: [
        CategoricalResponse(epsilon=1, categories=min(2**62 - 1, int(s) + 2)).randomise_all(
            wrap(np.arange(50) % 2), rng
        ),
        CategoricalResponse(epsilon=1, categories=2**62 - 1).randomise(2**62 - 2, rng),
    ],
    "ApproximateResponse": lambda _, rng, wrap: [
        ApproximateResponse(epsilon=1, delta="0.1").randomise_all(wrap(np.arange(50) % 2), rng),
        ApproximateResponse(epsilon=1, delta="0.1").randomise(1, rng),
    ],
    "SignOfGaussian": lambda _, rng, wrap: [
        SignOfGaussian(sigma_squared=4).randomise_all(wrap(np.arange(50) % 2 * 2 - 1), rng),
        SignOfGaussian(sigma_squared=4).randomise(-1, rng),
    ],
}

SELECTIONS: dict[str, Drive] = {
    "ExponentialMechanism": lambda s, rng, wrap: ExponentialMechanism(scale=s).select(
        wrap(np.array(SCORES)), rng
    ),
    "PermuteAndFlip": lambda s, rng, wrap: PermuteAndFlip(scale=s).select(
        wrap(np.array(SCORES)), rng
    ),
    "LaplaceNoisyMax": lambda s, rng, wrap: [
        LaplaceNoisyMax(scale=s).select(wrap(np.array(VALUES)), rng),
        LaplaceNoisyMax(scale=s).select_with_margin(wrap(np.array(VALUES)), rng),
    ],
    "TopK": lambda s, rng, wrap: TopK(scale=s, count=3).select(wrap(np.array(SCORES)), rng),
    "Quantile": lambda s, rng, wrap: [
        Quantile(quantile="1/3", lower=-bound, upper=bound, scale=s).release(
            wrap(np.array(values, dtype=np.int64)), rng
        )
        for bound in (30, LARGEST_VALUE)
        for values in ([], VALUES, SMALL_SCORES * 9)
    ],
    "QuantileEnd": lambda s, rng, wrap: [
        QuantileEnd(
            quantile="1/3", side=side, lower=-bound, upper=bound, scale=s, distance=5
        ).release(wrap(np.array(values, dtype=np.int64)), rng)
        for bound in (30, LARGEST_VALUE)
        for side in EndSide
        for values in ([], VALUES, SMALL_SCORES * 9)
    ],
    "Quantiles": lambda s, rng, wrap: [
        Quantiles(quantiles=["1/5", "1/2", "4/5"], lower=-bound, upper=bound, scale=s).release(
            wrap(np.array(values, dtype=np.int64)), rng
        )
        for bound in (30, LARGEST_VALUE // 4)
        for values in ([], VALUES, SMALL_SCORES * 9)
    ],
    "BinarySearchQuantile": lambda s, rng, wrap: [
        BinarySearchQuantile(quantile="1/3", lower=-bound, upper=bound, noise=law).release(
            wrap(np.array(VALUES)), rng
        )
        for bound in (30, LARGEST_VALUE)
        for law in (noise(s), variance(s))
    ],
}


def answer_net(rng: Rng, wrap: Callable[[Any], Any]) -> Any:
    corners = [(a, b) for a in (-(2**60), 0, 2**60) for b in (-7, 0, 2**60)]
    net = AnswerNet.calibrate(wrap(np.array(corners)), radius=9, d_in=ONE, loss=Pure(1))
    return net.release(wrap(np.array([LARGEST_VALUE, -LARGEST_VALUE])), rng)


STABILITIES: dict[str, Drive] = {
    "AnswerNet": lambda _, rng, wrap: answer_net(rng, wrap),
    "StabilityTest": lambda s, rng, _: StabilityTest(scale=s, threshold=20).passes(2**61, rng),
    "ProposeTestRelease": lambda s, rng, _: ProposeTestRelease(
        proposed=3, test=StabilityTest(scale=s, threshold=2), noise=noise(s)
    ).release(2**62, 2**61, rng),
    "StableMedian": lambda s, rng, wrap: [
        StableMedian(
            lower=-bound,
            upper=bound,
            mechanism=ProposeTestRelease(
                proposed=50, test=StabilityTest(scale=s, threshold=2), noise=noise(s)
            ),
        ).release(wrap(np.array(VALUES)), rng)
        for bound in (30, LARGEST_VALUE // 4)
    ],
    "StableMode": lambda s, rng, _: StableMode(test=StabilityTest(scale=s, threshold=2)).release(
        {"a": 5, "b": 2**60}, rng
    ),
    "ThresholdedKeys": lambda s, rng, _: [
        ThresholdedKeys(noise=law, threshold=7).release({"a": 1, "b": LARGEST_VALUE, "c": 0}, rng)
        for law in (noise(s), variance(s))
    ],
}

COUNTS = [5, 0, 2**40]
PREFIXES = PrefixQueries([{"a"}, {"ab", "c"}])


def mwem(s: Fraction, queries: LinearQueries, total: Any) -> Mwem:
    choice = ExponentialMechanism(scale=s)
    return Mwem(queries=queries, rounds=3, choice=choice, noise=variance(s), total=total)


QUERY_RELEASES: dict[str, Drive] = {
    "Mwem": lambda s, rng, wrap: [
        mwem(s, LinearQueries(wrap(np.array([[1, 1, 0], [0, -7, 2**20]]))), total)
        .release(wrap(np.array(COUNTS)), rng)
        .answers()
        for total in (2**60, noise(s))
    ],
    "SmallDatabase": lambda s, rng, wrap: SmallDatabase(
        queries=LinearQueries(wrap(np.array([[1, 1, 0], [0, -7, 9]]))), size=4, scale=s / 4
    ).release(wrap(np.array(COUNTS)), rng),
    "PrefixRelease": lambda s, rng, _: PrefixRelease(
        prefixes=PREFIXES, inner=mwem(s, PREFIXES.linear, noise(s))
    ).release(["abc", "a", "", "cc"], rng),
}


def vector(s: Fraction) -> SparseVector:
    return SparseVector(
        threshold_noise=noise(s),
        query_noise=variance(s),
        most_above=2,
        most_queries=100,
        redraw=Redraw.AFTER_ABOVE,
    )


def halting(s: Fraction) -> HaltingSparseVector:
    return HaltingSparseVector(
        threshold_noise=variance(s), query_noise=variance(s), ceiling=LARGEST_VALUE, most_above=2
    )


def machines(s: Fraction, rng: Rng, wrap: Callable[[Any], Any]) -> None:
    """Ask every machine with a threshold, of the largest values about the largest threshold."""
    opened: list[Any] = [
        mechanism.open(threshold=LARGEST_VALUE, d_in=ONE, rng=rng)
        for mechanism in (
            vector(s),
            halting(s),
            StageWise(stage=vector(s), most_above=5),
            NumericSparse(vector=vector(s), value_noise=noise(s)),
        )
    ]
    for machine in opened:
        machine.ask_many(wrap(np.array(VALUES)))
        if not machine.ended:
            machine.ask(-LARGEST_VALUE, threshold=LARGEST_VALUE)


def between(s: Fraction, rng: Rng, wrap: Callable[[Any], Any]) -> None:
    gap = min(10**6 * (1 + int(s)), 2**60)
    for centre in (0, LARGEST_VALUE - gap):
        machine = BetweenThresholds(
            threshold_scale=s, query_scale=s, lower=centre - gap, upper=centre + gap
        )
        run = machine.open(d_in=ONE, epsilon=10 + 10 / s, rng=rng)
        run.ask_many(wrap(np.array([-LARGEST_VALUE, LARGEST_VALUE])))
        if not run.ended:
            run.ask(0)


def points(s: Fraction, rng: Rng, wrap: Callable[[Any], Any]) -> None:
    """Cut and search sorted values, with noise of the scale in the cuts."""
    chunk = InteriorPoint.calibrate(loss=LOSS, queries=10, beta="0.05")
    rows = wrap(np.array(VALUES * 400))
    run = chunk.open(rows, d_in=ONE, rng=rng)
    run.ask_many(wrap(np.array([-LARGEST_VALUE, 0, LARGEST_VALUE])))
    run.ask(5)
    thresholds = AdaptiveThresholds(depth=3, cut_scale=s, chunk=chunk)
    for size in (2400, LARGEST_VALUE):
        whole = thresholds.open(rows, size=size, d_in=ONE, rng=rng)
        whole.ask_many(wrap(np.array([-LARGEST_VALUE, 0, LARGEST_VALUE])))
        whole.ask(5)


def guesses(s: Fraction, rng: Rng, wrap: Callable[[Any], Any]) -> None:
    """Ask machines that guess, with thresholds so low and so high that both answers come."""
    for threshold in (1, LARGEST_VALUE // 4):
        checks = GuessAndCheck(
            vector=vector(s), value_noise=variance(s), threshold=threshold, lower=-3, upper=5
        )
        opened: list[Any] = [
            checks.open(
                wrap(np.array(COUNTS)), guess=PublicWeights(cells=3, total=7), d_in=ONE, rng=rng
            ),
            PrivateMultiplicativeWeights(checks=checks, cells=3, total=noise(s)).open(
                wrap(np.array(COUNTS)), d_in=ONE, rng=rng
            ),
            MedianMechanism(checks=checks, cells=3, size=4, total=2**60).open(
                wrap(np.array(COUNTS)), d_in=ONE, rng=rng
            ),
        ]
        for machine in opened:
            machine.ask_many(wrap(np.array([[1, 0, 0], [-3, 5, 1], [0, 0, 1]])))
            if not machine.ended:
                machine.ask(wrap(np.array([0, 1, 1])))


THRESHOLDS: dict[str, Drive] = {
    "machines": machines,
    "between": between,
    "points": points,
    "guesses": guesses,
}


def boundary(s: Fraction, rng: Rng, wrap: Callable[[Any], Any]) -> None:
    """Bring the words that never come by chance: on a threshold, on a half, and nothing but 0."""
    table = block_table(NoiseLaw(Fraction(0), 1 / s))
    word = int(table.thresholds[0])
    first = first_word(table.blocks, word >> 48, table.blocks.width - 1)
    script = ScriptedRng([first, word << 16 & 2**64 - 1], then=rng)
    fill(table, wrap(np.empty(1, dtype=np.int64)), script)
    alike = wrap(np.array([5, 5]))
    gumbel_argmax(alike, s, ScriptedRng([2**63], then=rng))
    weighted_argmax(alike, wrap(np.array([1, 1])), s, ScriptedRng([2**63], then=rng))
    bernoulli("1/2", 1, ScriptedRng([2**63], then=rng))
    bernoulli_exp_each(wrap(np.array([0])), s, ScriptedRng([2**64 - 1], then=rng))
    median = Quantile(quantile="1/2", lower=0, upper=10**6, scale="1/9")
    median.release(wrap(np.arange(1000)), ScriptedRng([0], then=rng))


BOUNDARIES: dict[str, Drive] = {"boundary words": boundary}

DRIVES = (
    SAMPLERS
    | NOISES
    | RESPONSES
    | SELECTIONS
    | STABILITIES
    | QUERY_RELEASES
    | THRESHOLDS
    | BOUNDARIES
)
SCALES = (Fraction(7, 2), Fraction(10**6), Fraction(2**50))
