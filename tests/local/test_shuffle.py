"""Shuffling: the certified curve against every order of everything, and what voids it."""

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction

import numpy as np
import pytest

from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.numbers import exp_bounds
from discreet.local.frequency.k_ary import KaryResponse
from discreet.local.rappor.basic_rappor import BasicRappor
from discreet.local.shuffle.amplification import Amplified, ReportBatch, amplify
from discreet.local.shuffle.clone_law import CloneLaw
from discreet.local.shuffle.shuffler import shuffle_reports
from tests.local.case import Case
from tests.local.rappor_cases import FULL, small
from tests.local.schemes import CASES
from tests.support.local.device_law import Law, device_law
from tests.support.statistics.exact_tests import alpha, cells_p_value

Shuffled = dict[tuple[bytes, ...], Fraction]
EPSILONS = [Fraction(number, 10) for number in (0, 1, 3, 5, 7, 9, 12)]


def together(laws: Iterable[Law]) -> Shuffled:
    """The law of the reports of several people in no order."""
    found: Shuffled = {(): Fraction(1)}
    for law in laws:
        more: Shuffled = defaultdict(Fraction)
        for (seen, p), (report, q) in itertools.product(found.items(), law.items()):
            more[tuple(sorted((*seen, report)))] += p * q
        found = more
    return found


def exact_delta(first: Shuffled, second: Shuffled, epsilon: Fraction) -> Fraction:
    """At most the true one, by a digit that does not matter."""
    factor = exp_bounds(epsilon, 128)[1]
    return sum(
        (max(p - factor * second.get(r, 0), Fraction(0)) for r, p in first.items()), Fraction(0)
    )


def worst_delta(scheme, values, people: int, epsilon: Fraction) -> Fraction:
    """Over all that the others can hold."""
    laws = {value: device_law(scheme.recipe(), value) for value in values}
    others = itertools.combinations_with_replacement(values, people - 1)
    worlds = [
        [together([laws[v], *(laws[o] for o in rest)]) for v in values[:2]] for rest in others
    ]
    return max(exact_delta(first, second, epsilon) for first, second in worlds)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_variation_is_that_of_every_pair(case: Case):
    said = case.scheme.variation()
    laws = [device_law(case.scheme.recipe(), value) for value in case.values]
    for first, second in itertools.combinations(laws, 2):
        found = sum(max(first[r] - second[r], Fraction(0)) for r in first)
        assert said is None or found == said


@pytest.mark.parametrize(("categories", "people"), [(2, 2), (2, 6), (3, 3), (3, 5), (4, 2), (4, 4)])
def test_the_curve_is_nowhere_below_what_a_batch_can_lose(categories, people):
    scheme = KaryResponse.calibrate(categories=categories, epsilon=1)
    amplified = amplify(scheme, ReportBatch(honest=people, closed=True))
    for epsilon in EPSILONS:
        true = worst_delta(scheme, range(categories), people, epsilon)
        said = amplified.delta(epsilon)
        assert said >= true
        if categories == 2:
            assert said <= float(true) * 1.4 + 1e-4


def test_the_curve_covers_schemes_of_bits():
    scheme = BasicRappor(categories=3, coins=FULL)
    amplified = amplify(scheme, ReportBatch(honest=3, closed=True))
    for epsilon in EPSILONS:
        assert amplified.delta(epsilon) >= worst_delta(scheme, range(3), 3, epsilon)


def enumerated(law: CloneLaw, epsilon: Fraction) -> Fraction:
    """The same pair, symbol by symbol, in exact fractions: an independent oracle."""
    odds, tell = law.odds, law.clones * law.telling / 2
    quiet = law.clones - 2 * tell
    whole = (odds + 1) * tell + odds * quiet
    world = {b"0": odds * tell / whole, b"1": tell / whole, b"c": odds * quiet / whole}
    swapped = {b"0": world[b"1"], b"1": world[b"0"], b"c": world[b"c"]}
    other = {b"0": tell, b"1": tell, b"c": quiet, b"-": 1 - law.clones}
    rest = [other] * law.others
    return exact_delta(together([world, *rest]), together([swapped, *rest]), epsilon)


@pytest.mark.parametrize("people", [2, 5, 9])
@pytest.mark.parametrize("variation", [None, Fraction(1, 2), Fraction(1, 5)])
def test_the_grid_is_hardly_above_the_pair(people, variation):
    odds = Fraction(3)
    law = (
        CloneLaw.general(odds, people)
        if variation is None
        else CloneLaw.even(odds, variation, people)
    )
    grid = law.on_grid()
    for epsilon in EPSILONS:
        true = enumerated(law, epsilon)
        over = np.maximum(grid.losses - float(epsilon), 0.0)
        said = float((grid.masses * -np.expm1(-over)).sum())
        assert float(true) <= said <= float(true) + 1e-4


