"""The clients are small: neither has a heavy import, and neither draws from a weak generator."""

import subprocess
import sys

from tests.support.local.device_law import CLIENT


def test_the_python_device_needs_the_standard_library_alone():
    program = (
        "import sys, discreet.local.device.survey_device\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    outside = set(done.stdout.split()) - set(sys.stdlib_module_names) - {"discreet"}
    assert not {name for name in outside if not name.startswith(("_", "sitecustomize"))}


def test_the_javascript_device_is_one_file_with_secure_randomness():
    text = CLIENT.read_text(encoding="utf-8")
    assert "Math.random" not in text
    assert "getRandomValues" in text
    assert not [line for line in text.splitlines() if line.startswith("import ")]
    assert "import(" not in text
    assert "require(" not in text
