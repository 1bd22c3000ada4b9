"""RAPPOR on a device: a Bloom filter, a permanent response that is kept, and one for each report.

The names are those of [EPK14]: a bit of the permanent response is noise with probability ``f``, and
a bit of the report is 1 with probability ``q`` where the permanent one is 1, and ``p`` where it is
0. In a recipe they are thresholds of coins, and ``f`` is even, because half of it is a threshold.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from discreet.local.device.draws import UNIT, Draws, SecureDraws
from discreet.local.device.hashing import place, text_bytes
from discreet.local.device.recipe import Randomise, Recipe, known, unreadable, whole_bytes


def bloom(recipe: Recipe, text: str, cohort: int) -> frozenset[int]:
    """Return the bits that a text sets in the filters of a cohort."""
    held, salt, bits = text_bytes(text), recipe["salt"], recipe["bits"]
    hashes = range(recipe["hashes"])
    return frozenset(place(salt, [cohort, number], held, bits) for number in hashes)


def permanent(recipe: Recipe, ones: Iterable[int], draws: Draws) -> list[bool]:
    """Return the permanent response to a filter in which these bits are 1."""
    held, half = frozenset(ones), recipe["f"] // 2
    return [draws.coin(UNIT - half if bit in held else half) for bit in range(recipe["bits"])]


def instantaneous(recipe: Recipe, kept: Sequence[bool], draws: Draws) -> bytes:
    """Return the bits of one report, eight in a byte, lowest first."""
    told = [draws.coin(recipe["q"] if bit else recipe["p"]) for bit in kept]
    packed = sum(bit << place for place, bit in enumerate(told))
    return packed.to_bytes((len(told) + 7) // 8, "little")


def rappor(recipe: Recipe, value: str, draws: Draws) -> bytes:
    """Report once, keeping nothing: the cohort, and the bits."""
    cohort = draws.uniform(recipe["cohorts"])
    kept = permanent(recipe, bloom(recipe, value, cohort), draws)
    return whole_bytes(cohort, recipe["cohorts"]) + instantaneous(recipe, kept, draws)


def basic_rappor(recipe: Recipe, value: int, draws: Draws) -> bytes:
    """Report once, with one bit for each category."""
    held = known(value, recipe["bits"])
    return instantaneous(recipe, permanent(recipe, [held], draws), draws)


class ResponseStore(Protocol):
    """Where a device keeps texts under names: a dictionary will do."""

    def get(self, name: str, /) -> str | None:
        """Return what is kept under a name, or ``None``."""
        ...

    def __setitem__(self, name: str, text: str, /) -> None:
        """Keep a text under a name."""
        ...


def remembered(
    question: str, recipe: Recipe, value: Any, store: ResponseStore, draws: Draws | None = None
) -> bytes:
    """Report with what the device keeps: its cohort, and the permanent response to each value.

    A response is drawn although one is kept, and dropped, so that what is drawn does not depend on
    values. The store must be kept as secret as the values are: it names them.
    """
    used = SecureDraws() if draws is None else draws
    name = f"rappor {question} {json.dumps(recipe, sort_keys=True)}"
    basic = recipe["kind"] == "basic_rappor"
    cohort = 0 if basic else _cohort(f"{name} cohort", recipe["cohorts"], store, used)
    ones = [known(value, recipe["bits"])] if basic else bloom(recipe, value, cohort)
    drawn = "".join("01"[bit] for bit in permanent(recipe, ones, used))
    response = _kept(f"{name} response to {value}", store, drawn)
    if len(response) != len(drawn) or not set(response) <= {"0", "1"}:
        raise unreadable()
    kept = [bit == "1" for bit in response]
    told = instantaneous(recipe, kept, used)
    return told if basic else whole_bytes(cohort, recipe["cohorts"]) + told


def _cohort(name: str, cohorts: int, store: ResponseStore, draws: Draws) -> int:
    kept = _kept(name, store, draws.uniform(cohorts))
    if not kept.isdecimal() or int(kept) >= cohorts:
        raise unreadable()
    return int(kept)


def _kept(name: str, store: ResponseStore, drawn: object) -> str:
    found = store.get(name)
    if found is None:
        store[name] = found = str(drawn)
    if not isinstance(found, str):
        raise unreadable()
    return found


SCHEMES: dict[str, Randomise] = {"basic_rappor": basic_rappor, "rappor": rappor}
