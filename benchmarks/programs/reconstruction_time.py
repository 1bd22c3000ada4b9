"""Print the seconds that a decoder takes: ``python reconstruction_time.py PEOPLE QUERIES``.

Bits are made up, and counts of random sets have noise of a twentieth of the square root of the
people. It decodes by a linear programme. Seconds are those of the processor. The share of bits that
is found goes to the standard error.
"""

import json
import sys
import time

import numpy as np

from discreet.attacks.reconstruction.decode_counts import decode_linear

if __name__ == "__main__":
    people, queries = map(int, sys.argv[1:])
    rng = np.random.default_rng(1)
    bits = rng.integers(0, 2, people)
    sets = rng.integers(0, 2, (queries, people)) == 1
    noise = np.rint(rng.normal(0, 0.05 * np.sqrt(people), queries)).astype(np.int64)
    answers = sets.astype(np.int64) @ bits + noise
    start = time.process_time()
    found = decode_linear(sets, answers, people=people)
    seconds = time.process_time() - start
    print(f"{float(found.share_right(bits)):.1%} of the bits", file=sys.stderr)
    print(json.dumps({"seconds": seconds}))
