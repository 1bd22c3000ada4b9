"""One name, one thing: no two classes of the package are called the same."""

from tests.support.house.source import Module, modules, twice_named


def test_no_two_classes_have_one_name():
    assert twice_named(modules()) == {}


def test_two_classes_of_one_name_are_found():
    """Also those with an underscore: a reader who looks for one would find the other."""
    package = (
        Module.parse("class Law: ...", place="core/a.py"),
        Module.parse("class Law: ...\nclass Other: ...", place="audit/b.py"),
    )
    assert twice_named(package) == {"Law": ["core/a.py", "audit/b.py"]}
