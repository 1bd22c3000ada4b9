"""What a look at something found: whether it is in order, and if not, what to do."""

from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any

from attrs import frozen

from discreet.core.errors import DiscreetError


class Verdict(Enum):
    """How something stands."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@frozen(kw_only=True)
class Finding:
    """One thing that was looked at."""

    verdict: Verdict
    subject: str
    told: str
    advice: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the finding as plain values."""
        return {
            "subject": self.subject,
            "verdict": self.verdict.value,
            "told": self.told,
            "advice": self.advice,
        }


def fine(subject: str, told: str) -> Finding:
    """Return that something is in order."""
    return Finding(verdict=Verdict.OK, subject=subject, told=told)


def doubtful(subject: str, told: str, advice: str) -> Finding:
    """Return that something works, and could be better."""
    return Finding(verdict=Verdict.WARN, subject=subject, told=told, advice=advice)


def broken(subject: str, told: str, advice: str) -> Finding:
    """Return that something does not work."""
    return Finding(verdict=Verdict.FAIL, subject=subject, told=told, advice=advice)


def looked_at(subject: str, look: Callable[[], Iterator[Finding]]) -> list[Finding]:
    """Return what a look finds; one that ends in an error has found that.

    An error of ours explains itself. Of any other the class alone is told.
    """
    found: list[Finding] = []
    try:
        found.extend(look())
    except DiscreetError as error:
        found.append(broken(subject, error.sentences().rstrip("."), ""))
    except Exception as cause:
        found.append(broken(subject, f"failed with {type(cause).__name__}", "Please report it"))
    return found
