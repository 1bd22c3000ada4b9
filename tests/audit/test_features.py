"""Features: what they say about an output, exactly, and that they say it about it alone."""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.audit.choose_event import tally
from discreet.audit.features import (
    LATTICES,
    MODULI,
    ODD_MODULI,
    UNLABELLED,
    Feature,
    FloatShape,
    LowestBit,
    Remainder,
    Residue,
    Significand,
    TrailingZeros,
    battery,
)
from discreet.audit.output_event import HalfLine, LabelSet, OutcomeSet, OutputEvent, PartEvent
from discreet.audit.outputs import (
    Missing,
    OutputColumn,
    VectorEntry,
    VectorLength,
    VectorStep,
    as_rational,
    common_unit,
    parts_of,
)
from discreet.audit.sampling import audit_outputs, outcomes
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Pure

CENT = Fraction(1, 100)
FEATURES: list[Feature] = [
    *(Residue(modulus=modulus) for modulus in (*MODULI, 37)),
    Residue(modulus=1024, unit=CENT),
    Residue(modulus=8, unit=Fraction(3, 7)),
    Residue(modulus=2, unit=Fraction(2**70)),
    TrailingZeros(),
    TrailingZeros(unit=CENT),
    LowestBit(),
    FloatShape(),
    *(Significand(modulus=modulus) for modulus in ODD_MODULI),
    *(Remainder(exponent=exponent) for exponent in LATTICES),
]

WORDS = st.integers(-(2**63), 2**63 - 1)
INTEGERS = st.one_of(WORDS, st.integers(-(2**200), 2**200), st.integers(-50, 50))
CENTS = st.integers(-(10**9), 10**9).map(lambda cents: cents / 100)
FLOATS = st.one_of(st.floats(), CENTS, st.sampled_from([0.0, -0.0, 5e-324, 1e308, 0.07]))
DECIMALS = st.decimals(allow_nan=False)
OTHERS = st.one_of(st.none(), st.text(max_size=2), st.booleans(), DECIMALS, st.fractions())
VALUES = st.one_of(INTEGERS, FLOATS, OTHERS)


def plain(values: list[Any]) -> list[Any]:
    return outcomes(values)


# ---------------------------------------------------------------- an event is a set of outputs


@given(st.lists(st.one_of(VALUES, VALUES.map(lambda v: (v, v, 1)), INTEGERS), max_size=8))
@example([0.07, 3])
@example([2**63, 1])
@example([0.07, Fraction(1, 3), None, Decimal("0.07"), -0.0])
def test_a_label_depends_on_its_output_alone(values: list[Any]):
    """Else counts would not be binomial. Columns of one kind take another path than mixed ones."""
    column = OutputColumn(plain(values))
    for feature in FEATURES:
        alone = [int(feature.look(OutputColumn([value]))[0]) for value in column.values]
        assert feature.look(column).tolist() == alone, feature


@given(st.lists(VALUES, min_size=1, max_size=8), st.data())
def test_a_count_is_the_number_of_outputs_that_hold(values: list[Any], data: Any):
    given_outputs = plain(values)
    column = OutputColumn(given_outputs)
    feature = data.draw(st.sampled_from(FEATURES))
    labels = data.draw(st.sets(st.sampled_from(feature.look(column).tolist())))
    vectors = [(value, 1) for value in given_outputs]
    inner = LabelSet(feature=feature, labels=frozenset(labels - {UNLABELLED}))
    events: list[tuple[OutputEvent, list[Any]]] = [
        (inner, given_outputs),
        (OutcomeSet(frozenset(given_outputs[:2])), given_outputs),
        (HalfLine(low=3), given_outputs),
        (HalfLine(high=3), given_outputs),
        (PartEvent(part=VectorEntry(0), event=inner), vectors),
        (PartEvent(part=VectorEntry(9), event=inner), vectors),
    ]
    for event, outputs in events:
        assert event.count(outputs) == sum(event.holds(output) for output in outputs), event


