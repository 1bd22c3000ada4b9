"""The composition theorem on finite models: its premises are computed, and not assumed."""

from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from attrs import frozen

from discreet.audit.finite_divergence import FiniteLaw
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number
from discreet.core.rounding import exp_up
from discreet.noiseless.finite.checked_delta import factors
from discreet.noiseless.finite.coupled_pairs import CoupledPair
from discreet.noiseless.finite.coupled_worlds import check_coupled_worlds
from discreet.noiseless.finite.finite_model import Database, FiniteModel, JointLaw, push


@frozen(kw_only=True)
class CheckedPremises:
    """Both premises of the composition theorem, computed, and what follows for the pair.

    Attributes:
        first: δ of the first release when the adversary also has what the second's simulator says.
        second: δ of the second release when the adversary also has the first.
        epsilon: ε of both together.
        delta: δ of both together.
    """

    first: Fraction
    second: Fraction
    epsilon: Fraction
    delta: Fraction


def jointly(
    first: Mapping[Database, FiniteLaw], second: Mapping[Database, FiniteLaw]
) -> dict[Database, FiniteLaw]:
    """Return the mechanism that releases both, with independent randomness."""
    if set(first) != set(second):
        raise InvalidArgument(
            "The two mechanisms are of different databases", must="be defined on the same ones"
        )
    return {
        x: {(t, u): mass * share for t, mass in law.items() for u, share in second[x].items()}
        for x, law in first.items()
    }


def check_premises(
    first: FiniteModel,
    second: Mapping[Database, FiniteLaw],
    pairs: Sequence[CoupledPair],
    epsilons: tuple[Number, Number],
) -> CheckedPremises:
    r"""Compute the premises of the composition theorem, and what it says of both releases.

    Guarantee:
        Let :math:`G` be the second release: :math:`\delta_G` is its least δ when :math:`F(X)` is
        known, too, with a simulator :math:`Sim_G`; and :math:`\delta_F` the least δ of :math:`F`
        when what :math:`Sim_G(alt(X))` says is known, too. Then both together have
        :math:`\varepsilon_F + \varepsilon_G` and
        :math:`\max(\delta_F e^{\varepsilon_G} + \delta_G, \delta_F + \delta_G e^{\varepsilon_F})`
        [Gro14, theorem 5.6; proved at ``noiseless.composition.compose_with_premises``; in its
        equation 5.8 :math:`\delta_F` is printed inside a sum over both outputs, where it belongs to
        the section of the event at each second output]. Simulators are told whose data are private.
    """
    (epsilon_first, _, _), (epsilon_second, _, _) = map(factors, epsilons)
    after = FiniteModel(second, [_knowing(first, law) for law in first.laws])
    found = check_coupled_worlds(after, pairs, epsilon_second)
    simulator = found.simulator
    delta_first = Fraction(0)
    for index, pair in enumerate(pairs):
        told = [_told(law, pair, index, simulator) for law in first.laws]
        alone = check_coupled_worlds(first.with_laws(told), [pair], epsilon_first)
        delta_first = max(delta_first, alone.high)
    delta = max(
        delta_first * exp_up(epsilon_second) + found.high,
        delta_first + found.high * exp_up(epsilon_first),
    )
    return CheckedPremises(
        first=delta_first,
        second=found.high,
        epsilon=epsilon_first + epsilon_second,
        delta=min(Fraction(1), delta),
    )


def _knowing(model: FiniteModel, law: JointLaw) -> JointLaw:
    """Return a law in which what the mechanism released is known, too."""
    joint: dict[tuple[Database, Hashable], Fraction] = {}
    for (x, known), mass in law.items():
        for t, share in model.mechanism[x].items():
            joint[x, (known, t)] = joint.get((x, (known, t)), Fraction(0)) + mass * share
    return joint


def _told(
    law: JointLaw, pair: CoupledPair, index: int, simulator: Mapping[Hashable, Any]
) -> JointLaw:
    """Return a law in which what a simulator says of the alternative is known, too."""
    joint: dict[tuple[Database, Hashable], Fraction] = {}
    for (x, known), mass in law.items():
        seen = {(index, one): share for one, share in pair.alternative(x).items()}
        for t, share in push(seen, simulator.__getitem__).items():
            joint[x, (known, t)] = joint.get((x, (known, t)), Fraction(0)) + mass * share
    return joint
