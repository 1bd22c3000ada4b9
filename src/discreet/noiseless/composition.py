"""Which exact releases may stand beside earlier ones: there is no budget that adds up.

A total, and the total without one person, are both harmless alone, and together they tell what that
person has. So losses of exact releases are never added. Four rules are allowed, and nothing else:

1. *The same again*, or a function of what is public already.
2. *One vector*: all that was released of these rows is part of what is certified now, jointly.
3. *Parallel*: the rows are disjoint by declaration, and independent.
4. *The composition theorem*, with both of its premises stated by the owner.

All of this reads declarations. No row is needed, and none is read.
"""

from collections.abc import Iterable, Sequence
from enum import Enum
from fractions import Fraction

from attrs import field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument, RefusedQuery
from discreet.core.numbers import exact
from discreet.core.rounding import exp_up, short_up


def _names(values: Iterable[str]) -> frozenset[str]:
    return frozenset(values)


class CompositionRule(Enum):
    """Why a release may stand beside the earlier ones."""

    FIRST = "first"
    AGAIN = "again"
    ONE_VECTOR = "one_vector"
    PARALLEL = "parallel"
    PREMISES = "premises"


@frozen
class RowSet:
    """Which rows a statistic is about, as it is declared.

    Attributes:
        id_space: The id space. Rows of other id spaces are about other people.
        table: The table.
        version: The version of the data. Another version has the same people in it.
        split: How rows are told apart by declaration: the name of a public split, such as a column
            that everybody may know of each row, or a fixed division of row numbers. A private
            column is none: the counts of its parts add up to all rows, so that parts hide nothing
            from one another. Such a split is a condition; several of its parts are one vector.
        parts: The parts of that split; none means all rows.
        condition: A condition on private columns, as canonical text. Two different conditions have
            rows in common, for all that is declared.
    """

    id_space: str
    table: str = ""
    version: int = field(default=0, converter=check.whole, validator=check.non_negative)
    split: str = ""
    parts: frozenset[str] = field(default=frozenset(), converter=_names)
    condition: str = ""

    def __attrs_post_init__(self) -> None:
        if bool(self.split) != bool(self.parts):
            raise InvalidArgument(
                "A part belongs to a split",
                must="name a split and its parts, or neither",
                got=f"split {self.split!r} and {len(self.parts)} parts",
            )

    def is_disjoint_from(self, other: "RowSet") -> bool:
        """Tell whether no row is in both, by declaration alone.

        Example:
            >>> north = RowSet("students", split="campus", parts={"north"})
            >>> north.is_disjoint_from(RowSet("students", split="campus", parts={"south"}))
            True
            >>> north.is_disjoint_from(RowSet("students", condition="campus = 'south'"))
            False
        """
        if self.id_space != other.id_space:
            return True
        is_one_split = (self.table, self.version, self.split) == (
            other.table,
            other.version,
            other.split,
        )
        return is_one_split and bool(self.split) and not self.parts & other.parts


@frozen
class ExactStatistic:
    """An exact release as it is declared, before a row is read, and what was certified for it.

    Attributes:
        name: What the ledger calls it.
        rows: Which rows it is about.
        features: What is released of them, as canonical texts (one entry a number, such as
            ``sum(score)``). Together they are certified as one vector.
        epsilon: The certified ε of the vector.
        delta: The certified δ at that ε.
        given: Names of earlier releases that the law was asserted to hold *given*.
        robust: Names of earlier exact releases whose certificates, the owner states, hold as well
            if the adversary is told what the simulator of this one says.
    """

    name: str
    rows: RowSet
    features: frozenset[str] = field(converter=_names)
    epsilon: Fraction = field(converter=exact, validator=check.non_negative)
    delta: Fraction = field(converter=exact, validator=check.probability)
    given: frozenset[str] = field(default=frozenset(), converter=_names)
    robust: frozenset[str] = field(default=frozenset(), converter=_names)

    def __attrs_post_init__(self) -> None:
        if not self.name or not self.features:
            raise InvalidArgument(
                "A statistic has a name, and releases something", must="name its features"
            )


