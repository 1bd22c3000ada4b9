"""The names that users import are pinned: adding or removing one is a decision."""

import ast
import importlib
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import discreet
from discreet.core.event import Event
from tests.mechanisms.cases import CASES
from tests.support.house.paths import DOCS, ROOT
from tests.support.house.rules import DOORS
from tests.support.house.source import modules

PUBLIC = [
    "Accuracy",
    "Approximate",
    "ApproximateZcdp",
    "Certificate",
    "Connection",
    "Contribution",
    "DiscreetError",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Explanation",
    "FreeAnswer",
    "Meaning",
    "Measure",
    "Metric",
    "Owner",
    "PrivacyLoss",
    "Pure",
    "Rehearsal",
    "Release",
    "SystemRng",
    "Zcdp",
    "account",
    "assert_private",
    "assert_replays",
    "calibrate",
    "certify",
    "connect",
    "convert",
    "exact",
    "most_uses",
    "own",
    "plan",
    "plan_question",
    "read_events",
]
"""What ``discreet.__all__`` holds, sorted. At most forty names."""


def test_surface_is_pinned():
    assert sorted(getattr(discreet, "__all__", [])) == PUBLIC


def test_surface_is_small():
    assert len(PUBLIC) <= 40


ROOMS = [
    discreet.accounting,
    discreet.adaptive,
    discreet.audit,
    discreet.local,
    discreet.mechanisms,
    discreet.noiseless,
    discreet.synthesis,
]
LENDERS = [discreet, *ROOMS]


def test_rooms_are_reached_with_no_import_of_their_own():
    assert {name.removeprefix("discreet.") for name in DOORS if name != "discreet"} < set(
        dir(discreet)
    )
    assert all(getattr(discreet, room.__name__.rpartition(".")[2]) is room for room in ROOMS)
    with pytest.raises(AttributeError, match=r"'discreet\.audit' has no attribute 'verifies'"):
        _ = discreet.audit.verifies


@pytest.mark.parametrize("package", LENDERS, ids=lambda package: package.__name__)
def test_every_name_is_documented_and_lent_from_its_home(package: ModuleType):
    assert package.__all__ == sorted(package._HOMES)
    assert set(package.__all__) <= set(dir(package))
    for name, home in package._HOMES.items():
        thing = getattr(package, name)
        assert thing.__doc__, name
        assert thing.__module__ == home, name
        assert thing is getattr(importlib.import_module(home), name)


@pytest.mark.parametrize("package", LENDERS, ids=lambda package: package.__name__)
def test_no_file_has_the_name_of_what_is_lent(package: ModuleType):
    """Once such a file is loaded, it would stand in the place of the name."""
    files = {path.stem for path in Path(package.__path__[0]).iterdir()}
    assert not files & set(package.__all__)


def test_a_door_loads_nothing():
    program = f"import json, sys, {', '.join(sorted(r.__name__ for r in ROOMS))}\n"
    program += "print(json.dumps([n for n in sys.modules if n.startswith('discreet')]))"
    found = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    light = {"discreet", "discreet.core", "discreet.core.lazy_names"}
    assert set(json.loads(found.stdout)) == light | {room.__name__ for room in ROOMS}


def test_only_the_doors_have_a_surface():
    """``__all__`` stands in the root, where all events are, and in seven rooms."""
    having = {module.place for module in modules() if "\n__all__" in module.text}
    assert having == set(DOORS.values())


def test_every_mechanism_is_behind_one_door():
    """A class of the room that makes an event, or is drawn from in the tests of all noises.

    One that is only the base of others is not drawn from, and they make its event.
    """
    classes = [
        node
        for module in modules()
        if module.place.startswith("mechanisms/")
        for node in module.tree.body
        if isinstance(node, ast.ClassDef)
    ]
    named = {
        node.name for node in classes if "event" in {getattr(n, "name", "") for n in node.body}
    }
    above = {node.name: {getattr(base, "id", "") for base in node.bases} for node in classes}
    made = named | {name for name, bases in above.items() if bases & named}
    made -= {"RankMechanism"}
    assert {"Quantile", "QuantileEnd"} <= made
    assert {type(case.mechanism).__name__ for case in CASES} <= made
    assert "SparseVector" in made
    assert not made - set(discreet.mechanisms.__all__)


def test_every_conversion_and_accountant_is_behind_one_door():
    theorems = {
        node.name
        for module in modules()
        if module.place.startswith(("accounting/conversions/", "accounting/accountants/"))
        for node in module.tree.body
        if isinstance(node, ast.FunctionDef) and re.fullmatch(r"[a-z]\w*(_to_\w+|_loss)", node.name)
    }
    assert {"zcdp_to_approximate", "gaussian_loss"} <= theorems
    assert not theorems - set(discreet.accounting.__all__)


