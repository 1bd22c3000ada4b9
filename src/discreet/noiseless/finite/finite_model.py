"""A finite model: what a mechanism does to each database, and what an adversary may believe."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from attrs import field, frozen

from discreet.audit.finite_divergence import FiniteLaw
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.numbers import Number, exact

Database = Any
"""One database: anything hashable; for definitions about rows, a tuple of rows."""

JointLaw = Mapping[Any, Fraction]
"""A joint law of the database and of what the adversary knows: ``(x, z)`` to its probability."""

MOST_DATABASES = 1 << 16
"""No model is checked that has more databases, or more pairs of a database and knowledge."""


def require_law(law: Mapping[Any, Fraction], of: str) -> None:
    """Refuse what is no distribution, and say of what it should have been one."""
    if any(not isinstance(mass, Fraction | int) for mass in law.values()):
        raise InvalidArgument(f"The law of {of} is not exact", must="be given in fractions")
    total = sum(law.values(), Fraction(0))
    if total != 1 or any(mass < 0 for mass in law.values()):
        raise InvalidArgument(
            f"The law of {of} is not a distribution",
            must="have probabilities that are at least 0 and sum to exactly 1",
            got=f"a total of {total}",
        )


def _possible(laws: Iterable[JointLaw]) -> tuple[JointLaw, ...]:
    return tuple({pair: Fraction(mass) for pair, mass in law.items() if mass} for law in laws)


@frozen(eq=False)
class FiniteModel:
    """A mechanism on finitely many databases, and the class of laws that an adversary may believe.

    Attributes:
        mechanism: By database, the exact law of what is released.
        laws: The class: joint laws of the database and of what the adversary knows beside it.

    Example:
        >>> bits = independent_rows([0, 1], 2, ["1/2", "1/2"])
        >>> FiniteModel(deterministic(sum, bits), [without_knowledge(bits)]).size
        4
    """

    mechanism: Mapping[Database, FiniteLaw] = field()
    laws: tuple[JointLaw, ...] = field(converter=_possible)

    def __attrs_post_init__(self) -> None:
        require_size(len(self.mechanism), "databases")
        for law in {id(law): law for law in self.mechanism.values()}.values():
            require_law(law, "a release")
        for law in self.laws:
            require_size(len(law), "pairs of a database and knowledge")
            require_law(law, "the databases")
            if any(x not in self.mechanism for x, _ in law):
                raise InvalidArgument(
                    "A law has a database on which the mechanism is not defined",
                    must="stay within the databases of the mechanism",
                )

    @property
    def size(self) -> int:
        """How many databases there are."""
        return len(self.mechanism)

    def processed(self, after: Callable[[Any], FiniteLaw]) -> "FiniteModel":
        """Return the model in which ``after`` is applied to what was released."""
        return FiniteModel({x: push(law, after) for x, law in self.mechanism.items()}, self.laws)

    def with_laws(self, laws: Iterable[JointLaw]) -> "FiniteModel":
        """Return the same mechanism with another class of laws."""
        return FiniteModel(self.mechanism, laws)


def require_size(count: int, of: str) -> None:
    """Refuse a model that is too large, and say how large it is."""
    if not 1 <= count <= MOST_DATABASES:
        raise Unsupported(
            f"The model has {count} {of}",
            must=f"have from 1 to {MOST_DATABASES}",
            next="Take fewer rows, or a smaller universe",
        )


def certain(value: Hashable) -> FiniteLaw:
    """Return the law that has one outcome."""
    return {value: Fraction(1)}


def push(law: FiniteLaw, after: Callable[[Any], FiniteLaw]) -> dict[Any, Fraction]:
    """Return the law of what ``after`` makes of an outcome of ``law``."""
    pushed: defaultdict[Any, Fraction] = defaultdict(Fraction)
    for outcome, mass in law.items():
        for then, share in after(outcome).items():
            pushed[then] += mass * share
    return dict(pushed)


def deterministic(
    statistic: Callable[[Any], Hashable], databases: Iterable[Database]
) -> dict[Database, FiniteLaw]:
    """Return the mechanism that releases a statistic exactly."""
    laws: dict[Hashable, FiniteLaw] = {}
    found = {x: statistic(x) for x in databases}
    return {x: laws.setdefault(value, certain(value)) for x, value in found.items()}


def independent_rows(
    universe: Sequence[Hashable], rows: int, law: Sequence[Number | Sequence[Number]]
) -> dict[Database, Fraction]:
    """Return the law of rows that are independent: one pmf for all, or one for each row.

    Example:
        >>> independent_rows([0, 1], 2, ["1/4", "3/4"])[0, 1]
        Fraction(3, 16)
    """
    if rows < 1 or not universe:
        raise InvalidArgument("There are no rows", must="have a universe, and at least one row")
    if len(set(universe)) != len(universe):
        raise InvalidArgument("The universe has a value twice", must="have each value once")
    require_size(len(universe) ** rows if rows <= _MOST_ROWS else MOST_DATABASES + 1, "databases")
    several = [one for one in law if isinstance(one, Sequence) and not isinstance(one, str)]
    each: list[Sequence[Any]] = several or [law] * rows
    if len(each) != rows or any(len(one) != len(universe) for one in each):
        raise InvalidArgument(
            "The law of rows does not fit",
            must="have a probability for each value of the universe, once or for each row",
            got=f"{len(universe)} values and {rows} rows",
        )
    pmfs = [dict(zip(universe, map(exact, one), strict=True)) for one in each]
    for pmf in pmfs:
        require_law(pmf, "a row")
    joint: dict[Database, Fraction] = {(): Fraction(1)}
    for pmf in pmfs:
        joint = {
            (*x, value): mass * share
            for (x, mass), (value, share) in product(joint.items(), pmf.items())
        }
    return joint


_MOST_ROWS = 64


def mixture(parts: Sequence[tuple[Number, Mapping[Any, Fraction]]]) -> dict[Any, Fraction]:
    """Return the law that picks one of several laws, each with its weight.

    Example:
        >>> mixture([("1/2", {0: Fraction(1)}), ("1/2", {1: Fraction(1)})])
        {0: Fraction(1, 2), 1: Fraction(1, 2)}
    """
    mixed: defaultdict[Any, Fraction] = defaultdict(Fraction)
    for weight, law in parts:
        for outcome, mass in law.items():
            mixed[outcome] += exact(weight) * mass
    require_law(mixed, "a mixture")
    return dict(mixed)


def without_knowledge(law: Mapping[Database, Fraction]) -> JointLaw:
    """Return the joint law in which the adversary knows nothing beside the law itself."""
    return {(x, None): mass for x, mass in law.items()}


def with_knowledge(law: Mapping[Database, Fraction], known: Callable[[Any], Hashable]) -> JointLaw:
    """Return the joint law in which the adversary knows a function of the database."""
    return {(x, known(x)): mass for x, mass in law.items()}


def point_masses(databases: Iterable[Database]) -> tuple[JointLaw, ...]:
    """Return the class of certain databases: with it, a definition is about the worst case."""
    return tuple({(x, None): Fraction(1)} for x in databases)


def less_knowledge(law: JointLaw, told: Callable[[Any], FiniteLaw]) -> JointLaw:
    """Return the joint law in which the adversary has a (random) function of what they had."""
    less: defaultdict[tuple[Database, Hashable], Fraction] = defaultdict(Fraction)
    for (x, known), mass in law.items():
        for then, share in told(known).items():
            less[x, then] += mass * share
    return dict(less)
