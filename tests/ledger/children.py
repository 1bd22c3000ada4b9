"""Processes of their own that pass the gate."""

import subprocess
import sys

from tests.support.house.paths import ROOT


def start(*args: str) -> subprocess.Popen[str]:
    """Start :mod:`tests.ledger.gate_child` with a command."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.ledger.gate_child", *args],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
