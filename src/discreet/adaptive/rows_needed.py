"""How many rows make adaptive answers exact enough."""

from collections.abc import Callable
from fractions import Fraction

from discreet.adaptive.guarantee import (
    PopulationGuarantee,
    expected_guarantee,
    fixed_guarantee,
    gaussian_guarantee,
    splitting_guarantee,
)
from discreet.adaptive.likely_split import likely_error
from discreet.adaptive.question_mix import QuestionMix, mixed_guarantee
from discreet.adaptive.sparse_answers import sparse_guarantee
from discreet.adaptive.transfer import THEOREMS, TransferTheorem
from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact
from discreet.core.search import smallest

_MOST_ROWS = 10**15

Promise = Callable[[int], PopulationGuarantee | None]


def least_rows(
    *,
    alpha: Number,
    questions: int | QuestionMix,
    beta: Number,
    method: str | None = None,
    overfits: int | None = None,
) -> PopulationGuarantee:
    """Return the promise of the fewest rows with which all answers are within ``alpha``.

    ``method`` is one of those that ``guarantees`` names, ``fixed beforehand`` for questions that do
    not depend on answers, or ``gaussian/expectation``. Without one, the best that holds with high
    probability for adaptive questions is taken. Rows have three digits. A mix of questions has a
    way of its own, and so have answers that training rows give, of which ``overfits`` may be
    corrected; there are as many training rows as rows then.

    Example:
        >>> least_rows(alpha="0.1", questions=10, beta="0.05", method="splitting").rows
        3000
        >>> least_rows(alpha="0.1", questions=1_000, beta="0.05").rows
        53900
        >>> mix = QuestionMix(means=100, choices=5, candidates=20)
        >>> least_rows(alpha="0.1", questions=mix, beta="0.05").rows
        123000
    """
    wanted, level = exact(alpha), check.level(beta)
    if not 0 < wanted < 1:
        raise InvalidArgument(
            "An error is out of range", must="be above 0 and below 1", got=str(alpha)
        )
    if method is not None and (overfits is not None or isinstance(questions, QuestionMix)):
        raise InvalidArgument(
            "A mix of questions, or one with training rows, has one method",
            must="be left out",
            got=str(method),
        )
    if isinstance(questions, QuestionMix):
        mix = questions
        return _promise_of(lambda n: mixed_guarantee(rows=n, mix=mix, beta=level), wanted)
    questions = check.at_least_one(questions, "questions")
    if overfits is not None:
        count, most = questions, check.at_least_one(overfits, "overfits")
        return _promise_of(
            lambda n: sparse_guarantee(rows=n, questions=count, overfits=most, beta=level), wanted
        )
    if method is None:
        likely = ("splitting", "gaussian/posterior")
        found = [_fewest_or_none(one, questions, level, wanted) for one in likely]
        useful = [one for one in found if one is not None]
        if useful:
            return min(useful, key=lambda one: one.rows)
        raise _none_will_do()
    return _fewest(method, questions, level, wanted)


class _NoneWillDoError(Exception):
    """So many rows are nobody's."""


def fewest_rows(
    error: Callable[[int], Fraction | None], within: Fraction, *, near: int | None = None
) -> int | None:
    """Return the fewest rows with which an error is small enough; None if no number will do.

    Rows have three digits; ``near`` is a place among such numbers, if somebody has a guess.

    Example:
        >>> fewest_rows(lambda rows: 1 / Fraction(rows), Fraction(1, 1_234_567))
        1240000
    """

    def will_do(place: int) -> bool:
        rows = rounded_rows(place)
        if rows > _MOST_ROWS:
            raise _NoneWillDoError
        found = error(rows)
        return found is not None and found <= within

    try:
        return rounded_rows(smallest(will_do, near=near))
    except _NoneWillDoError:
        return None


def error_of(promise: Promise) -> Callable[[int], Fraction | None]:
    """Return the error that is promised for a number of rows."""

    def error(rows: int) -> Fraction | None:
        found = promise(rows)
        return None if found is None else found.alpha

    return error


def _promise_of(
    promise: Promise, within: Fraction, *, near: int | None = None
) -> PopulationGuarantee:
    rows = fewest_rows(error_of(promise), within, near=near)
    found = None if rows is None else promise(rows)
    if found is None:
        raise _none_will_do()
    return found


def _none_will_do() -> InvalidArgument:
    return InvalidArgument(
        "No number of rows will do", must=f"need at most {_MOST_ROWS:,}", next="Ask for less"
    )


def _fewest_or_none(
    method: str, questions: int, beta: Fraction, wanted: Fraction
) -> PopulationGuarantee | None:
    """Return None if a method promises too little with any number of rows; another one may."""
    try:
        return _fewest(method, questions, beta, wanted)
    except InvalidArgument:
        return None


def _fewest(method: str, questions: int, beta: Fraction, wanted: Fraction) -> PopulationGuarantee:
    promise, near = _promise(method, questions, beta), None
    for theorem in THEOREMS:
        if method == f"gaussian/{theorem.name}":
            near = _estimated(theorem.name, questions, float(beta), float(wanted))

    return _promise_of(promise, wanted, near=near)


def _promise(method: str, questions: int, beta: Fraction) -> Promise:
    if method == "splitting":
        return lambda n: splitting_guarantee(rows=n, questions=questions, beta=beta)
    if method == "fixed beforehand":
        return lambda n: fixed_guarantee(rows=n, questions=questions, beta=beta)
    if method == "gaussian/expectation":
        return lambda n: expected_guarantee(rows=n, questions=questions)
    for theorem in THEOREMS:
        if method == f"gaussian/{theorem.name}":
            return _gaussian(theorem, questions, beta)
    known = ["splitting", "fixed beforehand", "gaussian/expectation"]
    raise InvalidArgument(
        "A method is unknown",
        must="be one of " + ", ".join([*known, *(f"gaussian/{one.name}" for one in THEOREMS)]),
        got=str(method),
    )


def _gaussian(theorem: TransferTheorem, questions: int, beta: Fraction) -> Promise:
    return lambda n: gaussian_guarantee(rows=n, questions=questions, beta=beta, theorem=theorem)


def _estimated(theorem: str, questions: int, beta: float, wanted: float) -> int:
    """Return the place where floats say that the error is small enough."""
    low, high = 0, 999 + 900 * 12
    while high - low > 1:
        middle = (low + high) // 2
        if likely_error(rounded_rows(middle), questions, beta, theorem) <= wanted:
            high = middle
        else:
            low = middle
    return high


def rounded_rows(place: int) -> int:
    """Return the numbers of rows with three digits, in order: 1 to 999, 1,000, 1,010, ...

    Example:
        >>> [rounded_rows(place) for place in (0, 998, 999, 1000, 1899)]
        [1, 999, 1000, 1010, 10000]
    """
    if place < 999:
        return place + 1
    power, digits = divmod(place - 999, 900)
    return int((100 + digits) * 10 ** (power + 1))
