"""A device that takes part in a survey: it turns a person's answers into a batch for the collector.

Whether, when and how large a report is never depends on the answers. Each question is always
answered: what the survey does not list counts as its "other" value, what is out of range as the
nearer end, and what is missing or cannot be read as a default that the survey declares. So nothing
is ever sent as it is, and nothing fails because of a value.
"""

import base64
import hashlib
import json
import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from numbers import Rational, Real
from typing import Any

from discreet.local.device.draws import Draws, SecureDraws, fresh_token
from discreet.local.device.lifetime_cap import LifetimeCap
from discreet.local.device.memory import Memory, permanent_report, rounded_report
from discreet.local.device.randomise import randomise
from discreet.local.device.recipe import Recipe, unreadable

Form = Mapping[str, Any]
"""What a survey publishes: its version, and the form with its questions and their recipes."""


class SurveyDevice:
    """One person's part in a survey.

    Guarantee:
        A report is made of each question's recipe by the draws of this device alone, and of as many
        bytes whatever is answered. A device makes at most as many reports as the form says, over
        all versions of a survey of one name; so the loss of a person is at most that of so many
        reports, or, of a question whose answers are kept, that of all kept answers.

        With ``pinned``, the version that somebody has looked at, any other form is refused before
        anything is drawn. Nothing is sent then, whatever would be answered; so a collector cannot
        hand out a form that asks or tells more.

        With ``most_epsilon``, the most that the person allows, so is a form whose reports could
        lose more than that together with those of all other forms that this memory has reported
        to. A device works out losses from the recipes by itself
        (:func:`.recipe_loss.loss_of_form`), and writes them down before it draws.

    Assumes:
        ``memory`` is this device's own and lasts: a cleared memory is a new device, and a new loss.
        Without ``pinned`` and ``most_epsilon`` the device does as any form says that it is handed.
        All devices of one memory have the same ``most_epsilon``; reports without it do not count.

    Example:
        >>> from discreet.local.device.draws import UNIT
        >>> recipe = {"kind": "k_ary", "categories": 3, "truth": UNIT // 2}
        >>> fruit = {"name": "fruit", "values": ["apple", "pear"], "recipe": recipe, "keeps": "no"}
        >>> form = {"name": "market", "reports": 1, "questions": [fruit]}
        >>> device = SurveyDevice({"version": "v1", "form": form}, {})
        >>> len(device.report({"fruit": "quince"})), device.report({"fruit": "apple"})
        (1, None)
    """

    def __init__(
        self,
        survey: Form,
        memory: Memory,
        draws: Draws | None = None,
        *,
        pinned: str | None = None,
        most_epsilon: float | None = None,
    ) -> None:
        if pinned is not None and not survey["version"] == pinned == version_of(survey["form"]):
            raise ValueError("the survey is not the version that is pinned; nothing is reported")
        self._form: Form = survey["form"]
        self._version: str = survey["version"]
        self._memory = memory
        self._draws = SecureDraws() if draws is None else draws
        self._cap = None if most_epsilon is None else LifetimeCap(most_epsilon, memory)
        if self._cap is not None:
            self._cap.allowed(self._form, version_of(self._form), made=self._made())

    def report(self, answers: Mapping[str, Any]) -> bytes | None:
        """Return one report of all answers, or None if this device has made as many as it may."""
        made = self._made()
        if made >= self._form["reports"]:
            return None
        if self._cap is not None:
            self._cap.charge(self._form, version_of(self._form), made=made)
        self._memory[self._counter()] = str(made + 1)
        return b"".join(self._answered(one, answers) for one in self._form["questions"])

    def batch(self, answers: Mapping[str, Any]) -> str | None:
        """Return what is sent to the collector; it may be sent again until it is acknowledged.

        The token is fresh, so that a batch that is sent twice counts once, and two batches of one
        device have nothing in common.
        """
        report = self.report(answers)
        return None if report is None else batch_text(self._version, [report])

    def _counter(self) -> str:
        return f"reports {self._form['name']}"

    def _made(self) -> int:
        text = self._memory.get(self._counter())
        if text is not None and not (isinstance(text, str) and text.isdecimal()):
            raise unreadable()
        return 0 if text is None else int(text)

    def _answered(self, question: Form, answers: Mapping[str, Any]) -> bytes:
        held = value_of(question, answers)
        recipe: Recipe = question["recipe"]
        kept: Callable[..., bytes] | None = _KEEPING.get(question["keeps"])
        if kept is None:
            return randomise(recipe, held, self._draws)
        # Answers that are kept are those to these very values: a version with others has its own.
        name = json.dumps([self._form["name"], question["name"], _meaning(question)])
        return kept(name, recipe, held, self._memory, self._draws)