# ---------------------------------------------------------------- exactly


@given(st.lists(INTEGERS, min_size=1), st.sampled_from(MODULI))
def test_residues_of_integers(values: list[int], modulus: int):
    assert Residue(modulus=modulus).look(OutputColumn(values)).tolist() == [
        v % modulus for v in values
    ]


@given(st.lists(INTEGERS.filter(bool), min_size=1))
def test_zeros_of_integers(values: list[int]):
    zeros = [(value & -value).bit_length() - 1 for value in values]
    assert TrailingZeros().look(OutputColumn(values)).tolist() == zeros


@given(st.lists(st.fractions(), min_size=1), st.fractions(Fraction(1, 100)))
def test_units_of_fractions(values: list[Fraction], unit: Fraction):
    labels = Residue(modulus=10, unit=unit).look(OutputColumn(values)).tolist()
    ratios = [value / unit for value in values]
    assert labels == [r % 10 if r.denominator == 1 else UNLABELLED for r in ratios]


@given(st.lists(st.integers(-(10**12), 10**12), min_size=1))
def test_units_of_floats_with_decimals(cents: list[int]):
    """Written as n / 100, as n * 0.01, or rounded to two decimals: it is n hundredths."""
    for floats in ([c / 100 for c in cents], [c * 0.01 for c in cents]):
        counts, fits = OutputColumn(floats).in_units(CENT)
        assert fits.all()
        assert counts.tolist() == cents


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False).filter(bool), min_size=1))
@example([5e-324, -1.5, 2.0**1023])
def test_lowest_bits_of_floats(values: list[float]):
    for value, place in zip(values, LowestBit().look(OutputColumn(values)).tolist(), strict=True):
        multiple = Fraction(value) / Fraction(2) ** place
        assert multiple.denominator == 1
        assert multiple.numerator % 2 == 1


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
@example([-5e-324])
def test_both_ends_of_floats(values: list[float]):
    shape = FloatShape()
    for value, label in zip(values, shape.look(OutputColumn(values)).tolist(), strict=True):
        sign = "-" if math.copysign(1, value) < 0 else "+"
        leading = f"2^{math.frexp(value)[1] - 1}" if value else "0"
        lowest = LowestBit()
        bit = lowest.show(int(lowest.look(OutputColumn([value]))[0]))
        assert shape.show(label) == f"({sign}{leading}, {bit})"


@given(st.floats(2.0**-1000, 2.0**1000), st.sampled_from(ODD_MODULI), st.booleans())
def test_digits_of_floats(value: float, modulus: int, is_negative: bool):
    feature = Significand(modulus=modulus)
    exponent = math.frexp(value)[1]
    digits = int(Fraction(value) * Fraction(2) ** (53 - exponent)) % modulus
    label = int(feature.look(OutputColumn([-value if is_negative else value]))[0])
    assert feature.show(label) == f"({'+-'[is_negative]}2^{exponent - 1}, {digits})"


@given(st.floats(-(2.0**60), 2.0**60), st.sampled_from(LATTICES))
def test_remainders_of_floats(value: float, exponent: int):
    feature = Remainder(exponent=exponent)
    step = Fraction(2) ** exponent
    rest = abs(Fraction(value)) % step
    shown = Fraction(float(feature.show(int(feature.look(OutputColumn([value]))[0]))))
    assert shown == (rest if value >= 0 else -rest)


