"""The adaptive game: bounds hold against adversaries, and gates that are none are broken."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting.composition import compose as composing
from discreet.accounting.filters.rules import admits
from discreet.audit.finite_divergence import FiniteLaw
from discreet.audit.game import Move, fixed, play
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Approximate, Pure
from discreet.core.numbers import log_bounds

SLACK = Fraction(1, 10**12)


def compose_epsilon(losses, **options):
    return composing.compose_epsilon(losses, **options)


def compose_delta(losses, **options):
    return composing.compose_delta(losses, **options)


def log_up(ratio: Fraction) -> Fraction:
    return log_bounds(ratio, 128)[1]


def response(ratio: Fraction) -> Move:
    """Randomised response at odds ``ratio``, on the bits 0 and 1."""
    truth, lie = ratio / (1 + ratio), 1 / (1 + ratio)
    return Move(
        mechanism=lambda bit: {bit: truth, 1 - bit: lie},
        neighbours=(0, 1),
        loss=Pure(log_up(ratio)),
    )


def processed(ratio: Fraction, delta: Fraction, channel: Mapping[Any, FiniteLaw]) -> Move:
    """Any mechanism of this loss: the complete one, post-processed by ``channel``."""

    def mechanism(bit: int) -> FiniteLaw:
        masses: dict[object, Fraction] = {}
        complete = {
            (bit, True): delta,
            (bit, False): (1 - delta) * ratio / (1 + ratio),
            (1 - bit, False): (1 - delta) / (1 + ratio),
        }
        for outcome, mass in complete.items():
            for answer, chance in channel[outcome].items():
                masses[answer] = masses.get(answer, Fraction(0)) + mass * chance
        return masses

    return Move(mechanism=mechanism, neighbours=(0, 1), loss=Approximate(log_up(ratio), delta))


def test_fixed_responses_attain_the_optimum():
    moves = [response(Fraction(2)), response(Fraction(3)), response(Fraction(2))]
    game = play(fixed(moves))
    losses = [move.loss for move in moves]
    for epsilon in (0, Fraction(1, 2), 1, 2):
        bound = compose_delta(losses, epsilon=epsilon).loss.delta
        assert abs(game.delta(epsilon)[0] - bound) < SLACK


def test_the_second_mechanism_may_depend_on_the_first_answer():
    # After a 0 the adversary asks again the same way; after a 1 it asks about the other input,
    # through a mechanism that is one-sided. The losses stay what they were.
    one_sided = Move(
        mechanism=lambda bit: {"alarm": Fraction(bit + 1, 4), "quiet": Fraction(3 - bit, 4)},
        neighbours=(1, 0),
        loss=Pure(log_up(Fraction(2))),
    )

    def adversary(view):
        if len(view) == 1:
            return response(Fraction(2))
        if len(view) == 2:
            return response(Fraction(2)) if view[1] == 0 else one_sided
        return None

    game = play(adversary)
    assert {view[2] for view in game.views[0] if view[1] == 1} == {"alarm", "quiet"}
    losses = [Pure(log_up(Fraction(2)))] * 2
    for epsilon in (0, Fraction(1, 4), Fraction(1, 2), 1):
        bound = compose_delta(losses, epsilon=epsilon).loss.delta
        assert game.delta(epsilon)[0] <= bound
    assert game.delta(Fraction(1, 2))[0] > 0


rows = st.lists(st.integers(0, 5), min_size=3, max_size=3).filter(any)
channels = st.fixed_dictionaries(
    {
        outcome: rows.map(lambda row: {i: Fraction(w, sum(row)) for i, w in enumerate(row)})
        for outcome in ((0, True), (1, True), (0, False), (1, False))
    }
)
ratio_pairs = st.lists(
    st.tuples(
        st.fractions(min_value=1, max_value=3, max_denominator=4),
        st.sampled_from([Fraction(0), Fraction(1, 20)]),
    ),
    min_size=2,
    max_size=3,
)


@settings(max_examples=40, deadline=None)
@given(ratio_pairs, st.data())
def test_adaptive_mechanisms_of_fixed_losses_keep_the_bound(pairs, data):
    def adversary(view):
        if len(view) > len(pairs):
            return None
        ratio, delta = pairs[len(view) - 1]
        return processed(ratio, delta, data.draw(channels))

    game = play(adversary)
    losses = [Approximate(log_up(ratio), delta) for ratio, delta in pairs]
    for epsilon in (Fraction(0), Fraction(1, 3), Fraction(1)):
        assert game.delta(epsilon)[0] <= compose_delta(losses, epsilon=epsilon).loss.delta
    bound = compose_epsilon(losses, delta="0.2").loss
    assert game.delta(bound.epsilon)[0] <= bound.delta


def test_an_adversary_with_coins_gains_nothing():
    coins = {"a": Fraction(1, 3), "b": Fraction(2, 3)}
    moves = {"a": response(Fraction(2)), "b": response(Fraction(3))}
    game = play(lambda view: moves[view[0]] if len(view) == 1 else None, coins=coins)
    bound = compose_delta([Pure(log_up(Fraction(3)))], epsilon="0.5").loss.delta
    assert game.delta("0.5")[0] <= bound
    assert sum(game.views[0].values()) == sum(game.views[1].values()) == 1


def test_optimal_composition_is_no_stopping_rule():
    r"""Every path keeps (ln 3, 3/7) by the exact optimum; all of them together do not.

    After the likely first answer the adversary asks once at odds 6, after the other twice at odds
    13/4. Each of the two sequences, had it been fixed, is within the cap. But the first wastes none
    of its δ on the unlikely branch and the second wastes none on the likely one, so their sum is
    20 % above the cap. A gate must therefore not ask a composition theorem for fixed losses.
    """
    cap_epsilon, cap_delta = log_up(Fraction(3)), Fraction(3, 7)
    first, likely, unlikely = (response(Fraction(r)) for r in ("2", "6", "13/4"))

    def adversary(view):
        if len(view) == 1:
            return first
        if view[1] == 0:
            return likely if len(view) == 2 else None
        return unlikely if len(view) <= 3 else None

    game = play(adversary)
    paths = set(game.spent.values())
    assert len(paths) == 2
    for losses in paths:
        assert compose_delta(losses, epsilon=cap_epsilon).loss.delta <= cap_delta + SLACK
    assert game.delta(cap_epsilon)[0] > cap_delta * Fraction(119, 100)
    # The gates that are gates add up ε, and would have let through neither sequence.
    cap = Approximate(cap_epsilon, cap_delta)
    for second in (likely, unlikely):
        spent, asked = (Approximate(move.loss.epsilon, 0) for move in (first, second))
        assert not admits(cap, spent, asked)
    assert not admits(Pure(cap_epsilon), first.loss, likely.loss)
    assert not admits(Pure(cap_epsilon), first.loss, unlikely.loss)


def test_the_same_with_approximate_losses():
    # A δ in one branch, an ε in the other: each path keeps (ε, δ), the game does not.
    ratio, cap = Fraction(2), Fraction(3)
    told = {(bit, sure): {(bit, sure): Fraction(1)} for bit in (0, 1) for sure in (True, False)}
    cap_delta = Fraction(3, 7)
    all_delta = processed(Fraction(1), cap_delta, told)

    def adversary(view):
        if len(view) == 1:
            return response(ratio)
        if len(view) == 2:
            return response(Fraction(6)) if view[1] == 0 else all_delta
        return None

    game = play(adversary)
    for losses in set(game.spent.values()):
        assert compose_delta(losses, epsilon=log_up(cap)).loss.delta <= cap_delta + SLACK
    assert game.delta(log_up(cap))[0] > cap_delta * Fraction(13, 10)


def test_what_the_approximate_filter_lets_through_keeps_the_cap():
    """The adversary spends ε in one branch and δ in the other; the filter's cap holds exactly."""
    told = {(bit, sure): {(bit, sure): Fraction(1)} for bit in (0, 1) for sure in (True, False)}
    first = response(Fraction(2))
    wide = response(Fraction(3, 2))
    leak = processed(Fraction(1), Fraction(1, 10), told)
    cap = Approximate(log_up(Fraction(3)) + SLACK, Fraction(1, 10))

    def adversary(view):
        if len(view) == 1:
            return first
        return (wide if view[1] == 0 else leak) if len(view) == 2 else None

    game = play(adversary)
    for losses in set(game.spent.values()):
        total = sum(
            (Approximate(loss.epsilon, getattr(loss, "delta", 0)) for loss in losses[1:]),
            Approximate(losses[0].epsilon, 0),
        )
        assert total <= cap
    assert game.delta(cap.epsilon)[0] <= cap.delta


def test_a_move_that_breaks_its_promise_is_refused():
    liar = Move(
        mechanism=lambda bit: {bit: Fraction(3, 4), 1 - bit: Fraction(1, 4)},
        neighbours=(0, 1),
        loss=Pure(1),
    )
    with pytest.raises(InvalidArgument, match="breaks its promise"):
        play(fixed([liar]))


def test_endless_games_are_cut_and_wide_ones_refused():
    game = play(lambda view: response(Fraction(2)), rounds=3)
    assert {len(view) for view in game.views[0]} == {4}
    many = {i: Fraction(1, 2000) for i in range(2000)}
    wide = Move(mechanism=lambda bit: many, neighbours=(0, 1), loss=Pure(0))
    with pytest.raises(Unsupported, match="too many views"):
        play(fixed([wide] * 3))
