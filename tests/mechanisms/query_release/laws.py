"""Exact laws of query releases, worked out without the code that draws them.

What a guess makes of public numbers is public, so it is taken from the package. All that touches a
histogram is done here again: answers, scores, distances and the laws of choices and noise.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.audit.exponential_sum import exp
from discreet.audit.law_pair import LawPair
from discreet.audit.laws import EnclosedLaw, ExactLaw, enclosed
from discreet.mechanisms.query_release.guess_and_check import GuessAndCheck, PublicGuess
from discreet.mechanisms.query_release.mwem import MeasuredGuess, Mwem
from discreet.mechanisms.query_release.row_total import CountNoise
from tests.mechanisms.selection.laws import exponential_law
from tests.mechanisms.thresholds.transcripts import (
    CERTAIN,
    ONE,
    Ends,
    Sums,
    complement,
    fixed,
    minus,
    stopping_law,
    tail,
    times,
)

Window = tuple[int, int]
"""Noisy values are listed between two numbers; what is beyond is one outcome with the end.

That is exact. Beyond both truths the ratio of two discrete Laplace laws is constant; and if the
window holds all answers that the guess thinks possible, the guess learns the same from every value
beyond an end.
"""

Rows = Sequence[int]
Choice = Callable[[Sequence[int], Fraction], Any]


def answer(query: Rows, rows: Rows) -> int:
    return sum(int(q) * int(x) for q, x in zip(query, rows, strict=True))


def weighted(query: Rows, shares: Sequence[Fraction]) -> Fraction:
    return sum((q * share for q, share in zip(query, shares, strict=True)), Fraction(0))


def both(law: Callable[[Rows], Any], first: Rows, second: Rows) -> LawPair:
    """The laws of one mechanism on two neighbouring histograms."""
    return LawPair(first=law(first), second=law(second))


def clamped(noise: CountNoise, truth: int, window: Window) -> dict[int, Ends]:
    """The law of an answer with noise, moved into the window."""
    low, high = window
    assert low < truth < high
    masses = {
        value: minus(tail(noise, value - truth), tail(noise, value + 1 - truth))
        for value in range(low, high)
    }
    return masses | {low: complement(tail(noise, low + 1 - truth)), high: tail(noise, high - truth)}


# ---------------------------------------------------------------- MWEM


def best(scores: Sequence[int], scale: Fraction) -> ExactLaw:
    """The twin of a choice: the worst query for certain, without any noise on the scores."""
    return ExactLaw({max(range(len(scores)), key=lambda i: (scores[i], -i)): Fraction(1)})


def mwem_law(
    mechanism: Mwem, rows: Rows, *, window: Window, choice: Choice = exponential_law
) -> EnclosedLaw:
    """The law of the total, the choices and the values."""
    table = mechanism.queries.table.tolist()
    exact = [answer(query, rows) for query in table]
    states = Sums()
    for total, mass in _totals(mechanism, sum(rows), window).items():
        states.add((max(1, total),), mass)
    for _ in range(mechanism.rounds):
        longer = Sums()
        path: Any
        for path, (low, high) in states.items():
            guessed = _guessed(mechanism, path)
            scores = [abs(x - g) for x, g in zip(exact, guessed, strict=True)]
            shares = enclosed(choice(scores, mechanism.choice.scale)).masses
            for index, ends in shares.items():
                here = times((low, high), fixed(*ends))
                for value, chance in clamped(mechanism.noise, exact[index], window).items():
                    longer.add((*path, (index, value)), times(here, chance))
        states = longer
    return states.law(0)


def _totals(mechanism: Mwem, count: int, window: Window) -> dict[int, Ends]:
    total = mechanism.total
    return {total: CERTAIN} if isinstance(total, int) else clamped(total, count, window)


def _guessed(mechanism: Mwem, path: Any) -> list[int]:
    history = MeasuredGuess(mechanism.queries, total=path[0], passes=mechanism.passes)
    for index, value in path[1:]:
        history.learn(index, value)
    return [history.guess.answer(query) for query in mechanism.queries.table]


# ---------------------------------------------------------------- guess and check


def checks_law(
    checks: GuessAndCheck,
    rows: Rows,
    queries: Sequence[Rows],
    *,
    guess: Callable[[], PublicGuess],
    window: Window,
    is_exact: bool = False,
) -> EnclosedLaw:
    """The law of which queries are measured, and as what; ``is_exact`` compares without noise.

    Noise of the threshold is listed as far as anything of any size is.
    """
    sums = Sums()
    reach = 50 * int(checks.vector.threshold_noise.spread + 1)

    def go(path: tuple[tuple[int, int], ...], start: int, mass: Ends) -> None:
        if len(path) == checks.most_above or start == len(queries):
            sums.add(path, mass)
            return
        now = guess()
        for place, value in path:
            now.learn(np.array(queries[place]), value)
        distances = [
            abs(answer(query, rows) - now.answer(np.array(query))) - checks.threshold
            for query in queries[start:]
        ]
        for place, ends in _first_above(checks, distances, reach, is_exact).items():
            here = times(mass, fixed(*ends))
            if place is None:
                sums.add(path, here)
                continue
            truth = answer(queries[start + place], rows)
            for value, chance in clamped(checks.value_noise, truth, window).items():
                go((*path, (start + place, value)), start + place + 1, times(here, chance))

    go((), 0, CERTAIN)
    return sums.law(ONE >> 60)


def _first_above(
    checks: GuessAndCheck, distances: Sequence[int], reach: int, is_exact: bool
) -> Mapping[Any, tuple[Fraction, Fraction]]:
    if is_exact:
        first = next((i for i, far in enumerate(distances) if far >= 0), None)
        return {first: (Fraction(1), Fraction(1))}
    law = stopping_law(
        distances,
        threshold_noise=checks.vector.threshold_noise,
        query_noise=checks.vector.query_noise,
        reach=reach,
    )
    assert law.outside < Fraction(1, 1 << 70)
    return law.masses


# ---------------------------------------------------------------- SmallDB


def databases(cells: int, size: int) -> list[tuple[int, ...]]:
    """All histograms of ``size`` rows, by trying all."""
    every = itertools.product(range(size + 1), repeat=cells)
    return [one for one in every if sum(one) == size]


def off(queries: Sequence[Rows], rows: Rows, small: Rows) -> Fraction:
    """By how many rows a small data set is off, at worst."""
    share = Fraction(sum(rows), sum(small))
    return max(abs(answer(q, rows) - share * answer(q, small)) for q in queries)


def small_law(queries: Sequence[Rows], rows: Rows, *, size: int, scale: Fraction) -> ExactLaw:
    cells = len(queries[0])
    return ExactLaw({y: exp(-off(queries, rows, y) / scale) for y in databases(cells, size)})


def shares_law(
    queries: Sequence[Rows], rows: Rows, *, size: int, scale: Fraction, declared: int
) -> ExactLaw:
    """The twin: answers are divided by the true number of rows, and scaled to a declared one."""
    cells, count = len(queries[0]), sum(rows)

    def far(y: Rows) -> Fraction:
        return max(
            abs(Fraction(answer(q, rows), count) - Fraction(answer(q, y), size)) for q in queries
        )

    return ExactLaw({y: exp(-declared * far(y) / scale) for y in databases(cells, size)})
