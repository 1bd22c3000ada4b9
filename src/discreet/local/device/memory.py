"""Answers that a device draws once and keeps, so that asking again tells nothing new.

All that is kept is drawn before any value is known, for every value that there is, and is never
changed; of texts, which nobody can list, it is a secret that fixes all answers. So whoever steals
the memory alone learns nothing about the values; whoever has the memory and the reports learns
which values fit them, as if nothing had been randomised. Keep it like a key.

A memory that is cleared or lost is drawn anew, and that is a new loss. One that cannot be read is
an error: nothing is reported, and nothing is drawn in its place. One process has it at a time.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from discreet.local.device.draws import Draws, SecureDraws
from discreet.local.device.randomise import randomise
from discreet.local.device.recipe import Recipe, known, unreadable
from discreet.local.device.text_answers import (
    SECRET_BYTES,
    TEXT_KINDS,
    Derive,
    draws_of_text,
    new_secret,
)

MOST_KEPT = 4096
"""Of how many values answers are kept, at most."""


class Memory(Protocol):
    """Where a device keeps texts under names: a dictionary, or a :class:`FileMemory`."""

    def get(self, name: str, /) -> str | None:
        """Return what is kept under a name, or ``None``."""
        ...

    def __setitem__(self, name: str, text: str, /) -> None:
        """Keep a text under a name."""
        ...


class FileMemory:
    """A memory in a JSON file, which is replaced as a whole: it is the old one or the new one.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "memory.json"
        ...     FileMemory(path)["question"] = "answers"
        ...     FileMemory(path).get("question")
        'answers'
    """

    def __init__(self, path: Path) -> None:
        self._path = Path(path)

    def get(self, name: str, /) -> str | None:
        """Return what is kept under a name, or ``None``."""
        return self._texts().get(name)

    def __setitem__(self, name: str, text: str, /) -> None:
        """Keep a text under a name; when this returns it is on the disk."""
        written = self._path.with_name(self._path.name + ".new")
        written.unlink(missing_ok=True)
        descriptor = os.open(written, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            json.dump({**self._texts(), name: text}, file)
            file.flush()
            os.fsync(file.fileno())
        written.replace(self._path)
        folder = os.open(self._path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _texts(self) -> dict[str, str]:
        try:
            texts: dict[str, str] = _read(self._path.read_bytes(), dict)
        except FileNotFoundError:
            return {}
        if not all(isinstance(text, str) for text in texts.values()):
            raise unreadable()
        return texts


def permanent_report(
    question: str,
    recipe: Recipe,
    value: Any,
    memory: Memory,
    draws: Draws | None = None,
    *,
    derive: Derive = draws_of_text,
) -> bytes:
    """Return the report that this device always makes of ``value``.

    Guarantee:
        The reports of different values are independent, each of the scheme's own law. Of a list of
        values all are drawn at once. Of a text the draws are those of ``derive``: with a random
        function in its place this is exact, and HMAC-SHA256 is taken for one, as the system's
        generator is taken to be random.

    Example:
        >>> from discreet.local.device.draws import UNIT
        >>> recipe, memory = {"kind": "k_ary", "categories": 9, "truth": UNIT // 2}, {}
        >>> told = [permanent_report("fruit", recipe, 3, memory) for _ in range(20)]
        >>> len(set(told))
        1
    """
    used = SecureDraws() if draws is None else draws
    name = f"permanent {question} {_plain_json(recipe)}"
    if recipe["kind"] in TEXT_KINDS:
        secret = _secret(_kept(name, memory, lambda: new_secret(used), str))
        return randomise(recipe, value, derive(secret, value))
    values = values_of(recipe)
    held = known(value, values)
    answers = _kept(
        name,
        memory,
        lambda: [randomise(recipe, each, used).hex() for each in range(values)],
        list,
    )
    return _told(answers, values)[held]


def rounded_report(
    question: str, recipe: Recipe, value: int, memory: Memory, draws: Draws | None = None
) -> bytes:
    """Return the report of the end to which this device rounds ``value``.

    The device keeps an offset, one of ``0 .. most - 1``, and one answer for each of the two ends;
    it rounds up if value and offset together reach the most [DKY17, section 4].
    """
    most = recipe["most"]
    held = known(value, most + 1)
    used = SecureDraws() if draws is None else draws
    found = _kept(
        f"rounded {question} {_plain_json(recipe)}",
        memory,
        lambda: {
            "offset": used.uniform(most),
            "answers": [randomise(recipe, end, used).hex() for end in (0, most)],
        },
        dict,
    )
    offset: Any = found.get("offset")
    if type(offset) is not int or not 0 <= offset < most:
        raise unreadable()
    return _told(found.get("answers"), 2)[int(held + offset >= most)]


def values_of(recipe: Recipe) -> int:
    """Return how many values a scheme has, refusing more than answers can be kept for."""
    values: int | None
    if "rows" in recipe:
        values = len(recipe["rows"])
    elif "most" in recipe:
        values = recipe["most"] + 1
    else:
        values = recipe.get("categories") or recipe.get("buckets")
    if values is None:
        raise ValueError("a scheme has no list of values to keep answers of")
    if values > MOST_KEPT:
        raise ValueError("a scheme has too many values to keep answers")
    return int(values)


def _kept(name: str, memory: Memory, draw: Callable[[], Any], kind: type) -> Any:
    text = memory.get(name)
    if text is None:
        text = _plain_json(draw())
        memory[name] = text
    return _read(text, kind)


def _read(text: str | bytes, kind: type) -> Any:
    try:
        found = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        found = None
    if not isinstance(found, kind):
        raise unreadable()
    return found


def _secret(text: str) -> bytes:
    """Return the secret that is kept for texts, refusing all else."""
    if len(text) != 2 * SECRET_BYTES or not set(text) <= set("0123456789abcdef"):
        raise unreadable()
    return bytes.fromhex(text)


def _told(answers: Any, count: int) -> list[bytes]:
    """Return all kept answers, refusing them all if one is broken: whichever is held, it fails."""
    try:
        told = [bytes.fromhex(answer) for answer in answers]
    except (ValueError, TypeError):
        told = []
    if len(told) != count or len({len(answer) for answer in told}) > 1:
        raise unreadable()
    return told


def _plain_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
