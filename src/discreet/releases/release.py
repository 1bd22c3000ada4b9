"""A release: the public answer, with its error bars, its cost and its receipt."""

from collections.abc import Callable
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from discreet.accounting.losses.loss_json import decimals
from discreet.core import optional
from discreet.core.errors import InvalidArgument
from discreet.core.loss import PrivacyLoss
from discreet.core.numbers import Number, exact
from discreet.ledger.order import Receipt
from discreet.releases.accuracy import CONFIDENCE
from discreet.releases.answer_card import answer_facts
from discreet.releases.answer_frame import AnswerFrame, IntervalKind, answer_frame, interval_kind
from discreet.releases.answer_intervals import AnswerIntervals
from discreet.releases.answer_rows import AnswerRows
from discreet.releases.body import Body
from discreet.releases.card import Circumstances, card
from discreet.releases.cells import (
    Cell,
    PlainEnds,
    PlainInterval,
    cells,
    is_unknown,
    json_cell,
    plain_ends,
    plain_intervals,
    plain_up,
)
from discreet.releases.estimates.estimate import may_be_undefined
from discreet.releases.estimates.groups import Groups
from discreet.releases.headline import headline
from discreet.releases.left_out import Ends, LeftOut, unmeasured
from discreet.releases.notes import notes, on_dearer, on_undefined, on_unknown, without_totals
from discreet.releases.release_picture import ReleasePicture
from discreet.releases.shown_answer import ShownAnswer
from discreet.releases.shown_column import ShownColumn
from discreet.releases.view import Output, View, error_bar, intervals
from discreet.releases.yaml_text import yaml_text
from discreet.tables.arithmetic.columns import Column
from discreet.tables.arithmetic.enclosures import Intervals
from discreet.tables.arithmetic.ratios import Ratios
from discreet.tables.unit_name import UNIT, UnitName

_BETA = 1 - CONFIDENCE


