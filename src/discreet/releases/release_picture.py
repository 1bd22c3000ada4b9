"""A picture of an answer: time from left to right, or a bar for each group, with its error bars."""

import datetime
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from attrs import frozen

from discreet.accounting.picture import ACCENT, INK, OTHERS, QUIET, require_kind, save
from discreet.core import optional
from discreet.core.errors import InvalidArgument
from discreet.core.terminal_text import one_line
from discreet.releases.cells import Cell, PlainEnds, PlainInterval

MOST_BARS = 100
MOST_POINTS = 5_000
MOST_SERIES = len(OTHERS) + 1

_LONGEST_LABEL = 40
_EDGE = 1e300
"""Beyond it a picture has no room."""


@frozen(kw_only=True)
class ReleasePicture:
    """What is drawn of an answer: one noisy output over its keys.

    The noise is a strong line. What limits and clamps left out besides is a thin one, which ends in
    an arrow where its end is not known. A group whose noise is not known is hollow, and one without
    a value is not drawn.
    """

    over: tuple[str, ...]
    """What the keys are called."""
    keys: Sequence[tuple[Cell, ...]]
    """The keys of each row."""
    title: str
    values: Sequence[Cell]
    intervals: Sequence[PlainInterval | None]
    totals: Sequence[PlainEnds] | None = None
    lines: str = "95 % of the noise"
    """What the strong lines are."""

    def draw(self, axes: Any = None, path: Path | None = None) -> Any:
        """Draw on the ``axes``, or on new ones, and return them; ``path`` has the picture too."""
        series = self._series()
        self._require_drawable(is_over_time=bool(series))
        if path is not None:
            require_kind(path)
        tall = 4.2 if series else min(1.4 + 0.32 * len(self.keys), 30)
        drawn = _new_axes(tall, is_shown=path is None) if axes is None else axes
        if series:
            self._draw_over_time(drawn, series)
        else:
            self._draw_bars(drawn)
        drawn.set_axisbelow(True)
        if path is not None:
            save(drawn.figure, path)
        return drawn

    def _require_drawable(self, *, is_over_time: bool) -> None:
        most, found = MOST_POINTS if is_over_time else MOST_BARS, len(self.keys)
        if not 1 <= found <= most:
            raise InvalidArgument(
                "The answer cannot be drawn",
                must=f"have from 1 to {most:,} rows",
                got=f"{found:,}",
                next="Add ORDER BY and LIMIT to the query: they cost nothing",
            )

    def _time_place(self) -> int | None:
        """Return which key is a day or a moment in every row that has one; the first of several."""
        for place in range(len(self.over)):
            known = [row[place] for row in self.keys if row[place] is not None]
            if known and all(isinstance(key, datetime.date) for key in known):
                return place
        return None

    def _series(self) -> list[tuple[str, list[int]]]:
        """Return the rows of each line over time, in the order of time; none if there is no time.

        The other keys tell lines apart. If these are too many, groups are bars.
        """
        place = self._time_place()
        if place is None:
            return []
        found: dict[tuple[Cell, ...], list[int]] = {}
        for number, row in enumerate(self.keys):
            if row[place] is not None:
                found.setdefault((*row[:place], *row[place + 1 :]), []).append(number)
        if len(found) > MOST_SERIES:
            return []
        times = [_number(row[place]) for row in self.keys]
        order = times.__getitem__
        return [(_label(others), sorted(rows, key=order)) for others, rows in found.items()]

    def _draw_over_time(self, axes: Any, series: list[tuple[str, list[int]]]) -> None:
        place = self._time_place()
        assert place is not None
        times = [_number(row[place]) for row in self.keys]
        step = _smallest_step(times) / 10  # lines that stand on one another could not be told apart
        for rank, (name, rows) in enumerate(series):
            shift = step * (rank - (len(series) - 1) / 2)
            places = {row: times[row] + shift for row in rows if self.values[row] is not None}
            self._draw_series(axes, name, places, (ACCENT, *OTHERS)[rank])
        if len(series) > 1:
            for text in axes.legend(frameon=False).get_texts():
                text.set_parse_math(False)
        _show_days(axes, "x")
        if self._has_days():
            _show_days(axes, "y")
        undrawn = len(self.keys) - sum(len(rows) for _, rows in series)
        left_out = f"; {undrawn} without a time not drawn" if undrawn else ""
        _name(axes.set_xlabel, f"{self.over[place]}{left_out}")
        _name(axes.set_ylabel, self.title)
        _name(axes.set_title, self._legend(), fontsize=9, loc="left")
        axes.grid(axis="y", color=QUIET, alpha=0.4, linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)

    def _draw_series(self, axes: Any, name: str, places: dict[int, float], colour: str) -> None:
        numbers = [_number(self.values[row]) for row in places]
        axes.plot(places.values(), numbers, color=colour, alpha=0.5, linewidth=1.2, zorder=2)
        size = 22 if self._is_sparse() else 6
        for is_sure, face in ((True, colour), (False, "white")):
            points = [
                (place, _number(self.values[row]))
                for row, place in places.items()
                if (self.intervals[row] is not None) is is_sure
            ]
            if points:
                across, along = zip(*points, strict=True)
                axes.scatter(across, along, s=size, facecolor=face, edgecolor=colour, zorder=3)
        self._draw_lines(axes, places, is_upright=True, colour=colour)
        axes.plot([], [], color=colour, marker="o", label=name)

    def _draw_bars(self, axes: Any) -> None:
        rows = range(len(self.keys))
        numbers = [_number(value) for value in self.values]
        # Days have no zero to begin at.
        left = min([*numbers, *self._ends()]) - 1 if self._has_days() else 0.0
        lengths = [number - left for number in numbers]
        bars = axes.barh(rows, lengths, left=left, color=ACCENT, alpha=0.75, height=0.7)
        for bar, interval in zip(bars, self.intervals, strict=True):
            if interval is None:
                bar.set(facecolor="none", edgecolor=QUIET, linestyle="--", linewidth=1.2, alpha=1)
        places = {row: float(row) for row in rows if self.values[row] is not None}
        self._draw_lines(axes, places, is_upright=False, colour=INK)
        labels = [_label(keys) or "all" for keys in self.keys]
        axes.set_yticks(rows, labels, color=INK, parse_math=False)
        axes.invert_yaxis()  # the first row of the answer is on top
        _name(axes.set_ylabel, ", ".join(self.over))
        _name(axes.set_xlabel, f"{self.title} ({self._legend()})")
        axes.axvline(left, color=INK, linewidth=0.8)
        if self._has_days():
            _show_days(axes, "x")
        axes.grid(axis="x", color=QUIET, alpha=0.4, linewidth=0.6)
        axes.spines[["top", "right", "left"]].set_visible(False)

    def _draw_lines(
        self, axes: Any, places: dict[int, float], *, is_upright: bool, colour: str
    ) -> None:
        """Draw what noise may have done to each row, and thinner what limits may have besides."""
        strokes = _Strokes(axes=axes, is_upright=is_upright, colour=colour)
        noise = {place: self.intervals[row] for row, place in places.items()}
        known = [(place, *map(_number, pair)) for place, pair in noise.items() if pair is not None]
        strokes.lines(known, width=2 if self._is_sparse() else 0.8)
        if self._is_sparse():
            caps = [(place, end) for place, *ends in known for end in ends]
            strokes.marks(caps, "_" if is_upright else "|")
        if self.totals is None:
            return
        shift, (lowest, highest) = 0 if is_upright else 0.22, self._room()
        totals = {place + shift: self.totals[row] for row, place in places.items()}
        lows = {
            place: lowest if low is None else _number(low) for place, (low, _) in totals.items()
        }
        highs = {
            place: highest if high is None else _number(high) for place, (_, high) in totals.items()
        }
        thin = [(place, max(lows[place], lowest), min(highs[place], highest)) for place in totals]
        strokes.lines(thin, width=0.8, alpha=0.6 if self._is_sparse() else 0.2)
        below, above = "v^" if is_upright else "<>"
        strokes.marks([(place, lowest) for place in totals if lows[place] <= lowest], below)
        strokes.marks([(place, highest) for place in totals if highs[place] >= highest], above)

    def _is_sparse(self) -> bool:
        return len(self.keys) <= MOST_BARS

    def _room(self) -> tuple[float, float]:
        """Return how far lines may go: those without an end, or with one far away, are cut off.

        What limits may have left out can be much more than what is shown, which would then be too
        small to be seen.
        """
        zero = [] if self._has_days() else [0.0]
        ends = (_number(end) for pair in self.intervals for end in pair or ())
        known = [*zero, *(_number(one) for one in self.values if one is not None), *ends]
        low, high = min(known, default=0.0), max(known, default=1.0)
        beyond = (high - low) / 2 or 1.0
        return low - beyond, high + beyond

    def _legend(self) -> str:
        hollow = "; hollow: unknown" if None in self.intervals else ""
        thin = "; thin: with what limits left out, an arrow if it goes on"
        return f"lines: {self.lines}{hollow}{'' if self.totals is None else thin}"

    def _has_days(self) -> bool:
        return any(isinstance(value, datetime.date) for value in self.values)

    def _ends(self) -> list[float]:
        pairs = (*self.intervals, *(self.totals or ()))
        return [_number(end) for pair in pairs for end in pair or () if end is not None]


