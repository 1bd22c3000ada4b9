"""The rules of composition against exact finite worlds, and what broke them before."""

from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.errors import InvalidArgument, RefusedQuery
from discreet.core.numbers import log_bounds
from discreet.noiseless.composition import (
    ComposedReleases,
    CompositionRule,
    ExactStatistic,
    NoisyRelease,
    RowSet,
    compose_with_premises,
    require_composable,
)

ALL = RowSet("students", table="exams")
BY_CAMPUS = {"table": "exams", "split": "campus"}
NORTH = RowSet("students", **BY_CAMPUS, parts={"north"})
SOUTH = RowSet("students", **BY_CAMPUS, parts={"south"})
BOTH = RowSet("students", **BY_CAMPUS, parts={"north", "south"})


def total(name, rows, *features, epsilon="0.5", delta="1e-6", **more):
    return ExactStatistic(name, rows, features or {"sum(score)"}, epsilon, delta, **more)


def divergence(first, second, growth):
    keys = set(first) | set(second)
    one = sum(max(first.get(k, 0) - growth * second.get(k, 0), 0) for k in keys)
    two = sum(max(second.get(k, 0) - growth * first.get(k, 0), 0) for k in keys)
    return max(one, two)


def law(weights):
    whole = sum(weights)
    return {index: Fraction(weight, whole) for index, weight in enumerate(weights)}


laws = st.lists(st.integers(1, 30), min_size=2, max_size=2).map(law)
growths = st.fractions(1, 3, max_denominator=7)


def worlds(joint, new_if, simulated_if):
    """Real (F, G) and simulated (Sim F, Sim G), from (F, Sim G), G if F, and Sim F if Sim G.

    ``joint`` is a law on pairs (f, s), as numbers 2 f + s.
    """
    real: dict[tuple[int, int], Fraction] = {}
    simulated: dict[tuple[int, int], Fraction] = {}
    for pair, chance in joint.items():
        f, s = divmod(pair, 2)
        for g, p in new_if[f].items():
            real[f, g] = real.get((f, g), Fraction(0)) + chance * p
        for t, p in simulated_if[s].items():
            simulated[t, s] = simulated.get((t, s), Fraction(0)) + chance * p
    return real, simulated


def conditional(joint, index, value):
    """The law of the other entry of a pair, where one is given."""
    chosen = {divmod(k, 2)[1 - index]: p for k, p in joint.items() if divmod(k, 2)[index] == value}
    whole = sum(chosen.values())
    return {key: p / whole for key, p in chosen.items()}


@given(
    joint=st.lists(st.integers(1, 30), min_size=4, max_size=4).map(law),
    new_if=st.tuples(laws, laws),
    simulated_if=st.tuples(laws, laws),
    growth=st.tuples(growths, growths),
)
def test_the_theorem_bounds_every_small_world(joint, new_if, simulated_if, growth):
    """Both premises are computed exactly, F and G may depend on one another in any way."""
    real, simulated = worlds(joint, new_if, simulated_if)
    of_new = max(divergence(new_if[f], conditional(joint, 0, f), growth[1]) for f in (0, 1))
    of_old = max(divergence(conditional(joint, 1, s), simulated_if[s], growth[0]) for s in (0, 1))
    old_epsilon, new_epsilon = (log_bounds(one)[1] for one in growth)
    before = ComposedReleases(CompositionRule.FIRST, old_epsilon, of_old, "")
    new = total("b", ALL, epsilon=new_epsilon, delta=of_new)
    found = compose_with_premises(before, new)
    assert divergence(real, simulated, growth[0] * growth[1]) <= found.delta


def test_the_larger_delta_alone_would_not_do():
    """A broken twin: the pair of two that lose (0, 1/4) loses more than (0, 1/4)."""
    tilted = {0: Fraction(3, 4), 1: Fraction(1, 4)}
    real, simulated = worlds(tilted, ({0: Fraction(1)},), (tilted, tilted))
    exact = divergence(real, simulated, 1)
    found = compose_with_premises(
        ComposedReleases(CompositionRule.FIRST, Fraction(0), Fraction(1, 4), ""),
        total("b", ALL, epsilon=0, delta="1/4"),
    )
    assert exact == Fraction(7, 16)
    assert exact <= found.delta == Fraction(1, 2)


