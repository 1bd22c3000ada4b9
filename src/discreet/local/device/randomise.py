"""Turns what a person holds into the bytes that leave the device, as a scheme's recipe says.

``device.js`` has the same functions under the same names, and draws in the same order.
"""

from typing import Any

from discreet.local.device import frequency, numbers, rappor, words
from discreet.local.device.draws import Draws, SecureDraws
from discreet.local.device.recipe import Randomise, Recipe

SCHEMES: dict[str, Randomise] = {
    **frequency.SCHEMES,
    **numbers.SCHEMES,
    **rappor.SCHEMES,
    **words.SCHEMES,
}
"""What each kind of scheme does on a device."""


def randomise(recipe: Recipe, value: Any, draws: Draws | None = None) -> bytes:
    """Return the report of a person who holds ``value``.

    The number of bytes is fixed by the recipe. A value that the scheme does not know must be turned
    into one that it knows by the caller (``survey_device.py``); here it is an error, and
    nothing is reported.

    Example:
        >>> from discreet.local.device.draws import UNIT
        >>> randomise({"kind": "k_ary", "categories": 300, "truth": UNIT}, 258).hex()
        '0201'
    """
    return SCHEMES[recipe["kind"]](recipe, value, SecureDraws() if draws is None else draws)
