"""Attacks on published rows: who stands alone, who is linked, and what a class gives away.

Reports of these attacks are private: who is unique or linked *is* the data. All that a user takes
is importable from here.

Example:
    >>> from discreet.attacks.records import code_rows, find_unique
    >>> find_unique(code_rows({"zip": [1, 1, 2]})).shares[0].unique
    1
"""

from discreet.core.lazy_names import lazy_names

_HOMES = {
    "AnonymisedRows": "discreet.attacks.records.anonymised_rows",
    "AnonymityReport": "discreet.attacks.records.class_report",
    "AuxiliaryColumn": "discreet.attacks.records.outside_knowledge",
    "AuxiliaryExposure": "discreet.attacks.records.outside_knowledge",
    "BackgroundExposure": "discreet.attacks.records.outside_knowledge",
    "CodedRows": "discreet.attacks.records.coded_rows",
    "HomogeneousClasses": "discreet.attacks.records.class_report",
    "IntersectedReleases": "discreet.attacks.records.intersection",
    "NumberIntervals": "discreet.attacks.records.hierarchy",
    "LinkedRows": "discreet.attacks.records.linkage",
    "MaskedRows": "discreet.attacks.records.mask_rows",
    "MatchScales": "discreet.attacks.records.sparse_match",
    "MatchVerdict": "discreet.attacks.records.sparse_match",
    "Prefixes": "discreet.attacks.records.hierarchy",
    "SparseMatch": "discreet.attacks.records.sparse_match",
    "SparseRows": "discreet.attacks.records.sparse_match",
    "Suppression": "discreet.attacks.records.hierarchy",
    "Tree": "discreet.attacks.records.hierarchy",
    "UniqueShare": "discreet.attacks.records.uniqueness",
    "UniquenessReport": "discreet.attacks.records.uniqueness",
    "UnmaskedShare": "discreet.attacks.records.unmask",
    "alike_columns": "discreet.attacks.records.coded_rows",
    "anonymise": "discreet.attacks.records.anonymised_rows",
    "code_rows": "discreet.attacks.records.coded_rows",
    "collapse": "discreet.attacks.records.mask_rows",
    "find_homogeneous": "discreet.attacks.records.class_report",
    "find_unique": "discreet.attacks.records.uniqueness",
    "inject_noise": "discreet.attacks.records.mask_rows",
    "intersect_releases": "discreet.attacks.records.intersection",
    "know_more": "discreet.attacks.records.outside_knowledge",
    "link_nearest": "discreet.attacks.records.unmask",
    "link_rows": "discreet.attacks.records.linkage",
    "match_sparse": "discreet.attacks.records.sparse_match",
    "read_rows": "discreet.attacks.records.coded_rows",
    "report_anonymity": "discreet.attacks.records.class_report",
    "rule_out": "discreet.attacks.records.outside_knowledge",
    "sample_rows": "discreet.attacks.records.mask_rows",
    "score_links": "discreet.attacks.records.unmask",
    "sensitive_candidates": "discreet.attacks.records.class_report",
    "sparse_rows": "discreet.attacks.records.sparse_match",
    "swap_values": "discreet.attacks.records.mask_rows",
    "top_code": "discreet.attacks.records.mask_rows",
    "undo_top_code": "discreet.attacks.records.unmask",
}

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
