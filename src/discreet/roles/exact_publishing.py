"""What an owner publishes exactly. Analysts have no way here: connections have other parts."""

from discreet.ledger.exact_claims import NotedClaim
from discreet.ledger.under_way import telling
from discreet.noiseless.exact.exact_certificate import ExactCertificate
from discreet.noiseless.exact.exact_release import ExactRelease
from discreet.noiseless.exact.publish_exact import certify_exact, publish_exact
from discreet.project.project import Project
from discreet.tables.exact_declaration import ExactDeclaration

OWNER = "owner"
"""As whom the owner asks."""


class ExactPublishing:
    """The part of an owner that publishes exact numbers, under laws that the owner asserts."""

    _project: Project

    def exact_releases(self) -> tuple[ExactDeclaration, ...]:
        """Return the exact releases that are declared, published or not."""
        return self._project.catalog.exact

    def exact_claims(self) -> tuple[NotedClaim, ...]:
        """Return what was asserted for exact releases so far, the oldest first in each id space."""
        ledger, spaces = self._project.ledger, self._project.catalog.id_spaces
        return tuple(one for space in spaces for one in ledger.claims(space.name).claims)

    def certify_exact(self, name: str) -> ExactCertificate:
        """Return what would be asserted for a declared exact release, or refuse it and say why.

        Nothing is read, noted or published.
        """
        return certify_exact(self._project, name)

    @telling
    def publish_exact(self, name: str) -> ExactRelease:
        """Publish a statistic that is declared under ``[exact.NAME]``, without noise.

        It costs nothing of the budget, and *ends the worst-case claim of its id space*: from then
        on budgets bound noisy answers alone, and everything that tells a loss says so. What is
        asserted is in the ledger before a row is read. The same again is given for nothing.
        """
        return publish_exact(self._project, name, analyst=OWNER)
