"""Words that nobody listed, on a device: one noisy bit of a hashed prefix."""

from discreet.local.device.draws import Draws
from discreet.local.device.hashing import place, text_bytes
from discreet.local.device.recipe import Randomise, Recipe, whole_bytes

END = "\x00"
"""Stands after a word, up to the length that is asked for."""

OTHER = "\x01"
"""Stands for any character that the alphabet does not list."""


def spelled(recipe: Recipe, word: str) -> str:
    """Return a word as this survey writes it: cut, of known characters, filled up at the end."""
    text_bytes(word)
    longest: int = recipe["lengths"][-1]
    alphabet = recipe["alphabet"]
    letters = "".join(c if c in alphabet else OTHER for c in list(word)[:longest])
    return letters + END * (longest - len(letters))


def prefix_bucket(recipe: Recipe, group: int, prefix: str) -> int:
    """Return the bucket of a spelled prefix in the hash of a group."""
    return place(recipe["salt"], [group], prefix.encode("utf-8"), recipe["buckets"])


def words(recipe: Recipe, value: str, draws: Draws) -> bytes:
    """Draw a group and a map, and tell the bit of the prefix under the map, or its opposite."""
    spelling = spelled(recipe, value)
    group = draws.uniform(len(recipe["lengths"]))
    row = draws.uniform(recipe["buckets"])
    tells = draws.coin(recipe["truth"])
    bucket = prefix_bucket(recipe, group, spelling[: recipe["lengths"][group]])
    bit = (row & bucket).bit_count() % 2
    told = 2 * row + (bit if tells else 1 - bit)
    return whole_bytes(group, len(recipe["lengths"])) + whole_bytes(told, 2 * recipe["buckets"])


SCHEMES: dict[str, Randomise] = {"words": words}
