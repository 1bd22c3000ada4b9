"""What was tried, what was recovered, and the most that anybody can recover."""

import math
from fractions import Fraction
from typing import Any

from attrs import frozen

from discreet.attacks.reconstruction.guess_ceiling import GuessingRecord
from discreet.core.terminal_text import text_table

CERTAIN = Fraction(1)
"""The ceiling where nothing is promised."""


@frozen(kw_only=True)
class Attempt:
    """One attack on one release: how often it guessed a fair bit, beside its ceiling."""

    release: str
    """What was attacked, in words."""
    record: GuessingRecord
    note: str = ""

    @property
    def share(self) -> Fraction:
        """The share of guesses that were right."""
        return Fraction(self.record.right, self.record.trials)

    def cells(self) -> list[str]:
        """Return the attempt as a row of a table."""
        most = math.ceil(self.record.ceiling * 10_000) / 100
        ceiling = "none" if self.record.ceiling >= 1 else f"{most:6.2f} %"
        seen = f"{self.record.right:,} of {self.record.trials:,}"
        return [self.release, seen, f"{float(100 * self.share):5.1f} %", ceiling]

    def to_json(self) -> dict[str, Any]:
        """Return the attempt for other programs."""
        return {"release": self.release, **self.record.to_json(), "note": self.note}


COLUMNS = ("release", "right guesses", "share", "ceiling")


@frozen(kw_only=True)
class AttackReport:
    """All attempts of one attack. Private where they are on real rows."""

    attack: str
    """What is done, in a sentence."""
    attempts: tuple[Attempt, ...]

    def __getitem__(self, release: str) -> Attempt:
        """Return the attempt on a release, by its words."""
        return {one.release: one for one in self.attempts}[release]

    def breaks_ceiling(self, failure: Fraction) -> bool:
        """Tell whether some ceiling is refuted; wrongly so at most ``failure`` often in all."""
        each = failure / len(self.attempts)
        return any(one.record.breaks_ceiling(each) for one in self.attempts)

    def __str__(self) -> str:
        """Return the attempts as a table, with what there is to say below it."""
        notes = [f"{one.release}: {one.note}" for one in self.attempts if one.note]
        table = text_table(COLUMNS, [one.cells() for one in self.attempts])
        return "\n".join([self.attack, "", table, *([""] if notes else []), *notes])

    def to_json(self) -> dict[str, Any]:
        """Return the attempts for other programs."""
        return {"attack": self.attack, "attempts": [one.to_json() for one in self.attempts]}
