"""The safe conditioning lemma, against enumeration, and the printed one, which is false."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.errors import InvalidArgument
from discreet.noiseless.inference import Inference, exception_chance, inferred

Joint = dict[tuple[str, str], Fraction]


def excess(first: Joint, second: Joint, factor: Fraction) -> Fraction:
    return sum(
        (max(Fraction(0), p - factor * second[key]) for key, p in first.items()), Fraction(0)
    )


def counter_example(factor: Fraction, delta: Fraction, shift: Fraction) -> tuple[Joint, Joint]:
    """Two joint laws of (A, B), told apart by what A is when B is bad; ``factor`` is e^ε."""
    bad_second = delta / shift
    bad_first = delta + factor * (1 - shift) * bad_second
    share = Fraction(1, 2)
    first = {("s", "bad"): Fraction(0), ("c", "bad"): bad_first}
    second = {("s", "bad"): bad_second * shift, ("c", "bad"): bad_second * (1 - shift)}
    first |= {("s", "good"): share * (1 - bad_first), ("c", "good"): (1 - share) * (1 - bad_first)}
    second |= {
        ("s", "good"): share * (1 - bad_second),
        ("c", "good"): (1 - share) * (1 - bad_second),
    }
    return first, second


def conditional(joint: Joint, t: str) -> dict[str, Fraction]:
    total = sum((p for (_, b), p in joint.items() if b == t), Fraction(0))
    return {a: p / total for (a, b), p in joint.items() if b == t and total}


def bad_mass(first: Joint, second: Joint, factor: Fraction, shift: Fraction) -> Fraction:
    """How likely is a t at which the conditional laws are too far apart, under the first law."""
    lost = Fraction(0)
    for t in {b for _, b in first}:
        p, q = conditional(first, t), conditional(second, t)
        mass = sum((v for (_, b), v in first.items() if b == t), Fraction(0))
        if not p or not q:
            lost += mass
            continue
        distances = [
            sum((max(Fraction(0), x[a] - factor**3 * y[a]) for a in x), Fraction(0))
            for x, y in ((p, q), (q, p))
        ]
        lost += mass if max(distances) >= shift else 0
    return lost


def printed(epsilon: float, delta: float, shift: float) -> float:
    """The lemma as it is printed [Gro14, lemma 5.1]: the broken twin."""
    return 2 * delta / shift + 2 * delta / (epsilon * math.exp(epsilon))


@pytest.mark.parametrize(("epsilon", "value"), [(0.8, 2.21e-4), (2.0, 7.3e-4)])
def test_the_printed_lemma_is_refuted(epsilon: float, value: float):
    delta, shift = Fraction("1e-6"), Fraction("0.01")
    factor = Fraction(math.exp(epsilon))
    first, second = counter_example(factor, delta, shift)
    assert sum(first.values()) == sum(second.values()) == 1
    assert max(excess(first, second, factor), excess(second, first, factor)) <= delta
    mass = bad_mass(first, second, factor, shift)
    assert float(mass) == pytest.approx(value, rel=5e-3)
    assert float(mass) > printed(epsilon, 1e-6, 0.01)
    assert mass <= exception_chance(Fraction(epsilon), delta, shift)


def test_the_printed_lemma_holds_for_the_counter_example_at_a_small_epsilon():
    """So the refutation is about larger ε, and the check above can pass."""
    delta, shift, factor = Fraction("1e-6"), Fraction("0.01"), Fraction(math.exp(0.3))
    mass = bad_mass(*counter_example(factor, delta, shift), factor, shift)
    assert float(mass) <= printed(0.3, 1e-6, 0.01)


laws = st.lists(st.integers(0, 20), min_size=6, max_size=6).filter(sum)


@given(laws, laws, st.sampled_from([0.0, 0.1, 0.5, 1.0, 2.0]), st.sampled_from(["0.3", "0.05"]))
def test_the_safe_lemma_holds_of_any_two_laws(one, other, epsilon: float, shift: str):
    """Three values of B and two of A: whatever δ the two laws have, the exception is as rare."""
    places = [(a, b) for a in "sc" for b in ("x", "y", "z")]
    first, second = (
        {place: Fraction(weight, sum(law)) for place, weight in zip(places, law, strict=True)}
        for law in (one, other)
    )
    factor = Fraction(math.exp(epsilon))
    delta = max(excess(first, second, factor), excess(second, first, factor))
    claimed = exception_chance(Fraction(epsilon), delta, shift)
    strictly_above = Fraction(shift) * (1 + Fraction(1, 10**9))
    assert bad_mass(first, second, factor, strictly_above) <= claimed or claimed == 1


@given(
    st.fractions(0, 8, max_denominator=1000),
    st.sampled_from(["0", "1e-30", "1e-9", "1e-5", "0.01", "0.5", "1"]),
    st.sampled_from([1, 10, 10**6]),
)
def test_one_number_serves_as_both(epsilon: Fraction, delta: str, people: int):
    found = inferred(epsilon, delta, people=people)
    assert found.epsilon == 3 * epsilon or found.is_vacuous
    assert found.failure <= found.delta or found.is_vacuous
    if not found.is_vacuous and found.delta:
        assert found.failure >= people * exception_chance(epsilon, delta, found.delta)
        looser = people * exception_chance(epsilon, delta, found.delta * Fraction(9, 10))
        assert looser > found.delta * Fraction(9, 10), "a tenth less would not have done"


def test_theorem_5_2_fails_beyond_ln_4_and_the_safe_one_does_not():
    """A release for one person with ε = 1.5 fails more often than 2√δ, which is printed."""
    delta, epsilon = Fraction("1e-6"), 1.5
    shift = Fraction("0.002")  # 2 √δ, as printed
    factor = Fraction(math.exp(epsilon))
    first, second = counter_example(factor, delta, shift)
    assert max(excess(first, second, factor), excess(second, first, factor)) <= delta
    mass = bad_mass(first, second, factor, shift)
    assert float(mass) > 2 * math.sqrt(1e-6)
    found = inferred(Fraction(epsilon), delta, people=1)
    assert found.failure > mass * Fraction(9, 10)
    assert exception_chance(Fraction(epsilon), delta, shift) >= mass


def test_beliefs():
    found = inferred("0.1", "1e-12", people=1)
    assert found.belief(0) == pytest.approx(found.delta)
    assert found.belief(1) == 1
    assert 0.5 < float(found.belief("0.5")) < 1 - math.exp(-0.3) / 2 + 2e-5
    beliefs = [found.belief(Fraction(i, 20)) for i in range(21)]
    assert beliefs == sorted(beliefs)
    assert inferred(0, 0, people=5).belief("0.25") == Fraction(1, 4)


def test_words_and_json():
    found = inferred("0.1", "1e-12", people=3)
    assert "for all 3 people at once" in found.sentence()
    assert Inference.from_json(found.to_json()) == found
    assert "Nothing can be said" in inferred(1, 1, people=1).sentence()


def test_a_tiny_epsilon_is_no_division_by_zero():
    assert exception_chance(Fraction(1, 10**60), "1e-9", "0.1") == 1
    assert exception_chance(Fraction(1, 10**60), 0, "0.1") == 0


@pytest.mark.parametrize(
    "bad",
    [
        lambda: exception_chance(-1, 0, 1),
        lambda: exception_chance(1, 2, 1),
        lambda: exception_chance(1, "1e-6", 0),
        lambda: exception_chance(1, float("nan"), 1),
        lambda: inferred(1, "1e-6", people=0),
        lambda: inferred(1, "1e-6", people=1).belief(2),
        lambda: inferred("one", "1e-6", people=1),
    ],
)
def test_bad_numbers_are_refused(bad):
    with pytest.raises(InvalidArgument):
        bad()
