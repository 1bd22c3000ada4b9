"""What a connection synthesises: rows that look like those of a table."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number
from discreet.curator.profile.stored_profile import find_profile
from discreet.curator.stored_answers import answered_plans
from discreet.project.project import Project
from discreet.project.stage import DEFAULT_ROWS
from discreet.project.terms import Terms
from discreet.releases.answered_plan import AnsweredPlan
from discreet.synthesis.find_published import EarlierReleases
from discreet.synthesis.plan import private_table
from discreet.synthesis.rehearse_synthesis import SynthesisRehearsal, rehearse_synthesis
from discreet.synthesis.synthesis_explanation import SynthesisExplanation
from discreet.synthesis.synthesise import Asserted, explain_synthesis, judge, synthesise
from discreet.synthesis.synthetic_release import SyntheticRelease
from discreet.tables.catalog import Table


class Synthesising:
    """The part of a connection that publishes rows that are nobody's."""

    _default: Terms
    _analyst: str

    def _opened(self) -> Project:
        raise NotImplementedError

    def synthesise(
        self,
        table: str,
        *,
        columns: Sequence[str] | None = None,
        method: str = "auto",
        tables: Sequence[Sequence[str]] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        delta: Number | None = None,
        rows_per_unit: int | None = None,
        published: bool | Sequence[int] = True,
        impossible: Sequence[Mapping[str, Any]] = (),
        totals: Mapping[str, Mapping[Any, int]] | None = None,
        rows: int | None = None,
        fresh: bool = False,
    ) -> SyntheticRelease:
        """Return rows that look like those of a table, and are nobody's.

        Noisy tables of the ``columns`` (all but those that name the unit, if none are given) are
        measured for the price; a model and its rows follow from them for nothing. ``method`` says
        which columns are measured together: "auto" finds privately which depend on each other,
        "tree" too, but with no circle, "residuals" in two rounds, and "independent" measures none
        together. Or ``tables`` names them, as in ``[["age", "diagnosis"]]``.

        What was ``published`` before about the same rows counts as well, for nothing: the rows
        agree with it, and so reveal it, which ``release.notes()`` says. Give ``False`` to use none
        of it, or the tickets that may be used.

        Some things may be public whoever is in the data; that they are is the caller's word, and
        they are neither measured nor protected. ``impossible`` has combinations of values of up to
        three columns that no row has, as in ``[{"sex": "m", "pregnant": True}]`` (a value, a list,
        or ``{"from": 0, "to": 11}``); ``totals`` how many rows have a value, as in
        ``{"region": {"north": 1200}}``; ``rows`` how many there are. The rest is as for ``sql``.
        """
        return synthesise(
            self._opened(),
            table,
            terms=Terms(epsilon=epsilon, rho=rho, delta=delta, rows_per_unit=rows_per_unit),
            default=self._default,
            analyst=self._analyst,
            columns=columns,
            method=method,
            tables=tables,
            published=_finding(published),
            asserted=Asserted(impossible=impossible, totals=totals, rows=rows),
            fresh=fresh,
        )

    def judge(
        self,
        release: SyntheticRelease,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        delta: Number | None = None,
        fresh: bool = False,
    ) -> SyntheticRelease:
        """Return a synthetic release with noisy distances from its table, for a better report."""
        return judge(
            self._opened(),
            release,
            terms=Terms(epsilon=epsilon, rho=rho, delta=delta),
            default=self._default,
            analyst=self._analyst,
            fresh=fresh,
        )

    def explain_synthesis(
        self,
        table: str,
        *,
        columns: Sequence[str] | None = None,
        method: str = "auto",
        tables: Sequence[Sequence[str]] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        delta: Number | None = None,
        rows_per_unit: int | None = None,
        published: bool | Sequence[int] = True,
        impossible: Sequence[Mapping[str, Any]] = (),
        totals: Mapping[str, Mapping[Any, int]] | None = None,
        rows: int | None = None,
    ) -> SynthesisExplanation:
        """Return what :meth:`synthesise` would measure and cost, without reading or spending."""
        return explain_synthesis(
            self._opened(),
            table,
            terms=Terms(epsilon=epsilon, rho=rho, delta=delta, rows_per_unit=rows_per_unit),
            default=self._default,
            analyst=self._analyst,
            columns=columns,
            method=method,
            tables=tables,
            published=_finding(published),
            asserted=Asserted(impossible=impossible, totals=totals, rows=rows),
        )

    def rehearse_synthesis(
        self,
        table: str,
        *,
        columns: Sequence[str] | None = None,
        method: str = "auto",
        tables: Sequence[Sequence[str]] | None = None,
        made_up: int = DEFAULT_ROWS,
        epsilon: Number | None = None,
        rho: Number | None = None,
        delta: Number | None = None,
        rows_per_unit: int | None = None,
    ) -> SynthesisRehearsal:
        """Return what :meth:`synthesise` would give for so many made-up rows, for nothing.

        Where the table has a profile, made-up units have as many rows as it says.
        """
        project = self._opened()
        profile = find_profile(project, private_table(project, table))
        return rehearse_synthesis(
            project,
            table,
            terms=Terms(epsilon=epsilon, rho=rho, delta=delta, rows_per_unit=rows_per_unit),
            default=self._default,
            columns=columns,
            method=method,
            tables=tables,
            rows=made_up,
            sizes=None if profile is None else profile.rows,
        )


def _finding(published: bool | Sequence[int]) -> EarlierReleases | None:
    """Return what finds earlier releases, if they count: all, or those of some tickets."""
    if isinstance(published, bool):
        return EarlierReleases(_answers) if published else None
    if isinstance(published, str | bytes) or not isinstance(published, Iterable):
        raise InvalidArgument(
            "published is neither true nor false, nor a list of tickets",
            must="be True, False, or numbers such as [12, 15]",
            got=type(published).__name__,
        )
    return EarlierReleases(_answers, frozenset(check.whole(one) for one in published))


def _answers(project: Project, table: Table) -> Iterator[AnsweredPlan]:
    return answered_plans(project, table.unit.id_space, table.name)
