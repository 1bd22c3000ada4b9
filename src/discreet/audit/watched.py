"""Mechanisms, selectors, responses and machines whose every use is recorded."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from attrs import define, field, frozen

from discreet.audit.inputs import Inputs, inputs_of
from discreet.core.contribution import Contribution
from discreet.core.event import Event
from discreet.core.protocols import IntArray, LocalRandomiser, Mechanism, Rng, Selector
from discreet.mechanisms.stability.propose_test_release import ProposeTestRelease
from discreet.randomness.rng import SystemRng


@frozen(kw_only=True)
class Use:
    """One use of a mechanism that is about to happen: what it is given, and how to run it."""

    name: str
    event: Event
    d_in: Contribution
    inputs: Inputs
    settings: Any = field(default=None, repr=False)
    values: Any = field(default=(), repr=False)
    public: Any = field(default=(), repr=False)
    machine: int | None = None
    run: Callable[[Rng], Any] = field(repr=False)


class Observer(Protocol):
    """Who keeps the calls: the recorder."""

    @property
    def used(self) -> int:
        """How many calls were kept so far."""
        ...

    def observe(self, use: Use, rng: Rng) -> Any:
        """Run the use, keep the call, and return what its caller may see."""
        ...


@frozen(kw_only=True)
class Watched:
    """What is watched, for which contribution, and who keeps the calls."""

    inner: Any
    d_in: Contribution
    recorder: Observer = field(repr=False)

    def _observed(
        self, run: Callable[[Rng], Any], rng: Rng, *, event: Event, inputs: Inputs, values: Any
    ) -> Any:
        use = Use(
            name=type(self.inner).__name__,
            event=event,
            d_in=self.d_in,
            inputs=inputs,
            settings=self.inner,
            values=values,
            run=run,
        )
        return self.recorder.observe(use, rng)


@frozen(kw_only=True)
class WatchedMechanism(Watched):
    """A mechanism whose every release is recorded. It is a mechanism itself."""

    inner: Mechanism
    inputs: Inputs | None = None

    def event(self, d_in: Contribution) -> Event:
        """Describe one use, as the mechanism does."""
        return self.inner.event(d_in)

    def error_quantile(self, beta: Fraction) -> Fraction:
        """Return the mechanism's own quantile."""
        return self.inner.error_quantile(beta)

    def release(self, exact_values: Any, rng: Rng) -> Any:
        """Release through the mechanism, and record it."""
        return self._observed(
            lambda source: self.inner.release(exact_values, source),
            rng,
            event=self.event(self.d_in),
            inputs=self.inputs or inputs_of(self.inner, exact_values),
            values=exact_values,
        )


@frozen(kw_only=True)
class WatchedSelector(Watched):
    """A selector whose every choice is recorded, of one candidate or several."""

    inner: Selector

    def event(self, d_in: Contribution) -> Event:
        """Describe one use, as the selector does."""
        return self.inner.event(d_in)

    def select(self, scores: IntArray, rng: Rng) -> Any:
        """Choose through the selector, and record it."""
        chosen = self._chosen(scores, rng, lambda source: self.inner.select(scores, source))
        return chosen if isinstance(chosen, np.ndarray) else int(chosen)

    def select_with_margin(self, scores: IntArray, rng: Rng) -> Any:
        """Choose with the margin, for selectors that tell it, and record it."""
        inner: Any = self.inner
        return self._chosen(scores, rng, lambda source: inner.select_with_margin(scores, source))

    def _chosen(self, scores: IntArray, rng: Rng, run: Callable[[Rng], Any]) -> Any:
        event = self.event(self.d_in)
        return self._observed(run, rng, event=event, inputs=Inputs.SCORES, values=scores)


@frozen(kw_only=True)
class WatchedTest(Watched):
    """A number that is released after a test of its margin, and recorded; ``d_in.l1`` in steps."""

    inner: ProposeTestRelease

    def event(self, d_in: Contribution) -> Event:
        """Describe one use, as the mechanism does."""
        return self.inner.event(d_in)

    def release(self, value: int, margin: int, rng: Rng) -> int | None:
        """Test the margin and release the number, and record it."""
        released: int | None = self._observed(
            lambda source: self.inner.release(value, margin, source),
            rng,
            event=self.event(self.d_in),
            inputs=Inputs.MARGIN,
            values=np.array([value, margin, self.inner.proposed], dtype=object),
        )
        return released


