"""The most that a device may tell in its lifetime: the person sets it, and no survey raises it."""

import json
import math
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from discreet.local.device.memory import Memory
from discreet.local.device.recipe import unreadable
from discreet.local.device.recipe_loss import LOSS_UNIT, loss_of_form

_NAME = "losses"
_DIGITS = re.compile("[0-9]{1,4000}")
_VERSION = 64
"""How many characters the version of a form has, before a space and the name of the survey."""


class LifetimeCap:
    """Counts what all forms lose that one memory has reported to, and refuses what is too much.

    Each version of each survey counts with all reports that it allows, once, from its first report
    on: kept answers of another version are others, and so are its coins.

    Example:
        >>> coin = {"kind": "k_ary", "categories": 2, "truth": 3 * 2**50}
        >>> asked = {"name": "q", "values": ["yes"], "recipe": coin, "keeps": "no"}
        >>> form, memory = {"name": "s", "reports": 1, "questions": [asked]}, {}
        >>> LifetimeCap(1.5, memory).charge(form, 64 * "0", made=0)
        >>> LifetimeCap(1.5, memory).charge(form, 64 * "1", made=0)
        Traceback (most recent call last):
        ValueError: the survey tells more than this device allows; nothing is reported
    """

    def __init__(self, most_epsilon: float, memory: Memory) -> None:
        is_number = isinstance(most_epsilon, int | float) and not isinstance(most_epsilon, bool)
        if not is_number or not math.isfinite(most_epsilon) or most_epsilon < 0:
            raise ValueError("the most that a device may tell is no number of 0 or more")
        self._most = Fraction(most_epsilon)
        self._memory = memory

    def allowed(self, form: Mapping[str, Any], version: str, *, made: int) -> dict[str, str]:
        """Return the losses of all forms of this memory, with this one; refuse it if too much."""
        losses = self._losses()
        if made and not any(one[_VERSION + 1 :] == form["name"] for one in losses):
            raise ValueError("reports were made before they were counted; nothing is reported")
        losses[f"{version} {form['name']}"] = str(loss_of_form(form))
        if sum(map(int, losses.values())) > self._most * LOSS_UNIT:
            raise ValueError("the survey tells more than this device allows; nothing is reported")
        return losses

    def charge(self, form: Mapping[str, Any], version: str, *, made: int) -> None:
        """Write down what a form loses, before anything is drawn for it."""
        self._memory[_NAME] = json.dumps(self.allowed(form, version, made=made), sort_keys=True)

    def _losses(self) -> dict[str, str]:
        text = self._memory.get(_NAME)
        try:
            losses = {} if text is None else json.loads(text)
        except (ValueError, TypeError, RecursionError):
            losses = None
        if not isinstance(losses, dict):
            raise unreadable()
        if not all(isinstance(one, str) and _DIGITS.fullmatch(one) for one in losses.values()):
            raise unreadable()
        return losses
