"""Encrypted code words accuse the sample, nobody else, and then the mechanism is wrong."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from discreet.adaptive.holdout import Holdout
from discreet.attacks.online.code_keys import (
    EncryptedQuery,
    KeyedRow,
    KeyKind,
    StreamKey,
    draw_keys,
)
from discreet.attacks.online.codeword_attack import (
    CodewordPlan,
    attack_codewords,
    play_codewords,
)
from discreet.attacks.online.prefix_attack import trace_prefixes
from discreet.attacks.online.queries_until_failure import (
    FailureCurve,
    curve_of_failures,
    failure_curve,
)
from discreet.attacks.online.sample_answers import ExactMeans, NoisyMeans
from discreet.attacks.online.value_search import search_value
from discreet.attacks.online.vector_attack import recover_vector
from discreet.core.errors import InvalidArgument
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from tests.support.statistics.exact_tests import alpha, cells_p_value
from tests.support.statistics.numbered_rng import NumberedRng

RARE = 1e-13
"""Innocents are accused by the normal law; their tails are a little heavier, so this is spare."""


def exactly(rows):
    return ExactMeans(rows=rows)


def half(rows):
    """A subsample: the rows are independent draws, so any half is one."""
    return ExactMeans(rows=rows[: -(-len(rows) // 2)])


@pytest.mark.parametrize("kind", ["stream", "pad"])
@pytest.mark.parametrize("open_rows", [exactly, half])
def test_the_sample_is_accused_and_then_the_answers_are_wrong(kind, open_rows, rng):
    plan = CodewordPlan.practical(4, users=80, failure=RARE)
    found = attack_codewords(open_rows, plan=plan, rng=rng, keys=kind)
    assert found.failed_at == found.queries <= plan.code.length
    assert found.innocent == 0
    assert found.traced == found.people if open_rows is exactly else found.traced >= 1
    assert found.wrong == 1
    assert "is off by more than 0.9" in str(found)
    assert found.to_json()["failed_at"] == found.failed_at


def test_noise_does_not_save_a_mechanism_from_so_many_queries(rng):
    noise = DiscreteLaplace(scale=1)
    plan = CodewordPlan.practical(4, users=80, failure=RARE)
    found = attack_codewords(
        lambda rows: NoisyMeans(rows=rows, noise=noise, rng=rng), plan=plan, rng=rng
    )
    assert found.failed_at is not None


def test_once_everybody_is_accused_half_of_what_all_agree_on_is_wrong(rng):
    plan = CodewordPlan.practical(2, users=60, failure=RARE)
    found = attack_codewords(exactly, plan=plan, rng=rng, to_the_end=True)
    assert found.queries == plan.code.length
    after = found.agreed * (1 - max(found.accused_at.values()) / found.queries)
    width = stats.norm.isf(alpha("attacks/codewords/wrong", parts=2)) * math.sqrt(found.agreed)
    # Zero for all: an answer of 0 is off by 58/60 wherever all agree.
    assert abs(found.wrong - after) < width
    assert found.wrong > 200


def test_the_ideal_attack_is_the_same_to_whoever_has_the_sample():
    """With the same coins every answer is the same, and so is every accusation."""
    plan = CodewordPlan.practical(3, users=30, failure=RARE)
    runs = [
        attack_codewords(exactly, plan=plan, rng=NumberedRng(1, label="ideal"), ciphertexts=kind)
        for kind in ("real", "ideal")
    ]
    assert runs[0].accused_at == runs[1].accused_at
    assert runs[0].to_json() == runs[1].to_json()
    other = attack_codewords(exactly, plan=plan, rng=NumberedRng(2, label="ideal"))
    assert other.accused_at != runs[0].accused_at


def test_ciphertexts_of_others_are_uniform_whatever_is_encrypted(rng):
    """A mechanism without the key sees the same law of a sign, its opposite, and a zero."""
    ring = draw_keys(KeyKind.STREAM, users=3, length=3000, rng=rng)
    values = np.array([1, -1, 0])
    seen = np.stack([ring.encrypt(number, values).ciphertexts for number in range(3000)])
    share = alpha("attacks/codewords/uniform", parts=4)
    uniform = dict.fromkeys(range(3), Fraction(1, 3))
    for user in range(3):
        assert cells_p_value(seen[:, user], uniform) > share
    assert cells_p_value(np.repeat(range(3), [1200, 900, 900]), uniform) < share  # and it notices


@pytest.mark.parametrize("kind", list(KeyKind))
def test_a_row_reads_its_own_value_and_another_key_reads_noise(kind, rng):
    ring = draw_keys(kind, users=4, length=1500, rng=rng)
    values = np.array([1, 0, -1, 1])
    for number in (0, 511, 512, 1499):
        query = ring.encrypt(number, values)
        assert [query(ring.row(user)) for user in range(4)] == values.tolist()
    other = KeyedRow(0, ring.keys[1])
    read = [ring.encrypt(number, values)(other) for number in range(1000)]
    assert 200 < read.count(1) < 480
    assert "secret" not in repr(ring.row(0))


def test_streams_are_uniform_and_depend_on_their_block():
    key = StreamKey(b"k" * 32)
    assert not np.array_equal(key.block(0), key.block(1))
    assert np.array_equal(key.block(3), StreamKey(b"k" * 32).block(3))
    assert set(np.unique(key.block(0))) == {0, 1, 2}


def test_the_paper_has_its_constants():
    """ℓ = 64⌈6πn/(½−β)²⌉²·11 with 2000n users: about 4.0e6 n² at β = 0."""
    plan = CodewordPlan.proved(50)
    assert plan.code.users == 100_000
    assert plan.code.length == 64 * math.ceil(6 * math.pi * 50 / 0.25) ** 2 * 11
    assert plan.code.length / 50**2 == pytest.approx(4.0e6, rel=0.01)
    wide = CodewordPlan.proved(50, errors=0.25)
    assert wide.code.length / plan.code.length == pytest.approx(16, rel=0.01)
    assert 1 - 0.99 - 1 / 500 > 0  # rounding an answer that is off by .99 keeps its sign


def test_the_attack_of_the_paper_runs_by_the_same_code(rng):
    """Its first rounds: nobody is accused so soon, and exact answers are right."""
    found = attack_codewords(exactly, plan=CodewordPlan.proved(2), rng=rng, alpha=0.99, most=600)
    assert found.queries == 600
    assert found.failed_at is None
    assert not found.accused_at
    assert found.agreed > 300
    assert "No answer" in str(found)


def test_queries_until_failure_grow_with_the_square_of_the_rows(soak, rng):
    sizes = [2, 4, 8, 14] if soak.active else [2, 4, 7]
    curve = failure_curve(exactly, people=sizes, rng=rng, repeats=3)
    assert 1.5 < curve.slope < 2.5  # 2; a median of three attacks is off by a tenth or so
    assert "power" in str(curve)
    assert curve.to_json()["people"] == sizes
    figure = curve_of_failures({"exact means": curve})
    assert figure.axes[0].get_xscale() == "log"


def test_a_curve_without_failures_has_no_slope():
    curve = FailureCurve(people=(2, 3), queries=(math.inf, math.inf))
    assert math.isnan(curve.slope)
    assert curve.to_json()["slope"] is None
    assert "none" in str(curve)


def test_a_holdout_keeps_its_promise_against_the_attack(rng):
    """So many questions as it promises for: none that all agree on is off by more than α."""
    questions = 40

    class Asked:
        def __init__(self, rows):
            self.holdout = Holdout(rows, questions=questions)

        def answers(self, queries):
            (query,) = queries
            return [2 * float(self.holdout.ask(lambda row: (query(row) + 1) / 2).value) - 1]

    promised = float(Holdout(np.zeros(2000), questions=questions).guarantee.alpha)
    plan = CodewordPlan.practical(2000, users=2500)
    found = attack_codewords(
        Asked, plan=plan, rng=rng, most=questions, alpha=2 * promised, to_the_end=True
    )
    assert promised < 0.25
    assert found.agreed > 10
    assert found.failed_at is None
    assert not found.accused_at


@pytest.mark.parametrize(
    "change",
    [{"alpha": 0}, {"alpha": 2}, {"most": 0}, {"keys": "rsa"}, {"ciphertexts": "none"}],
)
def test_bad_attacks_are_refused(change, rng):
    with pytest.raises(InvalidArgument):
        attack_codewords(exactly, plan=CodewordPlan.practical(1), rng=rng, **change)


def test_bad_plans_are_refused(rng):
    for build in (
        lambda: CodewordPlan.practical(0),
        lambda: CodewordPlan.practical(3, users=2),
        lambda: CodewordPlan.practical(3, failure=0),
        lambda: CodewordPlan.proved(3, errors=0.5),
        lambda: failure_curve(exactly, people=[], rng=rng),
        lambda: draw_keys(KeyKind.PAD, users=10**6, length=10**6, rng=rng),
    ):
        with pytest.raises(InvalidArgument):
            build()

    class Silent:
        def answers(self, queries):
            return [math.nan]

    with pytest.raises(InvalidArgument, match="no number"):
        attack_codewords(lambda _: Silent(), plan=CodewordPlan.practical(1), rng=rng)


def test_a_query_is_public_and_its_text_short():
    assert "ciphertexts" not in repr(EncryptedQuery(3, np.zeros(5, dtype=np.int64)))


@pytest.mark.parametrize("gave", [[], None, 5, "x", ["x"], [None], [math.nan], [1, 2], [10**400]])
def test_what_is_no_answer_is_refused_by_every_attack(gave, rng):
    """A NaN was heard as −1 where nobody is shut out, and counted as tracing."""

    class Gives:
        def answers(self, queries):
            return gave

    attacks: list[Any] = [
        lambda: play_codewords(lambda _: Gives(), people=1, queries=3, rounds=1, rng=rng),
        lambda: attack_codewords(lambda _: Gives(), plan=CodewordPlan.practical(1), rng=rng),
        lambda: trace_prefixes(lambda _: Gives(), people=2, queries=3, rng=rng),
        lambda: search_value(Gives(), lower=0, upper=9),
        lambda: recover_vector(Gives(), queries=2),
    ]
    for attack in attacks:
        with pytest.raises(InvalidArgument, match=r"gave no|no vector of signs"):
            attack()
