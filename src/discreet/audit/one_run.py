r"""Auditing in one run: many canaries, each put in by a fair coin, and one guess about each.

A sampling audit runs a mechanism thousands of times. Where that is too dear, one run will do: what
it says about many people at once takes the place of many runs [SNJ23].
"""

from collections.abc import Callable
from fractions import Fraction
from functools import cached_property, singledispatch
from typing import Any

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from discreet.audit.binomial import lower_confidence, upper_tail_bound
from discreet.audit.bound_text import bound_in_words
from discreet.audit.sampling import DEFAULT_CONFIDENCE, as_confidence
from discreet.core import check
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Approximate, PrivacyLoss, Pure
from discreet.core.numbers import Number, exact, exp_bounds, float_down, log_bounds
from discreet.core.protocols import Rng
from discreet.randomness.samplers import bernoulli

Included = NDArray[np.bool_]
"""Which canaries are among the data."""

Scores = NDArray[Any]
"""A number for each canary: the larger, the more it looks included."""

_NEVER = Fraction(1, 10**12)


@define(frozen=True, slots=False, kw_only=True)
class OneRunResult:
    r"""How many guesses about canaries were right in one run, and what follows.

    Guarantee:
        With probability at least ``confidence`` over the coins and the run, every loss that
        :meth:`refutes` refuses is broken, and the true :math:`\varepsilon` at ``delta`` is at least
        ``epsilon_lower``.

        Proof. Let :math:`S \in \{0, 1\}^m` be the coins and :math:`y` what the run says, from which
        the guesses are made: :math:`r` of them, the rest is left open. Fix :math:`y` and the coins
        before the :math:`i`-th, and let :math:`P_s(y)` be the probability of :math:`y` given these
        and :math:`S_i = s`, the later coins being fair. :math:`P_0` and :math:`P_1` are mixtures,
        over the later coins, of laws on neighbouring data, so :math:`(\varepsilon, \delta)`-close
        in both directions. Let :math:`t` be the guess. By Bayes, as the coin is fair, it is right
        with probability :math:`P_t/(P_t + P_{1-t}) \le q + x_i`, where
        :math:`q = e^\varepsilon/(1 + e^\varepsilon)` and
        :math:`x_i = [P_t - e^\varepsilon P_{1-t}]_+ / ((1 + e^\varepsilon)(P_t + P_{1-t}))`.

        *If* :math:`\delta = 0`, then :math:`x_i = 0`. Whatever came before, each guess is right
        with probability at most :math:`q`, so given :math:`y` the number of right ones is dominated
        by a binomial one: :math:`P[V \ge v] \le P[Bin(r, q) \ge v]` [SNJ23].

        *Else* draw a uniform :math:`U_i` for each guess and let it be right if :math:`U_i` is at
        most the probability above. Then :math:`V \le W + F`, where :math:`W` counts
        :math:`U_i \le q` and is :math:`Bin(r, q)` whatever :math:`y` is, and :math:`F` counts
        :math:`q < U_i \le q + x_i`. Given the earlier coins, :math:`y` has the law
        :math:`(P_0 + P_1)/2`, so :math:`E[x_i] \le \frac{1}{2(1 + e^\varepsilon)}
        \sum_y [P_t - e^\varepsilon P_{1-t}]_+ \le \delta/(1 + e^\varepsilon)`: the sum over those
        :math:`y` where :math:`t = 1` is at most :math:`\delta`, and so is the other. Hence
        :math:`P[F \ge 1] \le m\delta/(1 + e^\varepsilon)`, and
        :math:`P[V \ge v] \le P[Bin(r, q) \ge v] + m\delta/(1 + e^\varepsilon)`, also where
        :math:`r` and :math:`v` depend on :math:`y`. (In the code of [SNJ23] the last term is
        :math:`2m\delta` times the largest of :math:`P[v - i \le Bin < v]/i`. Neither is always the
        smaller; this one is proved here.)

        ``epsilon_lower`` takes :math:`m\delta/2`, which is at least that at every
        :math:`\varepsilon`, from the chance to fail, and the bound of Clopper and Pearson for
        :math:`q` at the rest. If it exceeds the true :math:`\varepsilon`, then :math:`V` reached a
        number that :math:`Bin(r, q)` reaches with at most that rest.

    Assumes:
        One canary more or less makes neighbouring data. Guesses are made from the run alone, and
        from coins of their own where scores are equal: what was in is seen by nobody before.
    """

    canaries: int = field(converter=check.whole, validator=check.positive)
    guesses: int = field(converter=check.whole, validator=check.positive)
    right: int = field(converter=check.whole, validator=check.non_negative)
    delta: Fraction = field(converter=exact, validator=check.below_one)
    confidence: Fraction = field(converter=as_confidence)

    def __attrs_post_init__(self) -> None:
        if not self.right <= self.guesses <= self.canaries:
            raise InvalidArgument(
                "The counts are out of range", must="have right <= guesses <= canaries"
            )

    @cached_property
    def epsilon_lower(self) -> Fraction:
        """A lower confidence bound on the true ε at ``delta``; 0 says nothing."""
        rest = 1 - self.confidence - self.canaries * self.delta / 2
        if rest <= 0:
            return Fraction(0)
        share = lower_confidence(self.right, self.guesses, rest)
        if share <= Fraction(1, 2):
            return Fraction(0)
        return log_bounds(share / (1 - share))[0]

    def refutes(self, loss: PrivacyLoss) -> bool:
        """Tell whether the run shows, with this confidence, that ``loss`` does not hold."""
        return p_value(loss, self) <= 1 - self.confidence

    def __str__(self) -> str:
        bound = bound_in_words(self.epsilon_lower, self.delta, self.confidence)
        return (
            f"{bound}: {self.right:,} of {self.guesses:,} guesses "
            f"about {self.canaries:,} canaries were right, in one run"
        )

    def to_json(self) -> dict[str, Any]:
        """Return the result for other programs."""
        return {
            "canaries": self.canaries,
            "guesses": self.guesses,
            "right": self.right,
            "delta": float_down(self.delta),
            "confidence": float_down(self.confidence),
            "epsilon_lower": float_down(self.epsilon_lower),
        }


