"""One name, one thing: no two classes of the package are called the same."""

from tests.support.house.source import Module, modules, twice_named

TWICE_WITH_REASON = {
    "Computed": "a column of a relation, and one of a lowered plan; to be renamed",
    "Function": "one of rows and one of estimates, until a function is one record",
    "Groups": "the groups of an answer, and those of a stage of a query; to be renamed",
    "Kind": "of an entry of the ledger, and of a section of a declaration; to be renamed",
    "Node": "of the parser, and as a function reads it; to be renamed",
    "OnGrid": "real noise on a grid, and a value of a lowered plan; to be renamed",
    "Opened": "a source, and a condition taken apart; to be renamed",
    "Owner": "who owns a project, and whose rows they are",
    "Part": "of a source, and of a function's record; to be renamed",
    "Passed": "by the gate, and through a plan; to be renamed",
    "Project": "what is opened, and the operator that chooses columns",
    "Rows": "of a lowered plan, and of a bill; to be renamed",
    "_Reach": "of a condition, and of proposed keys; to be renamed",
    "Work": "what a query may take, and what a plan does take; to be renamed",
}
"""Names of two things. Add none without a reason why a reader never meets both."""


def test_no_two_classes_have_one_name():
    found = twice_named(modules())
    assert {name: places for name, places in found.items() if name not in TWICE_WITH_REASON} == {}


def test_two_classes_of_one_name_are_found():
    """Also those with an underscore: a reader who looks for one would find the other."""
    package = (
        Module.parse("class Law: ...", place="core/a.py"),
        Module.parse("class Law: ...\nclass Other: ...", place="audit/b.py"),
    )
    assert twice_named(package) == {"Law": ["core/a.py", "audit/b.py"]}