@frozen
class NoisyRelease:
    """An earlier differentially private release; to an exact one it is auxiliary information.

    Attributes:
        name: What the ledger calls it.
        id_space: The id space.
        epsilon: ε.
        delta: δ.
        robust: Names of exact releases before it whose laws, the owner states, hold given it too.
    """

    name: str
    id_space: str
    epsilon: Fraction = field(converter=exact, validator=check.non_negative)
    delta: Fraction = field(default=Fraction(0), converter=exact, validator=check.probability)
    robust: frozenset[str] = field(default=frozenset(), converter=_names)


Earlier = ExactStatistic | NoisyRelease

_SAYS_NOTHING = 10_000
"""A δ that grows by e to more than this power is taken to be 1, which is true of every δ."""


@frozen
class ComposedReleases:
    """That a release may stand beside the earlier ones, by which rule, and what holds for all.

    Attributes:
        rule: The rule.
        epsilon: ε of everything that concerns this id space, together.
        delta: δ of it.
        because: The reason, in a sentence.
    """

    rule: CompositionRule
    epsilon: Fraction
    delta: Fraction
    because: str


def require_composable(
    earlier: Sequence[Earlier], new: ExactStatistic, *, total: "ComposedReleases | None" = None
) -> ComposedReleases:
    r"""Say by which rule a new exact release may stand beside the earlier ones, or refuse it.

    Guarantee:
        What is returned bounds the release of all of them [Gro14, theorems 5.3, 5.6 and 6.8]:

        *Again.* The vector is part of an earlier one on the same rows: it is a function of what is
        public, and the simulator is the same function of the earlier simulator.

        *One vector.* Every earlier release that shares rows is part of the new vector, so these
        together are a function of the new one, and its certificate covers them.

        *Parallel.* Rows are independent and every earlier release is about other rows. Let row
        :math:`i` be in the new ones; the simulator runs the earlier mechanisms on their full rows
        and the new simulator on the rest. Both worlds have the same, independent, second part, so
        the divergence of the pair is that of the new part, and likewise for a row of an earlier
        part: (max ε, max δ). A row that is in no part moves nothing.

        *Premises.* ``compose_with_premises``.

        A release is asserted *given* all that overlaps it, and all that overlaps those: the total
        of everybody and the total of the north tell the total of the south, which neither of them
        does alone.

    Assumes:
        Declarations were made before anyone looked at the data, and ``total`` (what the last call
        for this id space returned) is about those of ``earlier`` that are of it. Without it the
        earlier releases must go together too, and are composed here one after another.

    Example:
        >>> everyone = RowSet("students", table="exams")
        >>> total = ExactStatistic("total", everyone, {"sum(score)"}, "0.5", "1e-6")
        >>> but_one = RowSet("students", table="exams", condition="student <> 17")
        >>> less = ExactStatistic("rest", but_one, {"sum(score)"}, "0.5", "1e-6")
        >>> require_composable([total], less)
        Traceback (most recent call last):
        ...
        discreet.core.errors.RefusedQuery: 'rest' and 'total' could be subtracted...
    """
    about = [one for one in earlier if _id_space(one) == new.rows.id_space]
    _require_own_names(about)
    if total is None:
        total = _composed_before(about)
    if not about:
        return ComposedReleases(
            CompositionRule.FIRST, new.epsilon, new.delta, "Nothing was released of this id space"
        )
    if any(_is_part(new, one) for one in about):
        because = "It is a function of what is public already"
        return ComposedReleases(CompositionRule.AGAIN, total.epsilon, total.delta, because)
    near = sorted(_linked(about, new), key=lambda one: _is_apart(one, new))
    exact_near = [one for one in near if isinstance(one, ExactStatistic)]
    if not near:
        because = "The rows are disjoint by declaration, and independent"
        epsilon, delta = max(total.epsilon, new.epsilon), max(total.delta, new.delta)
        return ComposedReleases(CompositionRule.PARALLEL, epsilon, delta, because)
    if len(exact_near) == len(near) and all(_is_part(one, new) for one in exact_near):
        return _one_vector(total, new, is_all=len(near) == len(about))
    missing = [one for one in near if one.name not in new.given]
    unproved = [one for one in exact_near if one.name not in new.robust]
    if missing or unproved:
        raise _refusal(new, (missing or unproved)[0], is_asserted=not missing)
    return compose_with_premises(total, new)


