"""Open queries: a dialogue about a table, charged as a whole when it is opened.

The machine keeps the exact histogram in the memory of this process until it ends, is closed or let
go of, and then overwrites it. That is the one place where private numbers outlive the gate, so:

* what it tells is bounded by the event that was charged, however it is asked and for how long
  (:class:`~discreet.mechanisms.query_release.guess_and_check.GuessAndCheck`);
* it lives once: it cannot be copied or pickled, answers one query at a time, and a process that is
  forked off has nothing of it, for it would have the same noise for a second life;
* what stops an answer half-way (an interrupt, an error) ends it, so that no noise is drawn twice
  for one answer, and takes no frame along in which an exact count stands;
* nothing of it is stored, and no stored dialogue is ever continued: opening again is paid again;
* its representation tells nothing, and no error quotes a count;
* it is about the version of the data that it was opened for, and ends with that or its connection;
* where a deadline is declared it is refused, because its answers are not held to one.

In local use whoever holds it could read the files as well. A server must keep it on its own side.
"""

import hashlib
import os
from collections.abc import Mapping, Sequence
from fractions import Fraction
from threading import Lock
from types import TracebackType
from typing import Any, NoReturn, Self
from weakref import WeakSet

import numpy as np
from attrs import frozen

from discreet.core.canonical import digest
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import PrivacyLoss, Pure
from discreet.core.protocols import IntArray, Rng
from discreet.ledger.order import Receipt
from discreet.ledger.releases import ReleaseSize
from discreet.mechanisms.query_release.guess_and_check import CheckedAnswer, GuessAndCheckRun
from discreet.mechanisms.query_release.median_mechanism import MedianGuess
from discreet.mechanisms.query_release.public_weights import PublicWeights
from discreet.project.charged import charged
from discreet.project.passage import KIND, Leg, Passage, StoredBody, go_through
from discreet.project.project import Project
from discreet.project.terms import Terms, terms_that_hold
from discreet.project.worst_case import receipt_remarks
from discreet.synthesis.counted.counted_rows import CountedRows
from discreet.synthesis.counted.value_cells import MOST_CELLS
from discreet.synthesis.plan import (
    bounded_plan,
    columns_to_publish,
    private_table,
    rows_that_count,
)
from discreet.synthesis.published.given_keys import GivenKeys, columns_with_keys
from discreet.synthesis.published.publishing_method import OfferedNoise, declared_cells
from discreet.synthesis.published.query_machines import BETA, QueryMachine, QueryMechanism
from discreet.synthesis.published.query_methods import unit_rows
from discreet.synthesis.published.runs_of_cells import whole_runs
from discreet.tables.plans.engine import ExactAggregates, FoundKeys
from discreet.tables.plans.plan import BOUNDING, BoundedPlan

VERSION = 1
OPENED = "opened queries"
"""What the ledger calls it."""


@frozen(kw_only=True)
class DialoguePlan:
    """What a dialogue is about, and what it costs. All of it is public."""

    table: str
    machine: QueryMachine
    mechanism: QueryMechanism
    offered: OfferedNoise
    plan: BoundedPlan
    loss: PrivacyLoss

    def passage(self, opened: "MachineOpening") -> Passage:
        """Return what goes through the gate; the machine is left in ``opened``."""
        event = self.mechanism.event(unit_rows(self.offered)).to_json()
        said = {"machine": self.machine.name, "options": self.machine.options(), "event": event}

        def published(exact: ExactAggregates, rng: Rng) -> StoredBody:
            exact.measure(0, opened, rng)
            return {
                KIND: OPENED,
                "version": VERSION,
                "bounding": BOUNDING,
                "cost": self.loss.to_json(),
                "rows_per_unit": self.offered.rows_per_unit,
                **said,
            }

        names = ", ".join(self.offered.names)
        return Passage(
            name=digest({"opened": VERSION, "plan": self.plan.to_json(), **said}),
            loss=self.loss,
            legs=(Leg(plan=self.plan, published=published),),
            size=lambda: ReleaseSize(bytes=100_000, cells=1),
            description={
                KIND: OPENED,
                "sql": f"queries about {self.table} by {names} ({self.machine.name})",
                "event": event,
            },
        )

    def error(self) -> Fraction | None:
        """Return how far any of the answers may be off, 95 % of the time; None if nobody knows."""
        machine = self.machine
        try:
            return self.mechanism.error_quantile(BETA, queries=machine.queries, rows=machine.rows)
        except InvalidArgument:  # the threshold is below that of the theorem
            return None

    def query(self, between: Mapping[str, Any]) -> IntArray:
        """Return which kinds of rows have values, or values between two, of some columns."""
        found: IntArray = np.ones(1, dtype=np.int64)
        runs = whole_runs(self.offered.cells, self.offered.sizes, between)
        for run, size in zip(runs, self.offered.sizes, strict=True):
            inside = np.zeros(size, dtype=np.int64)
            inside[run.first : run.last + 1] = 1
            found = np.kron(found, inside)
        return found


