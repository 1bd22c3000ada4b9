"""Local: collect from people who trust nobody. Each report is randomised before it leaves a device.

A scheme is a frozen value. Its ``event`` is the exact loss of one report, ``randomise`` makes one
report and ``randomise_many`` those of many people, and ``estimate`` works out what they hold
together, with intervals. Nothing here is charged to a ledger: nobody but the person ever has the
data.

All schemes here are non-interactive: every person is told the same recipe, and reports once or in
rounds that do not depend on one another. Estimates of one survey can be put into the next, as long
as each person is asked once: that is sequentially interactive, and the loss of a person is still
that of one report. Protocols that ask the same people again, depending on what they said (fully
interactive ones), are not built.

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
    "Amplified": "discreet.local.shuffle.amplification",
    "BasicRappor": "discreet.local.rappor.basic_rappor",
    "Decoder": "discreet.local.rappor.decode",
    "FrequencyScheme": "discreet.local.frequency.frequency_scheme",
    "HashedWords": "discreet.local.words.hashed_words",
    "Influence": "discreet.local.poisoning.influence",
    "KaryResponse": "discreet.local.frequency.k_ary",
    "Rappor": "discreet.local.rappor.rappor",
    "RapporCoins": "discreet.local.rappor.rappor_coins",
    "ReportBatch": "discreet.local.shuffle.amplification",
    "Scheme": "discreet.local.scheme",
    "ShareEstimate": "discreet.local.frequency.share_estimate",
    "TextEstimate": "discreet.local.rappor.decode",
    "WordsFound": "discreet.local.words.find_words",
    "amplify": "discreet.local.shuffle.amplification",
    "attack": "discreet.local.poisoning.influence",
    "decode": "discreet.local.rappor.decode",
    "decoder": "discreet.local.rappor.decode",
    "find_words": "discreet.local.words.find_words",
    "influence": "discreet.local.poisoning.influence",
    "one_report": "discreet.local.poisoning.influence",
    "plan_words": "discreet.local.words.find_words",
    "remembered": "discreet.local.device.rappor",
    "shuffle_reports": "discreet.local.shuffle.shuffler",
}

__all__ = [
    "Amplified",
    "BasicRappor",
    "Decoder",
    "FrequencyScheme",
    "HashedWords",
    "Influence",
    "KaryResponse",
    "Rappor",
    "RapporCoins",
    "ReportBatch",
    "Scheme",
    "ShareEstimate",
    "TextEstimate",
    "WordsFound",
    "amplify",
    "attack",
    "decode",
    "decoder",
    "find_words",
    "influence",
    "one_report",
    "plan_words",
    "remembered",
    "shuffle_reports",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
