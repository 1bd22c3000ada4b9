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
    "CondensedResponse": "discreet.local.condensed.condensed_response",
    "CumulativeEstimate": "discreet.local.numbers.quantiles",
    "DBitFlip": "discreet.local.numbers.d_bit_flip",
    "Distance": "discreet.local.condensed.distance",
    "FileMemory": "discreet.local.device.memory",
    "FrequencyChoice": "discreet.local.frequency.choose_frequency",
    "FrequencyScheme": "discreet.local.frequency.frequency_scheme",
    "HadamardSketch": "discreet.local.frequency.hadamard_sketch",
    "HybridMean": "discreet.local.numbers.hybrid",
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
    "Scheme": "discreet.local.scheme",
    "ShareEstimate": "discreet.local.frequency.share_estimate",
    "SquareWave": "discreet.local.numbers.square_wave",
    "SubsetSelection": "discreet.local.frequency.subset_selection",
    "Survey": "discreet.local.survey.survey",
    "SurveyDevice": "discreet.local.device.survey_device",
    "SurveyPlan": "discreet.local.survey.plan",
    "SurveyResults": "discreet.local.survey.results",
    "UnaryEncoding": "discreet.local.frequency.unary",
    "WindowScheme": "discreet.local.numbers.window_scheme",
    "added_noise_law": "discreet.local.numbers.reconstruct",
    "choose_frequency": "discreet.local.frequency.choose_frequency",
    "comparison_picture": "discreet.local.compare.people_needed",
    "cumulative_shares": "discreet.local.numbers.quantiles",
    "hadamard_response": "discreet.local.frequency.hadamard",
    "kept_lifetime": "discreet.local.repeated.lifetime",
    "lifetime_picture": "discreet.local.repeated.lifetime",
    "parse_survey": "discreet.local.survey.read_survey",
    "people_needed": "discreet.local.compare.people_needed",
    "permanent_report": "discreet.local.device.memory",
    "plan_survey": "discreet.local.survey.plan",
    "read_survey": "discreet.local.survey.read_survey",
    "reconstruct": "discreet.local.numbers.reconstruct",
    "rehearse_survey": "discreet.local.survey.rehearse_survey",
    "rounded_report": "discreet.local.device.memory",
}

__all__ = [
    "CondensedResponse",
    "CumulativeEstimate",
    "DBitFlip",
    "Distance",
    "FileMemory",
    "FrequencyChoice",
    "FrequencyScheme",
    "HadamardSketch",
    "HybridMean",
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
    "Scheme",
    "ShareEstimate",
    "SquareWave",
    "SubsetSelection",
    "Survey",
    "SurveyDevice",
    "SurveyPlan",
    "SurveyResults",
    "UnaryEncoding",
    "WindowScheme",
    "added_noise_law",
    "choose_frequency",
    "comparison_picture",
    "cumulative_shares",
    "hadamard_response",
    "kept_lifetime",
    "lifetime_picture",
    "parse_survey",
    "people_needed",
    "permanent_report",
    "plan_survey",
    "read_survey",
    "reconstruct",
    "rehearse_survey",
    "rounded_report",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
