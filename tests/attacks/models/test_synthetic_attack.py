"""Synthetic rows: canaries, shadow models, what a model repeats, and distances that mislead."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.attacks.models.file_attack import attack_file
from discreet.attacks.models.held_out_rows import require_alike
from discreet.attacks.models.nearest_record import judge_by_distance, nearest_record_test
from discreet.attacks.models.synthetic_attack import (
    SyntheticAttack,
    infer_membership,
    infer_secrets,
)
from discreet.attacks.reconstruction.guess_ceiling import GuessingRecord, guess_ceiling
from discreet.attacks.records.coded_rows import code_rows
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Approximate, Pure
from discreet.randomness.samplers import uniform_integers
from tests.support.statistics.exact_tests import alpha


@pytest.mark.parametrize("infer", [infer_membership, infer_secrets])
@pytest.mark.parametrize("epsilon", ["1/10", "1", "3"])
def test_private_rows_stay_below_their_ceiling(infer, epsilon, rng):
    """Of 80 canaries in copied rows 93 % are found: two thirds or fewer with a chance of 1e-12."""
    attack = SyntheticAttack(epsilon=epsilon, people=400, canaries=80, shadows=1)
    report = infer(attack, rng)
    assert not report.breaks_ceiling(Fraction(alpha("attacks/models/synthetic", parts=6)))
    assert report["copied rows"].share > Fraction(2, 3)
    steps = 1 if infer is infer_membership else 2
    for release in ("private, the whole table", "private, chosen pairs"):
        assert report[release].record.ceiling == guess_ceiling(Pure(epsilon), steps=steps)


def test_copies_that_claim_a_loss_are_caught(rng):
    """The broken twin learns by heart and says that it loses 1/2."""
    attack = SyntheticAttack(epsilon=1, people=400, canaries=100)
    copied = infer_secrets(attack, rng)["copied rows"].record
    twin = GuessingRecord(
        right=copied.right, trials=copied.trials, ceiling=guess_ceiling(Pure("1/2"), steps=2)
    )
    assert twin.breaks_ceiling("1e-6")


def test_distance_passes_a_file_that_tells_all_and_fails_one_that_tells_nothing(rng):
    report = judge_by_distance(rng)
    moved, blind = report.judged
    assert moved.test.copies == 0
    assert moved.test.passes
    assert moved.record.right == moved.record.trials > 100
    assert blind.test.copies > Fraction(9, 10)
    assert not blind.test.passes
    assert not blind.record.breaks_ceiling(alpha("attacks/models/blind"))
    assert blind.record.ceiling == Fraction(1, 2)
    assert "passed" in str(report)
    assert [one["passes"] for one in report.to_json()] == [True, False]


def test_distances_are_counted_in_columns():
    real = np.array([[1, 1, 1], [2, 2, 2]])
    test = nearest_record_test(real, np.array([[1, 1, 2], [2, 2, 2], [0, 0, 0]]))
    assert (test.copies, test.mean_distance) == (Fraction(1, 3), Fraction(4, 3))
    with pytest.raises(InvalidArgument):
        nearest_record_test(real, np.array([[1, 1]]))


# ---------------------------------------------------------------- an owner's own files


def tables(rng, count: int = 200, values: int = 30):
    """Real rows and rows that were held out, of one law; the secret is a coin."""
    drawn = (rng.words(8 * count).reshape(2, count, 4) % np.uint64(values)).astype(np.int64)
    drawn[:, :, 3] %= 2
    return [code_rows(dict(zip("abcs", side.T, strict=True))) for side in drawn]


def test_a_file_of_copies_gives_its_rows_and_secrets_away(rng):
    """No two rows are alike. A secret that is known wins over a coin's toss three times in four.

    Of 1,200 pairs it wins no more than two thirds with a chance of 7e-11 (binomial).
    """
    real, held_out = tables(rng, 1200, values=2**60)
    report = attack_file(real, held_out, real, rng=rng, loss=Pure(1), sensitive="s")
    nearer, repeated = report.attempts
    assert nearer.share > Fraction(19, 20)
    assert repeated.share > Fraction(2, 3)
    assert "100.0% of synthetic rows are equal" in nearer.note
    assert "right for 100.0% of those in" in repeated.note
    assert report.breaks_ceiling(Fraction(1, 10**6)), "no such file has a loss of 1"


def test_a_file_of_other_rows_gives_nobody_away(rng):
    real, held_out = tables(rng)
    other, _ = tables(rng)
    report = attack_file(real, held_out, other, rng=rng, loss=Pure(0), sensitive="s")
    assert not report.breaks_ceiling(Fraction(alpha("attacks/models/file")))
    assert report.attempts[0].record.ceiling == Fraction(1, 2)


def test_bad_files_are_refused(rng):
    real, held_out = tables(rng)
    with pytest.raises(InvalidArgument, match="other columns"):
        attack_file(real, held_out, code_rows({"a": [1]}), rng=rng)
    with pytest.raises(InvalidArgument, match="Too few"):
        attack_file(real, held_out.take(np.arange(5)), real, rng=rng)
    with pytest.raises(InvalidArgument, match="no column"):
        attack_file(real, held_out, real, rng=rng, sensitive="x")


@pytest.mark.parametrize("kind", [int, float, str])
def test_rows_that_were_not_held_out_at_random_are_refused(kind, rng):
    """Last year's rows and this year's: who tells them apart has learnt nothing of the file."""
    ages = uniform_integers(200, 800, rng)
    years = [[kind(1000 + age + 150 * late) for age in ages.tolist()[late::2]] for late in (0, 1)]
    early, late = (code_rows({"age": year, "a": [1] * 400}) for year in years)
    with pytest.raises(InvalidArgument, match="held out at random"):
        attack_file(early, late, early, rng=rng, loss=Pure(1))
    with pytest.raises(InvalidArgument, match="held out at random"):
        attack_file(late, early, early, rng=rng, loss=Pure(1))


def test_rows_that_were_held_out_at_random_are_hardly_ever_refused(rng):
    """A millionth is allowed for each of these; few rows, alike rows and one value are fine."""
    for values in (np.arange(400), np.arange(400) % 3, np.zeros(400, dtype=np.int64)):
        for _ in range(10):
            drawn = values[np.argsort(rng.words(400))]
            require_alike(drawn[:200, None], drawn[200:, None])
    require_alike(np.zeros((10, 1), dtype=np.int64), np.ones((10, 1), dtype=np.int64))


@pytest.mark.parametrize(
    "wrong", [{"epsilon": 0}, {"epsilon": 1, "canaries": 7}, {"epsilon": 1, "canaries": 200}]
)
def test_bad_input_is_refused(wrong):
    with pytest.raises(InvalidArgument):
        SyntheticAttack(**wrong)


def test_files_in_some_order_tell_nothing_by_it(rng):
    """Both files are sorted, and synthetic rows are dense where the real ones begin."""
    low, high = 15, 40
    people = np.sort(uniform_integers(high, 700, rng))
    is_held = np.isin(np.arange(700), np.argsort(rng.words(700))[:200])
    real, held_out = (code_rows({"a": people[chosen]}) for chosen in (~is_held, is_held))
    blind = code_rows({"a": uniform_integers(low, 600, rng)})
    report = attack_file(real, held_out, blind, rng=rng, loss=Pure(0))
    assert not report.breaks_ceiling(Fraction(alpha("attacks/models/sorted")))


def test_a_run_that_tells_all_once_in_a_while_is_not_accused_more_often_than_said(rng):
    """It is right about all pairs with probability δ, which no binomial tail allows for."""
    delta = Fraction(1, 10**5)
    order = np.argsort(rng.words(200))
    real, held_out = (code_rows({"a": order[at : at + 100]}) for at in (0, 100))
    told = attack_file(real, held_out, real, rng=rng, loss=Approximate(0, delta)).attempts[0].record
    assert told.right == told.trials == 100
    assert told.surplus >= delta
    assert not told.breaks_ceiling(delta)
    assert told.breaks_ceiling("0.01")
    without = attack_file(real, held_out, real, rng=rng, loss=Pure(0)).attempts[0].record
    assert without.breaks_ceiling("1e-20")