@frozen(kw_only=True)
class WatchedResponse(Watched):
    """A response whose every report is recorded; ``d_in.l0`` of the values are one person's."""

    inner: LocalRandomiser

    def event(self) -> Event:
        """Describe all reports of one person."""
        one, reports = self.inner.event(), int(self.d_in.bound("l0"))
        return one if reports == 1 else one * reports

    def randomise(self, value: Any, rng: Rng) -> Any:
        """Report one value, and record it."""
        return self._reported([value], rng, lambda source: self.inner.randomise(value, source))

    def randomise_all(self, values: Any, rng: Rng) -> Any:
        """Report many values, and record it."""
        inner: Any = self.inner
        return self._reported(values, rng, lambda source: inner.randomise_all(values, source))

    def _reported(self, values: Any, rng: Rng, run: Callable[[Rng], Any]) -> Any:
        return self._observed(run, rng, event=self.event(), inputs=Inputs.REPORTS, values=values)


@frozen(kw_only=True)
class WatchedMachine:
    """A machine whose opening and every answer is recorded.

    Either its *queries* are private, as in the sparse vector technique, or the rows or counts that
    it is opened on, and then what it is asked is public. ``inputs`` says which.
    """

    inner: Any
    d_in: Contribution
    inputs: Inputs
    recorder: Observer = field(repr=False)

    def open(self, *rows: Any, rng: Rng, **public: Any) -> "WatchedRun":
        """Open the machine, and record it; rows come first, all else is public."""
        opened: list[Any] = []
        is_opened_on_data = self.inputs is not Inputs.QUERIES
        use = Use(
            name=type(self.inner).__name__,
            # Events do not depend on randomness; this machine is asked for its event and no more.
            event=self._open(rows, public, SystemRng()).event(),
            d_in=self.d_in,
            inputs=self.inputs if is_opened_on_data else Inputs.NOTHING,
            settings=self.inner,
            values=rows[0] if is_opened_on_data else (),
            public=tuple(sorted(public.items())),
            machine=self.recorder.used,
            run=lambda source: opened.append(self._open(rows, public, source)),
        )
        self.recorder.observe(use, rng)
        return WatchedRun(
            use=use, machine=next(iter(opened), None), recorder=self.recorder, rng=rng
        )

    def _open(self, rows: tuple[Any, ...], public: dict[str, Any], rng: Rng) -> Any:
        return self.inner.open(*rows, **public, d_in=self.d_in, rng=rng)


@define(kw_only=True, eq=False)
class WatchedRun:
    """One life of a watched machine. In a replay there is no machine: it gives back the answers."""

    _use: Use
    _machine: Any = field(repr=False)
    _recorder: Observer = field(repr=False)
    _rng: Rng = field(repr=False)
    _state: tuple[bool, Any] = field(default=(False, None), init=False, repr=False)

    @property
    def ended(self) -> bool:
        """Whether the machine has given its last answer."""
        return self._state[0]

    @property
    def point(self) -> Any:
        """What the machine found, for machines that find something."""
        return self._state[1]

    def event(self) -> Event:
        """Describe the whole life of the machine."""
        return self._use.event

    def ask(self, query: Any, **public: Any) -> Any:
        """Ask the machine one query, and record it."""
        return self._asked("ask", query, public)

    def ask_many(self, queries: Any, **public: Any) -> Any:
        """Ask the machine several queries, and record it."""
        return self._asked("ask_many", queries, public)

    def _asked(self, how: str, queries: Any, public: dict[str, Any]) -> Any:
        is_private = self._use.inputs is Inputs.NOTHING
        use = Use(
            name=f"{self._use.name}.{how}",
            event=self._use.event,
            d_in=self._use.d_in,
            inputs=Inputs.QUERIES if is_private else Inputs.NOTHING,
            values=queries if is_private else (),
            public=(tuple(sorted(public.items())), () if is_private else queries),
            machine=self._use.machine,
            run=lambda _: self._answered(how, queries, public),
        )
        answer, *state = self._recorder.observe(use, self._rng)
        self._state = tuple(state)
        return answer

    def _answered(self, how: str, queries: Any, public: dict[str, Any]) -> Any:
        answer = getattr(self._machine, how)(queries, **public)
        return answer, getattr(self._machine, "ended", False), getattr(self._machine, "point", None)