def test_other_id_spaces_do_not_replace_what_was_lost():
    """A release about other people, in between, made an earlier one of these forgotten."""
    earlier = [total("a", NORTH, epsilon=5), total("x", RowSet("staff"), epsilon="0.1")]
    found = require_composable(earlier, total("b", SOUTH, epsilon=1))
    assert found.rule is CompositionRule.PARALLEL
    assert found.epsilon == 5
    again = require_composable(earlier, total("again", NORTH))
    assert again.rule is CompositionRule.AGAIN
    assert again.epsilon == 5
    noisy = [total("a", NORTH), NoisyRelease("n", "staff", epsilon=7)]
    assert require_composable(noisy, total("b", SOUTH)).epsilon == Fraction(1, 2)


def test_a_law_is_asserted_given_what_overlaps_what_overlaps_it():
    """North and both tell the south: given both alone, a total of the south but one is a leak."""
    north = total("north", NORTH)
    both = total("both", BOTH, given={"north"}, robust={"north"})
    rest = total("rest", SOUTH, "sum(score) but one", given={"both"}, robust={"both"})
    with pytest.raises(RefusedQuery, match="A release of both links 'rest' with 'north'"):
        require_composable([north, both], rest)
    with pytest.raises(RefusedQuery, match="'alone' and 'both' could be subtracted"):
        require_composable([north, both], total("alone", SOUTH, "sum(score) but one"))
    named = total("rest", SOUTH, "x", given={"both", "north"}, robust={"both", "north"})
    assert require_composable([north, both], named).rule is CompositionRule.PREMISES
    apart = total("far", RowSet("students", **BY_CAMPUS, parts={"west"}))
    assert require_composable([north, both], apart).rule is CompositionRule.PARALLEL
    # The exact attack: 3 fair bits north, 3 south. All three releases tell the first of the south.
    told: dict[int, set[Any]] = {0: set(), 1: set()}
    for bits in product((0, 1), repeat=6):
        told[bits[3]].add((sum(bits[:3]), sum(bits), sum(bits[4:])))
    assert not told[0] & told[1]


def test_a_noisy_release_links_all_rows():
    earlier = [total("north", NORTH), NoisyRelease("n", "students", epsilon=1, robust={"north"})]
    with pytest.raises(RefusedQuery, match="'north'"):
        require_composable(earlier, total("south", SOUTH, given={"n"}))
    named = total("south", SOUTH, given={"n", "north"}, robust={"north"})
    assert require_composable(earlier, named).epsilon == 2


def test_monthly_totals_are_differencing():
    june = total("june", RowSet("students", table="exams", version=6))
    july = total("july", RowSet("students", table="exams", version=7))
    with pytest.raises(RefusedQuery, match="versions 6 and 7"):
        require_composable([june], july)


def test_the_same_again_is_free_however_often():
    earlier = [total("a", ALL, "sum(x)", "sum(y)")]
    first = require_composable([], earlier[0])
    for name in ("b", "c", "d"):
        new = total(name, ALL, "sum(y)", epsilon=9, delta="0.5")
        found = require_composable(earlier, new)
        assert (found.rule, found.epsilon) == (CompositionRule.AGAIN, first.epsilon)
        assert found.delta == first.delta
        earlier.append(new)


def test_one_name_serves_one_release():
    earlier = [total("a", NORTH), total("a", SOUTH)]
    with pytest.raises(InvalidArgument, match="called 'a'"):
        require_composable(earlier, total("b", ALL, given={"a"}, robust={"a"}))
    assert require_composable([total("a", NORTH)] * 2, total("b", SOUTH)).epsilon == Fraction(1, 2)


def test_huge_losses_say_nothing_and_do_not_break():
    before = total("a", ALL, epsilon=10**9, delta="1e-300")
    new = total("b", ALL, "max", epsilon=10**9, delta=0, given={"a"}, robust={"a"})
    found = require_composable([before], new)
    assert found.epsilon == 2 * 10**9
    assert found.delta == 1
    pure = total("c", ALL, epsilon=10**9, delta=0)
    assert (
        require_composable([pure], total("b", ALL, "m", given={"c"}, robust={"c"}, delta=0)).delta
        == 0
    )
    for delta in (2, "1.001", -1):
        with pytest.raises(InvalidArgument):
            total("a", ALL, delta=delta)