def compose_with_premises(total: ComposedReleases, new: ExactStatistic) -> ComposedReleases:
    r"""Return what holds for earlier releases and a new one by the composition theorem.

    Guarantee:
        Let :math:`F` be what was released and :math:`G` the new release. If :math:`G` is
        :math:`(\epsilon_G, \delta_G)`-private when the adversary also knows :math:`F(X)`, and
        :math:`F` is :math:`(\epsilon_F, \delta_F)`-private when they also know what the simulator
        of :math:`G` says, then the pair is private with :math:`\epsilon_F + \epsilon_G` and
        :math:`\max(\delta_F e^{\epsilon_G} + \delta_G, \delta_F + \delta_G e^{\epsilon_F})`
        [Gro14, theorem 5.6]. Proof. For a set :math:`S` of pairs and its section :math:`S_f`,
        :math:`P[(F, G) \in S] = E_{f \sim F}\,P[G \in S_f \mid f] \le
        e^{\epsilon_G} E_f\,P[Sim_G \in S_f \mid f] + \delta_G`. What is left is the probability
        that :math:`F(X)` is in a section that :math:`Sim_G` chooses, and given what :math:`Sim_G`
        says the second premise bounds it. The other direction begins with :math:`F`.

        A differentially private :math:`F` meets the second premise whatever the adversary knows, so
        for noisy releases the first one is all that the owner must assert.

    Example:
        >>> total = ComposedReleases(CompositionRule.FIRST, exact(0), exact("0.01"), "")
        >>> new = ExactStatistic("b", RowSet("students"), {"sum(x)"}, 0, "0.02", given={"a"})
        >>> compose_with_premises(total, new).delta
        Fraction(3, 100)
    """
    because = "The law was asserted given what was released, and both premises are stated"
    worst = _delta_of_both(total, new)
    return ComposedReleases(CompositionRule.PREMISES, total.epsilon + new.epsilon, worst, because)


def _delta_of_both(total: ComposedReleases, new: Earlier) -> Fraction:
    with_new = _grown(total.delta, new.epsilon) + new.delta
    with_total = total.delta + _grown(new.delta, total.epsilon)
    return min(Fraction(1), max(with_new, with_total))


def _grown(delta: Fraction, epsilon: Fraction) -> Fraction:
    """Return a number not below delta times e to the epsilon, or 1."""
    if not delta:
        return delta
    return Fraction(1) if epsilon > _SAYS_NOTHING else short_up(delta * exp_up(epsilon))


def _one_vector(total: ComposedReleases, new: ExactStatistic, *, is_all: bool) -> ComposedReleases:
    """Replace what is part of the new vector; what is about other rows stands beside it."""
    epsilon = new.epsilon if is_all else max(total.epsilon, new.epsilon)
    delta = new.delta if is_all else max(total.delta, new.delta)
    because = "All that was released of these rows is part of the vector that is certified"
    return ComposedReleases(CompositionRule.ONE_VECTOR, epsilon, delta, because)


def _composed_before(earlier: Sequence[Earlier]) -> ComposedReleases:
    """Compose what was released, from the first on; refuse what does not go together."""
    total = ComposedReleases(
        CompositionRule.FIRST, Fraction(0), Fraction(0), "Nothing was released"
    )
    for index, one in enumerate(earlier):
        if isinstance(one, ExactStatistic):
            total = require_composable(earlier[:index], one, total=total)
        else:
            total = _with_noise(total, earlier[:index], one)
    return total


