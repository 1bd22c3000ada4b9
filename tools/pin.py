"""Write the versions that a fresh install resolves to: ``python tools/pin.py constraints.txt``.

The file pins what development and CI install. It holds names and versions only, so that it
works with whatever package index a machine is set up to use.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = "attacks,pandas,plot,server,sqlalchemy"
WANTED = ["--editable", f"{ROOT}[{EXTRAS}]", "--group", "dev", "--group", "docs"]
PIN = re.compile(r"[A-Za-z0-9._-]+==[A-Za-z0-9.!+_-]+")
NOT_OURS = ("setuptools==",)  # comes with the environment; nothing here uses it
HEADER = """\
# What development and CI install, pinned. Written by `make constraints`: do not edit.
"""


def resolve() -> list[str]:
    """Install everything into an empty environment and return its pins, sorted by name."""
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([sys.executable, "-m", "venv", scratch], check=True)
        pip = [f"{scratch}/bin/python", "-m", "pip", "-qq", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", "--upgrade", "pip"], check=True)
        subprocess.run([*pip, "install", *WANTED], check=True, cwd=ROOT)
        frozen = subprocess.run(
            [*pip, "freeze", "--all", "--exclude-editable"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
    pins = [line for line in frozen.splitlines() if not line.startswith(NOT_OURS)]
    if strange := [line for line in pins if not PIN.fullmatch(line)]:
        raise SystemExit(f"not a plain pin: {strange}")
    return sorted(pins, key=str.lower)


def main(arguments: list[str]) -> None:
    """Write the pins to the file that is named; what is no file of pins is left as it is."""
    if len(arguments) != 1 or not is_file_of_pins(Path(arguments[0])):
        raise SystemExit("usage: python tools/pin.py FILE.txt (a new file, or an old one of pins)")
    (target,) = arguments
    pins = resolve()
    Path(target).write_text(HEADER + "\n".join(pins) + "\n")
    print(f"{target}: {len(pins)} pins")


def is_file_of_pins(target: Path) -> bool:
    """Tell whether pins can be written there without losing anything else."""
    if target.suffix != ".txt" or target.is_dir():
        return False
    return not target.exists() or target.read_text().startswith(HEADER)


if __name__ == "__main__":
    main(sys.argv[1:])
