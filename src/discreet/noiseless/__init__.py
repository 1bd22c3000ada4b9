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
    "FixedHistogram": "discreet.noiseless.histograms.resampled_cells",
    "Inference": "discreet.noiseless.inference",
    "MapRelease": "discreet.noiseless.stable.map_release",
    "MostCommonRelease": "discreet.noiseless.stable.most_common",
    "NoiseInstead": "discreet.noiseless.certifiable",
    "OtherRows": "discreet.noiseless.histograms.size_laws",
    "PoissonHistogram": "discreet.noiseless.histograms.truncated_histogram",
    "PopulationHistogram": "discreet.noiseless.histograms.sized_histogram",
    "RandomDiscarding": "discreet.noiseless.histograms.random_discarding",
    "RowFamily": "discreet.noiseless.stable.row_families",
    "SampledHistogram": "discreet.noiseless.histograms.truncated_histogram",
    "SizedHistogram": "discreet.noiseless.histograms.sized_histogram",
    "StableRelease": "discreet.noiseless.stable.stable_release",
    "Target": "discreet.noiseless.certifiable",
    "ThresholdRelease": "discreet.noiseless.stable.threshold_release",
    "Way": "discreet.noiseless.certifiable",
    "affinity_up": "discreet.noiseless.stable.row_families",
    "any_simulator_delta": "discreet.noiseless.histograms.cell_enumeration",
    "cell_sides": "discreet.noiseless.histograms.cell_enumeration",
    "certificate_picture": "discreet.noiseless.certificate_drawing",
    "check_model": "discreet.noiseless.finite.checked_model",
    "chernoff_instability": "discreet.noiseless.stable.map_bounds",
    "exception_chance": "discreet.noiseless.inference",
    "finite_family": "discreet.noiseless.stable.row_families",
    "inferred": "discreet.noiseless.inference",
    "part_of_population": "discreet.noiseless.histograms.cell_enumeration",
    "poisson_sizes": "discreet.noiseless.histograms.size_laws",
    "sampled_instability": "discreet.noiseless.stable.sampled_instability",
    "share_of_rows": "discreet.noiseless.histograms.cell_enumeration",
    "size_law": "discreet.noiseless.histograms.size_laws",
    "source_instability": "discreet.noiseless.stable.map_bounds",
    "stable_delta": "discreet.noiseless.stable.stable_release",
    "truncated_normals": "discreet.noiseless.stable.row_families",
    "two_sided_geometric": "discreet.noiseless.histograms.size_laws",
    "unsmooth_mass": "discreet.noiseless.histograms.size_laws",
}

__all__ = [
    "Advice",
    "Advised",
    "BreakingPoint",
    "Certifiable",
    "CertifiedPoint",
    "FixedHistogram",
    "Inference",
    "MapRelease",
    "MostCommonRelease",
    "NoiseInstead",
    "OtherRows",
    "PoissonHistogram",
    "PopulationHistogram",
    "RandomDiscarding",
    "RowFamily",
    "SampledHistogram",
    "SizedHistogram",
    "StableRelease",
    "Target",
    "ThresholdRelease",
    "Way",
    "affinity_up",
    "any_simulator_delta",
    "cell_sides",
    "certificate_picture",
    "check_model",
    "chernoff_instability",
    "exception_chance",
    "finite_family",
    "inferred",
    "part_of_population",
    "poisson_sizes",
    "sampled_instability",
    "share_of_rows",
    "size_law",
    "source_instability",
    "stable_delta",
    "truncated_normals",
    "two_sided_geometric",
    "unsmooth_mass",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
