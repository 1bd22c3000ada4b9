"""The owner says what a unit is called, so no message says that it is a person."""

import ast
import re
from collections.abc import Iterator

from tests.support.house.source import Module, modules

HUMAN = re.compile(r"\b(?:people|persons?)\b", re.IGNORECASE)

ABOUT_HUMANS = {
    "accounting/meaning.py": 5,  # what a loss means, where no table is known
    "accounting/picture.py": 1,  # the same, as a picture
    "cli/clinic.py": 1,  # the demonstration is about patients
    "cli/column_types.py": 1,  # why to think before rows are looked at
    "cli/commands/demo.py": 1,
    "cli/commands/meaning.py": 2,
    "cli/first_declaration.py": 1,  # the unit has no name yet
    "cli/init_replies.py": 1,  # the question what it is
    "cli/main.py": 4,  # what Discreet is for, what a loss means, whom a survey asks, how many
    "releases/card.py": 2,  # what no release speaks of
    "tables/unit_name.py": 2,  # the plural of person
}
"""Files with texts that are about humans, whatever a unit is, and how many of them."""

DEVICES = (
    "local/",
    "server/collector/",
    "cli/commands/local.py",
    "cli/commands/survey.py",
    "cli/first_survey.py",
    "noiseless/",
    "planner/",
    "attacks/",
    "adaptive/separations/",
    "cli/commands/plan.py",
    "cli/commands/attack.py",
    "cli/attack_verbs/",
)
"""Where there are no units: people answer, are planned or attacked, or rows have a law."""


def said(module: Module) -> Iterator[str]:
    """Every text of a module that is no docstring."""
    described = {
        id(node.value)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Constant) and id(node) not in described:
            yield node.value if isinstance(node.value, str) else ""


def human(package: tuple[Module, ...]) -> dict[str, int]:
    """How many texts of each file say that a unit is a person."""
    counted = {
        module.place: sum(HUMAN.search(text) is not None for text in said(module))
        for module in package
        if not module.place.startswith(DEVICES)
    }
    return {place: count for place, count in counted.items() if count}


def test_no_new_text_says_that_a_unit_is_a_person():
    """Write ``UNITS`` and the like from ``core/unit_words.py``, or the name that is declared."""
    assert human(modules()) == ABOUT_HUMANS


def test_one_in_a_message_is_found_and_one_in_a_docstring_is_not():
    text = '"""All people."""\nWHAT = f"rows of {2} People"\nNAME = "personal"\n'
    assert human((Module.parse(text, place="sql/a.py"),)) == {"sql/a.py": 1}
    assert human((Module.parse(text, place="local/a.py"),)) == {}
