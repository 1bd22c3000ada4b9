"""Repeated collection: kept answers, their loss over short histories, attacks, and twins."""

import itertools
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from discreet.core.errors import InvalidArgument
from discreet.local.coins import part
from discreet.local.device.draws import UNIT, Draws, SecureDraws
from discreet.local.device.memory import FileMemory, permanent_report, rounded_report, values_of
from discreet.local.device.randomise import randomise
from discreet.local.frequency.k_ary import KaryResponse
from discreet.local.numbers.one_bit_mean import OneBitMean
from discreet.local.repeated.lifetime import kept_lifetime, lifetime_picture
from discreet.local.repeated.memoised_rounding import MemoisedRounding
from tests.support.local.device_law import Law, device_law, javascript_laws, law_of
from tests.support.statistics.exact_tests import alpha, cells_p_value

K_ARY = KaryResponse(categories=3, truth=UNIT // 2)
YES_NO = KaryResponse(categories=2, truth=UNIT * 3 // 4)
BIT = OneBitMean(most=4, truth=UNIT * 3 // 4)
HISTORIES = [(0, 0), (0, 1), (1, 0), (1, 2), (2, 2), (0, 1, 0), (1, 2, 1)]


def kept_law(report, scheme, history) -> Law:
    """The exact law of all reports of a history, from a memory that begins empty."""

    def run(draws: Draws) -> bytes:
        memory: dict[str, str] = {}
        return b"".join(report("asked", scheme.recipe(), x, memory, draws) for x in history)

    return law_of(run)


def forgotten(question, recipe, value, memory, draws) -> bytes:
    """A twin that forgets to keep: every report is drawn anew."""
    return randomise(recipe, value, draws)


def largest(first: Law, second: Law) -> Fraction | float:
    """The largest ratio of probabilities, in either direction; infinite if one is 0."""
    if set(first) != set(second):
        return float("inf")
    return max(max(first[r] / second[r], second[r] / first[r]) for r in first)


def pattern(history) -> tuple[int, ...]:
    return tuple(history.index(x) for x in history)


def test_losses_add_over_distinct_values_and_not_over_reports():
    """All pairs of histories that change at the same times, enumerated; equality is attained."""
    for distinct, times in ((1, (0, 0, 0)), (2, (0, 1, 0)), (3, (0, 1, 2))):
        histories = [h for h in itertools.product(range(3), repeat=3) if pattern(h) == times]
        laws = [kept_law(permanent_report, K_ARY, history) for history in histories]
        worst = max(largest(p, q) for p, q in itertools.combinations(laws, 2))
        assert worst == K_ARY.odds() ** distinct
        assert kept_lifetime(K_ARY, distinct=distinct) == K_ARY.event() * distinct


def test_a_twin_that_forgets_loses_with_every_report():
    """The check above catches it: a value that never changes costs three reports, not one."""
    laws = [kept_law(forgotten, K_ARY, (x, x, x)) for x in (0, 1)]
    assert largest(*laws) == K_ARY.odds() ** 3 > K_ARY.odds()


def test_questions_versions_and_devices_have_answers_of_their_own():
    def run(value: int, names: list[tuple[str, KaryResponse]]) -> Law:
        def reports(draws: Draws) -> bytes:
            memory: dict[str, str] = {}
            return b"".join(
                permanent_report(name, each.recipe(), value, memory, draws) for name, each in names
            )

        return law_of(reports)

    other = KaryResponse(categories=2, truth=UNIT * 5 // 8)
    for names in ([("a", YES_NO), ("b", YES_NO)], [("a", YES_NO), ("a", other)]):
        worst = largest(run(0, names), run(1, names))
        assert worst == names[0][1].odds() * names[1][1].odds()
    lifetime = kept_lifetime(K_ARY, distinct=2, questions=3, versions=2, devices=2)
    assert lifetime.parts == ((K_ARY.event(), 24),)


def test_a_cleared_memory_is_a_new_loss():
    def cleared(question, recipe, value, memory, draws) -> bytes:
        memory.clear()
        return permanent_report(question, recipe, value, memory, draws)

    laws = [kept_law(cleared, YES_NO, (x, x)) for x in (0, 1)]
    assert largest(*laws) == YES_NO.odds() ** 2


def test_when_a_kept_value_changes_is_not_hidden():
    """The attack: two different reports are impossible for one history, and likely for another."""
    stays, changes = (kept_law(permanent_report, K_ARY, h) for h in ((0, 0), (0, 1)))
    assert largest(stays, changes) == float("inf")
    caught = sum(p for reports, p in changes.items() if reports not in stays)
    assert caught == Fraction(11, 16)


def test_rounding_is_unbiased_for_every_value():
    """Lemma 7.8, and with it Theorem 7.9: one report has the law of the one-bit scheme, exactly."""
    for value in range(BIT.most + 1):
        assert kept_law(rounded_report, BIT, (value,)) == device_law(BIT.recipe(), value)


def printed_rounding(value: int, most: int) -> Fraction:
    """A twin, as printed: the offset is one of 1 .. m - 1, and their sum must exceed m."""
    ups = sum(value + offset > most for offset in range(1, most))
    return Fraction(ups, most - 1)


def test_the_printed_rounding_is_biased():
    assert printed_rounding(1, 10) == 0
    assert printed_rounding(5, 10) == Fraction(4, 9)
    for value in range(1, 10):
        ours = Fraction(sum(value + offset >= 10 for offset in range(10)), 10)
        assert ours == Fraction(value, 10) != printed_rounding(value, 10)


def test_rounding_of_a_value_that_stays_costs_one_report():
    laws = [kept_law(rounded_report, BIT, (x,) * 4) for x in range(BIT.most + 1)]
    worst = max(largest(p, q) for p, q in itertools.combinations(laws, 2))
    assert worst == BIT.odds()


def test_rounding_alike_costs_two_reports_and_no_more():
    first, second = (kept_law(rounded_report, BIT, h) for h in ((0, 4, 0, 4), (4, 0, 4, 0)))
    assert largest(first, second) == BIT.odds() ** 2
    assert MemoisedRounding(bit=BIT).at_most() == BIT.event() * 2


def test_two_numbers_that_differ_cost_more_than_two_reports_if_others_differ_more():
    """Twin: equal values at equal times are not enough, since how far they move is seen too."""
    near, far = (kept_law(rounded_report, BIT, history) for history in ((0, 1), (BIT.most, 0)))
    assert largest(far, near) == BIT.odds() ** 2 * BIT.most


def test_when_a_value_crosses_its_offset_is_not_hidden():
    """The attack: bits that differ show that the value crossed, and about where the offset is."""
    stays = kept_law(rounded_report, BIT, (1, 1))
    moves = kept_law(rounded_report, BIT, (1, 3))
    assert largest(stays, moves) == float("inf")
    differ = sum(p for told, p in moves.items() if told[0] != told[1])
    p = part(BIT.truth)
    assert differ == Fraction(3 - 1, BIT.most) * (p**2 + (1 - p) ** 2)


def test_averaging_finds_the_value_of_those_who_forget_and_not_of_those_who_keep(rng):
    """An attacker averages the worths of 2,000 reports of one person.

    False alarms: 8 standard deviations of a sum of coins, below 1e-12.
    """
    draws, reports = SecureDraws(lambda size: rng.words(size // 8).tobytes()), 2000
    scheme = OneBitMean.calibrate(most=10, epsilon=1)
    error = float(scheme.worst_variance()) ** 0.5
    fresh = [randomise(scheme.recipe(), 7, draws)[0] for _ in range(reports)]
    found = np.mean([float(scheme.worth(told)) for told in fresh])
    assert abs(found - 7) < 8 * error / reports**0.5 < 5
    memory: dict[str, str] = {}
    kept = {rounded_report("asked", scheme.recipe(), 7, memory, draws) for _ in range(reports)}
    assert len(kept) == 1
    off = abs(float(scheme.worth(kept.pop()[0])) - 7)
    assert off > 5


@pytest.mark.parametrize(
    ("name", "report", "scheme"),
    [
        ("permanentReport", permanent_report, K_ARY),
        ("roundedReport", rounded_report, BIT),
    ],
)
def test_javascript_keeps_alike(name: str, report, scheme):
    found = javascript_laws([(scheme.recipe(), list(h)) for h in HISTORIES], report=name)
    assert found == [kept_law(report, scheme, history) for history in HISTORIES]


def test_arrays_of_histories_have_the_law_of_the_device(rng):
    scheme, history = MemoisedRounding(bit=BIT), (1, 3, 1)
    law = kept_law(rounded_report, BIT, history)
    reports = scheme.randomise_histories(np.array([history] * 4000), rng)
    assert reports.shape == (3, 4000, 1)
    found = [int("".join(map(str, row))) for row in reports[:, :, 0].T.tolist()]
    cells = {int("".join(map(str, told))): p for told, p in law.items()}
    assert cells_p_value(found, cells) > alpha("local/rounding")
    estimate = scheme.estimate(reports[0], confidence="0.999999999")
    assert estimate.low <= 1 <= estimate.high


def test_what_is_kept_does_not_depend_on_any_value():
    """The law of the memory, by enumeration: what a thief of it alone finds."""

    def memory_law(report, scheme, value: int) -> Law:
        def run(draws: Draws) -> bytes:
            memory: dict[str, str] = {}
            report("asked", scheme.recipe(), value, memory, draws)
            return json.dumps(memory).encode()

        return law_of(run)

    for report, scheme in ((permanent_report, K_ARY), (rounded_report, BIT)):
        laws = [memory_law(report, scheme, value) for value in (0, 1, 2)]
        assert laws[0] == laws[1] == laws[2]


def test_a_file_keeps_answers_and_is_whole_or_old(tmp_path: Path, monkeypatch):
    path = tmp_path / "memory.json"
    first = permanent_report("a", K_ARY.recipe(), 1, FileMemory(path))
    kept = path.read_bytes()
    assert path.stat().st_mode & 0o077 == 0
    assert permanent_report("a", K_ARY.recipe(), 1, FileMemory(path)) == first
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        permanent_report("b", K_ARY.recipe(), 1, FileMemory(path))
    assert path.read_bytes() == kept


def test_a_memory_that_cannot_be_read_reports_nothing(tmp_path: Path):
    path = tmp_path / "memory.json"
    for text in ("", "{", "[]", '{"permanent'):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match="nothing is reported"):
            permanent_report("a", K_ARY.recipe(), 1, FileMemory(path))
        assert path.read_text(encoding="utf-8") == text
    with pytest.raises(ValueError, match="too many"):
        values_of({"kind": "k_ary", "categories": 10**6, "truth": UNIT - 1})
    with pytest.raises(ValueError, match="no category"):
        rounded_report("a", BIT.recipe(), 5, {})


def test_the_curve_of_a_lifetime():
    pytest.importorskip("matplotlib")
    axes = lifetime_picture(BIT, reports=20, every=5).axes[0]
    heights = {line.get_label(): line.get_ydata()[-1] for line in axes.get_lines()}
    loss = float(BIT.event().epsilon)
    assert sorted(heights.values()) == pytest.approx([loss, 2 * loss, 4 * loss, 20 * loss])


def test_lifetimes_of_nothing_are_refused():
    for parts in ({"distinct": 0}, {"distinct": -1, "devices": -1}):
        with pytest.raises(InvalidArgument, match="distinct is out of range"):
            kept_lifetime(K_ARY, **parts)