@frozen(kw_only=True)
class _Strokes:
    """Lines and marks along one axis, at places of the other."""

    axes: Any
    is_upright: bool
    colour: str

    def lines(self, found: Sequence[tuple[float, ...]], *, width: float, alpha: float = 1) -> None:
        """Draw lines, each from an end to another at its place."""
        if found:
            draw = self.axes.vlines if self.is_upright else self.axes.hlines
            draw(*zip(*found, strict=True), color=self.colour, linewidth=width, alpha=alpha)

    def marks(self, found: Sequence[tuple[float, float]], mark: str) -> None:
        """Draw marks, each at its place and as far along."""
        if found:
            places, along = zip(*found, strict=True)
            points = (places, along) if self.is_upright else (along, places)
            self.axes.scatter(*points, marker=mark, color=self.colour, s=16, linewidth=1)


def _smallest_step(times: Sequence[float]) -> float:
    known = sorted(set(times))
    return min((late - early for early, late in pairwise(known)), default=1.0)


def _new_axes(height: float, *, is_shown: bool) -> Any:
    """Return empty axes; a notebook shows those that pyplot knows of, and files need no pyplot."""
    size = (7, height)
    if is_shown:
        _, axes = optional.load("matplotlib.pyplot").subplots(figsize=size, layout="constrained")
        return axes
    figure = optional.load("matplotlib.figure").Figure(figsize=size, layout="constrained")
    return figure.subplots()


