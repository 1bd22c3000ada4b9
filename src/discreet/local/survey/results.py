"""What came of a survey: an estimate for each value of each question, with its interval."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from attrs import asdict, fields, frozen

from discreet.accounting.picture import ACCENT, INK, save
from discreet.core import optional
from discreet.core.errors import Unsupported
from discreet.core.numbers import Number
from discreet.core.protocols import IntArray
from discreet.core.terminal_text import lines, one_line, text_table
from discreet.local.frequency.frequency_scheme import FrequencyScheme
from discreet.local.frequency.share_estimate import estimate_shares
from discreet.local.numbers.number_scheme import NumberScheme
from discreet.local.numbers.square_wave import SquareWave
from discreet.local.rappor.decode import TextEstimate, decode
from discreet.local.rappor.rappor import Rappor
from discreet.local.survey.survey import (
    NO_ANSWER,
    ListedValues,
    NumberRange,
    Survey,
    SurveyQuestion,
    Text,
)
from discreet.local.survey.survey_quantiles import survey_quantiles
from discreet.local.survey.tallies import SurveyTally
from discreet.local.tails import read_level
from discreet.local.words.find_words import WordsFound, find_words
from discreet.local.words.hashed_words import HashedWords, words_error

_MOST_BARS = 40
_NOTHING = "no text is surely given"

_READING = (
    "from, to: the truth about the people who answered is between them, as often as is said above, "
    "whatever they answered and however few they are. usual error: the size of a usual miss, one "
    "standard deviation of what devices draw; two in three estimates miss by less. Only from and "
    "to promise anything, and that is why they are further apart than usual errors suggest."
)


@frozen(kw_only=True)
class ResultRow:
    """One estimate; a share is a part of 1. The truth is between the ends as often as is said.

    ``error`` is one standard deviation of what devices draw: the size of a usual miss. Of a
    quantile none is known.
    """

    question: str
    of: str
    estimate: float
    low: float
    high: float
    error: float | None


@frozen(kw_only=True)
class SurveyResults:
    """All estimates of a survey, for the people who answered."""

    name: str
    version: str
    people: int
    confidence: float
    is_together: bool
    rows: tuple[ResultRow, ...]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return a table for each question."""
        level = f"{100 * self.confidence:g} %"
        held = f"all hold at once in {level}" if self.is_together else f"each holds in {level}"
        head = f"{one_line(self.name)}: {self.people:,} reports; intervals: {held} of surveys"
        names = dict.fromkeys(row.question for row in self.rows)
        notes = "\n".join(lines(note) for note in (_READING, *self.notes))
        return "\n\n".join([head, *(self._table(name) for name in names), notes])

    def _table(self, name: str) -> str:
        rows = [row for row in self.rows if row.question == name]
        cells = [
            [
                one_line(row.of),
                *(f"{x:.4g}" for x in (row.estimate, row.low, row.high)),
                "" if row.error is None else f"{row.error:.4g}",
            ]
            for row in rows
        ]
        return text_table([one_line(name), "estimate", "from", "to", "usual error"], cells)

    def to_json(self) -> dict[str, Any]:
        """Return all of it as plain values."""
        return asdict(self)

    def to_arrow(self) -> Any:
        """Return the rows as an Arrow table, which says in its metadata what it is."""
        arrow = optional.load("pyarrow")
        facts = {
            "survey": self.name,
            "version": self.version,
            "people": str(self.people),
            "confidence": f"{self.confidence:g}",
        }
        kinds = {one.name: arrow.string() for one in fields(ResultRow)[:2]}
        kinds |= {one.name: arrow.float64() for one in fields(ResultRow)[2:]}
        rows = [asdict(row) for row in self.rows]
        table = arrow.Table.from_pylist(rows, schema=arrow.schema(list(kinds.items())))
        return table.replace_schema_metadata({f"discreet.{key}": v for key, v in facts.items()})

    def plot(self, path: Path) -> None:
        """Draw each question's estimates with their intervals, and save the picture."""
        names = list(dict.fromkeys(row.question for row in self.rows)) or [_NOTHING]
        figure = optional.load("matplotlib.figure").Figure(
            figsize=(8, 1 + sum(0.6 + 0.28 * len(self._shown(name)) for name in names)),
            layout="constrained",
        )
        heights = [1 + len(self._shown(name)) for name in names]
        axes = figure.subplots(len(names), 1, squeeze=False, height_ratios=heights)
        for (one,), name in zip(axes, names, strict=True):
            _draw(one, name, self._shown(name))
        save(figure, path)

    def _shown(self, name: str) -> list[ResultRow]:
        rows = [row for row in self.rows if row.question == name]
        return sorted(rows, key=lambda row: -row.estimate)[:_MOST_BARS]


