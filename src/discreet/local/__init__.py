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
    "CondensedResponse": "discreet.local.condensed.condensed_response",
    "CumulativeEstimate": "discreet.local.numbers.quantiles",
    "DBitFlip": "discreet.local.numbers.d_bit_flip",
    "Decoder": "discreet.local.rappor.decode",
    "Distance": "discreet.local.condensed.distance",
    "FileMemory": "discreet.local.device.memory",
    "FrequencyChoice": "discreet.local.frequency.choose_frequency",
    "FrequencyScheme": "discreet.local.frequency.frequency_scheme",
    "HadamardSketch": "discreet.local.frequency.hadamard_sketch",
    "HashedWords": "discreet.local.words.hashed_words",
    "HybridMean": "discreet.local.numbers.hybrid",
    "Influence": "discreet.local.poisoning.influence",
    "KaryResponse": "discreet.local.frequency.k_ary",
    "LinearEstimate": "discreet.local.numbers.linear",
    "LocalHashing": "discreet.local.frequency.local_hashing",
    "LocalLaplace": "discreet.local.numbers.local_laplace",
    "MeanEstimate": "discreet.local.numbers.number_scheme",
    "MemoisedRounding": "discreet.local.repeated.memoised_rounding",
    "NumberScheme": "discreet.local.numbers.number_scheme",
    "OneBitMean": "discreet.local.numbers.one_bit_mean",
    "PeopleNeeded": "discreet.local.compare.people_needed",
    "PiecewiseMean": "discreet.local.numbers.piecewise",
    "QuantileEstimate": "discreet.local.numbers.quantiles",
    "Rappor": "discreet.local.rappor.rappor",
    "RapporCoins": "discreet.local.rappor.rappor_coins",
    "ReportBatch": "discreet.local.shuffle.amplification",
    "Scheme": "discreet.local.scheme",
    "ShareEstimate": "discreet.local.frequency.share_estimate",
    "SquareWave": "discreet.local.numbers.square_wave",
    "SubsetSelection": "discreet.local.frequency.subset_selection",
    "Survey": "discreet.local.survey.survey",
    "SurveyDevice": "discreet.local.device.survey_device",
    "SurveyPlan": "discreet.local.survey.plan",
    "SurveyResults": "discreet.local.survey.results",
    "TextEstimate": "discreet.local.rappor.decode",
    "UnaryEncoding": "discreet.local.frequency.unary",
    "WindowScheme": "discreet.local.numbers.window_scheme",
    "WordsFound": "discreet.local.words.find_words",
    "added_noise_law": "discreet.local.numbers.reconstruct",
    "amplify": "discreet.local.shuffle.amplification",
    "attack": "discreet.local.poisoning.attack",
    "choose_frequency": "discreet.local.frequency.choose_frequency",
    "comparison_picture": "discreet.local.compare.people_needed",
    "cumulative_shares": "discreet.local.numbers.quantiles",
    "decode": "discreet.local.rappor.decode",
    "decoder": "discreet.local.rappor.decode",
    "find_words": "discreet.local.words.find_words",
    "hadamard_response": "discreet.local.frequency.hadamard",
    "influence": "discreet.local.poisoning.influence",
    "influence_below": "discreet.local.poisoning.influence",
    "kept_lifetime": "discreet.local.repeated.lifetime",
    "lifetime_picture": "discreet.local.repeated.lifetime",
    "one_report": "discreet.local.poisoning.influence",
    "parse_survey": "discreet.local.survey.read_survey",
    "people_needed": "discreet.local.compare.people_needed",
    "permanent_report": "discreet.local.device.memory",
    "plan_survey": "discreet.local.survey.plan",
    "plan_words": "discreet.local.words.find_words",
    "read_survey": "discreet.local.survey.read_survey",
    "reconstruct": "discreet.local.numbers.reconstruct",
    "rehearse_survey": "discreet.local.survey.rehearse_survey",
    "remembered": "discreet.local.device.rappor",
    "rounded_report": "discreet.local.device.memory",
    "shuffle_reports": "discreet.local.shuffle.shuffler",
}

__all__ = [
    "Amplified",
    "BasicRappor",
    "CondensedResponse",
    "CumulativeEstimate",
    "DBitFlip",
    "Decoder",
    "Distance",
    "FileMemory",
    "FrequencyChoice",
    "FrequencyScheme",
    "HadamardSketch",
    "HashedWords",
    "HybridMean",
    "Influence",
    "KaryResponse",
    "LinearEstimate",
    "LocalHashing",
    "LocalLaplace",
    "MeanEstimate",
    "MemoisedRounding",
    "NumberScheme",
    "OneBitMean",
    "PeopleNeeded",
    "PiecewiseMean",
    "QuantileEstimate",
    "Rappor",
    "RapporCoins",
    "ReportBatch",
    "Scheme",
    "ShareEstimate",
    "SquareWave",
    "SubsetSelection",
    "Survey",
    "SurveyDevice",
    "SurveyPlan",
    "SurveyResults",
    "TextEstimate",
    "UnaryEncoding",
    "WindowScheme",
    "WordsFound",
    "added_noise_law",
    "amplify",
    "attack",
    "choose_frequency",
    "comparison_picture",
    "cumulative_shares",
    "decode",
    "decoder",
    "find_words",
    "hadamard_response",
    "influence",
    "influence_below",
    "kept_lifetime",
    "lifetime_picture",
    "one_report",
    "parse_survey",
    "people_needed",
    "permanent_report",
    "plan_survey",
    "plan_words",
    "read_survey",
    "reconstruct",
    "rehearse_survey",
    "remembered",
    "rounded_report",
    "shuffle_reports",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
