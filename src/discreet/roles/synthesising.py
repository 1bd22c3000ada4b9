"""What a connection synthesises: rows that look like those of a table."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import discreet.synthesis.plan as plans
import discreet.synthesis.rehearse_synthesis as rehearsals
import discreet.synthesis.synthesis_explanation as explanations
import discreet.synthesis.synthesise as life
import discreet.synthesis.synthetic_release as releases
from discreet.core.numbers import Number
from discreet.curator.profile import stored_profile
from discreet.ledger.under_way import telling
from discreet.project.project import Project
from discreet.project.stage import DEFAULT_ROWS
from discreet.project.terms import Terms
from discreet.roles.earlier_releases import earlier_releases
from discreet.synthesis.related import judge_related as related_judging
from discreet.synthesis.related import related_release

T = TypeVar("T", "releases.SyntheticRelease", "related_release.RelatedRelease")


class Synthesising:
    """The part of a connection that publishes rows that are nobody's."""

    _default: Terms
    _analyst: str

    def _opened(self) -> Project:
        raise NotImplementedError

    @telling
    def synthesise(
        self,
        table: str,
        *,
        columns: Sequence[str] | None = None,
        method: str = "auto",
        tables: Sequence[Sequence[str]] | None = None,
        quantiles: Sequence[str] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        delta: Number | None = None,
        rows_per_unit: int | None = None,
        published: bool | Sequence[int] = True,
        impossible: Sequence[Mapping[str, Any]] = (),
        totals: Mapping[str, Mapping[Any, int]] | None = None,
        rows: int | None = None,
        fresh: bool = False,
    ) -> "releases.SyntheticRelease":
        """Return rows that look like those of a table, and are nobody's.

        Noisy tables of the ``columns`` (all but those that name the unit, if none are given) are
        measured for the price; a model and its rows follow from them for nothing. ``method`` says
        which columns are measured together: "auto" finds privately which depend on each other,
        "tree" too, but with no circle, "residuals" in two rounds (as "auto" does for a ρ, or an ε
        with a δ), and "independent" measures none together. Or ``tables`` names them, as in
        ``[["age", "diagnosis"]]``. Columns in ``quantiles`` are divided where the rows are, for a
        tenth of the price, and not evenly.

        What was ``published`` before about the same rows counts as well, for nothing: the rows
        agree with it, and so reveal it, which ``release.notes()`` says. Give ``False`` to use none
        of it, or the tickets that may be used.

        Some things may be public whoever is in the data; that they are is the caller's word, and
        they are neither measured nor protected. ``impossible`` has combinations of values of up to
        three columns that no row has, as in ``[{"sex": "m", "pregnant": True}]`` (a value, a list,
        or ``{"from": 0, "to": 11}``); ``totals`` how many rows have a value, as in
        ``{"region": {"north": 1200}}``; ``rows`` how many there are. The rest is as for ``sql``.
        """
        return life.synthesise(
            self._opened(),
            table,
            terms=Terms(epsilon=epsilon, rho=rho, delta=delta, rows_per_unit=rows_per_unit),
            default=self._default,
            analyst=self._analyst,
            columns=columns,
            method=method,
            tables=tables,
            quantiles=quantiles,
            published=earlier_releases(published),
            asserted=life.Asserted(impossible=impossible, totals=totals, rows=rows),
            fresh=fresh,
        )

    @telling
    def judge(
        self,
        release: T,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        delta: Number | None = None,
        fresh: bool = False,
    ) -> T:
        """Return a synthetic release with noisy distances from its table, for a better report.

        It may be of one table, or of two that belong together.
        """
        terms = Terms(epsilon=epsilon, rho=rho, delta=delta)
        project, default, analyst = self._opened(), self._default, self._analyst
        if isinstance(release, related_release.RelatedRelease):
            return related_judging.judge_related(
                project, release, terms=terms, default=default, analyst=analyst, fresh=fresh
            )
        return life.judge(
            project, release, terms=terms, default=default, analyst=analyst, fresh=fresh
        )

    def explain_synthesis(
        self,
        table: str,
        *,
        columns: Sequence[str] | None = None,
        method: str = "auto",
        tables: Sequence[Sequence[str]] | None = None,
        quantiles: Sequence[str] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        delta: Number | None = None,
        rows_per_unit: int | None = None,
        published: bool | Sequence[int] = True,
        impossible: Sequence[Mapping[str, Any]] = (),
        totals: Mapping[str, Mapping[Any, int]] | None = None,
        rows: int | None = None,
    ) -> "explanations.SynthesisExplanation":
        """Return what :meth:`synthesise` would measure and cost, without reading or spending."""
        return life.explain_synthesis(
            self._opened(),
            table,
            terms=Terms(epsilon=epsilon, rho=rho, delta=delta, rows_per_unit=rows_per_unit),
            default=self._default,
            analyst=self._analyst,
            columns=columns,
            method=method,
            tables=tables,
            quantiles=quantiles,
            published=earlier_releases(published),
            asserted=life.Asserted(impossible=impossible, totals=totals, rows=rows),
        )

    def rehearse_synthesis(
        self,
        table: str,
        *,
        columns: Sequence[str] | None = None,
        method: str = "auto",
        tables: Sequence[Sequence[str]] | None = None,
        quantiles: Sequence[str] | None = None,
        made_up: int = DEFAULT_ROWS,
        epsilon: Number | None = None,
        rho: Number | None = None,
        delta: Number | None = None,
        rows_per_unit: int | None = None,
        impossible: Sequence[Mapping[str, Any]] = (),
    ) -> "rehearsals.SynthesisRehearsal[releases.SyntheticRelease]":
        """Return what :meth:`synthesise` would give for so many made-up rows, for nothing.

        Where the table has a profile, made-up units have as many rows as it says. The rows hold to
        what is ``impossible``, as those of :meth:`synthesise` do.
        """
        project = self._opened()
        profile = stored_profile.find_profile(project, plans.private_table(project, table))
        return rehearsals.rehearse_synthesis(
            project,
            table,
            terms=Terms(epsilon=epsilon, rho=rho, delta=delta, rows_per_unit=rows_per_unit),
            default=self._default,
            columns=columns,
            method=method,
            tables=tables,
            quantiles=quantiles,
            impossible=impossible,
            rows=made_up,
            sizes=None if profile is None else profile.rows,
        )