def _draw(axes: Any, name: str, rows: Sequence[ResultRow]) -> None:
    places = range(len(rows))
    estimates = [row.estimate for row in rows]
    ends = [[row.low for row in rows], [row.high for row in rows]]
    axes.hlines(places, ends[0], ends[1], color=ACCENT, linewidth=2)
    axes.plot(estimates, places, "o", color=INK, markersize=4)
    axes.set_yticks(list(places), [one_line(row.of)[:40] for row in rows])
    axes.invert_yaxis()
    axes.set_title(one_line(name), loc="left", color=INK, fontsize=11)
    axes.spines[["top", "right"]].set_visible(False)
    if all(row.low >= -1 and row.high <= 1 for row in rows):
        axes.axvline(0, color=INK, linewidth=0.6)


def survey_results(
    tally: SurveyTally, *, confidence: Number = "0.95", together: bool = False
) -> SurveyResults:
    """Return the estimates of all questions from the tally of their reports.

    If ``together``, all intervals of all questions hold at once: each question gets an equal part
    of the doubt.
    """
    level = read_level(confidence)
    each = 1 - (1 - level) / len(tally.survey.questions) if together else level
    rows = [
        row
        for question, counted in zip(tally.survey.questions, tally.tallies, strict=True)
        for row in _estimated(
            question,
            counted,
            tally.people,
            each,
            together=together,
            repeats=question.repeats(tally.survey.reports),
        )
    ]
    return SurveyResults(
        name=tally.survey.name,
        version=tally.survey.version,
        people=tally.people,
        confidence=float(level),
        is_together=together,
        rows=tuple(rows),
        notes=tuple(_notes(tally.survey)),
    )


def _notes(survey: Survey) -> Iterator[str]:
    """Say what the numbers of some questions do not show."""
    repeated = [one.name for one in survey.questions if one.repeats(survey.reports) > 1]
    if repeated:
        yield (
            f"Answers to {', '.join(repeated)} are kept on devices, and each device may have "
            f"reported up to {survey.reports:,} times: intervals and errors are for the fewest "
            "people that these reports can be of."
        )
    waves = [one.name for one in survey.questions if isinstance(one.scheme, SquareWave)]
    if waves:
        yield (
            f"What a quarter, half and three quarters of the people answered to {', '.join(waves)} "
            "at most is between from and to, all three at once; a usual error is not known."
        )
    listed = [one.name for one in survey.questions if isinstance(one.scheme, Rappor)]
    if listed:
        yield (
            f"Answers to {', '.join(listed)} that nobody listed can look like some that are: from "
            "and to allow for that, usual errors do not."
        )
    for question in survey.questions:
        if isinstance(question.answers, Text) and isinstance(question.scheme, HashedWords):
            share = float(question.answers.least_share)
            yield (
                f"Answers to {question.name} that are not surely given by more than {share:.3g} of "
                "the people stay hidden."
            )