def _with_noise(
    total: ComposedReleases, before: Sequence[Earlier], noisy: NoisyRelease
) -> ComposedReleases:
    """Add a differentially private release, which is private whatever the adversary knows.

    An exact release before it was certified for an adversary who did not have it. So the owner has
    to state that its law holds given the noisy release too.
    """
    for one in before:
        is_exact = isinstance(one, ExactStatistic) and one.rows.id_space == noisy.id_space
        if is_exact and one.name not in noisy.robust:
            raise RefusedQuery(
                f"{noisy.name!r} was released after {one.name!r}, which was certified without it",
                must="be stated to leave that certificate true",
                next="State it, if it is so; otherwise publish with noise from here on",
            )
    delta = _delta_of_both(total, noisy)
    return ComposedReleases(total.rule, total.epsilon + noisy.epsilon, delta, total.because)


def _id_space(one: Earlier) -> str:
    return one.id_space if isinstance(one, NoisyRelease) else one.rows.id_space


def _is_part(one: Earlier, of: Earlier) -> bool:
    """Tell whether ``one`` is a function of ``of``: the same rows, and some of its features."""
    if isinstance(one, NoisyRelease) or isinstance(of, NoisyRelease):
        return False
    return one.rows == of.rows and one.features <= of.features


def _is_apart(one: Earlier, other: Earlier) -> bool:
    if isinstance(one, NoisyRelease) or isinstance(other, NoisyRelease):
        return False
    return one.rows.is_disjoint_from(other.rows)


def _linked(about: Sequence[Earlier], new: ExactStatistic) -> list[Earlier]:
    """Return what shares rows with the new release, and what shares rows with those, and so on."""
    linked: list[Earlier] = []
    reached: list[Earlier] = [new]
    while reached:
        last = reached.pop()
        found = [one for one in about if one not in linked and not _is_apart(one, last)]
        linked.extend(found)
        reached.extend(found)
    return [one for one in about if one in linked]


def _require_own_names(about: Sequence[Earlier]) -> None:
    """Refuse two releases of one name: a premise that names one of them would serve both."""
    seen: dict[str, Earlier] = {}
    for one in about:
        if seen.setdefault(one.name, one) != one:
            raise InvalidArgument(
                f"Two different releases are called {one.name!r}",
                must="have a name of its own, because premises are stated by name",
            )


def _refusal(new: ExactStatistic, one: Earlier, *, is_asserted: bool) -> RefusedQuery:
    """Say why two releases do not go together, and what would."""
    if is_asserted:
        return RefusedQuery(
            f"The certificate of {one.name!r} is not stated to hold beside {new.name!r}",
            must="be stated by the owner, as the second premise of the composition theorem",
            next=f"Name {one.name!r} among the releases that stay certified, or leave this one out",
        )
    if isinstance(one, NoisyRelease):
        return RefusedQuery(
            f"{one.name!r} is of the same id space, and the law of {new.name!r} ignores it",
            must="be asserted given every earlier release, noisy ones too",
            next=f"Assert the law given {one.name!r}, if it is true, or publish with noise",
        )
    if _is_apart(one, new):
        return RefusedQuery(
            f"A release of both links {new.name!r} with {one.name!r}, which is of other rows",
            must="be asserted given that one too, if it is true, or be published with noise",
        )
    return RefusedQuery(
        f"{new.name!r} and {one.name!r} could be subtracted: they share rows",
        must="be one vector of the same rows, or rows that are disjoint by declaration, or have a "
        "law that is asserted given the earlier release",
        got=_difference(one.rows, new.rows),
        next=_instead(one, new),
    )


def _difference(first: RowSet, second: RowSet) -> str:
    if first.version != second.version:
        return f"versions {first.version} and {second.version} of the same rows"
    if first.condition != second.condition:
        return "two private conditions"
    if first.split == second.split and first.parts != second.parts:
        return f"parts of {first.split or 'the rows'!r} that overlap"
    if first == second:
        return "two releases of the same rows that were not certified together"
    return "two declarations that nothing is known about"


def _instead(first: ExactStatistic, second: ExactStatistic) -> str:
    if first.rows == second.rows:
        return "Certify one vector that has both, and release that"
    if first.rows.split and first.rows.split == second.rows.split:
        return "Certify each part of the split by itself, and add up what is published"
    return "Publish it with noise, or not at all"
