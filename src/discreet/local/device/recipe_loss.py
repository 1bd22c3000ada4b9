r"""What a form makes a device tell at most, worked out on the device from nothing but its recipes.

A device with a cap does not believe what a survey says of itself. It reads the thresholds that its
own coins would have, and refuses what it cannot judge: a recipe of an unknown kind, a number that
is out of range, or answers that do not fit the scheme (which would fail for some of them alone).
``device.js`` works out the very same whole numbers.

Losses are whole multiples of one part in :math:`2^{128}`, rounded up.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from discreet.local.device.draws import UNIT
from discreet.local.device.recipe import Recipe
from discreet.local.device.text_answers import TEXT_KINDS

LOSS_UNIT = 2**128
_TERMS = 45
"""How many terms of a series: the next is below 9**-45, less than one part in 2**142."""

_MOST = 2**31
_RATIO = re.compile(r"-?[0-9]{1,400}(/[1-9][0-9]{0,399})?")
_KEEPS = ("no", "permanent", "rounded")

Judged = tuple[int | None, int]
"""How many values a scheme has (None for texts), and the loss of one report in parts."""


def not_judged() -> ValueError:
    """Return the error for a form whose loss cannot be bounded."""
    return ValueError("the survey has no loss that this device can bound; nothing is reported")


def loss_of_form(form: Mapping[str, Any]) -> int:
    r"""Return the loss of all reports that a form allows, in parts of ``LOSS_UNIT``.

    Guarantee:
        It is not below the logarithm of the largest ratio of the probabilities of all reports under
        two histories of answers, of one form on one device. If answers are kept, these are
        histories in which the same reports are of equal values (if numbers are rounded: go to equal
        ends); as for every kept answer, *when* values change is not bounded. Proof: one report
        loses what the formula of its scheme says (``docs/proofs``, and the schemes themselves),
        fresh reports are independent, a kept answer that is repeated tells nothing new, and the
        losses of independent parts add up. Logarithms are rounded up: with :math:`x = 2^k m`,
        :math:`1 \le m < 2`, :math:`\ln x = 2k\,\mathrm{artanh}(1/3) +
        2\,\mathrm{artanh}((m-1)/(m+1))`, whose series has positive terms, each rounded up, and
        a rest below the first term that is left out times 9/8.

    Example:
        >>> recipe = {"kind": "k_ary", "categories": 3, "truth": UNIT // 2}
        >>> fruit = {"name": "fruit", "values": ["apple", "pear"], "recipe": recipe, "keeps": "no"}
        >>> form = {"name": "market", "reports": 3, "questions": [fruit]}
        >>> round(loss_of_form(form) / LOSS_UNIT, 6)
        2.079442
    """
    reports = _whole(form, "reports", 0)
    if not isinstance(form.get("name"), str) or not isinstance(form.get("questions"), list):
        raise not_judged()
    return sum(_loss_of_question(question, reports) for question in form["questions"])


def _loss_of_question(question: Any, reports: int) -> int:
    if not isinstance(question, dict) or not isinstance(question.get("name"), str):
        raise not_judged()
    recipe, keeps = question.get("recipe"), question.get("keeps")
    if not isinstance(recipe, dict) or keeps not in _KEEPS:
        raise not_judged()
    kind = recipe.get("kind")
    if not isinstance(kind, str) or kind not in _LOSSES:
        raise not_judged()
    values, loss = _LOSSES[kind](recipe)
    if values != _answers(question) or (values is None) != (kind in TEXT_KINDS):
        raise not_judged()
    if keeps == "rounded":
        if "most" not in recipe or "most" not in question:
            raise not_judged()
        return loss * min(reports, 2)
    return loss * (min(reports, values) if keeps == "permanent" and values else reports)


def _answers(question: Mapping[str, Any]) -> int | None:
    """Return how many values the answers of a question have; None for texts."""
    if "values" in question:
        return len(_list(question, "values", str)) + 1
    if "longest" in question:
        _whole(question, "longest", 1)
        return None
    for name in ("min", "step"):
        text = question.get(name)
        if not isinstance(text, str) or not _RATIO.fullmatch(text):
            raise not_judged()
    if Fraction(question["step"]) <= 0:
        raise not_judged()
    most = _whole(question, "most", 1)
    _whole(question, "default", 0, most)
    return most + 1


def log_up(up: int, down: int) -> int:
    """Return the logarithm of a ratio, up or down, in parts of ``LOSS_UNIT``, rounded up.

    Example:
        >>> log_up(1, 1), round(log_up(1, 2) / LOSS_UNIT, 9)
        (0, 0.693147181)
    """
    if up == down:
        return 0
    least, most = sorted((up, down))
    if least <= 0:
        raise not_judged()
    doublings = 0
    while most >= 2 * least:
        least, doublings = 2 * least, doublings + 1
    return doublings * _artanh_up(1, 3) + _artanh_up(most - least, most + least)


def _artanh_up(top: int, bottom: int) -> int:
    """Return twice the area tangent of ``top / bottom``, at most a third, rounded up."""
    power = _over(top * LOSS_UNIT, bottom)
    square = _over(power * power, LOSS_UNIT)
    total = 0
    for term in range(_TERMS):
        total += _over(power, 2 * term + 1)
        power = _over(power * square, LOSS_UNIT)
    return 2 * (total + power)


def _over(up: int, down: int) -> int:
    return -(-up // down)


def _whole(found: Mapping[str, Any], name: str, least: int, most: int = _MOST) -> int:
    value = found.get(name)
    if type(value) is not int or not least <= value <= most:
        raise not_judged()
    return value


def _coin(recipe: Recipe, name: str) -> int:
    return _whole(recipe, name, 0, UNIT)


def _list(found: Mapping[str, Any], name: str, kind: type) -> list[Any]:
    value = found.get(name)
    if not isinstance(value, list) or not all(type(one) is kind for one in value):
        raise not_judged()
    return value


def _truth(recipe: Recipe, others: int = 1) -> int:
    """Return the loss of the truth, or one of so many others, all equally likely."""
    truth = _coin(recipe, "truth")
    return log_up(truth * others, UNIT - truth)


def _categories(recipe: Recipe) -> int:
    return _whole(recipe, "categories", 2)


def _k_ary(recipe: Recipe) -> Judged:
    categories = _categories(recipe)
    return categories, _truth(recipe, categories - 1)


def _unary(recipe: Recipe) -> Judged:
    held, other = _coin(recipe, "held"), _coin(recipe, "other")
    return _categories(recipe), log_up(held * (UNIT - other), other * (UNIT - held))


def _local_hashing(recipe: Recipe) -> Judged:
    return _categories(recipe), _truth(recipe, 2 ** _whole(recipe, "bits", 1, 16) - 1)


def _subset_selection(recipe: Recipe) -> Judged:
    categories, truth = _categories(recipe), _coin(recipe, "truth")
    count = _whole(recipe, "count", 1, categories - 1)
    return categories, log_up(truth * (categories - count), (UNIT - truth) * count)


def _hadamard_sketch(recipe: Recipe) -> Judged:
    maps = _list(recipe, "maps", list)
    widths = {len(_list({"rows": rows}, "rows", int)) for rows in maps}
    if len(widths) != 1 or not 1 <= max(widths) <= 31:
        raise not_judged()
    return _categories(recipe), _truth(recipe)


def _one_bit(recipe: Recipe) -> Judged:
    return _whole(recipe, "most", 1) + 1, _truth(recipe)


def _window(recipe: Recipe) -> Judged:
    most, width = _whole(recipe, "most", 1), _whole(recipe, "width", 1)
    inside = _coin(recipe, "inside")
    return most + 1, log_up(inside * most, (UNIT - inside) * width)


def _hybrid(recipe: Recipe) -> Judged:
    wide = _coin(recipe, "wide")
    parts = ((_window, wide), (_one_bit, UNIT - wide))
    values, loss = zip(*(one(recipe) for one, weight in parts if weight), strict=True)
    return values[0], max(loss)


def _local_laplace(recipe: Recipe) -> Judged:
    most, decay = _whole(recipe, "most", 1), _whole(recipe, "decay", 2)
    return most + 1, most * log_up(decay, decay - 1)


def _d_bit_flip(recipe: Recipe) -> Judged:
    buckets = _whole(recipe, "buckets", 2)
    return buckets, min(2, _whole(recipe, "bits", 1, buckets)) * _truth(recipe)


def _table(recipe: Recipe) -> Judged:
    rows = [_ends(row) for row in _list(recipe, "rows", list)]
    if not rows or len({len(row) for row in rows}) != 1:
        raise not_judged()
    weights = [[end - start for start, end in zip([0, *row], row, strict=False)] for row in rows]
    return len(rows), max(log_up(max(each), min(each)) for each in zip(*weights, strict=True))


def _ends(cuts: Sequence[Any]) -> list[int]:
    """Return where the outcomes of a pick end, refusing cuts that do not rise."""
    ends: list[int] = [*_list({"cuts": cuts}, "cuts", int), UNIT]
    if ends != sorted(ends) or ends[0] < 0:
        raise not_judged()
    return ends


def _bits(recipe: Recipe, hashes: int) -> int:
    """Return the loss of filters that differ in two bits for each hash function."""
    f, p, q = (_coin(recipe, name) for name in "fpq")
    if f % 2:
        raise not_judged()
    lie, whole = f // 2, UNIT * UNIT
    one, zero = (UNIT - lie) * q + lie * p, lie * q + (UNIT - lie) * p
    return hashes * log_up(one * (whole - zero), zero * (whole - one))


def _rappor(recipe: Recipe) -> Judged:
    _whole(recipe, "bits", 1)
    _whole(recipe, "cohorts", 1)
    _text(recipe, "salt")
    return None, _bits(recipe, _whole(recipe, "hashes", 1))


def _basic_rappor(recipe: Recipe) -> Judged:
    return _whole(recipe, "bits", 2), _bits(recipe, 1)


def _words(recipe: Recipe) -> Judged:
    lengths = _list(recipe, "lengths", int)
    if not lengths or lengths != sorted(lengths) or lengths[0] < 1:
        raise not_judged()
    _whole(recipe, "buckets", 1)
    _text(recipe, "salt")
    _text(recipe, "alphabet")
    return None, _truth(recipe)


def _text(recipe: Recipe, name: str) -> None:
    if not isinstance(recipe.get(name), str):
        raise not_judged()


_LOSSES: dict[str, Callable[[Recipe], Judged]] = {
    "k_ary": _k_ary,
    "unary": _unary,
    "local_hashing": _local_hashing,
    "subset_selection": _subset_selection,
    "hadamard_sketch": _hadamard_sketch,
    "one_bit": _one_bit,
    "window": _window,
    "hybrid": _hybrid,
    "local_laplace": _local_laplace,
    "d_bit_flip": _d_bit_flip,
    "table": _table,
    "rappor": _rappor,
    "basic_rappor": _basic_rappor,
    "words": _words,
}