Dialogue = GuessAndCheckRun[PublicWeights] | GuessAndCheckRun[MedianGuess]
"""A machine that was opened: it is private, and tells nothing but its answers."""


class MachineOpening:
    """Makes a machine of what an engine found. It is private, and tells nothing."""

    def __init__(self, offered: OfferedNoise, mechanism: QueryMechanism) -> None:
        self._offered = offered
        self._mechanism = mechanism
        self._opened: Dialogue | None = None
        self._is_wanted, self._lock = True, Lock()

    def release(self, keys: FoundKeys, counts: IntArray, rng: Rng) -> None:
        """Open the machine; nothing is released yet."""
        values = [(one.grouped_by(), one.column.nullable) for one in self._offered.cells]
        rows = CountedRows.found(keys, counts, values)
        histogram = rows.table(range(len(rows.sizes))).ravel()
        opened = self._mechanism.open(histogram, d_in=unit_rows(self._offered), rng=rng)
        histogram.fill(0)  # the machine has a copy of its own, and overwrites it at its end
        with self._lock:
            self._opened = opened
        if not self._is_wanted:
            self.discard()

    def take(self) -> Dialogue:
        """Hand the machine over, and forget it."""
        opened, self._opened = self._opened, None
        assert opened is not None  # a passage that is not joined has run
        return opened

    def discard(self) -> None:
        """End the machine, now or when it is made: nobody will have it."""
        self._is_wanted = False
        with self._lock:
            opened, self._opened = self._opened, None
        if opened is not None:
            opened.end()


class OpenQueries:
    """A dialogue about a table: any number of counts, each chosen after the answers before it.

    It was paid for as a whole. Each answer is a public guess, or a noisy count where the guess was
    too far off; after so many of these it has ended. What it answered is in ``answers``. ``close``
    ends it, and so does the end of a ``with`` block, of its connection, or of the last name for it.
    """

    def __init__(
        self, project: Project, plan: DialoguePlan, run: Dialogue, receipt: Receipt
    ) -> None:
        self._project = project
        self._plan = plan
        self._run = run
        self._receipt = receipt
        self._process = os.getpid()
        self._lock = Lock()
        self._known: dict[bytes, CheckedAnswer] = {}
        _ALIVE.add(self)

    @property
    def receipt(self) -> Receipt:
        """The receipt for the whole dialogue."""
        return self._receipt

    @property
    def cost(self) -> PrivacyLoss:
        """What the whole dialogue cost. No answer costs more."""
        return self._receipt.charges[0].loss

    @property
    def ended(self) -> bool:
        """Whether it has given its last answer. That is public: the answers tell it."""
        return self._run.ended

    @property
    def answers(self) -> tuple[CheckedAnswer, ...]:
        """All answers to different queries so far."""
        return tuple(self._known.values())

    def notes(self) -> tuple[str, ...]:
        """Return what must be known besides: whether the worst-case claim still stands."""
        return receipt_remarks(self._project.ledger, self._receipt)

    def error(self) -> Fraction | None:
        """Return how far any answer may be off, 95 % of the time, if the options were right.

        It is None where the threshold is below that of the theorem: then nothing is promised.
        """
        return self._plan.error()

    def ask(self, between: Mapping[str, Any]) -> CheckedAnswer:
        """Return about how many rows have a value, or one between two, of some columns.

        Such as ``ask({"clinic": "north", "age": (20, 29)})``; a column that is not named may have
        any value. It costs nothing more. A query that was answered before gets the same answer,
        also after the end.
        """
        query = self._plan.query(between)
        name = hashlib.sha256(query.tobytes()).digest()
        with self._lock:
            known = self._known.get(name)
            if known is None:
                self._require_alive()
                known = self._known[name] = self._answered(query)
        return known

    def _answered(self, query: IntArray) -> CheckedAnswer:
        """Return the machine's answer. What stops it half-way ends it, and tells nothing.

        Where an error came from is dropped: the frames on that way have exact counts.
        """
        try:
            return self._run.ask(query)
        except BaseException as error:
            stopped = type(error)
        self._run.end()
        if issubclass(stopped, KeyboardInterrupt):
            raise KeyboardInterrupt
        raise Unsupported(
            "This dialogue failed, and has ended",
            must="be asked before its end",
            next="What it answered stands. Open another, and pay for it",
        )

    def close(self) -> None:
        """End the dialogue, and overwrite the exact counts that it holds. Answers stay."""
        with self._lock:
            self._run.end()

    def __enter__(self) -> Self:
        """Use the dialogue in a ``with`` block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End it at the end of the block."""
        self.close()

    def _require_alive(self) -> None:
        """Refuse to answer where the machine has no right to: elsewhere, or about old rows."""
        if os.getpid() != self._process:
            raise Unsupported(
                "This dialogue was opened in another process",
                must="live once, on one charge",
                next="Open another, and pay for it",
            )
        if self._run.ended:
            raise Unsupported(
                "This dialogue has ended",
                must="be asked before its end",
                next="What it answered stands. Open another, and pay for it",
            )
        (charge,) = self._receipt.charges
        version = self._project.data_version(charge.id_space)
        if version.number != self._receipt.data_version:
            self._run.end()
            raise InvalidArgument(
                "The data were replaced since this dialogue was opened",
                must="be about the newest",
                next="Open another, and pay for it",
            )

    def leave_behind(self) -> None:
        """Overwrite what a process that was forked off has of it; the parent's is not touched."""
        self._lock = Lock()  # another thread may have held the old one
        self._run.end()

    def __repr__(self) -> str:
        """Say what it is about, and nothing that is private."""
        state = "ended" if self.ended else "open"
        said = f"<OpenQueries about {self._plan.table}, {state}, {len(self._known)} answered>"
        return ". ".join([said, *self.notes()])

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        """Refuse to be copied or pickled: a copy would live a second life on one charge."""
        raise Unsupported(
            "A dialogue cannot be copied",
            must="live once, on one charge",
            next="Open another, and pay for it",
        )