@pytest.mark.parametrize(
    ("feature", "unlabelled"),
    [
        (Residue(modulus=2), [math.nan, math.inf, -math.inf, 0.5, "1", None, (1,), 1j]),
        (TrailingZeros(), [math.nan, math.inf, 0.5, "1", None]),
        (LowestBit(), [math.nan, math.inf, -math.inf, 3, "1", None, Fraction(1, 2)]),
        (FloatShape(), [math.nan, 3, "1", None]),
        (Significand(modulus=3), [math.nan, 3, "1", None]),
        (Remainder(exponent=0), [math.nan, math.inf, -math.inf, 3, "1", None]),
    ],
)
def test_what_does_not_have_a_feature_is_left_out(feature: Feature, unlabelled: list[Any]):
    assert set(feature.look(OutputColumn(unlabelled)).tolist()) == {UNLABELLED}
    assert not any(LabelSet(feature=feature, labels=frozenset({0, 1})).holds(v) for v in unlabelled)


def test_what_has_no_label_is_a_trial_and_never_a_hit():
    """Suppressed outputs are told apart as outcomes; no feature speaks of them."""
    first, second = np.array([UNLABELLED, 1, UNLABELLED]), np.array([UNLABELLED, 2])
    counted = tally([first, second])
    assert counted.totals().tolist() == [[0, 1, 0], [0, 0, 1]]
    assert counted.trials.tolist() == [[1, 2], [1, 1]]
    assert UNLABELLED not in [*counted.likelier(0, 1.01), *counted.likelier(1, 1.01)]


def test_words_for_zero_and_infinity():
    shape = FloatShape()
    labels = shape.look(OutputColumn([0.0, -0.0, math.inf, -math.inf])).tolist()
    assert [shape.show(label) for label in labels] == [
        "(+0, none)",
        "(-0, none)",
        "(+inf, none)",
        "(-inf, none)",
    ]
    zeros = TrailingZeros()
    assert zeros.show(int(zeros.look(OutputColumn([0]))[0])) == "endless"


def test_a_modulus_is_positive():
    with pytest.raises(InvalidArgument, match="modulus"):
        Residue(modulus=0)
    with pytest.raises(InvalidArgument, match="modulus"):
        Significand(modulus=-3)


# ---------------------------------------------------------------- units and steps


@pytest.mark.parametrize(
    ("first", "second", "unit"),
    [
        ([4, 8], [-12], 4),
        ([0, 0], [0], None),
        ([1.5, 2.25], [0.75], Fraction(3, 4)),
        ([0.07, 0.21], [0.14], Fraction(7, 100)),
        ([Fraction(1, 3)], [Fraction(1, 2)], Fraction(1, 6)),
        ([Fraction(1, 3)], [0.5], Fraction(1, 6)),
        ([Decimal("0.5")], [2, None], Fraction(1, 2)),
        ([2**80], [2**81, 3 * 2**80], 2**80),
        ([1e300], [3e300], None),
        (["a"], ["b"], None),
        ([math.nan], [math.inf], None),
        ([math.nan, 3.0], [6.0], 3),
        ([math.pi], [1.0], None),
        ([Fraction(1, 2**65)], [1], None),
    ],
)
def test_the_common_unit(first: list[Any], second: list[Any], unit: Any):
    found = common_unit(OutputColumn(plain(first)), OutputColumn(plain(second)))
    if first == [1e300]:
        assert found is not None
        assert all((Fraction(value) / found).denominator == 1 for value in (1e300, 3e300))
    else:
        assert found == unit


def test_longer_floats_are_exact():
    value = np.longdouble(1) + np.longdouble(2) ** -60
    assert as_rational(value) == 1 + Fraction(1, 2**60)
    assert as_rational(np.longdouble("inf")) is None


