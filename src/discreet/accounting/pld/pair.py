"""The pairs of laws that enclose one use of a mechanism, in both directions."""

from attrs import frozen

from discreet.accounting.pld.laws.law import Law


@frozen(eq=False)
class Pair:
    """What dominates a use when a unit is removed and when one is added, and what it can attain.

    Guarantee:
        The curve of a use is at most that of ``removal`` or ``addition``, by direction. The pairs
        of ``attained`` are reached by neighbours that stay the same for all uses together, so no
        accountant can be below their composition; ``None`` where no such pair is known.
    """

    removal: Law
    addition: Law
    attained: "tuple[Law, Law] | None"
    uses: int = 1
    """How many independent copies one event counts for."""

    @staticmethod
    def symmetric(law: Law, *, uses: int = 1) -> "Pair":
        """Return the pair of a law that is dominating and attained in both directions."""
        return Pair(law, law, (law, law), uses)

    @property
    def is_symmetric(self) -> bool:
        """Whether both directions are the same."""
        same = self.attained is None or self.attained[0] is self.attained[1]
        return self.removal is self.addition and same