@singledispatch
def p_value(loss: PrivacyLoss, result: OneRunResult) -> Fraction:
    """Return a bound on the chance of so many right guesses if ``loss`` holds."""
    raise Unsupported(
        "One run says nothing about this measure",
        must="be pure or approximate",
        got=loss.measure.value,
    )


@p_value.register
def _(loss: Pure, result: OneRunResult) -> Fraction:
    factor = exp_bounds(loss.epsilon)[1]
    return upper_tail_bound(result.right, result.guesses, factor / (1 + factor))


@p_value.register
def _(loss: Approximate, result: OneRunResult) -> Fraction:
    more = result.canaries * loss.delta / (1 + exp_bounds(loss.epsilon)[0])
    return min(Fraction(1), p_value(Pure(loss.epsilon), result) + more)


def audit_one_run(
    run: Callable[[Included], Scores],
    *,
    canaries: int,
    rng: Rng,
    guesses: int | None = None,
    delta: Number = 0,
    confidence: Number = DEFAULT_CONFIDENCE,
) -> OneRunResult:
    """Put each canary in by a fair coin, run a mechanism once, and guess which were in.

    Args:
        run: runs the mechanism on the data with these canaries, and returns a score for each
            canary, made of the output alone.
        canaries: how many there are.
        rng: where the coins come from. It must not be known to ``run``.
        guesses: the half of so many with the largest scores is guessed to be in, the half with the
            smallest to be out; nothing is said of the rest. Without it, all are guessed.
        delta: the δ at which ε is bounded.
        confidence: how sure the bound must be.

    Example:
        >>> from discreet import DiscreteLaplace, Pure, SystemRng
        >>> def noisy_cells(included):
        ...     return DiscreteLaplace(scale=1).release(included.astype(np.int64), SystemRng())
        >>> found = audit_one_run(noisy_cells, canaries=2000, rng=SystemRng())
        >>> found.refutes(Pure(1)), found.refutes(Pure("1/2"))
        (False, True)
    """
    count = check.at_least_one(canaries, "canaries")
    included = bernoulli(Fraction(1, 2), count, rng)
    return audit_scores(
        included,
        run(included.copy()),
        rng=rng,
        guesses=guesses,
        delta=delta,
        confidence=confidence,
    )


def audit_scores(
    included: Included,
    scores: Scores,
    *,
    rng: Rng,
    guesses: int | None = None,
    delta: Number = 0,
    confidence: Number = DEFAULT_CONFIDENCE,
) -> OneRunResult:
    """Guess which canaries were in a run that was made elsewhere, from a score for each.

    The rest is as for :func:`audit_one_run`. Whether each was in must have been a fair coin. Equal
    scores are in a random order: the order of a file may tell who was in.

    Example:
        >>> from discreet import SystemRng
        >>> coins = np.array([True, False] * 50)
        >>> print(audit_scores(coins, coins * 1.0, rng=SystemRng(), confidence="0.95"))
        ε is at least 3.492 at δ = 0, with confidence 0.95: 100 of 100 guesses about 100 ...
    """
    coins = np.asarray(included)
    if coins.ndim != 1 or coins.dtype != np.bool_:
        raise InvalidArgument(
            "These are no coins",
            must="be True or False for each canary",
            got=f"{'x'.join(map(str, coins.shape))} of {coins.dtype}",
        )
    _require_fair(int(coins.sum()), len(coins))
    told, count = np.asarray(scores), len(coins)
    if told.shape != (count,) or told.dtype.kind not in "biuf" or np.isnan(told).any():
        raise InvalidArgument(
            "These are no scores",
            must=f"be a number for each of {count:,} canaries",
            got=f"{'x'.join(map(str, told.shape))} of {told.dtype}",
        )
    made = count - count % 2 if guesses is None else check.at_least_one(guesses, "guesses")
    if made % 2 or not 2 <= made <= count:
        raise InvalidArgument(
            "guesses is out of range", must=f"be an even number from 2 to {count:,}", got=str(made)
        )
    order = np.lexsort((rng.words(count), told))
    right = int(coins[order[-(made // 2) :]].sum() + (~coins[order[: made // 2]]).sum())
    return OneRunResult(
        canaries=count, guesses=made, right=right, delta=delta, confidence=confidence
    )


def _require_fair(included: int, canaries: int) -> None:
    """Refuse coins that fair ones fall like less than once in a million million times."""
    most = max(included, canaries - included)
    if canaries and upper_tail_bound(most, canaries, Fraction(1, 2)) < _NEVER:
        raise InvalidArgument(
            "Whether canaries were in was no fair coin",
            must="be decided by a fair coin for each of them",
            got=f"{included:,} of {canaries:,} were in",
        )
