"""RAPPOR on a device: a Bloom filter, a permanent response that is kept, and one for each report.

The names are those of [EPK14]: a bit of the permanent response is noise with probability ``f``, and
a bit of the report is 1 with probability ``q`` where the permanent one is 1, and ``p`` where it is
0. In a recipe they are thresholds of coins, and ``f`` is even, because half of it is a threshold.
"""

from collections.abc import Iterable, MutableMapping, Sequence
from typing import Any

from discreet.local.device.draws import UNIT, Draws
from discreet.local.device.hashing import place, text_bytes
from discreet.local.device.recipe import Randomise, Recipe, known, whole_bytes


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


def remembered(recipe: Recipe, value: Any, store: MutableMapping[str, Any], draws: Draws) -> bytes:
    """Report with what the device keeps: its cohort, and the permanent response to each value.

    A response is drawn although one is kept, and dropped, so that what is drawn does not depend on
    values. The store belongs to one survey; it must be kept as secret as the values are.
    """
    basic = recipe["kind"] == "basic_rappor"
    cohort = 0 if basic else store.setdefault("cohort", draws.uniform(recipe["cohorts"]))
    ones = [known(value, recipe["bits"])] if basic else bloom(recipe, value, cohort)
    drawn = permanent(recipe, ones, draws)
    kept = store.setdefault(f"response to {value}", drawn)
    told = instantaneous(recipe, kept, draws)
    return told if basic else whole_bytes(cohort, recipe["cohorts"]) + told


SCHEMES: dict[str, Randomise] = {"basic_rappor": basic_rappor, "rappor": rappor}
