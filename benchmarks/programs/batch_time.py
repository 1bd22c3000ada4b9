"""Print the seconds to calibrate a batch of one count: ``python batch_time.py GROUPS_ROWS``.

A unit reaches so many groups with so many rows in each. Nothing was worked out before: libraries
are loaded first, and then the first call counts, as an analyst would wait for it.
"""

import json
import sys
import time
from fractions import Fraction

from discreet.accounting.calibration import calibrate
from discreet.core.contribution import Contribution
from discreet.core.loss import Approximate
from discreet.core.mechanism_event import DiscreteGaussianEvent
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian

TARGET = Approximate(1, "1e-7")


def seconds(groups: int, rows: int) -> float:
    """Return how long the calibration takes."""
    d_in = Contribution(l0=groups, linf=rows)

    def events(multiplier: Fraction) -> DiscreteGaussianEvent:
        noise = DiscreteGaussian(sigma_squared=multiplier**2 * d_in.bound("l2_squared"))
        return noise.event(d_in)

    begun = time.perf_counter()
    calibrate(events, target=TARGET)
    return time.perf_counter() - begun


if __name__ == "__main__":
    asked = [int(part) for part in sys.argv[1].split("_")]
    seconds(1, 1)
    print(json.dumps({"seconds": seconds(*asked)}))
