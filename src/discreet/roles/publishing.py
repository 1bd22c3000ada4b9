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
from discreet.synthesis.published import dialogue_explanation as explanations
from discreet.synthesis.published import given_keys, published_counts, query_machines
from discreet.synthesis.published import open_queries as dialogues
from discreet.synthesis.published import publish as publishing
from discreet.synthesis.published import publishing_explanation as publishing_explanations
from discreet.synthesis.published import publishing_method as publishing_methods
from discreet.synthesis.published import publishing_methods as known_methods


class Publishing:
    """The part of a connection that publishes counts."""

    _default: Terms
    _analyst: str
    _dialogues: "WeakSet[dialogues.OpenQueries]"
    """Those that end when the connection is closed."""

    def _opened(self) -> Project:
        raise NotImplementedError

    @telling
    def publish(
        self,
        table: str,
        *,
        columns: Sequence[str] | None = None,
        keys: "given_keys.GivenKeys | None" = None,
        method: "str | publishing_methods.PublishingMethod",
        options: Mapping[str, Any] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        delta: Number | None = None,
        rows_per_unit: int | None = None,
        fresh: bool = False,
    ) -> "published_counts.PublishedCounts":
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
        return publishing.publish(
            self._opened(),
            table,
            known_methods.publishing_method(method, options),
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
        keys: "given_keys.GivenKeys | None" = None,
        method: "str | publishing_methods.PublishingMethod",
        options: Mapping[str, Any] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        delta: Number | None = None,
        rows_per_unit: int | None = None,
    ) -> "publishing_explanations.PublishingExplanation":
        """Return what :meth:`publish` would measure and cost, without reading or spending."""
        return publishing.explain_publishing(
            self._opened(),
            table,
            known_methods.publishing_method(method, options),
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
        keys: "given_keys.GivenKeys | None" = None,
        machine: "str | query_machines.QueryMachine" = "weights",
        options: Mapping[str, Any] | None = None,
        epsilon: Number | None = None,
        rows_per_unit: int | None = None,
    ) -> "dialogues.OpenQueries":
        """Open a dialogue about a table: any number of counts, for one price that is paid now.

        ``machine`` is "weights" (private multiplicative weights) or "median", with ``options`` such
        as ``{"rows": 10_000}``, a public number that there are at most. Then ``ask({"age": (20,
        29)})`` costs nothing more. A dialogue is not stored: opening another one is paid again.
        """
        opened = dialogues.open_queries(
            self._opened(),
            table,
            query_machines.query_machine(machine, options),
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
        keys: "given_keys.GivenKeys | None" = None,
        machine: "str | query_machines.QueryMachine" = "weights",
        options: Mapping[str, Any] | None = None,
        epsilon: Number | None = None,
        rows_per_unit: int | None = None,
    ) -> "explanations.DialogueExplanation":
        """Return what :meth:`open_queries` would do and cost, without reading or spending."""
        project = self._opened()
        plan = dialogues.dialogue_plan(
            project,
            table,
            query_machines.query_machine(machine, options),
            Terms(epsilon=epsilon, rows_per_unit=rows_per_unit),
            self._default,
            columns,
            keys,
        )
        space = project.catalog.id_space(plan.plan.owner().unit.id_space)
        remaining = project.ledger.remaining(space.name, self._analyst)
        void = void_remarks(project.ledger, space.name)
        foreseen = Foreseen(id_space=space, remaining=remaining, stored=None, void=void)
        return explanations.DialogueExplanation(plan=plan, foreseen=foreseen)