def _estimated(
    question: SurveyQuestion,
    tally: IntArray,
    people: int,
    confidence: Fraction,
    *,
    together: bool,
    repeats: int,
) -> list[ResultRow]:
    scheme, answers = question.scheme, question.answers
    if isinstance(scheme, FrequencyScheme) and isinstance(answers, ListedValues):
        found = estimate_shares(
            scheme.supports(tally),
            people,
            held=scheme.held,
            other=scheme.other,
            confidence=confidence,
            together=together,
            repeats=repeats,
        )
        ends = (found.shares, found.low, found.high, found.errors)
        numbers = zip(*(one.tolist() for one in ends), strict=True)
        return [
            ResultRow(question=question.name, of=of, estimate=e, low=low, high=high, error=error)
            for of, (e, low, high, error) in zip(answers.labels, numbers, strict=True)
        ]
    if isinstance(scheme, NumberScheme) and isinstance(answers, NumberRange):
        return _of_number(question.name, scheme, answers, tally, confidence, together, repeats)
    if isinstance(scheme, Rappor) and isinstance(answers, Text):
        doubt = 1 - confidence
        texts = decode(scheme, tally, answers.looked_for, false_discoveries=doubt, repeats=repeats)
        return _decoded(question.name, texts)
    if isinstance(scheme, HashedWords) and isinstance(answers, Text):
        found_words = find_words(
            scheme,
            tally,
            least=answers.least_share,
            false_discoveries=(1 - confidence) / 2,
            repeats=repeats,
        )
        beside = 0.0
        if found_words.error > 1 - confidence:
            beside = _room_beside(scheme, found_words, (1 - confidence) / 2)
        return _found(question.name, found_words, words_error(scheme, people / repeats), beside)
    raise Unsupported(f"There is no estimate for the scheme of '{question.name}'", got=scheme.kind)


def _of_number(
    name: str,
    scheme: NumberScheme,
    answers: NumberRange,
    tally: IntArray,
    confidence: Fraction,
    together: bool,
    repeats: int,
) -> list[ResultRow]:
    """Return the mean, and of a square wave the quartiles; together they share the doubt."""
    is_wave = isinstance(scheme, SquareWave)
    level = 1 - (1 - confidence) / 2 if together and is_wave else confidence
    mean = scheme.estimate_tally(tally, confidence=level, repeats=repeats)
    rows = [
        ResultRow(
            question=name,
            of="mean",
            estimate=answers.at(mean.mean),
            low=answers.at(mean.low),
            high=answers.at(mean.high),
            error=float(answers.step) * mean.error,
        )
    ]
    if isinstance(scheme, SquareWave):
        rows += [
            ResultRow(
                question=name,
                of=one.name,
                estimate=one.value,
                low=one.low,
                high=one.high,
                error=None,
            )
            for one in survey_quantiles(scheme, answers, tally, confidence=level, repeats=repeats)
        ]
    return rows


def _decoded(name: str, found: TextEstimate) -> list[ResultRow]:
    """Return the shares of all candidates, those that are surely there first."""
    ends = (found.counts, found.low, found.high, found.errors)
    rows = [
        ResultRow(
            question=name,
            of=(text or NO_ANSWER) + ("" if text in found.found else " (perhaps nobody)"),
            estimate=count / found.people,
            low=low / found.people,
            high=high / found.people,
            error=error / found.people,
        )
        for text, count, low, high, error in zip(found.candidates, *ends, strict=True)
    ]
    return sorted(rows, key=lambda row: (row.of.endswith(" (perhaps nobody)"), -row.estimate))


def _room_beside(scheme: HashedWords, found: WordsFound, doubt: Fraction) -> float:
    """Return what is still to be left at lower ends for other words, but with this doubt.

    What is found leaves room for a share of ``least`` at most, and says in ``error`` how often that
    may not be enough. By Markov's inequality others have more than ``tested / (buckets doubt)`` in
    any bucket that is tested with a probability of at most ``doubt``.
    """
    return max(float(found.tested / (scheme.buckets * doubt) - found.least), 0.0)


def _found(name: str, found: WordsFound, error: float, beside: float) -> list[ResultRow]:
    """Return the shares of the texts that were found; what is rarer stays hidden."""
    ends = zip(found.words, found.shares, found.low, found.high, strict=True)
    return [
        ResultRow(
            question=name,
            of=of,
            estimate=share,
            low=max(low - beside, 0.0),
            high=high,
            error=error,
        )
        for of, share, low, high in ends
    ]