def _show_days(axes: Any, which: str) -> None:
    """Count an axis in days, and write as little of each date as tells it from the others."""
    dates = optional.load("matplotlib.dates")
    axis, limits = (axes.xaxis, axes.set_xlim) if which == "x" else (axes.yaxis, axes.set_ylim)
    # A calendar has a first and a last day, and no room beyond them.
    low, high = axis.get_view_interval()
    limits(max(low, _number(datetime.date.min)), min(high, _number(datetime.date.max)))
    locator = dates.AutoDateLocator()
    axis.set_major_locator(locator)
    axis.set_major_formatter(dates.ConciseDateFormatter(locator))


def _name(write: Callable[..., Any], text: str, **how: Any) -> None:
    """Write a text as it is: a dollar sign begins no formula."""
    write(one_line(text), color=INK, parse_math=False, **how)


def _label(keys: Sequence[Cell]) -> str:
    text = one_line(", ".join(map(str, keys)))
    return text if len(text) <= _LONGEST_LABEL else f"{text[: _LONGEST_LABEL - 3]}..."


_EPOCH = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 what is drawn is what the wall shows
"""From where matplotlib counts days."""


def _number(value: Cell) -> float:
    """Return a number, or that of a day or a moment, in days; 0 for what is neither."""
    if isinstance(value, datetime.datetime):
        return (value - _EPOCH) / datetime.timedelta(days=1)
    if isinstance(value, datetime.date):
        return float((value - _EPOCH.date()).days)
    if not isinstance(value, int | float):
        return 0.0
    try:
        return min(max(float(value), -_EDGE), _EDGE)
    except OverflowError:
        return _EDGE if value > 0 else -_EDGE
