"""SQLAlchemy's own suite for dialects, in a process of its own.

Nearly all of it makes tables, fills them and reads single rows, none of which is done here. So it
is run for what it tells all the same: each of its tests passes, or is refused with words of ours;
none fails in another way, and none costs anything. A usual run takes a few of its tests, a soak all
1,800.
"""

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import discreet
from discreet.core.loss import Pure
from tests.support.projects.clinic import visit, write_project

CONFTEST = """
from sqlalchemy.dialects import registry
from sqlalchemy.testing.plugin.pytestplugin import *

registry.register("discreet.discreet", "discreet.dbapi.dialect", "DiscreetDialect")
"""

SUITE = """
from sqlalchemy.testing import provision
from sqlalchemy.testing.suite{part} import *


@provision.temp_table_keyword_args.for_db("discreet")
def _temporary(cfg, engine):
    return {{"prefixes": ["TEMPORARY"]}}
"""

SETTINGS = """
[sqla_testing]
requirement_cls = sqlalchemy.testing.requirements:SuiteRequirements
profile_file = profiles.txt
"""

REFUSALS = re.compile(
    r"Discreet answers questions and writes nothing"
    r"|The query names no table"
)
"""What is said to the statements of the suite: it writes, or selects constants from nowhere."""

PASSING = {"test_do_ping", "test_all_visit_methods_accept_kw[ReadingCompiler]"}


FEW = "PingTest or ArgSignatureTest or EscapingTest"


def run_suite(folder: Path, project: Path, *, is_whole: bool) -> ElementTree.Element:
    suite = SUITE.format(part="" if is_whole else ".test_dialect")
    files = {"conftest.py": CONFTEST, "setup.cfg": SETTINGS, "suite.py": suite}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "--junitxml=found.xml", "--maxfail=10000"]
    command += ["--tb=line"]  # to show where each of them was refused takes minutes
    command += ["-p", "no:cacheprovider", f"--dburi=discreet:///{project}?epsilon=1", "suite.py"]
    command += [] if is_whole else ["-k", FEW]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=500)
    assert done.returncode in {0, 1}, done.stdout[-2000:] + done.stderr[-2000:]
    return ElementTree.parse(folder / "found.xml").getroot()


def test_everything_passes_or_is_refused_for_nothing(tmp_path, soak):
    project = write_project(tmp_path / "clinic", [visit("p")])
    found = run_suite(tmp_path, project, is_whole=soak.active)
    unexpected = [
        (case.get("name"), trouble.get("message"))
        for case in found.iter("testcase")
        for trouble in (*case.iter("failure"), *case.iter("error"))
        if not REFUSALS.search(trouble.get("message", ""))
    ]
    assert not unexpected
    passed = {case.get("name") for case in found.iter("testcase") if not len(case)}
    assert passed >= PASSING
    with discreet.connect(project) as connection:
        assert connection.budget()[0].spent == Pure(0)
