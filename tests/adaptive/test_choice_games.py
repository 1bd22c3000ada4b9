"""Games of choices, and monitors that draw: laws by enumeration, and audits that refute."""

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

from discreet.adaptive.choice_games import LeastLoss, NoisyChoices, play_choices
from discreet.adaptive.games import (
    ExactMechanism,
    FinitePopulation,
    FixedAnalyst,
    GameKind,
    SignAnalyst,
    play,
    play_on,
)
from discreet.adaptive.guarantee import STEPS
from discreet.adaptive.monitors import audit_picks, draw_question, watch, watch_choices
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Approximate
from discreet.mechanisms.selection.exponential_mechanism import ExponentialMechanism
from tests.support.statistics.exact_tests import alpha, cells_p_value


class Watched:
    """A mechanism that notes how many questions it sees at once, and an analyst what it is told."""

    def __init__(self):
        self.seen, self.told = [], []

    def open(self, sample, rng):
        return self

    def choose(self, questions):
        self.seen.append(len(questions))
        return [1] * len(questions)

    def ask(self, number, choices):
        self.told.append((number, len(choices)))
        return np.array([[0.0, 1.0], [1.0, 0.0]])


@pytest.mark.parametrize(
    ("kind", "seen", "told"),
    [
        ("offline", [3], [(0, 0), (1, 0), (2, 0)]),
        ("online", [1, 1, 1], [(0, 0), (1, 0), (2, 0)]),
        ("adaptive", [1, 1, 1], [(0, 0), (1, 1), (2, 2)]),
    ],
)
def test_who_sees_what_and_how_far_off_it_is(kind, seen, told, rng):
    watched = Watched()
    played = play_choices(
        kind,
        population=FinitePopulation(np.array([0.75, 0.25])),
        rows=10,
        questions=3,
        mechanism=watched.open,
        analyst=watched,
        rng=rng,
    )
    assert (watched.seen, watched.told) == (seen, told)
    assert played.of_population == (0.5, 0.5, 0.5), "0.75 instead of 0.25"
    assert played.contrasts[0].tolist() == [-1.0, 1.0]
    gap = played.overfitted[0]
    assert gap == pytest.approx(played.of_population[0] - played.of_sample[0], abs=1e-9) or (
        played.of_sample[0] == 0
    )


class Coins:
    """Asks for the best of many random losses, of which one is a little better in truth."""

    def __init__(self, seed, size=500, count=150):
        random = np.random.default_rng(seed)
        self.losses = random.integers(0, 2, (count, size)).astype(float)
        self.losses[0] = np.where(np.arange(size) % 100 < 48, 1.0, 0.0)

    def ask(self, number, choices):
        return self.losses


def choices(mechanism, runs, rng, rows=50):
    return [
        play_choices(
            GameKind.ADAPTIVE,
            population=FinitePopulation.uniform(500),
            rows=rows,
            questions=1,
            mechanism=mechanism,
            analyst=Coins(seed),
            rng=rng,
        )
        for seed in range(runs)
    ]


def test_an_audit_refutes_the_least_loss_and_not_the_exponential_mechanism(rng):
    """Each pick is the worse of two games; a row moves a sum by one, so a scale of 2/ε is ε-DP.

    An excess of the naive is .40 with a deviation of .16 (3,000 picks), and at least -1: the mean
    of 500 is below .3 with a chance of 1e-14, by Bernstein's inequality. The audit asks for .296.
    """
    private = ExponentialMechanism(scale=40 * STEPS)
    claim = Approximate(private.loss(Contribution(linf=STEPS)).epsilon, 0)
    sure = repr(1 - alpha("adaptive/choices"))

    def picked(mechanism, runs):
        games = choices(mechanism, runs, rng, rows=10)
        return [watch_choices(games[at : at + 2]) for at in range(0, runs, 2)]

    naive = audit_picks(picked(LeastLoss, 1_000), claim, samples=2, width=2)
    assert naive.is_refuted
    assert naive.gap > 0.3
    honest = picked(NoisyChoices.with_mechanism(private), 240)
    assert not audit_picks(honest, claim, samples=2, width=2, confidence=sure).is_refuted


