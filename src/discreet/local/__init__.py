"""Local: collect from people who trust nobody. Each report is randomised before it leaves a device.

A scheme is a frozen value. Its ``event`` is the exact loss of one report, ``randomise`` makes one
report and ``randomise_many`` those of many people, and ``estimate`` works out what they hold
together, with intervals. Nothing here is charged to a ledger: nobody but the person ever has the
data.

Example:
    >>> import numpy as np
    >>> from discreet import SystemRng
    >>> from discreet.local import KaryResponse
    >>> scheme = KaryResponse.calibrate(categories=3, epsilon=1)
    >>> reports = scheme.randomise_many(np.array([0, 1, 2, 2, 2, 1] * 1000), SystemRng())
    >>> estimate = scheme.estimate(reports)
    >>> bool((estimate.low <= estimate.high).all()), estimate.people
    (True, 6000)
"""

from discreet.core.lazy_names import lazy_names

_HOMES = {
    "FrequencyChoice": "discreet.local.frequency.choose_frequency",
    "FrequencyScheme": "discreet.local.frequency.frequency_scheme",
    "HadamardSketch": "discreet.local.frequency.hadamard_sketch",
    "KaryResponse": "discreet.local.frequency.k_ary",
    "LocalHashing": "discreet.local.frequency.local_hashing",
    "Scheme": "discreet.local.scheme",
    "ShareEstimate": "discreet.local.frequency.share_estimate",
    "SubsetSelection": "discreet.local.frequency.subset_selection",
    "UnaryEncoding": "discreet.local.frequency.unary",
    "choose_frequency": "discreet.local.frequency.choose_frequency",
    "hadamard_response": "discreet.local.frequency.hadamard",
}

__all__ = [
    "FrequencyChoice",
    "FrequencyScheme",
    "HadamardSketch",
    "KaryResponse",
    "LocalHashing",
    "Scheme",
    "ShareEstimate",
    "SubsetSelection",
    "UnaryEncoding",
    "choose_frequency",
    "hadamard_response",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
