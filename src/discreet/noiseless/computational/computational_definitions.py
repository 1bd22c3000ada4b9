"""Three definitions of computational privacy: what each says, and what of it can be checked."""

from collections.abc import Mapping
from enum import Enum
from fractions import Fraction
from typing import Any

from attrs import frozen

from discreet.audit.finite_divergence import FiniteLaw, total_variation
from discreet.audit.near_laws import near_pair
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number
from discreet.core.rounding import short_up
from discreet.noiseless.finite.checked_delta import factors
from discreet.noiseless.finite.compared_laws import check_differential


class ComputationalDefinition(Enum):
    """The definitions, the weakest first."""

    IND = "IND-CDP"
    SIM_FOR_PAIRS = "SIM∀∃-CDP"
    SIM = "SIM-CDP"

    @property
    def words(self) -> "ComputationalWords":
        """What it says, and what of it can be checked.

        Example:
            >>> ComputationalDefinition.IND.words.checkable[:23]
            'One test can be played,'
        """
        return DEFINITIONS_SAY[self]


@frozen
class ComputationalWords:
    """What a definition says, and what of it can be checked."""

    says: str
    checkable: str


DEFINITIONS_SAY: Mapping[ComputationalDefinition, ComputationalWords] = {
    ComputationalDefinition.IND: ComputationalWords(
        says="No efficient test tells the releases of two neighbours apart better than e^ε allows, "
        "but for something negligible [Gro14, definition 4.2].",
        checkable="One test can be played, and refutes the claim or does not. All efficient tests "
        "cannot be: the claim rests on an assumption of cryptography.",
    ),
    ComputationalDefinition.SIM_FOR_PAIRS: ComputationalWords(
        says="For any two neighbours there is a mechanism that is ε-private on these two, in both "
        "directions, and that no efficient test tells from the real one on either. The definition "
        "prints one direction; the pair is unordered, so both are meant [Gro14, definition 4.4].",
        checkable="On finite laws the mechanism for a pair is computed, and how far it is from the "
        "real one for every test, efficient or not. It is equivalent to IND-CDP.",
    ),
    ComputationalDefinition.SIM: ComputationalWords(
        says="One differentially private mechanism, whatever the databases, is such that no "
        "efficient test tells it from the real one [Gro14, definition 4.3].",
        checkable="On finite models, that a given ideal mechanism is private, and how far the real "
        "one is from it for every test. It implies the other two; whether they imply it was open.",
    ),
}
"""In words. If how useful a release is can itself be computed efficiently, it is a test: so the
best usefulness under each of these is that under differential privacy, and only the effort to reach
it could be less [Gro14, section 4.1]."""


@frozen(kw_only=True)
class SimulatedPair:
    """A mechanism for one pair of neighbours that is private without any δ, beside the real one.

    Attributes:
        epsilon: ε.
        ideal: Its laws on the two.
        distance: How far they are from the real ones; no test has a larger advantage.
    """

    epsilon: Fraction
    ideal: tuple[FiniteLaw, FiniteLaw]
    distance: Fraction


def simulate_pair(first: FiniteLaw, second: FiniteLaw, epsilon: Number) -> SimulatedPair:
    r"""Return the mechanism that SIM∀∃-CDP asks for on one pair, for tests of any power.

    Guarantee:
        The ideal laws are within :math:`e^{\pm\varepsilon}` of each other everywhere, in both
        directions. If the real ones are :math:`(\varepsilon, \delta)`-close, each is within about
        :math:`\delta/(1 + e^\varepsilon)` of its ideal one; conversely a distance of :math:`\nu`
        makes the real ones :math:`(\varepsilon, (1 + e^\varepsilon)\nu)`-close. That is why
        SIM∀∃-CDP and IND-CDP are equivalent: the same, with efficient tests. Proof: ``near_pair``,
        at a factor that is rounded down.

    Example:
        >>> print(simulate_pair({0: Fraction(1)}, {1: Fraction(1)}, 0).distance)
        1/2
    """
    value, low_factor, _ = factors(epsilon)
    ideal = near_pair(first, second, factor=low_factor)
    far = max(total_variation(first, ideal[0]), total_variation(second, ideal[1]))
    return SimulatedPair(epsilon=value, ideal=ideal, distance=far)


@frozen(kw_only=True)
class CheckedSimulation:
    """A real mechanism beside an ideal one, on every database.

    Attributes:
        epsilon: ε of the ideal mechanism.
        ideal_delta: δ of the ideal mechanism, an upper bound.
        distance: The largest statistical distance of the two: no test, of whatever power, has a
            larger advantage.
        delta: δ of the real mechanism that follows, against everybody.
    """

    epsilon: Fraction
    ideal_delta: Fraction
    distance: Fraction
    delta: Fraction


def check_simulation(
    real: Mapping[Any, FiniteLaw], ideal: Mapping[Any, FiniteLaw], epsilon: Number
) -> CheckedSimulation:
    r"""Check SIM-CDP with a given ideal mechanism, on a finite model, against all tests.

    Guarantee:
        If the ideal mechanism is :math:`(\varepsilon, \delta)`-DP and the real one is within
        statistical distance :math:`\nu` of it, the real one is
        :math:`(\varepsilon, \delta + (1 + e^\varepsilon)\nu)`-DP. Proof. For an event :math:`S`,
        :math:`F(x)(S) \le G(x)(S) + \nu \le e^\varepsilon G(x')(S) + \delta + \nu
        \le e^\varepsilon (F(x')(S) + \nu) + \delta + \nu`. A computational claim has a far smaller
        :math:`\nu` for efficient tests only; that is assumed of ciphers, and never checked.
    """
    if set(real) != set(ideal):
        raise InvalidArgument(
            "The two mechanisms are of different databases", must="be defined on the same ones"
        )
    value, _, high_factor = factors(epsilon)
    private = check_differential(ideal, value)
    far = max(total_variation(real[x], ideal[x]) for x in real)
    delta = private.high + (1 + high_factor) * far
    return CheckedSimulation(
        epsilon=value,
        ideal_delta=private.high,
        distance=far,
        delta=min(Fraction(1), short_up(delta)),
    )
