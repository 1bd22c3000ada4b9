"""What a connection publishes once: counts by one of many methods, charged and stored."""

from collections.abc import Mapping, Sequence
from typing import Any
from weakref import WeakSet

from discreet.core.numbers import Number
from discreet.ledger.under_way import telling
from discreet.project.passage import Foreseen
from discreet.project.project import Project
from discreet.project.terms import Terms
from discreet.project.worst_case import void_remarks
from discreet.synthesis.published.dialogue_explanation import DialogueExplanation
from discreet.synthesis.published.given_keys import GivenKeys
from discreet.synthesis.published.open_queries import OpenQueries, dialogue_plan, open_queries
from discreet.synthesis.published.publish import explain_publishing, publish
from discreet.synthesis.published.published_counts import PublishedCounts
from discreet.synthesis.published.publishing_explanation import PublishingExplanation
from discreet.synthesis.published.publishing_method import PublishingMethod
from discreet.synthesis.published.publishing_methods import publishing_method
from discreet.synthesis.published.query_machines import QueryMachine, query_machine


class Publishing:
    """The part of a connection that publishes counts."""

    _default: Terms
    _analyst: str
    _dialogues: WeakSet[OpenQueries]
    """Those that end when the connection is closed."""

    def _opened(self) -> Project:
        raise NotImplementedError

    @telling
    def publish(
        self,
        table: str,
        *,
        columns: Sequence[str] | None = None,
        keys: GivenKeys | None = None,
        method: str | PublishingMethod,
        options: Mapping[str, Any] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        delta: Number | None = None,
        rows_per_unit: int | None = None,
        fresh: bool = False,
    ) -> PublishedCounts:
        """Return noisy counts of a table by some of its columns, of which anything may be asked.

        ``method`` is how they are measured: by its name, perhaps with ``options``, or as an object
        such as ``TreeIntervals(cells=64)``. For intervals of one column there are "tree", "prefix"
        and "search", for boxes of several "boxes"; for places within places "hierarchy"; for tables
        "cells", "tables", "contrasts" and "heavy-sets", for single columns "one-way", for whole
        numbers "points" and "clamped-points", for sides of planes "halfspaces" and
        "projected-halfspaces", for how texts begin "beginnings"; and "mwem" and "small-database".
        Columns must have declared ranges or keys, or a list of values in ``keys``, such as
        ``{"word": ["yes", "no"]}``: others count as NULL. The rest is as for
        :meth:`~discreet.roles.connection.Connection.sql`: it is charged once, stored, and given
        again for nothing.
        """
        return publish(
            self._opened(),
            table,
            publishing_method(method, options),
            terms=Terms(epsilon=epsilon, rho=rho, delta=delta, rows_per_unit=rows_per_unit),
            default=self._default,
            analyst=self._analyst,
            columns=columns,
            keys=keys,
            fresh=fresh,
        )

    def explain_publishing(
        self,
        table: str,
        *,
        columns: Sequence[str] | None = None,
        keys: GivenKeys | None = None,
        method: str | PublishingMethod,
        options: Mapping[str, Any] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        delta: Number | None = None,
        rows_per_unit: int | None = None,
    ) -> PublishingExplanation:
        """Return what :meth:`publish` would measure and cost, without reading or spending."""
        return explain_publishing(
            self._opened(),
            table,
            publishing_method(method, options),
            terms=Terms(epsilon=epsilon, rho=rho, delta=delta, rows_per_unit=rows_per_unit),
            default=self._default,
            analyst=self._analyst,
            columns=columns,
            keys=keys,
        )

    @telling
    def open_queries(
        self,
        table: str,
        *,
        columns: Sequence[str] | None = None,
        keys: GivenKeys | None = None,
        machine: str | QueryMachine = "weights",
        options: Mapping[str, Any] | None = None,
        epsilon: Number | None = None,
        rows_per_unit: int | None = None,
    ) -> OpenQueries:
        """Open a dialogue about a table: any number of counts, for one price that is paid now.

        ``machine`` is "weights" (private multiplicative weights) or "median", with ``options`` such
        as ``{"rows": 10_000}``, a public number that there are at most. Then ``ask({"age": (20,
        29)})`` costs nothing more. A dialogue is not stored: opening another one is paid again.
        """
        opened = open_queries(
            self._opened(),
            table,
            query_machine(machine, options),
            terms=Terms(epsilon=epsilon, rows_per_unit=rows_per_unit),
            default=self._default,
            analyst=self._analyst,
            columns=columns,
            keys=keys,
        )
        self._dialogues.add(opened)
        return opened

    def explain_open_queries(
        self,
        table: str,
        *,
        columns: Sequence[str] | None = None,
        keys: GivenKeys | None = None,
        machine: str | QueryMachine = "weights",
        options: Mapping[str, Any] | None = None,
        epsilon: Number | None = None,
        rows_per_unit: int | None = None,
    ) -> DialogueExplanation:
        """Return what :meth:`open_queries` would do and cost, without reading or spending."""
        project = self._opened()
        plan = dialogue_plan(
            project,
            table,
            query_machine(machine, options),
            Terms(epsilon=epsilon, rows_per_unit=rows_per_unit),
            self._default,
            columns,
            keys,
        )
        space = project.catalog.id_space(plan.plan.owner().unit.id_space)
        remaining = project.ledger.remaining(space.name, self._analyst)
        void = void_remarks(project.ledger, space.name)
        foreseen = Foreseen(id_space=space, remaining=remaining, stored=None, void=void)
        return DialogueExplanation(plan=plan, foreseen=foreseen)
