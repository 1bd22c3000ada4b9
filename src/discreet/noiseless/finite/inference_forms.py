"""Definitions in terms of conclusions: how far a release moves what is believed."""

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from attrs import frozen

from discreet.audit.finite_divergence import FiniteLaw, total_variation
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact
from discreet.core.rounding import exp_down, short_up
from discreet.noiseless.finite.checked_delta import CheckedDelta, enclosed, factors, words_of
from discreet.noiseless.finite.compared_laws import Secret, closeness, secret_laws
from discreet.noiseless.finite.coupled_pairs import CoupledPair
from discreet.noiseless.finite.finite_model import Database, FiniteModel, push
from discreet.noiseless.finite.world_conditions import conditions_of
from discreet.noiseless.inference import exception_chance

Moves = list[tuple[Fraction, Fraction]]
"""How far a conclusion moves, and with which probability it is drawn."""


def check_inference(
    model: FiniteModel,
    pairs: Sequence[CoupledPair],
    simulator: Callable[[Any], FiniteLaw] | Mapping[Hashable, FiniteLaw],
    epsilon: Number,
    *,
    is_position_known: bool = True,
) -> CheckedDelta:
    r"""Return the least δ of the inference form of coupled worlds, for a given simulator.

    With probability at least :math:`1 - \delta` over what is released and known, for all pairs at
    once, what is believed of the private part after the release must be
    :math:`(\varepsilon, \delta)`-close to what is believed after the simulator said the same
    [Gro14, definitions 5.2 and 5.4].

    Guarantee:
        Exact for the simulator that is given, so ``high`` is an upper bound of what the best one
        has. There is no lower bound here over all simulators: conditioning makes the search a
        problem that is not convex. ``low`` is about this simulator, too. An output that the
        simulator never says counts as the largest move, 1.

    Args:
        model: The mechanism and the laws.
        pairs: What is private, and what the simulator sees.
        simulator: By what is seen, the law of what it says; a function is given what is seen,
            without the tag of its pair.
        epsilon: ε, at most 64.
        is_position_known: As in ``check_coupled_worlds``; it must fit the simulator's keys.
    """
    conditions = conditions_of(model, pairs, is_position_known=is_position_known)
    says = simulator.__getitem__ if isinstance(simulator, Mapping) else _untagged(simulator)
    real: defaultdict[Any, dict[Any, Fraction]] = defaultdict(dict)
    ideal: defaultdict[Any, dict[Any, Fraction]] = defaultdict(dict)
    masses: defaultdict[Any, Fraction] = defaultdict(Fraction)
    for one in conditions:
        for t, share in one.released.items():
            real[one.law, one.known, t, one.pair][one.value] = one.mass * share
            if one.pair is pairs[0]:
                masses[one.law, one.known, t] += one.mass * share
        for t, share in push(one.left, says).items():
            ideal[one.law, one.known, t, one.pair][one.value] = one.mass * share

    def worst(factor: Fraction) -> tuple[Fraction, str]:
        moves: defaultdict[int, Moves] = defaultdict(list)
        for (law, known, t), mass in masses.items():
            keys = [(law, known, t, pair) for pair in pairs]
            far = max(_moved(real[key], ideal.get(key, {}), factor) for key in keys)
            moves[law].append((far, mass))
        return max((_least(found) for found in moves.values()), default=Fraction(0)), ""

    return enclosed(epsilon, worst)


def _untagged(simulator: Callable[[Any], FiniteLaw]) -> Callable[[Any], FiniteLaw]:
    return lambda seen: simulator(seen[1])


def _moved(
    real: Mapping[Any, Fraction], ideal: Mapping[Any, Fraction], factor: Fraction
) -> Fraction:
    if not any(ideal.values()):
        return Fraction(1)
    return closeness(_normalised(real), _normalised(ideal), factor)


def _normalised(masses: Mapping[Any, Fraction]) -> dict[Any, Fraction]:
    total = sum(masses.values(), Fraction(0))
    return {value: mass / total for value, mass in masses.items()}


def _least(moves: Moves) -> Fraction:
    """Return the least δ with P[move > δ] <= δ."""
    beyond = Fraction(0)
    for move, mass in sorted(moves, reverse=True):
        if beyond >= move:
            return beyond
        # Below this move, its mass is beyond as well; down to it, only what came before.
        if beyond + mass >= move:
            return move
        beyond += mass
    return beyond


def check_inference_pufferfish(
    model: FiniteModel, secrets: Sequence[Secret], epsilon: Number
) -> CheckedDelta:
    r"""Return the least δ of the inference form of Pufferfish [Gro14, definition 5.9].

    Given what is known, with probability at least :math:`1 - \delta` over the release, what is
    believed of the secret after it is :math:`(\varepsilon, \delta)`-close to what was before.
    """

    def worst(factor: Fraction) -> tuple[Fraction, str]:
        found = (
            _least(moves)
            for secret in secrets
            for moves in _secret_moves(model, secret, factor).values()
        )
        return max(found, default=Fraction(0)), ""

    return enclosed(epsilon, worst)


def _secret_moves(model: FiniteModel, secret: Secret, factor: Fraction) -> Mapping[Any, Moves]:
    before: defaultdict[Any, dict[Any, Fraction]] = defaultdict(dict)
    after: defaultdict[Any, dict[Any, Fraction]] = defaultdict(dict)
    for (law, known, value), (mass, released) in secret_laws(model, secret).items():
        before[law, known][value] = mass
        for t, share in released.items():
            after[law, known, t][value] = mass * share
    moves: defaultdict[Any, Moves] = defaultdict(list)
    for (law, known, _), masses in after.items():
        prior = before[law, known]
        share = sum(masses.values(), Fraction(0)) / sum(prior.values(), Fraction(0))
        far = closeness(_normalised(masses), _normalised(prior), factor)
        moves[law, known].append((far, share))
    return moves


