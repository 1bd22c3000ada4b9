"""Print the seconds to find unique rows: ``python uniqueness_time.py ROWS COLUMNS MOST``.

Columns are made up, from two values to a hundred thousand. Making them up is not counted; turning
them into codes is. Seconds are those of the processor.
"""

import json
import sys
import time

import numpy as np

from discreet.attacks.records.coded_rows import code_rows
from discreet.attacks.records.uniqueness import find_unique

SIZES = (2, 3, 5, 8, 12, 20, 50, 90, 365, 2_000, 20_000, 100_000)

if __name__ == "__main__":
    rows, width, most = map(int, sys.argv[1:])
    rng = np.random.default_rng(1)
    columns = {
        f"c{place}": rng.integers(0, SIZES[place % len(SIZES)], rows) for place in range(width)
    }
    start = time.process_time()
    report = find_unique(code_rows(columns), most=most)
    seconds = time.process_time() - start
    print(f"{len(report.shares)} sets", file=sys.stderr)
    print(json.dumps({"seconds": seconds}))
