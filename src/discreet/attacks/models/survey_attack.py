"""Surveys over time: averaging a device's reports, linking them, seeing when a value moved."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.attacks.models.attempt import CERTAIN, AttackReport, Attempt
from discreet.attacks.reconstruction.guess_ceiling import GuessingRecord, guess_ceiling
from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Pure
from discreet.core.numbers import exact
from discreet.core.protocols import IntArray, Rng
from discreet.local.device.draws import SecureDraws
from discreet.local.device.memory import permanent_report, rounded_report
from discreet.local.frequency.k_ary import KaryResponse
from discreet.local.frequency.unary import UnaryEncoding
from discreet.local.numbers.one_bit_mean import OneBitMean
from discreet.local.report_numbers import as_numbers
from discreet.randomness.samplers import bernoulli, uniform_integers

MOST = 24
"""The largest value of the number whose move is looked for."""

CATEGORIES = 16
"""Of how many values one is held by a device that is linked: a report has a bit for each."""

_QUESTION = "attacked"
Bits = NDArray[np.bool_]


@frozen(kw_only=True)
class SurveyAttack:
    """Devices that report every day, each about a secret of its own. All of them are made up."""

    epsilon: Fraction = field(converter=exact)
    """The loss of one report."""
    days: int = field(default=30, converter=check.whole, validator=check.positive)
    devices: int = field(default=300, converter=check.whole, validator=check.positive)

    def __attrs_post_init__(self) -> None:
        if self.epsilon <= 0 or self.days < 3:
            raise InvalidArgument(
                "There is nothing to attack", must="have an epsilon above 0, and three days or more"
            )

    def coins(self, rng: Rng) -> Bits:
        """Return a fair secret bit for each device."""
        return bernoulli(Fraction(1, 2), self.devices, rng)

    def attempt(
        self, release: str, guesses: Bits, bits: Bits, ceiling: Fraction, note: str
    ) -> Attempt:
        """Return how many guesses were right, beside the ceiling."""
        right = int((guesses == bits).sum())
        record = GuessingRecord(right=right, trials=self.devices, ceiling=ceiling)
        return Attempt(release=release, record=record, note=note)


def _draws(rng: Rng) -> SecureDraws:
    return SecureDraws(lambda size: rng.words(-(-size // 8)).astype("<u8").tobytes()[:size])


def _votes(ones: IntArray, days: int, rng: Rng) -> Bits:
    """Guess the value that was reported more often; a coin where both were equally."""
    coins = bernoulli(Fraction(1, 2), ones.size, rng)
    return np.where(2 * ones == days, coins, 2 * ones > days)


def average_reports(attack: SurveyAttack, rng: Rng) -> AttackReport:
    r"""Guess a device's answer from all its reports, drawn anew each day, and kept.

    Guarantee:
        Reports that are drawn anew lose :math:`\varepsilon` each, :math:`T\varepsilon` in
        :math:`T` days, and a vote over them is wrong with probability at most
        :math:`\exp(-T(p - 1/2)^2 \cdot 2)` for a truth probability :math:`p` (Hoeffding). A device
        that keeps its answers gives the same report each day: all of them are a function of one,
        so no adversary guesses more often right than the ceiling of one report, however long it
        watches. The kept reports are those of the device's own code.

    Example:
        >>> from discreet import SystemRng
        >>> report = average_reports(SurveyAttack(epsilon=1, days=40, devices=50), SystemRng())
        >>> report["drawn anew each day"].share > Fraction(9, 10)
        True
    """
    scheme = KaryResponse.calibrate(categories=2, epsilon=attack.epsilon)
    loss = Pure(scheme.event().epsilon)
    bits = attack.coins(rng)
    daily = np.repeat(bits.astype(np.int64), attack.days)
    told = as_numbers(scheme.randomise_many(daily, rng)).reshape(attack.devices, attack.days)
    anew = _votes(told.sum(axis=1), attack.days, rng)
    recipe, draws = scheme.recipe(), _draws(rng)
    kept = np.zeros(attack.devices, dtype=np.int64)
    for place, bit in enumerate(bits.tolist()):
        memory: dict[str, str] = {}
        for _ in range(attack.days):
            kept[place] += permanent_report(_QUESTION, recipe, int(bit), memory, draws)[0]
    together = Pure(loss.epsilon * attack.days)
    return AttackReport(
        attack=f"What does a device hold? Its reports of {attack.days} days are averaged.",
        attempts=(
            attack.attempt(
                "drawn anew each day", anew, bits, guess_ceiling(together), f"together {together}."
            ),
            attack.attempt(
                "kept answers",
                _votes(kept, attack.days, rng),
                bits,
                guess_ceiling(loss),
                f"all reports are one; together {loss}.",
            ),
        ),
    )


def link_devices(attack: SurveyAttack, rng: Rng) -> AttackReport:
    r"""Guess whether a later report is of the same device as earlier ones, or of another's.

    Guarantee:
        Let answers be drawn anew. Given what the two devices hold, the later report has one of two
        laws that are :math:`\varepsilon`-close, independent of the earlier reports; so even who
        knows both values links no more often than the ceiling of one report. Kept answers are a
        name tag: the same device gives the same report, and another device gives it only if all
        coins fall alike. So keeping answers, which defeats averaging, is what makes devices
        linkable: no number of the survey's loss speaks of it.

    Assumes:
        Reports come without names and addresses, as a collector of the house keeps them.
    """
    scheme = UnaryEncoding.optimised(categories=CATEGORIES, epsilon=attack.epsilon)
    loss = Pure(scheme.event().epsilon)
    is_same = attack.coins(rng)
    held = uniform_integers(CATEGORIES, (attack.devices, 2), rng)
    later = np.where(is_same, held[:, 0], held[:, 1])
    daily = np.repeat(held[:, 0], attack.days)
    earlier = _unpacked(scheme.randomise_many(daily, rng)).reshape(
        attack.devices, attack.days, CATEGORIES
    )
    best = earlier.sum(axis=1).argmax(axis=1)
    told = _unpacked(scheme.randomise_many(later, rng))
    anew = told[np.arange(attack.devices), best].astype(np.bool_)
    draws, linked = _draws(rng), np.zeros(attack.devices, dtype=np.bool_)
    for place, (own, other) in enumerate(held.tolist()):
        mine: dict[str, str] = {}
        first = permanent_report(_QUESTION, scheme.recipe(), own, mine, draws)
        again = permanent_report(
            _QUESTION,
            scheme.recipe(),
            own if is_same[place] else other,
            mine if is_same[place] else {},
            draws,
        )
        linked[place] = first == again
    return AttackReport(
        attack="Are two reports of one device? Those of one day are compared with earlier ones.",
        attempts=(
            attack.attempt("kept answers", linked, is_same, CERTAIN, "a kept report is a name."),
            attack.attempt(
                "drawn anew each day", anew, is_same, guess_ceiling(loss), f"one report: {loss}."
            ),
        ),
    )


def _unpacked(reports: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return np.unpackbits(reports, axis=1, bitorder="little")[:, :CATEGORIES]


def find_crossing(attack: SurveyAttack, rng: Rng) -> AttackReport:
    r"""Guess on which of two days a value rose from 0 to the most, from reports of every day.

    Guarantee:
        With memoised rounding a value that rises from 0 to :math:`m` passes every offset. The two
        kept answers differ with probability :math:`p^2 + (1-p)^2`, and then the day is seen; else
        the guess is a coin. So the guess is right with probability
        :math:`1/2 + (p^2 + (1-p)^2)/2`: :func:`crossing_share`. No loss bounds it.

        With a fresh report each day, calibrated to :math:`\varepsilon/T`, the two histories differ
        on fewer than :math:`T` days, so all reports together lose at most :math:`\varepsilon`, and
        the ceiling of that holds.
    """
    kept = OneBitMean.calibrate(most=MOST, epsilon=attack.epsilon)
    fresh = OneBitMean.calibrate(most=MOST, epsilon=attack.epsilon / attack.days)
    is_late = attack.coins(rng)
    early, late = attack.days // 3, attack.days - attack.days // 3
    days = np.arange(attack.days)
    rose = np.where(is_late, late, early)[:, None] <= days
    values = np.where(rose, MOST, 0).astype(np.int64)
    draws = _draws(rng)
    told = np.array([_rounded(kept, history, draws) for history in values.tolist()])
    between = slice(early, late)
    coins = bernoulli(Fraction(1, 2), attack.devices, rng)
    begins, ends = told[:, 0], told[:, -1]
    seen = np.where(begins == ends, coins, told[:, between.start] == begins)
    anew = fresh.randomise_many(values.ravel(), rng).reshape(attack.devices, attack.days)
    ones = anew[:, between].sum(axis=1).astype(np.int64)
    width = between.stop - between.start
    guesses = ~_votes(ones, width, rng)
    loss = Pure(fresh.event().epsilon * width)
    return AttackReport(
        attack=f"When did a value rise? Two days are possible, of {attack.days} that are reported.",
        attempts=(
            attack.attempt(
                "memoised rounding", seen, is_late, CERTAIN, "the day shows where answers differ."
            ),
            attack.attempt(
                "drawn anew, at a share each",
                guesses,
                is_late,
                guess_ceiling(loss),
                f"the days between: {loss}.",
            ),
        ),
    )


def _rounded(scheme: OneBitMean, history: list[int], draws: SecureDraws) -> list[int]:
    memory: dict[str, str] = {}
    recipe = scheme.recipe()
    return [rounded_report(_QUESTION, recipe, value, memory, draws)[0] for value in history]


def crossing_share(scheme: OneBitMean) -> Fraction:
    """Return how often :func:`find_crossing` is right about memoised rounding, exactly.

    Example:
        >>> round(float(crossing_share(OneBitMean.calibrate(most=24, epsilon=1))), 3)
        0.803
    """
    odds = scheme.odds()
    truth = odds / (1 + odds)
    return (1 + truth**2 + (1 - truth) ** 2) / 2


SURVEY_ATTACKS: dict[str, Callable[[SurveyAttack, Rng], AttackReport]] = {
    "average": average_reports,
    "link": link_devices,
    "crossing": find_crossing,
}
