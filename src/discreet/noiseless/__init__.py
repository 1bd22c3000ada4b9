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
    "Inference": "discreet.noiseless.inference",
    "NoiseInstead": "discreet.noiseless.certifiable",
    "PoissonHistogram": "discreet.noiseless.histograms.truncated_histogram",
    "SampledHistogram": "discreet.noiseless.histograms.truncated_histogram",
    "Target": "discreet.noiseless.certifiable",
    "Way": "discreet.noiseless.certifiable",
    "certificate_picture": "discreet.noiseless.certificate_drawing",
    "check_model": "discreet.noiseless.finite.checked_model",
    "exception_chance": "discreet.noiseless.inference",
    "inferred": "discreet.noiseless.inference",
}

__all__ = [
    "Advice",
    "Advised",
    "BreakingPoint",
    "Certifiable",
    "CertifiedPoint",
    "Inference",
    "NoiseInstead",
    "PoissonHistogram",
    "SampledHistogram",
    "Target",
    "Way",
    "certificate_picture",
    "check_model",
    "exception_chance",
    "inferred",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
