"""Faults of grain: the auditor finds each without being asked, by the feature that the twin names.

The twins are noise that has the right size and the wrong grain: floats whose low bits tell the true
value [Mir12], integers whose low bits are 0 too often, and noise on a lattice. They are written out
here with plain NumPy, so that mending a mechanism never mends its twin.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.audit import choose_event
from discreet.audit.assertions import assert_private
from discreet.audit.choose_event import Stakes
from discreet.audit.features import (
    Feature,
    FloatShape,
    LowestBit,
    Remainder,
    Residue,
    Significand,
    TrailingZeros,
)
from discreet.audit.output_event import LabelSet, PartEvent
from discreet.audit.outputs import VectorEntry, VectorStep
from discreet.audit.sampling import DEFAULT_CONFIDENCE, AuditResult, audit_outputs
from discreet.core.loss import PrivacyLoss, Pure, Zcdp
from discreet.randomness.samplers import discrete_laplace
from tests.support.statistics.numbered_rng import NumberedRng

SAMPLES = 20_000
Draw = Callable[[Any, NumberedRng, int], Any]


def uniform(rng: NumberedRng, size: int) -> np.ndarray:
    """Uniform floats in (0, 1], as everybody makes them."""
    return ((rng.words(size) >> np.uint64(11)) + 1) * 2.0**-53


# ---------------------------------------------------------------- floats


def textbook_laplace(scale: float) -> Draw:
    """The inverse of the distribution function at a uniform float."""

    def draw(centre: float, rng: NumberedRng, size: int) -> np.ndarray:
        u = uniform(rng, size) - 0.5
        u[u == 0.5] = 0.25
        return np.asarray(centre - scale * np.sign(u) * np.log(1 - 2 * np.abs(u)))

    return draw


def numpy_laplace(scale: float) -> Draw:
    """What ``numpy.random`` draws."""

    def draw(centre: float, rng: NumberedRng, size: int) -> np.ndarray:
        generator = np.random.Generator(np.random.PCG64(int(rng.words(1)[0])))
        return generator.laplace(centre, scale, size)

    return draw


def box_muller(sigma: float) -> Draw:
    """Normal noise from two uniform floats."""

    def draw(centre: float, rng: NumberedRng, size: int) -> np.ndarray:
        radius = np.sqrt(-2 * np.log(uniform(rng, size)))
        return np.asarray(centre + sigma * radius * np.cos(2 * np.pi * uniform(rng, size)))

    return draw


def small_floats(scale: float) -> Draw:
    """Noise of 32 bits, added to a float of 64."""

    def draw(centre: float, rng: NumberedRng, size: int) -> np.ndarray:
        return np.asarray(centre + textbook_laplace(scale)(0.0, rng, size).astype(np.float32))

    return draw


def whole_noise(scale: float) -> Draw:
    """Whole numbers, added to a number that is not whole."""
    return lambda centre, rng, size: centre + laplace(scale, rng, size)


# ---------------------------------------------------------------- integers


def laplace(scale: float, rng: NumberedRng, size: int) -> np.ndarray:
    """Integers of the right size, drawn without a look at the true value."""
    return np.rint(textbook_laplace(scale)(0.0, rng, size)).astype(np.int64)


def normal(sigma: float, rng: NumberedRng, size: int) -> np.ndarray:
    return np.rint(box_muller(sigma)(0.0, rng, size)).astype(np.int64)


def cleared(noise: np.ndarray, share: float, rng: NumberedRng) -> np.ndarray:
    """Noise whose low ten bits are 0 in some more draws than they should be."""
    return np.where(uniform(rng, noise.size) <= share, noise >> 10 << 10, noise)


def low_bits(scale: float, share: float, noise: Callable[..., np.ndarray] = laplace) -> Draw:
    return lambda centre, rng, size: centre + cleared(noise(scale, rng, size), share, rng)


def low_bits_of_cents(scale: float, share: float) -> Draw:
    """The same, released as an amount with two decimals."""
    return lambda centre, rng, size: low_bits(scale, share)(centre, rng, size) / 100


def low_bits_far_out(scale: float, share: float) -> Draw:
    """The same, so far from 0 that no machine word holds it."""
    return lambda centre, rng, size: [
        (1 << 80) + value for value in low_bits(scale, share)(centre, rng, size).tolist()
    ]


def on_lattice(step: int, share: float = 1.0) -> Draw:
    """Noise that is rounded to a multiple of the step *before* it is added."""

    def draw(centre: int, rng: NumberedRng, size: int) -> np.ndarray:
        noise = laplace(1e7, rng, size)
        return np.asarray(
            centre + np.where(uniform(rng, size) <= share, noise // step * step, noise)
        )

    return draw


# ---------------------------------------------------------------- the twins


@dataclass(frozen=True)
class Twin:
    """Noise with a grain, neighbours, what is claimed for them, and the feature that finds it."""

    name: str
    draw: Draw
    neighbours: tuple[Any, Any]
    loss: PrivacyLoss
    caught_by: type[Feature] | tuple[type[Feature], ...]
    samples: int = SAMPLES


BITS = (FloatShape, LowestBit)
ZEROS = (Residue, TrailingZeros)
WIDE, WIDER = 2**23, 10**9

TWINS = [
    Twin("textbook Laplace", textbook_laplace(1), (0.0, 1.0), Pure(1), BITS),
    Twin("textbook Laplace, scale 10", textbook_laplace(10), (0.0, 1.0), Pure("1/10"), BITS),
    Twin("textbook Laplace, not at 0", textbook_laplace(1), (1.0, 2.0), Pure(1), BITS),
    Twin("textbook Laplace, at 0.3", textbook_laplace(2.5), (0.3, 1.3), Pure("2/5"), BITS),
    Twin("NumPy's Laplace", numpy_laplace(1), (0.0, 1.0), Pure(1), BITS),
    Twin("NumPy's Laplace, scale 10", numpy_laplace(10), (5.0, 6.0), Pure("1/10"), BITS),
    Twin("a round scale", textbook_laplace(100), (0.0, 1.0), Pure("1/100"), Significand),
    Twin("Box and Muller", box_muller(10), (0.0, 1.0), Zcdp(rho="1/200"), BITS),
    Twin("noise of 32 bits", small_floats(2.5), (0.3, 1.3), Pure("2/5"), BITS),
    Twin("whole noise", whole_noise(1e6), (1 / 3, 5 / 6), Pure("1e-6"), Remainder),
    Twin("low bits, one apart", low_bits(WIDE, 0.022), (0, 1), Pure(Fraction(1, WIDE)), ZEROS),
    Twin("low bits, 12345 apart", low_bits(WIDE, 0.022), (7, 12352), Pure("1/500"), ZEROS),
    Twin("low bits, whole distance", low_bits(WIDER, 0.028), (0, WIDER), Pure(1), ZEROS, 50_000),
    Twin("low bits, cents", low_bits_of_cents(2e7, 0.022), (0, 12_345), Pure("1/1000"), ZEROS),
    Twin("low bits, far out", low_bits_far_out(2e7, 0.022), (0, 12_345), Pure("1/1000"), ZEROS),
    Twin("low bits, normal", low_bits(WIDE, 0.0135, normal), (0, 3), Zcdp(rho="1e-12"), ZEROS),
    Twin("multiples of 16", on_lattice(16), (0, 1), Pure("1e-7"), ZEROS),
    Twin("even noise", on_lattice(2), (0, 1), Pure("1e-7"), ZEROS),
    Twin("multiples of 37, half the time", on_lattice(37, 0.5), (0, 5), Pure("1/1000"), Residue),
]


def audited(twin: Twin, rng: NumberedRng) -> AuditResult:
    first, second = (twin.draw(centre, rng, twin.samples) for centre in twin.neighbours)
    return audit_outputs(first, second, delta=0, confidence=DEFAULT_CONFIDENCE)


def nothing(*_: Any) -> Iterator[Feature]:
    return iter(())


@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: twin.name)
def test_sampling_catches_it_without_being_asked(twin: Twin, rng):
    result = audited(twin, rng)
    assert result.refutes(twin.loss), str(result)
    assert isinstance(result.event, LabelSet)
    assert isinstance(result.event.feature, twin.caught_by), str(result)


@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: twin.name)
def test_not_caught_without_the_battery(twin: Twin, rng, monkeypatch):
    """By its size alone the noise looks right: what finds it is the battery."""
    monkeypatch.setattr(choose_event, "battery", nothing)
    result = audited(twin, rng)
    assert not result.refutes(twin.loss), str(result)


def test_every_family_has_a_twin():
    named = [caught if isinstance(caught := twin.caught_by, tuple) else (caught,) for twin in TWINS]
    families = {FloatShape, LowestBit, Significand, Remainder, Residue, TrailingZeros}
    assert {family for families_of_one in named for family in families_of_one} == families


def test_neighbours_a_multiple_of_the_grain_apart_show_nothing(rng):
    """Both leave the same residue. The claim does hold for them: the fault is elsewhere."""
    twin = Twin("", low_bits(WIDE, 0.022), (0, WIDE), Pure(1), Residue)
    assert not audited(twin, rng).refutes(twin.loss)


def test_the_result_says_what_was_seen(rng):
    result = audited(Twin("", low_bits(WIDE, 0.5), (7, 2007), Pure("1/4000"), Residue), rng)
    assert re.match(r"the output modulo \d+ is (one of )?\d+", str(result.event))
    assert f"{result.event} in {result.likely_hits} of 10000 on the" in str(result)
    cents = audited(Twin("", low_bits_of_cents(2e7, 0.5), (7, 77), Pure(1), Residue), rng)
    assert "the output in units of 1/100 modulo " in str(cents)


# ---------------------------------------------------------------- the same noise, mended


def rounded_after(step: int) -> Draw:
    """The *sum* is rounded: a public function of a private answer."""
    return lambda centre, rng, size: (centre + laplace(1e7, rng, size)) // step * step


MENDED = [
    Twin("rounded after", rounded_after(16), (0, 1), Pure("1e-7"), Residue),
    Twin("rounded after to 1000", rounded_after(1000), (0, 1), Pure("1e-7"), Residue),
    Twin("no bits cleared", low_bits(WIDE, 0.0), (0, 1), Pure(Fraction(1, WIDE)), Residue),
    Twin("cents", low_bits_of_cents(2e7, 0.0), (0, 12_345), Pure("1/1000"), Residue),
    Twin("far out", low_bits_far_out(2e7, 0.0), (0, 12_345), Pure("1/1000"), Residue),
    Twin("on a step of 1", on_lattice(1), (0, 1), Pure("1e-7"), Residue),
]


@pytest.mark.parametrize("twin", MENDED, ids=lambda twin: twin.name)
def test_the_mended_sibling_is_not_accused(twin: Twin, rng):
    result = audited(twin, rng)
    assert not result.refutes(twin.loss), str(result)


# ---------------------------------------------------------------- vectors


def test_one_cell_of_many_is_found(rng):
    """Only one entry moves, and only its low bits tell."""
    moved = np.array([0, 0, 0, 12_345, 0, 0])

    def cells(offset: np.ndarray | int) -> np.ndarray:
        noise = [cleared(laplace(2e7, rng, SAMPLES), 0.05, rng) for _ in moved]
        return np.stack(noise, axis=1) + offset

    result = audit_outputs(cells(0), cells(moved))
    assert isinstance(result.event, PartEvent)
    assert result.event.part == VectorEntry(3)
    assert result.refutes(Pure("1/1000")), str(result)
    assert "entry 3 of the output" in str(result.event)


def test_one_draw_for_all_cells_is_found_at_any_scale(rng):
    """Noise that two entries share is gone from their difference."""

    def cells(centre: int) -> np.ndarray:
        noise = laplace(1e6, rng, 2000)
        return np.stack([noise, centre + noise], axis=1)

    result = audit_outputs(cells(0), cells(1))
    assert isinstance(result.event, PartEvent)
    assert result.event.part == VectorStep(0)
    assert result.refutes(Pure(4)), str(result)


def test_a_statistic_with_several_values_gets_a_look_at_each(rng):
    """What the battery does not have can be asked for, several things at once."""
    even, odd = ([f"{2 * int(word) + c:x}" for word in rng.words(2000)] for c in (0, 1))

    def looks(text: str) -> tuple[int, int]:
        return len(text), int(text, 16)

    assert not audit_outputs(even, odd).refutes(Pure(1)), "text is looked at as a whole"
    assert not audit_outputs(even, odd, statistic=len).refutes(Pure(1))
    result = audit_outputs(even, odd, statistic=looks)
    assert result.refutes(Pure(1))
    assert str(result.event) == "entry 1 of the output modulo 2 is 0"


def test_assertions_look_without_being_asked(rng):
    """What a user's test run says about the textbook's noise, with the defaults."""
    outputs = [iter(textbook_laplace(1)(centre, rng, 4000).tolist()) for centre in (0.0, 1.0)]
    first, second = (side.__next__ for side in outputs)
    with pytest.raises(AssertionError, match=r"broken: ε is at least .* lowest bit"):
        assert_private(first, second, loss=Pure(1), samples=4000)


# ---------------------------------------------------------------- what a choice costs


def test_hundreds_of_candidates_do_not_hide_a_plain_fault(rng):
    """The best of many lucky events must not win over a true one."""
    first, second = (c + laplace(300, rng, 2000) for c in (0, 300))
    bet = choose_event.choose_event(
        first.tolist(), second.tolist(), Stakes(delta=0.0, failure=1e-6)
    )
    assert str(bet.event).startswith("the output is at ")
    assert audit_outputs(first, second).refutes(Pure("1/5"))


def test_little_confidence_does_not_let_the_luckiest_win(rng):
    """The true ε is 1/2. Among hundreds of candidates, a lucky one would look better than that.

    One bound is five deviations above .38; that four of six are below is out of the question.
    """
    found = []
    for _ in range(6):
        first, second = (c + discrete_laplace(Fraction(2), SAMPLES, rng) for c in (0, 1))
        found.append(audit_outputs(first, second, confidence="9/10").epsilon_lower)
    assert sorted(found)[3] > Fraction("0.38"), str(found)


def test_what_was_seen_once_is_no_event(rng):
    """Where all outputs differ, the set of those that were seen foretells nothing."""
    first, second = (rng.words(4000).tolist() for _ in range(2))
    result = audit_outputs(first, second)
    assert result.likely_hits > 0, "an event that never happens is no bet"
