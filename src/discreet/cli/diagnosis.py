"""A diagnosis: whether something that was looked at is in order, and if not, what to do."""

from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any

from attrs import frozen

from discreet.core.errors import DiscreetError


class Health(Enum):
    """How something stands."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@frozen(kw_only=True)
class Diagnosis:
    """One thing that was looked at."""

    health: Health
    subject: str
    told: str
    advice: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the diagnosis as plain values."""
        return {
            "subject": self.subject,
            "health": self.health.value,
            "told": self.told,
            "advice": self.advice,
        }


def fine(subject: str, told: str) -> Diagnosis:
    """Return that something is in order."""
    return Diagnosis(health=Health.OK, subject=subject, told=told)


def doubtful(subject: str, told: str, advice: str) -> Diagnosis:
    """Return that something works, and could be better."""
    return Diagnosis(health=Health.WARN, subject=subject, told=told, advice=advice)


def broken(subject: str, told: str, advice: str) -> Diagnosis:
    """Return that something does not work."""
    return Diagnosis(health=Health.FAIL, subject=subject, told=told, advice=advice)


def looked_at(subject: str, look: Callable[[], Iterator[Diagnosis]]) -> list[Diagnosis]:
    """Return what a look finds; one that ends in an error has found that.

    An error of ours explains itself. Of any other the class alone is told.
    """
    found: list[Diagnosis] = []
    try:
        found.extend(look())
    except DiscreetError as error:
        found.append(broken(subject, error.sentences().rstrip("."), ""))
    except Exception as cause:
        found.append(broken(subject, f"failed with {type(cause).__name__}", "Please report it"))
    return found
