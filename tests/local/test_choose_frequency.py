"""Which scheme is chosen, and what an estimate looks like; reports that none of them makes."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from discreet.core.errors import InvalidArgument
from discreet.local.frequency.choose_frequency import NEAR, choose_frequency
from discreet.local.frequency.frequency_scheme import FrequencyScheme
from discreet.local.frequency.k_ary import KaryResponse
from discreet.local.frequency.local_hashing import LocalHashing
from discreet.local.frequency.share_estimate import estimate_shares
from discreet.local.frequency.subset_selection import SubsetSelection
from discreet.local.frequency.unary import UnaryEncoding
from tests.local.schemes import CASES

DOMAINS = [2, 3, 16, 128, 5000, 100_000, 2**22]


@pytest.mark.parametrize("categories", DOMAINS)
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), 1, 4, 10], ids=str)
def test_nothing_near_the_least_error_is_shorter(categories: int, epsilon):
    choice = choose_frequency(categories=categories, epsilon=epsilon, people=10_000)
    best, least = choice.offers[0], min(offer.error for offer in choice.offers)
    assert best.error <= NEAR * least
    for offer in choice.offers[1:]:
        assert offer.size >= best.size or offer.error > NEAR * least
    for offer in choice.offers:
        assert offer.scheme.categories == categories
        assert offer.error**2 == pytest.approx(float(offer.scheme.variance(10_000)))
    assert choice.offers[0].name in choice.why
    assert all(offer.name in choice.table() for offer in choice.offers)


def test_a_limit_on_bytes_is_kept():
    free = choose_frequency(categories=16, epsilon=1, people=1000)
    short = choose_frequency(categories=16, epsilon=1, people=1000, most_bytes=1)
    assert free.scheme.size == 2
    assert short.scheme.size == 1
    with pytest.raises(InvalidArgument, match="allow 3 bytes or more"):
        choose_frequency(categories=100_000, epsilon=1, people=1000, most_bytes=2)


@pytest.mark.parametrize(
    "asked",
    [
        {"categories": 1, "people": 10},
        {"categories": 2**22 + 1, "people": 10},
        {"categories": 5, "people": 0},
    ],
    ids=str,
)
def test_what_cannot_be_chosen_for_is_refused(asked):
    with pytest.raises(InvalidArgument):
        choose_frequency(**asked, epsilon=1)


def test_the_least_variance_is_that_of_the_paper():
    """Optimised unary encoding and local hashing at g = e**ε + 1: 4e**ε / (e**ε - 1)**2."""
    unary = UnaryEncoding.optimised(categories=50, epsilon=2)
    grown = float(np.exp(2.0))
    assert float(unary.variance(1)) == pytest.approx(4 * grown / (grown - 1) ** 2)
    hashing = LocalHashing.calibrate(categories=50, epsilon=2)
    places = 2**hashing.bits
    wanted = (grown - 1 + places) ** 2 / ((grown - 1) ** 2 * (places - 1))
    assert float(hashing.variance(1)) == pytest.approx(wanted)


@pytest.mark.parametrize("bits", [1, 2, 3])
def test_one_transform_is_what_testing_each_value_gives(bits: int, rng):
    scheme = LocalHashing.calibrate(categories=50, epsilon=1, bits=bits)
    reports = scheme.randomise_many(np.arange(400) % 50, rng)
    numbers = [int.from_bytes(row.tobytes(), "little") for row in reports]
    maps = 6 + bits - 1
    found = np.zeros(50, dtype=np.int64)
    for number in numbers:
        for value in range(50):
            place = sum(((number >> i) & value & 63).bit_count() % 2 << i for i in range(bits))
            found[value] += place == number >> maps
    assert (scheme.supports(scheme.tally(reports)) == found).all()


MALFORMED = [
    (KaryResponse.calibrate(categories=5, epsilon=1), b"\x05"),
    (UnaryEncoding.optimised(categories=5, epsilon=1), b"\x20"),
    (LocalHashing.calibrate(categories=5, epsilon=1), b"\xff"),
    (SubsetSelection.calibrate(categories=6, epsilon=1), b"\x07"),
    (SubsetSelection.calibrate(categories=6, epsilon=1), b"\xc0"),
]


@pytest.mark.parametrize(
    ("scheme", "report"), MALFORMED, ids=lambda part: getattr(part, "kind", "")
)
def test_reports_that_no_device_makes_are_refused(scheme: FrequencyScheme, report: bytes, rng):
    """Among good ones, and even if two bad ones have the right number of bits together."""
    good = scheme.randomise_many(np.array([0, 1]), rng)
    bad = np.frombuffer(report, dtype=np.uint8).reshape(1, -1)
    with pytest.raises(InvalidArgument, match="No device makes"):
        scheme.tally(np.concatenate([good, bad]))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_outside_are_refused_unquoted(case, rng):
    if not isinstance(case.scheme, FrequencyScheme):
        pytest.skip("not a scheme for shares")
    with pytest.raises(InvalidArgument) as caught:
        case.scheme.randomise_many(np.array([0, case.scheme.categories + 8_642_097]), rng)
    assert "8642" not in str(caught.value).replace(",", "")


ESTIMATE = estimate_shares(
    np.array([260, 400, 300]), 1000, held=Fraction(1, 2), other=Fraction(1, 4), together=True
)


def test_a_table_has_the_largest_first():
    lines = ESTIMATE.table(["red", "gr\neen", "blue"], most=2).splitlines()
    assert [line.split()[0] for line in lines] == ["value", '"gr\\neen"', "blue"]
    assert "60.00 %" in lines[1]


def test_intervals_together_are_wider_than_each_alone():
    alone = estimate_shares(
        np.array([260, 400, 300]), 1000, held=Fraction(1, 2), other=Fraction(1, 4)
    )
    assert (ESTIMATE.low <= alone.low).all()
    assert (ESTIMATE.high > alone.high).all()


def test_a_picture_has_a_bar_and_its_interval_for_each_value(tmp_path: Path):
    target = tmp_path / "shares.png"
    axes = ESTIMATE.plot(target, names=["red", "green", "blue"])
    assert [label.get_text() for label in axes.get_yticklabels()] == ["green", "blue", "red"]
    assert [bar.get_width() for bar in axes.patches] == pytest.approx([0.6, 0.2, 0.04])
    assert "95 %" in axes.get_xlabel()
    assert target.read_bytes().startswith(b"\x89PNG")