@pytest.mark.parametrize("step", [7, 37, 1000, 10**6 + 3])
@pytest.mark.parametrize("far", [0, 2**62, 2**80])
@pytest.mark.parametrize("every", [1, 2])
def test_steps_are_found_also_among_other_numbers(step: int, far: int, every: int, rng):
    """A lattice that holds all outputs, or each second one, at an offset that nobody knows."""
    values = [int(word) >> 30 for word in rng.words(4000)]
    chosen = uniform_choice(rng, every)
    mixed = [
        far + (value // step * step + 5 if is_chosen else value)
        for value, is_chosen in zip(values, chosen, strict=True)
    ]
    assert step in OutputColumn(mixed).steps(Fraction(1))


def uniform_choice(rng: Any, every: int) -> list[bool]:
    return [int(word) % every == 0 for word in rng.words(4000)]


def test_few_outputs_have_no_steps():
    for values in ([], [3], [3, 5, 9], ["a", "b"]):
        assert OutputColumn(values).steps(Fraction(1)) == []


def test_moduli_beyond_the_spread_are_left_out():
    looked_at = list(battery(OutputColumn([0, 5]), OutputColumn([2])))
    moduli = [feature.modulus for feature in looked_at if isinstance(feature, Residue)]
    assert moduli == [2, 3, 4, 5]
    assert not list(battery(OutputColumn(["yes"]), OutputColumn([None])))


# ---------------------------------------------------------------- parts


def test_parts_of_vectors():
    assert parts_of([(1, 2), (3, 4)]) == [VectorEntry(0), VectorEntry(1), VectorStep(0)]
    assert parts_of([(1,), (), 3]) == [VectorEntry(0), VectorLength()]
    assert parts_of([3, "a"]) == []
    assert sum(isinstance(part, VectorEntry) for part in parts_of([tuple(range(100))])) == 32
    assert VectorEntry(1).of((1,)) is Missing.MISSING
    assert VectorEntry(0).of(3) is Missing.MISSING
    assert VectorStep(0).of((1, Fraction(5, 2))) == Fraction(3, 2)
    assert (
        VectorStep(0).of((1, "a"))
        is VectorStep(1).of((1, 2))
        is VectorStep(0).of("ab")
        is Missing.MISSING
    )
    assert id(VectorStep(0).of((math.inf, math.inf))) == id(math.nan)
    assert (VectorLength().of((1, 2)), VectorLength().of(3)) == (2, Missing.MISSING)


def test_parts_say_what_they_are():
    texts = {
        "entry 2 of the output is at most 4": PartEvent(
            part=VectorEntry(2), event=HalfLine(high=4)
        ),
        "entry 0 of the output is missing": PartEvent(
            part=VectorEntry(0), event=OutcomeSet(frozenset({Missing.MISSING}))
        ),
        "the step from entry 1 to entry 2 of the output modulo 4 is 3": PartEvent(
            part=VectorStep(1), event=LabelSet(feature=Residue(modulus=4), labels=frozenset({3}))
        ),
        "the number of entries of the output is one of 1, 2": PartEvent(
            part=VectorLength(), event=OutcomeSet(frozenset({2, 1}))
        ),
    }
    assert all(str(event) == text for text, event in texts.items())


def test_lengths_are_looked_at(rng):
    """All entries are new; only their number tells."""
    first = [tuple(rng.words(2).tolist()) for _ in range(400)]
    second = [tuple(rng.words(3).tolist()) for _ in range(400)]
    result = audit_outputs(first, second)
    assert result.refutes(Pure(1))
    assert "entr" in str(result.event)


# ---------------------------------------------------------------- bits that compare as equal


def test_zeros_with_a_sign_are_told_apart():
    result = audit_outputs([0.0] * 400, [-0.0] * 400)
    assert result.refutes(Pure(1))
    assert str(result.event) == "the pair (leading bit, lowest bit) of the output is (+0, none)"


def test_one_output_that_is_no_number_hides_no_half_line(rng):
    """NaN, None and text are on no half-line, and leave the numbers in order."""
    odd_ones: list[Any] = [math.nan, None, "suppressed"]
    first = [*odd_ones, *(rng.words(997) >> np.uint64(11)).astype(float).tolist()]
    second = [*odd_ones, *(rng.words(997).astype(float) + 2.0**64).tolist()]
    result = audit_outputs(first, second)
    assert isinstance(result.event, HalfLine | LabelSet)
    assert result.refutes(Pure(3))