# ---------------------------------------------------------------- what can be completed


def open_parameters(owner: ModuleType | type) -> list[str]:
    """What takes parameters that no notebook can complete, of what a room lends or a class has."""
    return [
        name
        for name, thing in inspect.getmembers(owner, inspect.isfunction)
        if not name.startswith("_")
        if any(one.kind is one.VAR_KEYWORD for one in inspect.signature(thing).parameters.values())
    ]


@pytest.mark.parametrize("package", LENDERS, ids=lambda package: package.__name__)
def test_every_parameter_has_a_name(package: ModuleType):
    lent = [getattr(package, name) for name in package.__all__]
    kinds = [thing for thing in lent if inspect.isclass(thing)]
    rooms: list[ModuleType | type] = [package, *kinds]
    assert not {str(room): found for room in rooms if (found := open_parameters(room))}


def test_a_parameter_without_a_name_is_found():
    class Open:
        def ask(self, **terms: object) -> None: ...

    assert open_parameters(Open) == ["ask"]


# ---------------------------------------------------------------- pages and examples

DEEPER = {
    "explanation/error-bars.md": "works out an interval by rules that no door lends",
    "how-to/attack-published-rows.md": "attacks on rows and answers have doors of their own",
    "explanation/who-is-in-the-statistics.md": "attacks on statistics have a door of their own",
    "how-to/attack-statistics-and-online-answers.md": "so have these, and those on online answers",
    "how-to/attack-every-model.md": "attacks on models have a door of their own",
}
"""Pages that may name files, each with the reason."""

IMPORT = re.compile(r"^\s*(?:>>> )?(?:from|import) (discreet[\w.]*)(?: import (.+))?", re.MULTILINE)
DOTTED = re.compile(r"\bdiscreet(?:\.\w+){2,}")


def by_file(text: str) -> list[str]:
    """What a page names by its file. Python itself shows the file of an error that is raised."""
    found = [module for module, _ in IMPORT.findall(text) if module not in DOORS]
    for dotted in DOTTED.findall(text):
        _, room, name = dotted.split(".")[:3]
        door = DOORS.get(f"discreet.{room}") and getattr(discreet, room)
        if not (door and name in door.__all__) and not dotted.startswith("discreet.core.errors."):
            found.append(dotted)
    return found


def test_pages_name_no_file():
    pages = {page.relative_to(DOCS).as_posix(): page for page in DOCS.rglob("*.md")}
    assert DEEPER.keys() <= pages.keys()
    pages = {place: page for place, page in pages.items() if place not in DEEPER}
    pages["README.md"] = ROOT / "README.md"
    found = {place: by_file(page.read_text(encoding="utf-8")) for place, page in pages.items()}
    assert not {place: names for place, names in found.items() if names}


def test_a_file_that_is_named_is_found():
    for text in ("from discreet.audit.laws import product", ">>> import discreet.core.numbers"):
        assert by_file(text)
    assert by_file("`discreet.audit.laws` has more.") == ["discreet.audit.laws"]
    assert not by_file("from discreet.audit import product\nSee `discreet.audit.product`.")


def test_examples_import_from_the_doors():
    """What a door lends is imported from it in every docstring, as a user would."""
    lent = {(home, name) for door in LENDERS for name, home in door._HOMES.items()}
    lent |= {(getattr(discreet.events, n).__module__, n) for n in discreet.events.__all__}
    found = [
        (module.place, home, name)
        for module in modules()
        for home, names in re.findall(r">>> from (discreet[\w.]*) import (.+)", module.text)
        for name in names.split(", ")
        if (home, name) in lent
    ]
    assert not found


# ---------------------------------------------------------------- events


def test_every_event_is_behind_one_door():
    """A new event that is not importable from ``discreet.events`` fails here."""
    for module in modules():
        if module.place.startswith("core/"):
            importlib.import_module(module.name)
    made = {"Event"} | {kind.__name__ for kind in subclasses(Event) if in_package(kind)}
    assert set(discreet.events.__all__) == made
    assert sorted(made) == discreet.events.__all__


def subclasses(kind: type[Event]) -> list[type[Event]]:
    return [deep for sub in kind.__subclasses__() for deep in (sub, *subclasses(sub))]


def in_package(kind: type[Event]) -> bool:
    return kind.__module__.startswith("discreet.")
