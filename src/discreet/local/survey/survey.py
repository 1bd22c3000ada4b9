"""What a survey is: questions, each with a scheme, and what a person's part in it tells at most."""

import datetime
from fractions import Fraction
from typing import Any

from attrs import field, frozen

from discreet.accounting.accountants.pure import pure_loss
from discreet.core import check
from discreet.core.canonical import digest
from discreet.core.event import ComposedEvent
from discreet.local.scheme import Scheme

OTHER = "(other)"
"""What estimates call the people whose answer is not listed."""

_ROUNDED_NOTE = (
    " A number that is rounded is seen to change the likelier, the further it moves; nor is this."
)

NO_ANSWER = "(no answer)"
"""What estimates call the people who gave no text, where texts of a list are looked for."""


@frozen(kw_only=True)
class ListedValues:
    """The answer is one of these, or "other", which is always a value of its own."""

    values: tuple[str, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """What estimates are of."""
        return (*self.values, OTHER)

    def form(self) -> dict[str, Any]:
        """Return what a device must know."""
        return {"values": list(self.values)}


@frozen(kw_only=True)
class NumberRange:
    """The answer is a number: it is put onto a grid, and counts as the nearer end beyond it."""

    least: Fraction
    step: Fraction
    most: int
    """The last place of the grid; the first is 0."""
    default: int = 0
    """The place that a missing answer counts as."""

    def at(self, place: float) -> float:
        """Return the number at a place of the grid, or between two."""
        return float(self.least) + place * float(self.step)

    def form(self) -> dict[str, Any]:
        """Return what a device must know."""
        return {
            "min": str(self.least),
            "step": str(self.step),
            "most": self.most,
            "default": self.default,
        }


@frozen(kw_only=True)
class Text:
    """The answer is a text, of which the first characters count; no answer is the empty one."""

    longest: int
    """How many characters count."""
    candidates: tuple[str, ...] = ()
    """Texts that are looked for, if not all are; devices do not learn them."""
    least_share: Fraction = Fraction(1, 50)
    """From which share on texts are looked for that nobody listed."""

    @property
    def looked_for(self) -> tuple[str, ...]:
        """The candidates, and the empty text: many people may give no answer."""
        return (*self.candidates, "")

    def form(self) -> dict[str, Any]:
        """Return what a device must know."""
        return {"longest": self.longest}


Answers = ListedValues | NumberRange | Text


@frozen(kw_only=True)
class SurveyQuestion:
    """One question: its text for people, what may be answered, and how that is randomised."""

    name: str
    text: str
    answers: Answers
    scheme: Scheme
    scheme_name: str
    """What a declaration calls the scheme."""
    keeps: str = "no"
    """Whether a device draws its answers once: ``no``, ``permanent`` or ``rounded``."""
    kept_answers: int | None = field(default=0)
    """How many answers a device keeps; the loss of a lifetime is that of all of them.

    None is for texts: there is an answer for each that there is.
    """

    def form(self) -> dict[str, Any]:
        """Return what a device must know."""
        told = {"name": self.name, "text": self.text, "keeps": self.keeps}
        return told | self.answers.form() | {"recipe": dict(self.scheme.recipe())}

    def lifetime(self, reports: int) -> ComposedEvent:
        r"""Describe all that a device can ever report to this question.

        Fresh reports are independent, so their losses add up. If answers are kept, one and the
        same answer is reported whenever a value is held, so at most ``kept_answers`` of them can be
        seen, and one with each report; of texts each report may show another one, so a lifetime
        counts them all, and a text that stays the same loses what one report does. That bounds the
        loss for two histories in which the same reports are of equal values, such as a, b, a and
        c, d, c; of a number that is rounded, in which the same reports are rounded to equal ends.
        *Which* reports are of equal values, or ends, can be seen whenever reports can be told to be
        of one device: two that differ are never of one value, so no loss bounds this.
        """
        is_open = self.keeps == "no" or self.kept_answers is None
        seen = reports if is_open else min(reports, self.kept_answers or 0)
        # Not the scheme's own lifetime: RAPPOR's is that of a response which is kept.
        return self.scheme.event() * seen

    def repeats(self, reports: int) -> int:
        """Return how many reports of one device can share draws, if it makes so many: kept ones."""
        return 1 if self.keeps == "no" else reports

    def epsilon_of_lifetime(self, reports: int) -> Fraction:
        """Return the loss of so many reports of one device to this question."""
        return pure_loss([self.lifetime(reports)]).epsilon


@frozen(kw_only=True)
class Survey:
    """A survey as it is declared: what is asked, for how long, and how often of one person.

    Guarantee:
        ``loss_of_report`` is what one report of all questions tells at most, and ``loss_of_person``
        all reports of one device: the losses of questions and of reports add up.
    """

    name: str
    purpose: str
    questions: tuple[SurveyQuestion, ...]
    reports: int = field(default=1, converter=check.whole)
    until: datetime.date | None = None
    """The last day on which reports are taken, in UTC; without it until somebody closes it."""

    def form(self) -> dict[str, Any]:
        """Return what is published: all that a device needs, and nothing else."""
        return {
            "name": self.name,
            "purpose": self.purpose,
            "reports": self.reports,
            "questions": [question.form() for question in self.questions],
        } | ({} if self.until is None else {"until": self.until.isoformat()})

    def published(self) -> dict[str, Any]:
        """Return what a device is handed: the form, and its version."""
        return {"version": self.version, "form": self.form()}

    @property
    def version(self) -> str:
        """The name of this very form: reports of another one are not mixed with its own."""
        return digest(self.form())

    @property
    def size(self) -> int:
        """How many bytes a report has, whatever it says."""
        return sum(question.scheme.size for question in self.questions)

    def loss_of_report(self) -> ComposedEvent:
        """Describe one report of all questions."""
        return ComposedEvent.of([question.scheme.event() for question in self.questions])

    def loss_of_person(self) -> ComposedEvent:
        """Describe all reports that one device makes: :meth:`SurveyQuestion.lifetime`."""
        return ComposedEvent.of([question.lifetime(self.reports) for question in self.questions])

    def kept_note(self) -> str:
        """Say what no loss bounds, of questions whose answers are kept; empty if there are none."""
        kept = [question.name for question in self.questions if question.keeps != "no"]
        if not kept:
            return ""
        return (
            f"Answers to {', '.join(kept)} are drawn once and kept. Whether two answers of a "
            "person are the same can be seen if their reports can be told to be of one device: "
            "no ε bounds this."
            + _ROUNDED_NOTE
            * any(question.keeps == "rounded" for question in self.questions)
        )

    def epsilon_of_report(self) -> Fraction:
        """Return the loss of one report of all questions."""
        return pure_loss([self.loss_of_report()]).epsilon

    def epsilon_of_person(self) -> Fraction:
        """Return the loss of all reports that one device makes."""
        return pure_loss([self.loss_of_person()]).epsilon
