"""Schemes for one of a list of values, on a device."""

from collections.abc import Iterable

from discreet.local.device.draws import Draws
from discreet.local.device.recipe import Randomise, Recipe, known, whole_bytes


def k_ary(recipe: Recipe, value: int, draws: Draws) -> bytes:
    """Tell the truth with the probability of a coin, else one of the others, all equally likely."""
    categories = recipe["categories"]
    held = known(value, categories)
    return whole_bytes(_told(held, categories, recipe["truth"], draws), categories)


def unary(recipe: Recipe, value: int, draws: Draws) -> bytes:
    """Toss a coin for every category: one for the value that is held, and one for all others."""
    categories = recipe["categories"]
    held = known(value, categories)
    coins = [recipe["other"]] * categories
    coins[held] = recipe["held"]
    return _bitmap((place for place in range(categories) if draws.coin(coins[place])), categories)


def local_hashing(recipe: Recipe, value: int, draws: Draws) -> bytes:
    """Draw a map into few values, and tell where it takes the value by k-ary response."""
    categories, bits = recipe["categories"], recipe["bits"]
    held = known(value, categories)
    maps = 2 ** ((categories - 1).bit_length() + bits - 1)
    drawn = draws.uniform(maps)
    place = _mapped([drawn >> row for row in range(bits)], held)
    told = _told(place, 2**bits, recipe["truth"], draws)
    return whole_bytes(drawn + maps * told, maps * 2**bits)


def subset_selection(recipe: Recipe, value: int, draws: Draws) -> bytes:
    """Name so many categories: others, all sets equally likely, and the value in place of one."""
    categories, count = recipe["categories"], recipe["count"]
    held = known(value, categories)
    tells = draws.coin(recipe["truth"])
    others = list(range(held + 1, held + categories))
    for place in range(count):
        chosen = place + draws.uniform(categories - 1 - place)
        others[place], others[chosen] = others[chosen], others[place]
    others[count - 1] = held if tells else others[count - 1]
    return _bitmap((other % categories for other in others[:count]), categories)


def hadamard_sketch(recipe: Recipe, value: int, draws: Draws) -> bytes:
    """Draw a public map and a row; tell the row's sign where the map takes the value, or not it."""
    maps = recipe["maps"]
    held = known(value, recipe["categories"])
    drawn, width = draws.uniform(len(maps)), 2 ** len(maps[0])
    row = draws.uniform(width)
    sign = (row & _mapped(maps[drawn], held)).bit_count() % 2
    told = _told(sign, 2, recipe["truth"], draws)
    return whole_bytes((drawn * width + row) * 2 + told, len(maps) * width * 2)


def _told(held: int, categories: int, truth: int, draws: Draws) -> int:
    tells = draws.coin(truth)
    offset = 1 + draws.uniform(categories - 1)
    return held if tells else (held + offset) % categories


def _mapped(rows: Iterable[int], value: int) -> int:
    """Return where a linear map takes a value: a bit a row, the parity of the bits they share."""
    return sum((row & value).bit_count() % 2 << place for place, row in enumerate(rows))


def _bitmap(named: Iterable[int], categories: int) -> bytes:
    """Return one bit a category, lowest first, set for those that are named."""
    bits = bytearray((categories + 7) // 8)
    for place in named:
        bits[place // 8] |= 1 << place % 8
    return bytes(bits)


SCHEMES: dict[str, Randomise] = {
    "k_ary": k_ary,
    "unary": unary,
    "local_hashing": local_hashing,
    "subset_selection": subset_selection,
    "hadamard_sketch": hadamard_sketch,
}
