"""RAPPOR: the paper's losses, histories of kept responses, decoding, and what goes wrong."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.core.contribution import Metric
from discreet.core.errors import InvalidArgument
from discreet.core.event import ComposedEvent
from discreet.core.stated_event import PureEvent
from discreet.local.coins import loss_of_odds
from discreet.local.device.draws import SecureDraws
from discreet.local.device.rappor import bloom, permanent, rappor, remembered
from discreet.local.rappor.basic_rappor import BasicRappor
from discreet.local.rappor.decode import decode, decoder
from discreet.local.rappor.rappor import Rappor
from discreet.local.rappor.rappor_coins import RapporCoins
from discreet.local.rappor.text_spread import reach
from discreet.local.repeated.lifetime import kept_lifetime
from tests.local.rappor_cases import FULL, ONE_TIME, small
from tests.support.local.device_law import Law, device_law, javascript_reports, law_of, run_node
from tests.support.statistics.exact_tests import alpha


def ratio(first: Law, second: Law) -> Fraction:
    assert set(first) == set(second)
    return max(max(first[r] / second[r], second[r] / first[r]) for r in first)


def history(recipe, values) -> Law:
    """The law of the reports of a device that keeps its responses."""

    def run(draws):
        store: dict[str, str] = {}
        return b"".join(remembered("q", recipe, value, store, draws) for value in values)

    return law_of(run)


@pytest.mark.parametrize(
    ("f", "hashes", "epsilon"), [("1/2", 2, 4.394), ("1/2", 1, 2.197), ("3/4", 2, 2.043)]
)
def test_the_losses_of_the_paper(f, hashes, epsilon):
    coins = RapporCoins.declare(f=f, p="1/2", q="3/4")
    assert float(coins.permanent_event(hashes).epsilon) == pytest.approx(epsilon, abs=5e-4)
    q, p = float(coins.told_one), float(coins.told_zero)
    once = hashes * math.log(q * (1 - p) / (p * (1 - q)))
    assert float(loss_of_odds(coins.odds(hashes))) == pytest.approx(once)
    assert coins.odds(hashes, reports=400) < coins.permanent_odds(hashes)


@pytest.mark.parametrize("hashes", [1, 2])
def test_kept_responses_lose_what_is_said_and_no_more(hashes):
    """The permanent response by itself, enumerated: the first oracle of the paper."""
    scheme = small(hashes, 1, FULL)
    recipe = scheme.recipe()

    def kept(text: str) -> Law:
        return law_of(lambda draws: bytes(permanent(recipe, bloom(recipe, text, 0), draws)))

    assert ratio(*map(kept, scheme.worst_pair())) == FULL.permanent_odds(hashes)


def same_loss(event: ComposedEvent, odds: Fraction, count: int) -> bool:
    """Whether an event is so many losses of these odds."""
    return event == PureEvent(epsilon=loss_of_odds(odds), metric=Metric.CHANGE_ONE) * count


@pytest.mark.parametrize("reports", [1, 2, 3])
def test_short_histories_lose_what_is_said(reports):
    scheme = small(1, 1, FULL)
    first, second = scheme.worst_pair()
    recipe = scheme.recipe()
    laws = [history(recipe, [value] * reports) for value in (first, second)]
    assert ratio(*laws) == FULL.odds(1, reports=reports) < FULL.permanent_odds(1)
    assert same_loss(scheme.lifetime(reports), FULL.odds(1, reports=reports), 1)


def test_values_that_change_add_up():
    scheme = small(1, 1, FULL)
    first, second = scheme.worst_pair()
    laws = [history(scheme.recipe(), values) for values in ([first, second], [second, first])]
    assert ratio(*laws) == FULL.odds(1) ** 2
    assert same_loss(scheme.lifetime(2, values=2), FULL.odds(1), 2)


def test_when_a_value_changes_is_not_hidden():
    """A kept response that is told as it is stays the same: another one tells of a change."""
    scheme = BasicRappor(categories=2, coins=ONE_TIME)
    same, changed = (history(scheme.recipe(), values) for values in ([0, 0], [0, 1]))
    assert set(changed) > set(same)


def test_forgotten_responses_lose_more():
    """Twin: without a store each report is drawn anew, and reports add up without end."""
    scheme = small(1, 1, ONE_TIME)
    recipe = scheme.recipe()

    def forgetful(value):
        return law_of(lambda draws: b"".join(rappor(recipe, value, draws) for _ in range(3)))

    laws = [forgetful(value) for value in scheme.worst_pair()]
    assert ratio(*laws) == ONE_TIME.permanent_odds(1) ** 3
    assert ratio(*laws) > ONE_TIME.odds(1, reports=3) == ONE_TIME.permanent_odds(1)


def test_reports_of_a_kept_response_lose_more_than_one_of_them():
    """What is kept is the response, and each report tells more of it: up to its own loss."""
    scheme = BasicRappor(categories=2, coins=FULL)

    def remembering(value):
        def run(draws):
            store: dict[str, str] = {}
            return b"".join(remembered("q", scheme.recipe(), value, store, draws) for _ in range(3))

        return law_of(run)

    lost = loss_of_odds(ratio(remembering(0), remembering(1)))
    assert scheme.event().epsilon < lost <= scheme.kept_event().epsilon
    assert kept_lifetime(scheme, distinct=2) == scheme.kept_event() * 2
    assert small(2, 3, FULL).kept_event() == FULL.permanent_event(2)
    once = BasicRappor(categories=2, coins=ONE_TIME)
    assert once.kept_event() == once.event()


def test_the_lost_f_is_refuted():
    """Twin: (1 - f/2)/(1/2), as it is also printed, would be 1.62; the device loses 4.39."""
    scheme = small(2, 1, RapporCoins.declare(f="1/2"))
    laws = [device_law(scheme.recipe(), value) for value in scheme.worst_pair()]
    claimed = (2 * (1 - Fraction(1, 4))) ** 4
    assert float(loss_of_odds(claimed)) == pytest.approx(1.62, abs=5e-3)
    assert ratio(*laws) == 81 > claimed


def test_swapped_p_and_q_turn_estimates_round():
    """Twin: the loss is the same, but the published decoder sees what is not held."""
    scheme = BasicRappor(categories=3, coins=FULL)
    swapped = scheme.recipe() | {"p": FULL.q, "q": FULL.p}
    assert ratio(*(device_law(swapped, value) for value in (0, 1))) == scheme.odds()
    for recipe, found in ((scheme.recipe(), [1, 0, 0]), (swapped, [0, 1, 1])):
        mean = sum(
            float(weight) * scheme.estimate(np.frombuffer(report, np.uint8)[None]).shares
            for report, weight in device_law(recipe, 0).items()
        )
        assert mean == pytest.approx(found, abs=1e-9)
    with pytest.raises(InvalidArgument, match="out of order"):
        RapporCoins.declare(f="1/2", p="3/4", q="1/2")


def test_decoding_is_unbiased_and_varies_as_is_said():
    """By enumeration of the report of one person, over the cohort and all coins."""
    scheme = Rappor(bits=3, hashes=1, cohorts=3, salt="few", coins=ONE_TIME)
    names = ["a", "b", "c"]
    made = decoder(scheme, names)
    for place, held in enumerate(names):
        found = [
            (float(weight), decode(scheme, scheme.tally(np.frombuffer(r, np.uint8)[None]), made))
            for r, weight in device_law(scheme.recipe(), held).items()
        ]
        mean = sum(weight * estimate.counts for weight, estimate in found)
        assert mean == pytest.approx(np.eye(3)[place], abs=1e-9)
        second = sum(weight * estimate.counts**2 for weight, estimate in found)
        assert (second <= made.variance + 1e-9).all()
        ends = np.array([estimate.counts for _, estimate in found])
        assert (ends >= made.least - 1e-9).all()
        assert (ends <= made.most + 1e-9).all()


def test_p_values_are_valid_for_two_people():
    """By enumeration: a text that nobody holds has a p-value of u or less at most as often as u."""
    scheme = Rappor(bits=3, hashes=1, cohorts=3, salt="few", coins=RapporCoins.declare(f="1/8"))
    names = ["a", "b", "c"]
    made = decoder(scheme, names)
    law = device_law(scheme.recipe(), "b")
    found = []
    for (first, p), (second, q) in itertools.product(law.items(), repeat=2):
        rows = np.frombuffer(first + second, np.uint8).reshape(2, -1)
        p_values = decode(scheme, scheme.tally(rows), made, listed_only=True).p_values
        found.append((p_values[0], float(p * q)))
    for level, _ in found:
        assert sum(weight for p_value, weight in found if p_value <= level) <= level + 1e-12
    assert min(level for level, _ in found) < 1


def test_planted_texts_are_found_and_no_others(rng):
    """Fails by chance at most as often as the named rate, by the law of the p-values."""
    level = alpha("local/rappor decode")
    coins = RapporCoins.calibrate(epsilon=4, hashes=2)
    scheme = Rappor(bits=32, hashes=2, cohorts=16, salt="words", coins=coins)
    names = [f"candidate {number}" for number in range(100)]
    planted = {names[3]: 9000, names[50]: 6000, names[99]: 5000}
    people = np.array([name for name, count in planted.items() for _ in range(count)])
    tally = scheme.tally(scheme.randomise_many(people, rng))
    rate = Fraction(level) / 2
    estimate = decode(scheme, tally, names, false_discoveries=rate, listed_only=True)
    assert estimate.found == tuple(planted)
    truth = np.array([planted.get(name, 0) for name in names])
    assert (estimate.low <= truth).all()
    assert (truth <= estimate.high).all()


def test_a_text_that_nobody_listed_makes_no_other_one_found(rng):
    """Errs by coins at most as often as the named rate; without the allowance it errs always."""
    coins = RapporCoins.calibrate(epsilon=8, hashes=2)
    scheme = Rappor(bits=16, hashes=2, cohorts=8, salt="site", coins=coins)
    names, level = ["cat", "dog", "eel"], Fraction(alpha("local/rappor unlisted"))
    made = decoder(scheme, names)
    tally = scheme.tally(scheme.randomise_many(["cat"] * 30_000 + ["zebra"] * 90_000, rng))
    wrong = decode(scheme, tally, made, false_discoveries=level, listed_only=True)
    truth = np.array([30_000, 0, 0])
    assert not ((wrong.low <= truth) & (truth <= wrong.high)).all()
    right = decode(scheme, tally, made, false_discoveries=level)
    assert set(right.found) <= {"cat"}
    assert right.unlisted >= 90_000
    assert (right.low <= truth).all()
    assert (truth <= right.high).all()


def test_what_texts_that_nobody_listed_add_is_bounded():
    """Over all pairs of bits that two hash functions can draw: mean, variance and ends, exactly."""
    scheme = Rappor(bits=4, hashes=2, cohorts=3, salt="small", coins=ONE_TIME)
    made = decoder(scheme, ["a", "b", "c"])
    spread, weights = made.spread, np.concatenate([made.weights, [made.weights.sum(axis=0)]])
    pairs = itertools.product(range(4), repeat=2)
    filters = np.array([[bit in pair for bit in range(4)] for pair in pairs], dtype=np.float64)
    by_cohort = weights @ filters.T
    assert by_cohort.mean(axis=2).sum(axis=1) == pytest.approx(0, abs=1e-9)
    assert by_cohort.var(axis=2).sum(axis=1) / 9 == pytest.approx(spread.stray_variance, rel=1e-6)
    away = by_cohort - by_cohort.mean(axis=2, keepdims=True)
    assert (away.max(axis=(1, 2)) / 3 <= spread.stray_up).all()
    assert (-away.min(axis=(1, 2)) / 3 <= spread.stray_down).all()
    assert by_cohort.max(axis=2).mean(axis=1) == pytest.approx(spread.highest)
    assert (by_cohort.min(axis=2).mean(axis=1) >= spread.lowest - 1e-9).all()
    for place, added in enumerate(by_cohort):
        every = np.array([sum(one) / 3 for one in itertools.product(*added)])
        for level in (0.3, 0.1, 0.01):
            far = reach(spread.stray_variance[place], spread.stray_up[place], level)
            assert np.mean(every >= far) <= level


def test_lists_that_cannot_be_told_apart_are_refused():
    scheme = small(1, 1, FULL)
    with pytest.raises(InvalidArgument, match="cannot tell"):
        decoder(scheme, [str(number) for number in range(10)])


def test_the_store_is_used_alike_in_both_languages(rng):
    schemes = [small(2, 5, FULL), BasicRappor(categories=4, coins=ONE_TIME)]
    cases = [
        (scheme.recipe(), [values[0], values[1], values[0], values[0]])
        for scheme, values in zip(schemes, [("ä", "b"), (2, 0)], strict=True)
    ] * 5
    stream = rng.words(4000).astype("<u8").tobytes()
    places = itertools.count(0, 8)
    draws = SecureDraws(lambda _: stream[(at := next(places)) : at + 8])
    ours = []
    for recipe, values in cases:
        store: dict[str, str] = {}
        ours.append([remembered("q", recipe, value, store, draws).hex() for value in values])
    given = [{"recipe": recipe, "values": values} for recipe, values in cases]
    assert run_node("histories", {"stream": stream.hex(), "cases": given}) == ours


def test_long_texts_hash_alike_in_both_languages(rng):
    """Texts of up to several blocks of SHA-256, and every length around their ends."""
    coins = RapporCoins.declare(f=Fraction(1, 2**40))
    scheme = Rappor(bits=256, hashes=4, cohorts=300, salt="länger", coins=coins)
    pairs = [(scheme.recipe(), "ä" + "x" * length) for length in (0, *range(30, 50), 95, 110, 700)]
    stream = rng.words(600 * len(pairs)).astype("<u8").tobytes()
    places = itertools.count(0, 8)
    draws = SecureDraws(lambda _: stream[(at := next(places)) : at + 8])
    ours = [rappor(recipe, value, draws) for recipe, value in pairs]
    assert javascript_reports(pairs, stream) == ours


def test_bad_values_are_errors():
    recipe = small(1, 1, FULL).recipe()
    for value in ("\ud800", 5, None):
        with pytest.raises(ValueError, match="a value is no text"):
            device_law(recipe, value)


def test_lifetimes_of_any_length_are_answered():
    for reports, values in ((0, 1), (-1, 1), (3, 0)):
        with pytest.raises(InvalidArgument, match="be at least 1"):
            FULL.lifetime(2, reports, values)
    long = FULL.lifetime(2, 10**9, 1)
    assert long == ComposedEvent.of([FULL.permanent_event(2)])
    some = loss_of_odds(FULL.odds(2, reports=4096))
    assert some <= FULL.permanent_event(2).epsilon
    with pytest.raises(InvalidArgument, match="hashes is out of range"):
        RapporCoins.calibrate(epsilon=1, hashes=0)
