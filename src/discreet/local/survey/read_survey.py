"""Reads ``survey.toml``: every message names the key and its line; nothing is guessed."""

from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from attrs import evolve

from discreet.core.errors import DeclarationError
from discreet.core.numbers import exact
from discreet.local.device.memory import MOST_KEPT
from discreet.local.survey.question_schemes import AUTOMATIC, SCHEMES, Asked, best_scheme
from discreet.local.survey.scheme_error import least_epsilon
from discreet.local.survey.survey import (
    NO_ANSWER,
    OTHER,
    Answers,
    ListedValues,
    NumberRange,
    Survey,
    SurveyQuestion,
    Text,
)
from discreet.tables.declarations.section import (
    DATE,
    LIST,
    NUMBER,
    TEXT,
    Section,
    located,
    top_section,
)

FILE_NAME = "survey.toml"
MOST_QUESTIONS = 100
MOST_VALUES = 2**20
MOST_REPORTS = 10_000
MOST_BYTES = 2**22
"""How large a report may be; so one fits what a collector takes at once."""

MOST_CANDIDATES = 1_000
"""How many texts may be looked for: decoding takes memory for each, and bits to tell them apart."""

LONGEST_TEXT = 2_000
LONGEST_ANSWER = 64


def read_survey(path: Path) -> Survey:
    """Return the survey that is declared at ``path``, a file or the folder that holds it."""
    file = path / FILE_NAME if path.is_dir() else path
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as cause:
        raise DeclarationError(
            f"There is no readable survey at {file}",
            got=getattr(cause, "strerror", None) or "no UTF-8",
            next="Run 'discreet survey init' to begin one",
        ) from None
    return parse_survey(text, file.name)


def parse_survey(text: str, name: str = FILE_NAME) -> Survey:
    """Return what the text of a declaration says.

    Example:
        >>> survey = parse_survey('''
        ... name = "browsers"
        ... purpose = "Which browsers must we support?"
        ... [questions.browser]
        ... text = "Which browser do you use?"
        ... values = ["firefox", "safari"]
        ... epsilon = 1
        ... scheme = "k_ary"
        ... ''')
        >>> survey.size, survey.questions[0].answers.labels
        (1, ('firefox', 'safari', '(other)'))
    """
    top = top_section(text, name)
    asked = top.sub("questions")
    survey = Survey(
        name=_text(top, "name"),
        purpose=_text(top, "purpose"),
        reports=top.whole("reports", MOST_REPORTS, default=1),
        until=top.get("until", DATE) if top.has("until") else None,
        questions=tuple(_question(one, asked.sub(one)) for one in _names(asked)),
    )
    if survey.size > MOST_BYTES:
        raise DeclarationError(
            f"{asked.place()} make reports that are too large",
            must=f"have at most {MOST_BYTES:,} bytes together",
            got=f"{survey.size:,} bytes",
            next="Take schemes with shorter reports, such as local_hashing, or ask less",
        )
    _hold_to_lifetime(top, survey)
    top.finish()
    return survey


def _text(section: Section, key: str) -> str:
    text = str(section.get(key, TEXT))
    if not text.strip() or len(text) > LONGEST_TEXT:
        raise DeclarationError(
            f"{section.place(key)} cannot be shown",
            must=f"be text of 1 to {LONGEST_TEXT:,} characters",
            got=f"{len(text):,} characters",
        )
    return text


def _names(questions: Section) -> list[str]:
    names = questions.names()
    if len(names) > MOST_QUESTIONS:
        raise DeclarationError(
            f"{questions.place()} has too many questions",
            must=f"have at most {MOST_QUESTIONS}",
            got=str(len(names)),
        )
    return names


def _question(name: str, section: Section) -> SurveyQuestion:
    answers = _answers(section)
    asked = _with_epsilon(
        section,
        Asked(
            name=name,
            answers=answers,
            epsilon=Fraction(1),
            people=section.whole("people", 10**12, default=10_000),
        ),
    )
    chosen = _scheme(section, asked)
    kind = SCHEMES[chosen]
    scheme = located(section.place(), lambda: kind.make(asked))
    keeps = section.choice("keeps", list(kind.keeps)) if section.has("keeps") else "no"
    question = SurveyQuestion(
        name=name,
        text=_text(section, "text"),
        answers=answers,
        scheme=scheme,
        scheme_name=chosen,
        keeps=keeps,
        kept_answers=_kept_answers(section, kind.keeps[keeps](answers)),
    )
    section.finish()
    return question


def _with_epsilon(section: Section, asked: Asked) -> Asked:
    """Return what is asked with the loss that is declared, or that the wanted error needs."""
    if section.has("epsilon") == section.has("error"):
        raise DeclarationError(
            f"{section.place()} does not say how exact or how private it is",
            must="have epsilon, or error: the standard error that is wanted for so many people",
            got="both" if section.has("epsilon") else "neither",
        )
    if section.has("epsilon"):
        return evolve(asked, epsilon=_number(section, "epsilon"))
    wanted, declared = _number(section, "error"), _declared_scheme(section, asked)
    return evolve(
        asked,
        epsilon=located(section.place("error"), lambda: least_epsilon(asked, declared, wanted)),
    )


