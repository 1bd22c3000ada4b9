"""Definitions with a simulator: coupled worlds, distributional privacy, simulated DP."""

from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction

from discreet.audit.finite_divergence import FiniteLaw, excess
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number
from discreet.noiseless.finite.checked_delta import CheckedDelta, factors, words_of
from discreet.noiseless.finite.coupled_pairs import CoupledPair, individuals, worst_case
from discreet.noiseless.finite.finite_model import FiniteModel, push
from discreet.noiseless.finite.programme_solver import SolvedProgramme, solve_programme
from discreet.noiseless.finite.simulator_programme import SimulatorProgramme, parts_of
from discreet.noiseless.finite.world_conditions import WorldCondition, conditions_of


def check_coupled_worlds(
    model: FiniteModel,
    pairs: Sequence[CoupledPair],
    epsilon: Number,
    *,
    is_position_known: bool = True,
) -> CheckedDelta:
    r"""Return the least δ of coupled-worlds privacy at an ε, and the best simulator.

    Guarantee:
        With ``high``, the returned simulator has, for every law, pair, private value :math:`v` and
        knowledge :math:`z`, :math:`F(X) \approx_{\varepsilon,\delta} Sim(alt(X))` given
        :math:`priv(X) = v` and :math:`Z = z` [Gro14, definition 5.5]. With less than ``low``, none
        has. One simulator serves all laws. Proof: ``solve_programme``, and the reductions in
        ``simulator_programme``.

    Args:
        model: The mechanism and the laws.
        pairs: What is private, and what a simulator sees instead.
        epsilon: ε, at most 64.
        is_position_known: Whether the simulator is told whose data are private. The source leaves
            it open; told is the default, and gives a δ that is not larger.

    Example:
        >>> from discreet.noiseless import (
        ...     FiniteModel, deterministic, independent_rows, without_knowledge)
        >>> bits = independent_rows([0, 1], 4, ["1/2", "1/2"])
        >>> model = FiniteModel(deterministic(sum, bits), [without_knowledge(bits)])
        >>> print(check_coupled_worlds(model, individuals(4), 0))
        0.1875
    """
    value, low_factor, high_factor = factors(epsilon)
    conditions = conditions_of(model, pairs, is_position_known=is_position_known)
    solved: dict[SimulatorProgramme, SolvedProgramme] = {}
    simulator: dict[Hashable, FiniteLaw] = {}
    low = high = Fraction(0)
    where = conditions[0]
    for part in parts_of(conditions):
        if part.programme not in solved:
            solved[part.programme] = solve_programme(part.programme, low_factor, high_factor)
        found = solved[part.programme]
        simulator.update(part.simulator(found.simulator))
        if found.high > high:
            where = part.conditions[found.worst]
        low, high = max(low, found.low), max(high, found.high)
    return CheckedDelta(value, low, high, _words(where), simulator)


def check_distributional(
    model: FiniteModel, rows: int, epsilon: Number, *, is_position_known: bool = True
) -> CheckedDelta:
    """Return the least δ of distributional privacy: coupled worlds, a pair for each row.

    See ``check_coupled_worlds`` [Gro14, definition 5.3].
    """
    return check_coupled_worlds(
        model, individuals(rows), epsilon, is_position_known=is_position_known
    )


def check_simulated(
    model: FiniteModel, rows: int, epsilon: Number, *, is_position_known: bool = True
) -> CheckedDelta:
    r"""Return the least δ of differential privacy in simulator form [Gro14, definition 5.1].

    The laws of the model are not looked at: every database is possible.

    Guarantee:
        It is *not* equivalent to the usual definition with the same numbers, as is printed. From
        the usual definition to this one nothing is lost (the simulator inserts any value); from
        this one to the usual one, :math:`(2\varepsilon, (1 + e^\varepsilon)\delta)` follows,
        because there are two steps from a database to its neighbour, by way of the simulator.
    """
    worst, pairs = worst_case(model, rows)
    return check_coupled_worlds(worst, pairs, epsilon, is_position_known=is_position_known)


def attained_delta(
    model: FiniteModel,
    pairs: Sequence[CoupledPair],
    simulator: Mapping[Hashable, FiniteLaw],
    factor: Fraction,
    *,
    is_position_known: bool = True,
) -> tuple[Fraction, WorldCondition]:
    """Return the δ that a simulator attains at a rational factor, exactly, and where.

    It is enumerated from the definition, and shares nothing with the search for simulators.
    """
    worst: tuple[Fraction, WorldCondition] | None = None
    for one in conditions_of(model, pairs, is_position_known=is_position_known):
        said = push(one.left, simulator.__getitem__)
        delta = max(excess(one.released, said, factor), excess(said, one.released, factor))
        if worst is None or delta > worst[0]:
            worst = delta, one
    if worst is None:
        raise InvalidArgument("Nothing is compared", must="have a law and a pair")
    return worst


def _words(one: WorldCondition) -> str:
    known = "" if one.known is None else f", and {words_of(one.known)} is known"
    return f"{one.pair.name} is {words_of(one.value)}{known}"
