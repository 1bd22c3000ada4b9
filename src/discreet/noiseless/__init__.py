"""Noiseless: when may an exact number be published, and what does that assume?

:func:`discreet.certify` answers it. Here are the laws that an owner can assert, the statistics that
are certified with them, and what a certificate is made of.

Example:
    >>> from discreet import certify
    >>> from discreet.noiseless import PoissonHistogram
    >>> certificate = certify(PoissonHistogram(truncation=51), epsilon="0.6", delta="3e-6")
    >>> certificate.may_publish
    True
"""

from discreet.core.lazy_names import lazy_names

_HOMES = {
    "Advice": "discreet.noiseless.advice",
    "Advised": "discreet.noiseless.advice",
    "BreakingPoint": "discreet.noiseless.certifiable",
    "Certifiable": "discreet.noiseless.certifiable",
    "CertifiedPoint": "discreet.noiseless.certificate",
    "DeclaredRelation": "discreet.noiseless.regression.design",
    "ExactRegression": "discreet.noiseless.regression.exact_regression",
    "ExpectedLine": "discreet.noiseless.regression.split_variance",
    "Inference": "discreet.noiseless.inference",
    "MeasuredColumn": "discreet.noiseless.regression.design",
    "NoLine": "discreet.noiseless.regression.coefficients",
    "NoiseInstead": "discreet.noiseless.certifiable",
    "PoissonHistogram": "discreet.noiseless.histograms.truncated_histogram",
    "Polynomial": "discreet.noiseless.regression.polynomial",
    "RegressionDesign": "discreet.noiseless.regression.design",
    "RegressionLine": "discreet.noiseless.regression.coefficients",
    "ReleasedMoments": "discreet.noiseless.regression.coefficients",
    "RowMoment": "discreet.noiseless.regression.row_moments",
    "RowUse": "discreet.noiseless.regression.exact_regression",
    "SampledHistogram": "discreet.noiseless.histograms.truncated_histogram",
    "Target": "discreet.noiseless.certifiable",
    "Way": "discreet.noiseless.certifiable",
    "certificate_picture": "discreet.noiseless.certificate_drawing",
    "check_model": "discreet.noiseless.finite.checked_model",
    "exception_chance": "discreet.noiseless.inference",
    "freedom_of": "discreet.noiseless.regression.freedom",
    "inferred": "discreet.noiseless.inference",
    "line_of": "discreet.noiseless.regression.coefficients",
    "moments_of": "discreet.noiseless.regression.row_moments",
    "plan_split": "discreet.noiseless.regression.splitting",
    "slopes_by_norm": "discreet.noiseless.regression.coefficients",
    "star_box": "discreet.noiseless.regression.star_boxes",
    "variance_of_all": "discreet.noiseless.regression.split_variance",
    "variance_of_split": "discreet.noiseless.regression.split_variance",
}

__all__ = [
    "Advice",
    "Advised",
    "BreakingPoint",
    "Certifiable",
    "CertifiedPoint",
    "DeclaredRelation",
    "ExactRegression",
    "ExpectedLine",
    "Inference",
    "MeasuredColumn",
    "NoLine",
    "NoiseInstead",
    "PoissonHistogram",
    "Polynomial",
    "RegressionDesign",
    "RegressionLine",
    "ReleasedMoments",
    "RowMoment",
    "RowUse",
    "SampledHistogram",
    "Target",
    "Way",
    "certificate_picture",
    "check_model",
    "exception_chance",
    "freedom_of",
    "inferred",
    "line_of",
    "moments_of",
    "plan_split",
    "slopes_by_norm",
    "star_box",
    "variance_of_all",
    "variance_of_split",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
