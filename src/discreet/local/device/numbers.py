"""Schemes for a whole number from 0 to ``most``, on a device."""

from discreet.local.device.draws import Draws
from discreet.local.device.recipe import Randomise, Recipe, known, whole_bytes


def one_bit(recipe: Recipe, value: int, draws: Draws) -> bytes:
    """Round to 0 or to the most at random, and tell that bit or its opposite."""
    return whole_bytes(_rounded_bit(recipe, known(value, recipe["most"] + 1), draws), 2)


def window(recipe: Recipe, value: int, draws: Draws) -> bytes:
    """Tell a place in the window that begins at the value, or a place beside it."""
    told = _beside_window(recipe, known(value, recipe["most"] + 1), draws)
    return whole_bytes(told, recipe["most"] + recipe["width"])


def hybrid(recipe: Recipe, value: int, draws: Draws) -> bytes:
    """Tell a place as by a window, or a bit; which of them, the report shows."""
    most, width = recipe["most"], recipe["width"]
    held = known(value, most + 1)
    if draws.coin(recipe["wide"]):
        told = _beside_window(recipe, held, draws)
    else:
        told = most + width + _rounded_bit(recipe, held, draws)
    return whole_bytes(told, most + width + 2)


def local_laplace(recipe: Recipe, value: int, draws: Draws) -> bytes:
    """Add two-sided geometric noise, and clamp; every draw is made, however far it went."""
    most, decay = recipe["most"], recipe["decay"]
    held = known(value, most + 1)
    upward = draws.uniform(2 * decay - 1) < decay
    steps, going = 0, 1
    for _ in range(most):
        going *= draws.uniform(decay) < decay - 1
        steps += going
    told = held + steps if upward else held - 1 - steps
    return whole_bytes(max(0, min(most, told)), most + 1)


def d_bit_flip(recipe: Recipe, value: int, draws: Draws) -> bytes:
    """Tell of some buckets, drawn without replacement, whether they hold the value, or not so."""
    buckets = recipe["buckets"]
    held = known(value, buckets)
    chosen: list[int] = []
    told = b""
    for turn in range(recipe["bits"]):
        bucket = draws.uniform(buckets - turn)
        for before in sorted(chosen):
            bucket += bucket >= before
        chosen.append(bucket)
        bit = draws.coin(recipe["truth"]) == (bucket == held)
        told += whole_bytes(2 * bucket + bit, 2 * buckets)
    return told


def table(recipe: Recipe, value: int, draws: Draws) -> bytes:
    """Tell what one weighted pick gives, with the weights of the value's row."""
    rows = recipe["rows"]
    return whole_bytes(draws.pick(rows[known(value, len(rows))]), len(rows[0]) + 1)


def _beside_window(recipe: Recipe, held: int, draws: Draws) -> int:
    tells = draws.coin(recipe["inside"])
    offset = draws.uniform(recipe["width"])
    other = draws.uniform(recipe["most"])
    if tells:
        return held + offset
    return other if other < held else int(other + recipe["width"])


def _rounded_bit(recipe: Recipe, held: int, draws: Draws) -> int:
    up = draws.uniform(recipe["most"]) < held
    return int(draws.coin(recipe["truth"]) == up)


SCHEMES: dict[str, Randomise] = {
    "d_bit_flip": d_bit_flip,
    "hybrid": hybrid,
    "local_laplace": local_laplace,
    "one_bit": one_bit,
    "table": table,
    "window": window,
}