def _meaning(question: Form) -> Any:
    """Return what the numbers of kept answers stand for: values, a grid, or beginnings of texts."""
    if "values" in question:
        return question["values"]
    if "longest" in question:
        return question["longest"]
    return [question["min"], question["step"]]


def version_of(form: Form) -> str:
    """Return the version of a form: the SHA-256 of its JSON with sorted keys and no spaces."""
    text = json.dumps(form, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


_KEEPING = {"permanent": permanent_report, "rounded": rounded_report}


def value_of(question: Form, answers: Mapping[str, Any]) -> Any:
    """Return the value that a scheme gets for an answer, whatever was answered.

    Example:
        >>> colours = {"name": "colour", "values": ["red", "green"]}
        >>> [value_of(colours, {"colour": one}) for one in ("green", "mauve", None, 3)]
        [1, 2, 2, 2]
        >>> minutes = {"name": "minutes", "min": "0", "step": "1/2", "most": 120, "default": 0}
        >>> [value_of(minutes, {"minutes": one}) for one in (1.3, -5, 1e300, "x", float("nan"))]
        [3, 0, 120, 0, 0]
    """
    missing = _missing(question)
    try:
        answer = answers.get(question["name"])
        return missing if answer is None else _value(question, answer, missing)
    except Exception:  # a report is made all the same: whether one is must not depend on answers
        return missing


def _missing(question: Form) -> Any:
    """Return what counts as the answer where there is none."""
    if "values" in question:
        return len(question["values"])
    return "" if "longest" in question else int(question["default"])


def _value(question: Form, answer: Any, missing: Any) -> Any:
    if "values" in question:
        values = question["values"]
        is_listed = isinstance(answer, str) and answer in values
        return values.index(answer) if is_listed else missing
    if "longest" in question:
        return _text(answer, question["longest"])
    number = _number(answer)
    return missing if number is None else _on_grid(question, number)


def _number(answer: Any) -> Fraction | float | None:
    """Return a number of any kind as a fraction, or as a float if it is none.

    Numbers of arrays and tables are such: they are no ``int``, and must not count as missing.
    """
    if isinstance(answer, bool) or not isinstance(answer, Real | Decimal):
        return None
    if isinstance(answer, Rational):
        return Fraction(int(answer.numerator), int(answer.denominator))
    number = float(answer)
    return None if math.isnan(number) else number


def _text(answer: Any, longest: int) -> str:
    """Return the beginning of a text, and of what is none the empty one; UTF-8 can hold it."""
    text = answer[:longest] if isinstance(answer, str) else ""
    return "".join("\ufffd" if "\ud800" <= one <= "\udfff" else one for one in text)


def _on_grid(question: Form, answer: Fraction | float) -> int:
    if isinstance(answer, float) and math.isinf(answer):
        return int(question["most"]) if answer > 0 else 0
    steps = (Fraction(answer) - Fraction(question["min"])) / Fraction(question["step"])
    return min(max(math.floor(steps + Fraction(1, 2)), 0), int(question["most"]))


def batch_text(version: str, reports: list[bytes]) -> str:
    """Return reports in the form in which a collector takes them."""
    return json.dumps(
        {
            "survey": version,
            "token": fresh_token(),
            "reports": [base64.b64encode(report).decode("ascii") for report in reports],
        }
    )
