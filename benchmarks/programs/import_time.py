"""Print how long importing a module takes: ``python import_time.py MODULE``.

Each import runs in a fresh interpreter. The first one fills the bytecode cache and is not counted.
Only the standard library is used, because this runs in the environments of peers too.
"""

import json
import statistics
import subprocess
import sys

REPEATS = 9
TIMED = """
import time
start = time.perf_counter()
import {module}
print(time.perf_counter() - start)
"""


def import_seconds(module: str) -> float:
    """Return the time of one import in a fresh interpreter."""
    command = [sys.executable, "-c", TIMED.format(module=module)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


if __name__ == "__main__":
    name = sys.argv[1]
    import_seconds(name)
    times = [import_seconds(name) for _ in range(REPEATS)]
    print(json.dumps({"seconds": statistics.median(times)}))
