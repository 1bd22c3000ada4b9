"""Related tables: the part of a connection that publishes two tables that belong together."""

from collections.abc import Mapping, Sequence

import discreet.synthesis.plan as plans
import discreet.synthesis.rehearse_synthesis as rehearsals
from discreet.core.numbers import Number
from discreet.curator.profile import stored_profile
from discreet.ledger.under_way import telling
from discreet.project.project import Project
from discreet.project.stage import DEFAULT_ROWS
from discreet.project.terms import Terms
from discreet.roles.earlier_releases import earlier_releases
from discreet.synthesis.related import rehearse_related as related_rehearsals
from discreet.synthesis.related import related_explanation, related_release
from discreet.synthesis.related import synthesise_related as life


class RelatedTables:
    """Publishes rows that look like those of two tables, in which every child has a parent."""

    _default: Terms
    _analyst: str

    def _opened(self) -> Project:
        raise NotImplementedError

    @telling
    def synthesise_related(
        self,
        parent: str,
        child: str,
        *,
        columns: Mapping[str, Sequence[str]] | None = None,
        by: Sequence[str] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        delta: Number | None = None,
        rows_per_unit: int | None = None,
        published: bool | Sequence[int] = True,
        fresh: bool = False,
    ) -> "related_release.RelatedRelease":
        """Return rows that look like those of two tables of one id space, and are nobody's.

        The ``parent`` has one row of each unit (patients), the ``child`` several (their visits).
        How many children a parent has, and what they look like, depends on its columns: of those,
        the ones that children depend on are chosen privately, or named in ``by``. ``columns`` says
        what is published of each table, as in ``{"patients": ["age"], "visits": ["cost"]}``;
        ``rows_per_unit`` is how many children of a unit count. What was ``published`` before about
        the rows of the parent counts as well, as for ``synthesise``, and so does the rest.
        """
        return life.synthesise_related(
            self._opened(),
            parent,
            child,
            terms=Terms(epsilon=epsilon, rho=rho, delta=delta, rows_per_unit=rows_per_unit),
            default=self._default,
            analyst=self._analyst,
            columns=columns,
            by=by,
            published=earlier_releases(published),
            fresh=fresh,
        )

    def explain_related(
        self,
        parent: str,
        child: str,
        *,
        columns: Mapping[str, Sequence[str]] | None = None,
        by: Sequence[str] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        delta: Number | None = None,
        rows_per_unit: int | None = None,
        published: bool | Sequence[int] = True,
    ) -> "related_explanation.RelatedExplanation":
        """Return what :meth:`synthesise_related` would measure and cost; nothing is spent."""
        return life.explain_related(
            self._opened(),
            parent,
            child,
            terms=Terms(epsilon=epsilon, rho=rho, delta=delta, rows_per_unit=rows_per_unit),
            default=self._default,
            analyst=self._analyst,
            columns=columns,
            by=by,
            published=earlier_releases(published),
        )

    def rehearse_related(
        self,
        parent: str,
        child: str,
        *,
        columns: Mapping[str, Sequence[str]] | None = None,
        by: Sequence[str] | None = None,
        made_up: int = DEFAULT_ROWS,
        epsilon: Number | None = None,
        rho: Number | None = None,
        delta: Number | None = None,
        rows_per_unit: int | None = None,
    ) -> "rehearsals.SynthesisRehearsal[related_release.RelatedRelease]":
        """Return what :meth:`synthesise_related` would give for so many made-up rows of each table.

        It costs nothing. Where a table has a profile, made-up units have as many rows as it says.
        """
        project = self._opened()
        profiles = {
            name: stored_profile.find_profile(project, plans.private_table(project, name))
            for name in (parent, child)
        }
        return related_rehearsals.rehearse_related(
            project,
            parent,
            child,
            terms=Terms(epsilon=epsilon, rho=rho, delta=delta, rows_per_unit=rows_per_unit),
            default=self._default,
            columns=columns,
            by=by,
            rows=made_up,
            sizes={name: None if one is None else one.rows for name, one in profiles.items()},
        )
