"""Every dependency has a reason, and everything that is installed is pinned."""

import re
import tomllib

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.house.paths import ROOT, SRC

TEXT = (ROOT / "pyproject.toml").read_text()
CONFIG = tomllib.loads(TEXT)
EXTRAS = CONFIG["project"]["optional-dependencies"]
INSTALLED = [
    *CONFIG["project"]["dependencies"],
    *EXTRAS["pandas"],
    *EXTRAS["sqlalchemy"],
    *CONFIG["dependency-groups"]["dev"],
    *CONFIG["dependency-groups"]["docs"],
]


def test_every_dependency_has_a_reason():
    wanted = {*INSTALLED, *(name for extra in EXTRAS.values() for name in extra)}
    reasoned = set(re.findall(r'^ +"([^"]+)", +# \w.*$', TEXT, re.MULTILINE))
    assert {name for name in wanted if not name.startswith("discreet[")} <= reasoned


def test_every_installed_dependency_is_pinned_within_its_range():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = dict(line.split("==") for line in lines if not line.startswith("#"))
    versions = {canonicalize_name(name): version for name, version in pins.items()}
    for requirement in map(Requirement, INSTALLED):
        version = versions[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), requirement


def test_pip_is_new_enough_for_dependency_groups():
    pins = (ROOT / "constraints.txt").read_text()
    assert re.search(r"^pip==(2[6-9]|25\.[1-9]|[3-9]\d)", pins, re.MULTILINE)


def test_all_means_every_extra():
    (everything,) = EXTRAS["all"]
    assert Requirement(everything).extras == EXTRAS.keys() - {"all"}


def test_every_extra_has_code():
    sources = "\n".join(path.read_text(encoding="utf-8") for path in SRC.rglob("*.py"))
    for name in sorted(EXTRAS.keys() - {"all"}):
        for requirement in map(Requirement, EXTRAS[name]):
            used = re.escape(requirement.name)
            is_loaded = re.search(
                rf'load\("{used}[."]|^\s*(from|import) {used}\b', sources, re.MULTILINE
            )
            assert is_loaded, requirement.name