@frozen(kw_only=True)
class SemanticReading:
    """What differential privacy says of conclusions: a move, and how seldom it is exceeded.

    Attributes:
        move: The statistical distance between what is believed with the person's row and without.
        failure: The probability, over database and release, that it is larger.
    """

    move: Fraction
    failure: Fraction


def semantic_reading(
    epsilon: Number, delta: Number = 0, *, slack: Number | None = None
) -> SemanticReading:
    r"""Return what (ε, δ)-differential privacy says of conclusions, with constants.

    Guarantee:
        Every :math:`(\varepsilon, \delta)`-DP mechanism is semantically private with
        :math:`\varepsilon' = 1 - e^{-3\varepsilon}(1 - \delta_2)` and the :math:`\delta'` of the
        conditioning lemma, ``exception_chance``, for every row, every prior and every
        :math:`\delta_2` (``slack``; about :math:`\sqrt\delta` if none is given). The source has
        :math:`e^{3\varepsilon} - 1 + 2\sqrt\delta` and :math:`O(n\sqrt\delta)`, without the
        constant [Gro14, theorem 3.1]. Proof. For each :math:`x`, the release on :math:`x` is
        :math:`(\varepsilon, \delta)`-close to that without the row, so the joint laws of database
        and release are. By the lemma the conclusions :math:`A` and :math:`B` are
        :math:`(3\varepsilon, \delta_2)`-close but for releases of probability :math:`\delta'`;
        then :math:`A(S) - B(S) \le A(S)(1 - e^{-3\varepsilon}) + e^{-3\varepsilon}\delta_2`. For
        :math:`\delta = 0` they are within :math:`e^{\pm 2\varepsilon}` of each other everywhere,
        and the move is at most :math:`1 - e^{-2\varepsilon}`.

    Example:
        >>> reading = semantic_reading("0.1")
        >>> float(reading.move), reading.failure
        (0.1812..., Fraction(0, 1))
    """
    value, small = exact(epsilon), exact(delta)
    if value < 0 or not 0 <= small <= 1:
        raise InvalidArgument(
            "epsilon or delta is out of range", must="have ε at least 0, and δ from 0 to 1"
        )
    if small == 0:
        return SemanticReading(move=short_up(1 - exp_down(-2 * value)), failure=Fraction(0))
    share = exact(slack) if slack is not None else short_up(Fraction(_root(small)))
    if not 0 < share <= 1:
        raise InvalidArgument("slack is out of range", must="be above 0, and at most 1")
    failure = exception_chance(value, small, share)
    move = 1 - exp_down(-3 * value) * (1 - share)
    return SemanticReading(move=short_up(move), failure=failure)


def _root(value: Fraction) -> float:
    return min(1.0, max(math.sqrt(value), 1e-150))


def check_semantic(
    mechanism: Mapping[Database, FiniteLaw],
    priors: Sequence[Mapping[Database, Fraction]],
    rows: int,
    epsilon: Number,
    *,
    default: Hashable,
) -> CheckedDelta:
    r"""Return the least δ of semantic privacy at a move ε, for the priors that are listed.

    Under prior :math:`B` the release :math:`t` is read once as :math:`F(x)` and once as
    :math:`F(x_{-i})`, where row :math:`i` was replaced by ``default``. The two conclusions must be
    within statistical distance ε, with probability at least :math:`1 - \delta` over :math:`x` and
    :math:`t` [Gro14, definition 3.4]. Here ε is a distance from 0 to 1, and no exponent. All is
    exact, for these priors: the definition is about all priors, so ``high`` refutes or illustrates.
    A release that is impossible without the row counts as a move of 1.

    Example:
        >>> flip = {(b,): {b: Fraction(3, 4), 1 - b: Fraction(1, 4)} for b in (0, 1)}
        >>> prior = {(0,): Fraction(1, 2), (1,): Fraction(1, 2)}
        >>> print(check_semantic(flip, [prior], 1, "0.2", default=0))
        1
    """
    limit = factors(epsilon)[0]
    worst, where = Fraction(0), "nowhere"
    for prior in priors:
        for i in range(rows):
            failed = _semantic_failure(mechanism, prior, i, default, limit)
            if failed > worst:
                worst, where = failed, f"row {i + 1}, replaced by {words_of(default)}"
    return CheckedDelta(limit, worst, worst, where)


def _semantic_failure(
    mechanism: Mapping[Database, FiniteLaw],
    prior: Mapping[Database, Fraction],
    row: int,
    default: Hashable,
    limit: Fraction,
) -> Fraction:
    real: defaultdict[Any, dict[Any, Fraction]] = defaultdict(dict)
    without: defaultdict[Any, dict[Any, Fraction]] = defaultdict(dict)
    for x, mass in prior.items():
        blank = (*x[:row], default, *x[row + 1 :])
        if blank not in mechanism:
            raise InvalidArgument(
                "The mechanism is not defined where a row has the default value",
                must="have the default in its universe",
                got=words_of(default),
            )
        for law, kept in ((mechanism[x], real), (mechanism[blank], without)):
            for t, share in law.items():
                if mass and share:
                    kept[t][x] = mass * share
    failed = Fraction(0)
    for t, masses in real.items():
        moved = (
            total_variation(_normalised(masses), _normalised(without[t]))
            if t in without
            else Fraction(1)
        )
        if moved > limit:
            failed += sum(masses.values(), Fraction(0))
    return failed