_ALIVE: "WeakSet[OpenQueries]" = WeakSet()


def _after_fork() -> None:
    for dialogue in list(_ALIVE):
        dialogue.leave_behind()


os.register_at_fork(after_in_child=_after_fork)


def open_queries(
    project: Project,
    name: str,
    machine: QueryMachine,
    *,
    terms: Terms,
    default: Terms,
    analyst: str,
    columns: Sequence[str] | None = None,
    keys: GivenKeys | None = None,
) -> OpenQueries:
    """Return a dialogue about a table, charged as a whole. It is never given again.

    Guarantee:
        The event of the machine's whole life, on units with at most ``rows_per_unit`` rows, is
        charged before a row is read, whether or not anything is asked afterwards.
    """
    plan = dialogue_plan(project, name, machine, terms, default, columns, keys)
    opened = MachineOpening(plan.offered, plan.mechanism)
    try:
        passed = go_through(project, plan.passage(opened), analyst=analyst, fresh=True)
        return OpenQueries(project, plan, opened.take(), passed.receipt)
    except BaseException:
        opened.discard()  # the way of the error still leads to it
        raise


def dialogue_plan(
    project: Project,
    name: str,
    machine: QueryMachine,
    terms: Terms,
    default: Terms,
    columns: Sequence[str] | None,
    keys: GivenKeys | None = None,
) -> DialoguePlan:
    """Return what a dialogue would be about and cost; nothing private is looked at."""
    if project.catalog.gate.deadline is not None:
        raise Unsupported(
            "A dialogue cannot be held to the declared deadline",
            next="Nothing was charged. Publish counts instead, or ask the owner",
        )
    table = private_table(project, name)
    chosen = columns_with_keys(table, columns_to_publish(table, columns), keys)
    cells = tuple(declared_cells(one, MOST_CELLS) for one in chosen)
    loss = _pure(terms_that_hold(terms, Terms(), (default,)))
    offered = OfferedNoise(
        cells=cells,
        sizes=tuple(one.size for one in cells),
        noise=loss,
        whole=loss,
        rows_per_unit=rows_that_count(table, terms.rows_per_unit),
    )
    mechanism = machine.ready(offered, loss)
    cap = project.catalog.id_space(table.unit.id_space).cap
    return DialoguePlan(
        table=table.name,
        machine=machine,
        mechanism=mechanism,
        offered=offered,
        plan=bounded_plan(table, cells, offered.rows_per_unit),
        loss=charged(mechanism.event(unit_rows(offered)), cap),
    )


def _pure(terms: Terms) -> Pure:
    if terms.epsilon is None:
        raise Unsupported(
            "A dialogue has a pure price",
            must="be an ε",
            next="Nothing was charged. Give epsilon=; a budget in ρ is charged what it implies",
        )
    return Pure(terms.epsilon)
