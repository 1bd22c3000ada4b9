"""Answers to texts that are kept: the same for one text, independent for others, by enumeration."""

import hashlib
import hmac
import io
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import pytest

from discreet.local import HashedWords, Rappor, RapporCoins
from discreet.local.device.draws import Draws, SecureDraws
from discreet.local.device.memory import permanent_report
from discreet.local.device.randomise import randomise
from discreet.local.device.text_answers import draws_of_text
from discreet.local.survey.read_survey import parse_survey
from tests.support.local.device_law import Law, law_of, run_node

RAPPOR = Rappor(bits=4, hashes=1, cohorts=2, salt="s", coins=RapporCoins.declare(f="1/2"))
WORDS = HashedWords.calibrate(epsilon=1, longest=4, salt="s", buckets=8, alphabet="abc")
SECRET = bytes(range(32))


class FixedMemory(dict[str, str]):
    """A memory that has drawn its secret before: what is drawn after that is enumerated."""

    def get(self, name: str, default: Any = None, /) -> Any:
        return f'"{SECRET.hex()}"'


class Replayed:
    """The draws of one text: made once, and the same whenever they are asked for again."""

    def __init__(self, draws: Draws) -> None:
        self._draws, self._made, self._place = draws, list[Any](), 0

    def again(self) -> "Replayed":
        self._place = 0
        return self

    def _next(self, draw: Callable[[], Any]) -> Any:
        if self._place == len(self._made):
            self._made.append(draw())
        self._place += 1
        return self._made[self._place - 1]

    def coin(self, threshold: int) -> bool:
        return bool(self._next(lambda: self._draws.coin(threshold)))

    def uniform(self, choices: int) -> int:
        return int(self._next(lambda: self._draws.uniform(choices)))

    def pick(self, cuts: Any) -> int:
        return int(self._next(lambda: self._draws.pick(cuts)))


def told(recipe: Any, history: tuple[str, ...], draws: Draws) -> bytes:
    """Return the reports of a history, with an ideal random function in place of the hash."""
    texts: dict[str, Replayed] = {}

    def derive(secret: bytes, text: str) -> Draws:
        assert secret == SECRET
        return texts.setdefault(text, Replayed(draws)).again()

    reports = [
        permanent_report("q", recipe, text, FixedMemory(), draws, derive=derive) for text in history
    ]
    return b"".join(reports)


def kept_law(recipe: Any, history: tuple[str, ...]) -> Law:
    return law_of(lambda draws: told(recipe, history, draws))


def odds(one: Law, two: Law) -> Any:
    return max(one[reports] / two[reports] for reports in one)


def forgotten(recipe: Any, text: str, draws: Draws) -> bytes:
    return b"".join(randomise(recipe, text, draws) for _ in range(2))


@pytest.mark.parametrize("scheme", [RAPPOR, WORDS], ids=["rappor", "words"])
def test_a_text_that_stays_loses_what_one_report_does(scheme):
    one, two = scheme.worst_pair()
    recipe = scheme.recipe()
    laws = [kept_law(recipe, (text,) * 3) for text in (one, two)]
    assert odds(*laws) == scheme.odds()
    # The twin forgets: two fresh reports lose twice as much.
    fresh = [law_of(partial(forgotten, recipe, text)) for text in (one, two)]
    assert odds(*fresh) == scheme.odds() ** 2


def test_two_texts_lose_twice_as_much_however_often_they_return():
    one, two = RAPPOR.worst_pair()
    recipe = RAPPOR.recipe()
    assert odds(kept_law(recipe, (one, two, one)), kept_law(recipe, (two, one, two))) == (
        RAPPOR.odds() ** 2
    )


def test_javascript_has_the_same_laws():
    histories = [("a", "b", "a"), ("b", "b", "c")]
    for scheme in (RAPPOR, WORDS):
        given = [{"recipe": scheme.recipe(), "history": list(one)} for one in histories]
        found = run_node("textLaws", given)
        for law, history in zip(found, histories, strict=True):
            theirs = {bytes.fromhex(told): Fraction(*map(int, part)) for told, part in law.items()}
            assert theirs == kept_law(scheme.recipe(), history)


TEXTS = ["", "cat", "\U0001f600", "é" * 64, "x" * 200]


def test_the_draws_are_those_of_hmac_and_alike_in_javascript(rng):
    drawn = draws_of_text(SECRET, "é")
    bytes_ = b"".join(
        hmac.new(SECRET, block.to_bytes(8, "little") + "é".encode(), hashlib.sha256).digest()
        for block in range(3)
    )
    words = [int.from_bytes(bytes_[i : i + 8], "little") % 2**52 for i in range(0, 96, 8)]
    assert [drawn.uniform(2**52) for _ in range(12)] == words
    stream = rng.words(1_000).astype("<u8").tobytes()
    draws = SecureDraws(io.BytesIO(stream).read)
    memory: dict[str, str] = {}
    recipes = [RAPPOR.recipe(), WORDS.recipe()]
    cases = [(recipe, text) for recipe in recipes for text in TEXTS]
    ours = [permanent_report("q", recipe, text, memory, draws).hex() for recipe, text in cases]
    given = {"stream": stream.hex(), "cases": [{"recipe": r, "value": text} for r, text in cases]}
    assert run_node("keptTexts", given) == {"reports": ours, "memory": memory}
    assert len(memory) == 2


SPOILT = ["null", '""', '"zz"', f'"{"0" * 63}"', f'"{"0" * 63}Z"', f'"{"A" * 64}"', "7", "{"]


class SpoiltMemory(dict[str, str]):
    def __init__(self, text: str) -> None:
        self._text = text

    def get(self, name: str, default: Any = None, /) -> Any:
        return self._text


def test_a_secret_that_cannot_be_read_reports_nothing_whatever_is_held():
    cases = [(text, value) for text in SPOILT for value in ("a", "b")]
    for text, value in cases:
        with pytest.raises(ValueError, match="nothing is reported"):
            permanent_report("q", RAPPOR.recipe(), value, SpoiltMemory(text))
    given = [
        {"report": "permanentReport", "recipe": RAPPOR.recipe(), "value": value, "text": text}
        for text, value in cases
    ]
    assert all("nothing is reported" in said for said in run_node("broken", given))


def test_a_survey_may_keep_answers_to_texts():
    survey = parse_survey(
        'name = "t"\npurpose = "p"\nreports = 3\n'
        '[questions.a]\ntext = "Which?"\nepsilon = 2\nlongest = 6\nkeeps = "permanent"\n'
        '[questions.b]\ntext = "Which?"\nepsilon = 2\nlongest = 5\ncandidates = ["cat"]\n'
        'keeps = "permanent"\n'
    )
    each = [question.scheme.event().epsilon for question in survey.questions]
    assert survey.epsilon_of_person() == 3 * sum(each)
    assert "Answers to a, b are drawn once and kept" in survey.kept_note()
    with pytest.raises(Exception, match="keeps"):
        parse_survey(
            'name = "t"\npurpose = "p"\n[questions.a]\ntext = "W?"\nepsilon = 2\nlongest = 6\n'
            'keeps = "rounded"\n'
        )