def _kept_answers(section: Section, kept: int | None) -> int | None:
    if kept is not None and kept > MOST_KEPT:
        raise DeclarationError(
            f"{section.place('keeps')} would keep too many answers",
            must=f"keep at most {MOST_KEPT:,}, one for each value",
            got=f"{kept:,}",
            next="Widen the step, list fewer values, or keep none",
        )
    return kept


def _scheme(section: Section, asked: Asked) -> str:
    """Return the name of the scheme that is declared, or of the one that errs least."""
    declared = _declared_scheme(section, asked)
    if declared != AUTOMATIC:
        return declared
    return located(section.place(), lambda: best_scheme(asked))


def _declared_scheme(section: Section, asked: Asked) -> str:
    names = [name for name, kind in SCHEMES.items() if isinstance(asked.answers, kind.goes_with)]
    return section.choice("scheme", [AUTOMATIC, *names]) if section.has("scheme") else AUTOMATIC


def _answers(section: Section) -> Answers:
    if section.has("values"):
        return _listed(section)
    if section.has("longest"):
        return _text_answers(section)
    if not section.has("min") and not section.has("max"):
        raise DeclarationError(
            f"{section.place()} does not say what may be answered",
            must="have values, or min and max, or longest",
        )
    least, most = (_number(section, key) for key in ("min", "max"))
    step = _number(section, "step") if section.has("step") else Fraction(1)
    places = (most - least) / step if step > 0 else Fraction(0)
    if places < 1 or places.denominator != 1 or places >= MOST_VALUES:
        raise DeclarationError(
            f"{section.place('max')} does not fit min and step",
            must=f"be min plus a whole number of steps, at least 1 and below {MOST_VALUES:,}",
            got=f"{Decimal(places.numerator) / places.denominator:,.6g} steps",
        )
    missing = _number(section, "missing") if section.has("missing") else least
    default = (missing - least) / step
    if default.denominator != 1 or not 0 <= default <= places:
        raise DeclarationError(
            f"{section.place('missing')} is not on the grid",
            must="be min plus a whole number of steps, and not above max",
            got=str(missing),
        )
    return NumberRange(least=least, step=step, most=int(places), default=int(default))


def _text_answers(section: Section) -> Text:
    least = _number(section, "least_share") if section.has("least_share") else Fraction(1, 50)
    if not 0 < least < 1:
        raise DeclarationError(
            f"{section.place('least_share')} is out of range",
            must="lie strictly between 0 and 1",
            got=str(least),
        )
    longest = section.whole("longest", LONGEST_ANSWER)
    candidates = _texts(section, "candidates") if section.has("candidates") else ()
    if len(candidates) > MOST_CANDIDATES:
        raise DeclarationError(
            f"{section.place('candidates')} is too long",
            must=f"have at most {MOST_CANDIDATES:,} texts",
            got=f"{len(candidates):,}",
            next='Shorten the list, or take scheme = "words", which needs none',
        )
    cut = [text for text in candidates if len(text) > longest]
    if cut:
        raise DeclarationError(
            f"{section.place('candidates')} has a text that no device reports",
            must=f"have at most {longest} characters in each, which is what counts of an answer",
            got=cut[0],
            next="Raise longest, or shorten the text",
        )
    return Text(longest=longest, candidates=candidates, least_share=least)


def _number(section: Section, key: str) -> Fraction:
    value = section.get(key, NUMBER)
    return located(section.place(key), lambda: exact(value))


def _listed(section: Section) -> ListedValues:
    return ListedValues(values=_texts(section, "values"))


def _texts(section: Section, key: str) -> tuple[str, ...]:
    texts = section.get(key, LIST)
    if not texts or not all(isinstance(text, str) and text for text in texts):
        raise DeclarationError(
            f"{section.place(key)} is no list of texts", must='be such as ["yes", "no"]'
        )
    if len(texts) >= MOST_VALUES:
        raise DeclarationError(
            f"{section.place(key)} is too long",
            must=f"have fewer than {MOST_VALUES:,} texts",
            got=f"{len(texts):,}",
        )
    section.refuse_repeats([*texts, NO_ANSWER if key == "candidates" else OTHER], key)
    return tuple(texts)


def _hold_to_lifetime(top: Section, survey: Survey) -> None:
    """Refuse a survey of which a person's part tells more than it says."""
    if not top.has("lifetime_epsilon"):
        return
    cap = _number(top, "lifetime_epsilon")
    spent = survey.epsilon_of_person()
    if spent > cap:
        raise DeclarationError(
            f"{top.place('lifetime_epsilon')} is exceeded",
            must=f"be at least {float(spent):.6g}, what all reports of a person tell together",
            got=f"{float(cap):.6g}",
            next="Ask fewer questions or less often, keep answers, or lower an epsilon",
        )
