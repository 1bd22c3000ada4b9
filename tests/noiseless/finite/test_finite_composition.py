"""The composition theorem, with its premises computed, against the least δ of both releases."""

from fractions import Fraction

import pytest
from hypothesis import given, settings

from discreet.core.errors import InvalidArgument
from discreet.noiseless.finite.coupled_pairs import individuals
from discreet.noiseless.finite.coupled_worlds import check_coupled_worlds
from discreet.noiseless.finite.finite_composition import check_premises, jointly
from discreet.noiseless.finite.finite_model import certain
from discreet.noiseless.finite.separations import differenced_sums
from tests.noiseless.finite.models import EPSILONS, PAIRS, finite_models


@settings(max_examples=15, deadline=None)
@given(finite_models(laws=2), finite_models(laws=1, outputs=2), EPSILONS, EPSILONS)
def test_both_releases_are_within_what_the_theorem_says(model, other, first, second):
    """[Gro14, theorem 5.6], on random mechanisms, laws and knowledge."""
    promised = check_premises(model, other.mechanism, PAIRS, (first, second))
    both = model.with_laws(model.laws)
    joint = type(both)(jointly(model.mechanism, other.mechanism), model.laws)
    assert check_coupled_worlds(joint, PAIRS, promised.epsilon).low <= promised.delta


def test_differencing_breaks_a_premise_and_not_the_theorem():
    """With the total known, the total without a row is private no more: δ = 1/2."""
    total, rest, both = differenced_sums(4)
    promised = check_premises(total, rest.mechanism, individuals(4), (1, 1))
    assert promised.second == Fraction(1, 2)
    assert promised.delta == 1
    assert check_coupled_worlds(both, individuals(4), 2).high == Fraction(1, 2)


def test_the_same_again_is_safe_though_a_premise_fails():
    """The second copy is a function of the first; the theorem does not see that."""
    total, _, _ = differenced_sums(4)
    twice = type(total)(jointly(total.mechanism, total.mechanism), total.laws)
    once = check_coupled_worlds(total, individuals(4), 1)
    assert abs(check_coupled_worlds(twice, individuals(4), 1).high - once.high) < Fraction(1, 10**9)
    assert check_premises(total, total.mechanism, individuals(4), (1, 1)).second > once.high


def test_mechanisms_of_different_databases_are_not_put_together():
    with pytest.raises(InvalidArgument, match="different databases"):
        jointly({(0,): certain(0)}, {(1,): certain(0)})
