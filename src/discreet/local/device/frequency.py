"""Schemes for one of a list of values, on a device."""

from discreet.local.device.draws import Draws
from discreet.local.device.recipe import Randomise, Recipe, known, whole_bytes


def k_ary(recipe: Recipe, value: int, draws: Draws) -> bytes:
    """Tell the truth with the probability of a coin, else one of the others, all equally likely."""
    categories = recipe["categories"]
    held = known(value, categories)
    tells = draws.coin(recipe["truth"])
    offset = 1 + draws.uniform(categories - 1)
    return whole_bytes(held if tells else (held + offset) % categories, categories)


SCHEMES: dict[str, Randomise] = {"k_ary": k_ary}
