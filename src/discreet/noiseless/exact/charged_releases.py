"""Earlier releases of an id space, read from the ledger: exact and noisy ones, in their order.

To an exact release all of them are auxiliary information, of whichever version of the data.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from attrs import evolve, frozen

from discreet.accounting.conversions.convert import convert
from discreet.accounting.losses.loss_json import loss_from_json
from discreet.core.loss import Approximate, ApproximateZcdp, Measure, PrivacyLoss
from discreet.core.numbers import exact
from discreet.ledger.chain import Entry, Kind
from discreet.ledger.exact_claims import ExactClaim
from discreet.ledger.ledger import Ledger
from discreet.noiseless.composition import Earlier, ExactStatistic, NoisyRelease, RowSet
from discreet.tables.declarations.exact_releases import TICKET

NOISY_DELTA = Fraction(1, 10**9)
"""The δ at which a loss in another measure is told as an ε, besides the δ that it has itself."""


def version_name(name: str, version: int) -> str:
    """Return the name of an exact release of one version of the data.

    Example:
        >>> version_name("mean-score", 2)
        'mean-score@2'
    """
    return f"{name}@{version}"


@frozen(kw_only=True)
class ChargedExact:
    """An exact release that was charged: what was asserted, and by which ticket."""

    ticket: int
    claim: ExactClaim

    @property
    def name(self) -> str:
        """Its name, with the version of the data."""
        return version_name(self.claim.name, self.claim.asserted["data_version"])

    def statistic(self) -> ExactStatistic:
        """Return it as the rules of composition see it."""
        said = self.claim.asserted
        return ExactStatistic(
            self.name,
            row_set(self.claim.id_space, said),
            said["features"],
            exact(said["certified"]["epsilon"]),
            exact(said["certified"]["delta"]),
            given=said["premises"]["given"],
            robust=said["premises"]["robust"],
        )


def row_set(id_space: str, said: Mapping[str, Any]) -> RowSet:
    """Return which rows an assertion is about."""
    return RowSet(
        id_space,
        table=said["table"],
        version=said["data_version"],
        split=said["split"] or "",
        parts=said["parts"],
    )


@frozen(kw_only=True)
class ChargedReleases:
    """All that was charged of an id space and did not fail, the oldest first.

    What is under way counts: it may become public.
    """

    id_space: str
    exact: tuple[ChargedExact, ...]
    noisy: tuple[tuple[int, PrivacyLoss], ...]
    """Tickets and losses of noisy answers."""
    beside_noise: frozenset[str] = frozenset()
    """Names of exact releases whose laws, the owner states, hold given noisy answers too."""
    has_lost_some: bool = False
    """Whether the ledger was begun again, so that there may have been others."""

    def composed(self) -> tuple[Earlier, ...]:
        """Return them in their order, as the rules of composition see them.

        One that was published again, after it failed half-way, is there once: as it was first.
        """
        first: dict[str, ChargedExact] = {}
        for one in self.exact:
            first.setdefault(one.name, one)
        found: list[tuple[int, Earlier]] = [(one.ticket, one.statistic()) for one in first.values()]
        for ticket, loss in self.noisy:
            told = _approximate(loss)
            noisy = NoisyRelease(
                f"{TICKET}{ticket}",
                self.id_space,
                told.epsilon,
                told.delta,
                robust=self.beside_noise,
            )
            found.append((ticket, noisy))
        return tuple(one for _, one in sorted(found, key=lambda pair: pair[0]))

    def named(self, names: Iterable[str]) -> frozenset[str]:
        """Return names with their versions: a bare one means every version of it."""
        found: set[str] = set()
        for name in names:
            same = {one.name for one in self.exact if name in (one.claim.name, one.name)}
            found |= same or {name}
        return frozenset(found)


def _approximate(loss: PrivacyLoss) -> Approximate:
    if isinstance(loss, Approximate):
        return loss
    own = loss.delta if isinstance(loss, ApproximateZcdp) else 0
    delta = 0 if loss.measure is Measure.PURE else own + NOISY_DELTA
    found = convert(loss, to=Measure.APPROXIMATE, delta=delta).loss
    assert isinstance(found, Approximate)
    return found


def charged_releases(ledger: Ledger, id_space: str, stated: Iterable[str] = ()) -> ChargedReleases:
    """Read all charges of an id space; ``stated`` are releases now said to hold beside noise."""
    claims: dict[str, ExactClaim] = {}
    charged: dict[int, Entry] = {}
    has_lost_some = False
    for entry in ledger.entries():
        if entry.kind is Kind.EXACT:
            claim = ExactClaim.from_json(entry.payload)
            claims[claim.digest] = claim
        elif entry.kind is Kind.RESERVE:
            charged[entry.sequence] = entry
        elif entry.kind is Kind.FAIL:
            charged.pop(entry.payload["ticket"], None)
        elif entry.kind is Kind.RENEWAL:
            has_lost_some = True
    exact_ones, noisy = [], []
    for ticket, entry in charged.items():
        order = entry.payload["order"]
        losses = [one["loss"] for one in order["charges"] if one["id_space"] == id_space]
        if losses and "exact" in order:
            exact_ones.append(ChargedExact(ticket=ticket, claim=claims[order["exact"]]))
        elif losses:
            noisy.append((ticket, loss_from_json(losses[0])))
    found = ChargedReleases(
        id_space=id_space,
        exact=tuple(exact_ones),
        noisy=tuple(noisy),
        has_lost_some=has_lost_some,
    )
    said = {one.claim.name for one in exact_ones if one.claim.asserted["holds_beside_noise"]}
    return evolve(found, beside_noise=found.named({*said, *stated}))