def test_the_published_pair_without_common_clones_is_refuted():
    """Twin: as printed, a report is one of three kinds, and others have clones of two of them."""
    scheme = KaryResponse.calibrate(categories=4, epsilon=1)
    share = scheme.other
    first = {b"0": scheme.held, b"1": share, b"-": 1 - scheme.held - share}
    second = {b"0": share, b"1": scheme.held, b"-": 1 - scheme.held - share}
    other = {b"0": share, b"1": share, b"-": 1 - 2 * share}
    epsilon = Fraction(7, 10)
    claimed = exact_delta(together([first, other]), together([second, other]), epsilon)
    true = worst_delta(scheme, range(4), 2, epsilon)
    assert claimed < true <= amplify(scheme, ReportBatch(honest=2, closed=True)).delta(epsilon)


def test_counting_people_who_collude_is_refuted():
    """Twin: two honest people among six do not hide one another as six would."""
    scheme = KaryResponse.calibrate(categories=2, epsilon=1)
    claimed = Amplified(scheme, 6).delta("0.5")
    true = worst_delta(scheme, range(2), 2, Fraction(1, 2))
    assert claimed < true <= Amplified(scheme, 2).delta("0.5")


@pytest.mark.parametrize(("epsilon", "people"), [(1, 1000), (2, 20_000)])
def test_the_closed_forms_of_the_papers_are_above(epsilon, people):
    e, delta = math.exp(epsilon), 1e-6
    scheme = KaryResponse.calibrate(categories=2, epsilon=epsilon)
    said = float(Amplified(scheme, people).epsilon("1e-6"))
    root = math.sqrt(math.log(4 / delta) / people)
    clones = math.log1p((e - 1) / (e + 1) * (8 * math.sqrt(e) * root + 8 * e / people))
    stronger = math.log1p((e - 1) * (4 * math.sqrt(2 / (e + 1)) * root + 4 / people))
    assert said < stronger < clones
    assert said > 0.2 * stronger


def test_more_people_and_smaller_losses_hide_better():
    def epsilon(people, alone, categories=2):
        scheme = KaryResponse.calibrate(categories=categories, epsilon=alone)
        return Amplified(scheme, people).epsilon("1e-5")

    falling = [epsilon(people, 1) for people in (2, 30, 300, 3000)]
    assert falling == sorted(falling, reverse=True)
    assert falling[0] <= 1.0000001
    assert epsilon(300, Fraction(1, 2)) < epsilon(300, 1) < epsilon(300, 2)
    assert epsilon(300, 1, categories=10) < epsilon(300, 1, categories=3) < epsilon(300, 1)


def test_batches_add_up_and_give_an_event():
    scheme = KaryResponse.calibrate(categories=3, epsilon=1)
    amplified = amplify(scheme, ReportBatch(honest=300, closed=True))
    one, ten = (amplified.epsilon("1e-6", batches=count) for count in (1, 10))
    assert one < ten < 10 * one
    assert amplified.delta(ten, batches=10) <= 1.01e-6
    event = amplified.event("1e-6")
    assert (event.epsilon, event.delta) == (one, Fraction(1, 10**6))


@pytest.mark.parametrize(
    ("batch", "reason"),
    [
        (ReportBatch(honest=1000, closed=False), "while it runs"),
        (ReportBatch(honest=1000, closed=True, reports_each=2), "belong together"),
        (ReportBatch(honest=1000, closed=True, beside=("time",)), "told apart"),
        (ReportBatch(honest=1, closed=True), "nobody to hide"),
    ],
)
def test_what_hides_nobody_is_refused(batch, reason):
    scheme = KaryResponse.calibrate(categories=3, epsilon=1)
    with pytest.raises(Unsupported, match=reason):
        amplify(scheme, batch)


def test_kept_responses_are_refused_in_several_batches():
    amplified = amplify(BasicRappor(categories=3, coins=FULL), ReportBatch(honest=50, closed=True))
    assert amplified.epsilon("1e-3") < 1
    with pytest.raises(Unsupported, match="do not add up"):
        amplified.epsilon("1e-3", batches=2)


def test_cohorts_are_refused():
    with pytest.raises(Unsupported, match="cohorts"):
        amplify(small(1, 4, FULL), ReportBatch(honest=1000, closed=True))


def test_every_order_is_equally_likely(rng):
    reports = np.array([[0, 7], [1, 7], [2, 7]], dtype=np.uint8)
    orders = {order: place for place, order in enumerate(itertools.permutations(range(3)))}
    found = [orders[tuple(shuffle_reports(reports, rng)[:, 0].tolist())] for _ in range(600)]
    law = dict.fromkeys(range(6), Fraction(1, 6))
    assert cells_p_value(found, law) > alpha("local/shuffler")
    assert cells_p_value([place % 5 for place in found], law) < 1e-3


def test_what_is_not_said_clearly_is_refused():
    scheme = KaryResponse.calibrate(categories=3, epsilon=1)
    with pytest.raises(InvalidArgument, match="closed"):
        ReportBatch(honest=1000, closed="no")  # type: ignore[arg-type]
    with pytest.raises(Unsupported, match="come with address"):
        amplify(scheme, ReportBatch(honest=1000, closed=True, beside="address"))
    amplified = amplify(scheme, ReportBatch(honest=1000, closed=True))
    for batches in (0, -1, 0.5, True):
        with pytest.raises(InvalidArgument):
            amplified.delta("0.1", batches=batches)  # type: ignore[arg-type]
        with pytest.raises(InvalidArgument):
            amplified.epsilon("1e-6", batches=batches)  # type: ignore[arg-type]