def test_a_monitor_takes_the_worst_choice_of_all_games(rng):
    games = choices(LeastLoss, 5, rng)
    worst = watch_choices(games)
    assert worst.error == max(one.of_population[0] for one in games)
    assert worst.excess == games[worst.game].overfitted[0]
    assert worst.error <= worst.excess + 1e-12, "what is best on the sample is off by overfitting"


def test_a_draw_has_the_law_of_the_repaired_sampler(rng):
    """Two games of five rows with excesses of 0.3 and -0.1: weights e^{ε s n/2} for ± both.

    The printed sampler has twice the exponent; the same draws refute it.
    """
    population, epsilon = FinitePopulation(np.array([0.5, 0.5])), 1.0
    games = [
        play_on(
            np.array(sample),
            GameKind.ONLINE,
            population=population,
            questions=1,
            mechanism=ExactMechanism,
            analyst=FixedAnalyst(np.array([[1.0, 0.0]])),
            rng=rng,
        )
        for sample in ([8, 2], [4, 6])
    ]
    runs = 4_000
    drawn = [draw_question(games, rows=10, epsilon=1, rng=rng) for _ in range(runs)]
    counts = Counter((one.game, round(one.excess, 6)) for one in drawn)
    excesses = [(0, 0.3), (0, -0.3), (1, 0.1), (1, -0.1)]
    seen = [counts[one] for one in excesses]
    assert sum(seen) == runs
    level = alpha("adaptive/draws")
    for factor, is_right in ((1, True), (2, False)):
        weights = np.exp([factor * epsilon * one * 10 / 2 for _, one in excesses])
        cells = dict(enumerate((weights / weights.sum()).tolist()))
        p_value = cells_p_value(np.repeat(range(4), seen), cells)
        assert bool(p_value > level) is is_right
    mean = np.mean([one.excess for one in drawn])
    assert mean >= 0.3 - 2 / 10 * math.log(4), "the lemma of Gibbs"
    for one in drawn[:20]:
        assert one.excess == pytest.approx(
            one.question @ (np.array([[8, 2], [4, 6]])[one.game] / 10 - 0.5)
        )


def test_audits_of_picks_from_many_games(rng):
    coins = np.random.default_rng(1).integers(0, 2, (60, 500)).astype(float)

    def games(count):
        return [
            play(
                "adaptive",
                population=FinitePopulation.uniform(500),
                rows=40,
                questions=60,
                mechanism=ExactMechanism,
                analyst=SignAnalyst(coins),
                rng=rng,
            )
            for _ in range(count)
        ]

    parts = [games(3) for _ in range(50)]
    for picks in (
        [watch(part) for part in parts],
        [draw_question(part, rows=40, epsilon="0.5", rng=rng) for part in parts],
    ):
        claim = Approximate("0.05", "1e-6")
        assert audit_picks(picks, claim, samples=3, confidence="0.5").is_refuted
        assert not audit_picks(picks, Approximate(9, 0), samples=3).is_refuted
    with pytest.raises(InvalidArgument, match="nothing to audit"):
        audit_picks([], Approximate(1, 0))


def test_bad_questions(rng):
    wrongs: tuple[Any, ...] = (np.ones(3), np.ones((2, 4)), np.ones((0, 3)))
    for wrong in wrongs:
        with pytest.raises(InvalidArgument, match="another universe"):
            play_choices(
                "online",
                population=FinitePopulation.uniform(3),
                rows=5,
                questions=1,
                mechanism=LeastLoss,
                analyst=type("Asks", (), {"ask": lambda self, number, told, w=wrong: w})(),
                rng=rng,
            )