@frozen(kw_only=True)
class Release(AnswerRows):
    """The public answer to one question.

    Values are noisy: a count can be negative. Error bars are about the noise alone (95 % of the
    time, each by itself, given that its group is shown), and totals about limits and clamps too.
    """

    view: View
    body: Body = field(repr=False)
    receipt: Receipt
    is_stored: bool = False
    """Whether this is an earlier release given again, which costs nothing more."""
    offered: PrivacyLoss | None = None
    """What was offered, if this is an earlier answer at a higher price, which is more exact."""
    circumstances: Callable[[], Circumstances] | None = field(default=None, eq=False, repr=False)
    """What is known besides: the question, the people and the budget, for a release card."""
    kind: IntervalKind = field(default=IntervalKind.TOTAL, converter=interval_kind, repr=False)
    """Which interval is shown beside that of noise."""
    left_out: LeftOut | None = field(repr=False)
    """What limits and clamps left out, as far as it is known; None if they cannot cut anything."""
    called: UnitName = field(default=UNIT, eq=False, repr=False)

    @left_out.default
    def _unmeasured(self) -> LeftOut | None:
        kinds = [aggregate.kind for aggregate in self.body.aggregates]
        return unmeasured(kinds, can_leave_out=self.body.limits.leave_out)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the outputs, in order."""
        return self.view.columns

    @cached_property
    def rows(self) -> tuple[tuple[Cell, ...], ...]:
        """The answer, one row for each group that is shown."""
        return tuple(zip(*self._cells, strict=True))

    @property
    def cost(self) -> PrivacyLoss:
        """What the release cost when it was made."""
        return self.body.cost

    def error(self, name: str, confidence: Number = CONFIDENCE) -> int | float:
        """Return the error bar of output ``name``: the noise is within ± it, that often."""
        bar = error_bar(self._output(name), self.body, beta=1 - exact(confidence))
        if bar is None:
            raise InvalidArgument(
                f"'{name}' has no error bar that is the same in every row",
                must="be a count, a sum, or a sum of multiples of them, and not of the counts that"
                " chose private groups",
                next=f"intervals('{name}') has one for each row",
            )
        return plain_up(bar)

    def errors(self) -> dict[str, int | float]:
        """Return the 95 % error bar of every output that has one and the same in all rows."""
        bars = ((one.name, error_bar(one, self.body, beta=_BETA)) for one in self.view.outputs)
        return {name: plain_up(bar) for name, bar in bars if bar is not None}

    def intervals(
        self, name: str, confidence: Number = CONFIDENCE
    ) -> tuple[PlainInterval | None, ...]:
        """Return for each row where the value without noise is, that often; None if not known."""
        output = self._output(name)
        found = intervals(output, self._groups, self.body, beta=1 - exact(confidence))
        return plain_intervals(found, output.estimate.type)

    def totals(self, name: str, confidence: Number = CONFIDENCE) -> tuple[PlainEnds, ...]:
        """Return for each row where the value without noise, limits *and clamps* is, that often.

        An end is None where it is not known: nobody has made a profile of the table, or nobody
        declared how many rows a unit has at most or how far values reach, or the number is one of
        rows that were joined.
        """
        output, beta = self._output(name), 1 - exact(confidence)
        found = self._ends.total(output, beta)
        return plain_ends(found.lows, found.highs, output.estimate.type)

    def sampling(self, name: str, confidence: Number = CONFIDENCE) -> tuple[PlainEnds, ...]:
        """Return for each row where the number of the *population* is, that often.

        It is right if the units of the table are a random sample of a population. An end is None
        where it is not known; :class:`~discreet.releases.sampling.PopulationSample` says where.
        """
        output = self._output(name)
        found = self._ends.sampling(output, 1 - exact(confidence))
        return plain_ends(found.lows, found.highs, output.estimate.type)

    def with_intervals(self, intervals: str) -> "Release":
        """Return the same answer that shows other intervals: "total", "noise" or "sampling".

        So do its text, HTML, JSON and data frames. A sampling interval is about the population of
        which the units of the table are a sample; nobody must take it for that of noise.
        """
        return evolve(self, kind=interval_kind(intervals))

    def headline(self) -> tuple[str, ...]:
        """Return what must be read first: that numbers may be far from those of all rows."""
        return tuple(headline(self.left_out, self._ends.moved_far(), self.called))

    def notes(self) -> tuple[str, ...]:
        """Return what a reader must know besides the numbers."""
        found = notes(
            self.view,
            self.body,
            left_out=self.left_out,
            on_rounding=self._ends.on_rounding(),
            half_known=[name for name, ends in self._all_ends.items() if ends.are_half_known()],
            confidence=CONFIDENCE,
            called=self.called,
        )
        found = found if self.kind is IntervalKind.TOTAL else without_totals(found)
        cells = dict(zip(self.columns, self._cells, strict=True))
        unknown = [name for name, noise in self._noise.items() if is_unknown(cells[name], noise)]
        said = (*on_unknown(unknown), *on_undefined(self.view.outputs, self._cells))
        return (*found, *said, *on_dearer(self.cost, self.offered))

    def frame(self, *, errors: bool = True, intervals: str | None = None) -> AnswerFrame:
        """Return the columns with names and types, from which the other forms are made."""
        kind = self.kind if intervals is None else interval_kind(intervals)
        rule, noisy = self._ends.of(kind), self._noisy() if errors else []
        ends = {output.name: rule(output, _BETA) for output in noisy}
        sure = self._ends.sure_modes(kind) if errors else {}
        return answer_frame(self.view.outputs, self._cells, ends, kind, sure)

    def to_arrow(self, *, errors: bool = True, intervals: str | None = None) -> Any:
        """Return the rows as an Arrow table, with the types of the outputs.

        Each noisy output ``n`` has its interval beside it, in ``n_low`` and ``n_high`` (NULL where
        it is unknown); ``errors=False`` leaves them out. ``intervals`` says which: "total", "noise"
        or "sampling". The metadata of the schema has notes, cost and ticket, as JSON. Integers that
        64 bits do not hold are decimal numbers, and text beyond 38 digits.
        """
        frame = self.frame(errors=errors, intervals=intervals)
        return frame.to_arrow(self._about(frame))

    def to_pandas(self, *, errors: bool = True, intervals: str | None = None) -> Any:
        """Return the rows as a pandas data frame.

        Each noisy output ``n`` has its interval beside it, in ``n_low`` and ``n_high`` (missing
        where it is unknown); ``errors=False`` leaves them out. ``intervals`` says which: "total",
        "noise" or "sampling". ``attrs["discreet"]`` has notes, cost and ticket. Integers that 64
        bits do not hold are Python's.
        """
        frame = self.frame(errors=errors, intervals=intervals)
        return frame.to_pandas(self._about(frame))

    def to_polars(self, *, errors: bool = True, intervals: str | None = None) -> Any:
        """Return the rows as a Polars data frame, with the columns of :meth:`to_arrow`.

        Polars keeps columns alone: :meth:`notes` has what must be known.
        """
        return optional.load("polars").from_arrow(self.to_arrow(errors=errors, intervals=intervals))

    def to_json(self) -> dict[str, Any]:
        """Return everything that is public about the release.

        ``intervals`` has those of every noisy output, null where nothing is known; ``unknown``
        tells for each whether a row of it says so in the text; ``rivals`` has what a mode may be.
        """
        found = {
            output.name: [
                pair and list(map(json_cell, pair)) for pair in self.intervals(output.name)
            ]
            for output in self._noisy()
        }
        totals = {
            name: [list(map(json_cell, pair)) for pair in self._plain_ends(name)]
            for name in self._all_ends
        }
        sampled = {
            name: [list(map(json_cell, pair)) for pair in self.sampling(name)]
            for name in (self._all_ends if self.kind is IntervalKind.SAMPLING else ())
        }
        chosen = self.body.limits.chosen
        return {
            "columns": list(self.columns),
            "rows": [[json_cell(value) for value in row] for row in self.rows],
            "errors": {
                "confidence": float(CONFIDENCE),
                "half_width": self.errors(),
                "intervals": {
                    name: pairs for name, pairs in found.items() if name not in self.errors()
                },
            },
            "intervals": found,
            "totals": totals,
            **({"sampling": sampled} if self.kind is IntervalKind.SAMPLING else {}),
            "unknown": self._unknown(),
            **self._ends.rivals(),
            "headline": list(self.headline()),
            "notes": list(self.notes()),
            "limits": self.body.limits.given()
            | ({} if chosen is None else {"chosen": chosen.to_json()}),
            "limits_cut": None if self.left_out is None else self.left_out.to_json(),
            "cost": self.cost.to_json(),
            "decimals": {"cost": decimals(self.cost)},
            "stored": self.is_stored,
            "offered": None if self.offered is None else self.offered.to_json(),
            "receipt": self.receipt.to_json(),
        }

    def card(self) -> str:
        """Return a release card, as YAML: what was released, how, and what it cost.

        It has what a reader needs to judge it, all of it public; the values are not in it.
        """
        known = self.circumstances and self.circumstances()
        facts = answer_facts(self.view, self.body, self.receipt, self.to_json(), known)
        return yaml_text(card(facts))

    def plot(
        self, path: str | Path | None = None, *, name: str | None = None, axes: Any = None
    ) -> Any:
        """Draw a noisy output over the keys, with error bars; return the axes of matplotlib.

        It is the output ``name``, or the first one. If a key is a date or a timestamp, time goes
        from left to right, and other keys are lines of their own; else each group is a bar. With a
        ``path`` the picture is written there, as PNG, SVG or PDF. With ``axes`` it is drawn there.
        """
        if name is None and not self._noisy():
            raise InvalidArgument("There is nothing to draw", must="have an output with noise")
        noisy = self._noisy()[0] if name is None else self._output(name)
        keys = [i for i, output in enumerate(self.view.outputs) if not output.is_noisy()]
        picture = ReleasePicture(
            over=tuple(self.columns[i] for i in keys),
            keys=[tuple(row[i] for i in keys) for row in self.rows],
            title=noisy.name,
            values=self._cells[self.columns.index(noisy.name)],
            intervals=self.intervals(noisy.name),
            totals=None if self.left_out is None else self._plain_ends(noisy.name),
        )
        return picture.draw(axes, None if path is None else Path(path))

    def __str__(self) -> str:
        """Show the rows as a table with error bars, and the notes below it."""
        return self._shown.text()

    def _repr_html_(self) -> str:
        return self._shown.html()

    @cached_property
    def _shown(self) -> ShownAnswer:
        return ShownAnswer(
            columns=self._shown_columns,
            left_out=self.left_out,
            cost=None if self.is_stored else self.cost,
            notes=self.notes(),
            is_rounded=any(map(self._ends.is_rounded, self._noisy())),
            headline=self.headline(),
        )

    @cached_property
    def _shown_columns(self) -> tuple[ShownColumn, ...]:
        return tuple(
            self._column(output, values)
            for output, values in zip(self.view.outputs, self._values, strict=True)
        )

    @cached_property
    def _groups(self) -> Groups:
        return self.view.groups(self.body)

    @cached_property
    def _ends(self) -> AnswerIntervals:
        return AnswerIntervals(
            view=self.view, body=self.body, left_out=self.left_out, groups=self._groups
        )

    @cached_property
    def _values(self) -> tuple[Column, ...]:
        return self.view.values(self._groups)

    @cached_property
    def _cells(self) -> tuple[list[Cell], ...]:
        pairs = zip(self._values, self.view.outputs, strict=True)
        return tuple(cells(values, output.estimate.type) for values, output in pairs)

    def _column(self, output: Output, values: Column) -> ShownColumn:
        if not output.is_noisy():
            asides = self._ends.mode_asides(output.name, self.kind)
            return ShownColumn(name=output.name, values=values, asides=asides)
        bar, noise = error_bar(output, self.body, beta=_BETA), self._noise[output.name]
        is_even = bar is not None and isinstance(values, Ratios) and noise.are_around(values, bar)
        is_total = self.kind is IntervalKind.TOTAL and self._ends.has_total(output)
        totals = self._all_ends[output.name] if is_total else None
        is_sampled = self.kind is IntervalKind.SAMPLING
        return ShownColumn(
            name=output.name,
            values=values,
            bar=bar if is_even else None,
            intervals=None if is_even else noise,
            totals=totals,
            is_undefined=may_be_undefined(output.estimate),
            samples=self._ends.sampling(output, _BETA) if is_sampled else None,
            is_total_alone=is_even and totals is not None and totals.are_nearly(noise),
        )

    @cached_property
    def _noise(self) -> dict[str, Intervals]:
        """For each noisy output, where the value without noise lies in each row."""
        find = partial(intervals, groups=self._groups, body=self.body, beta=_BETA)
        return {output.name: find(output) for output in self._noisy()}

    @cached_property
    def _all_ends(self) -> dict[str, Ends]:
        """For each noisy output, where the value of all rows lies. Every form shows this."""
        return {output.name: self._ends.total(output, _BETA) for output in self._noisy()}

    def _plain_ends(self, name: str) -> tuple[PlainEnds, ...]:
        ends = self._all_ends[name]
        return plain_ends(ends.lows, ends.highs, self._output(name).estimate.type)

    def _unknown(self) -> dict[str, bool]:
        """Tell for each noisy output whether some row says that something of it is unknown."""
        shown = (one for one in self._shown_columns if one.name in self._noise)
        return {one.name: one.is_unknown() for one in shown}

    def _about(self, frame: AnswerFrame) -> dict[str, Any]:
        """Return what a frame must say besides its numbers, as plain values."""
        return {
            "limits_cut": None if self.left_out is None else self.left_out.to_json(),
            "intervals": {name: list(ends) for name, ends in frame.ends.items()},
            "interval_kind": frame.kind.value,
            "confidence": float(CONFIDENCE),
            "headline": list(self.headline()),
            "notes": list(self.notes()),
            "cost": self.cost.to_json(),
            "data_version": self.receipt.data_version,
            "ticket": self.receipt.ticket.number,
        }

    def _noisy(self) -> list[Output]:
        return [output for output in self.view.outputs if output.is_noisy()]

    def _output(self, name: str) -> Output:
        for output in self._noisy():
            if output.name == name:
                return output
        raise InvalidArgument(
            f"No noisy output is called '{name}'",
            must=f"be one of {', '.join(output.name for output in self._noisy())}",
        )
