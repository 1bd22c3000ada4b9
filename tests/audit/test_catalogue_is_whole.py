"""Nothing that can be imported and that makes a promise is missing from the audited catalogue."""

import inspect
from types import ModuleType

from discreet import local, mechanisms
from tests.audit.test_catalogue_of_choices import CHOICES
from tests.audit.test_catalogue_of_machines import MACHINES, OF
from tests.local.schemes import CASES as SCHEMES
from tests.mechanisms.cases import CASES as NOISES
from tests.mechanisms.test_response import CASES as RESPONSES

INSIDE = {"StabilityTest": "ProposeTestRelease"}
"""What is audited as a part of another, whose promise is about what follows it."""

FORMS = ("release", "select", "open", "randomise", "passes")


def promising(room: ModuleType, forms: tuple[str, ...]) -> set[str]:
    """Return the classes of a room that say what they lose, and do it: no protocols, no bases."""
    found = {name: getattr(room, name) for name in room.__all__}
    return {
        name
        for name, one in found.items()
        if inspect.isclass(one)
        and hasattr(one, "event")
        and any(hasattr(one, form) for form in forms)
        and not getattr(one, "_is_protocol", False)
        and not inspect.isabstract(one)
    }


def test_every_mechanism_is_audited():
    audited = {type(case.mechanism).__name__ for case in NOISES}
    audited |= {choice.name for choice in CHOICES}
    audited |= {type(response).__name__ for response, *_ in RESPONSES}
    audited |= {type(mechanism).__name__ for mechanism in OF.values()}
    assert set(INSIDE.values()) <= audited
    assert promising(mechanisms, FORMS) == audited | set(INSIDE)
    assert set(OF) == set(MACHINES)


def test_every_local_scheme_is_audited():
    audited = {type(case.scheme).__name__ for case in SCHEMES}
    bases = {"WindowScheme"}  # a window of any width: PiecewiseMean and SquareWave
    assert promising(local, ("randomise_many",)) - bases == audited
    assert promising(local, ("randomise_histories",)) == {"MemoisedRounding"}


def test_a_mechanism_that_is_left_out_would_be_seen():
    class Forgotten:
        event = release = None

    room = ModuleType("room")
    room.Forgotten, room.__all__ = Forgotten, ["Forgotten"]  # type: ignore[attr-defined]
    assert promising(room, FORMS) == {"Forgotten"}
