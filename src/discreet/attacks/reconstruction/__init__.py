"""Recovers rows from answers: differences, many noisy counts, one exact number, a printed table.

All that a user takes is importable from here, differencing included.

Example:
    >>> from discreet.attacks.reconstruction import GroupedSum, value_range
    >>> value_range(GroupedSum(people=1, total=40, low=0, high=120)) == (40, 40)
    True
"""

from discreet.core.lazy_names import lazy_names

_HOMES = {
    "AgeRule": "discreet.attacks.reconstruction.printed_table",
    "AtomicCounts": "discreet.attacks.reconstruction.subset_counts",
    "BlockCell": "discreet.attacks.reconstruction.census_block",
    "BlockVerdict": "discreet.attacks.reconstruction.census_block",
    "CellAudit": "discreet.attacks.reconstruction.withheld_cells",
    "CellRange": "discreet.attacks.reconstruction.withheld_cells",
    "CellTable": "discreet.attacks.reconstruction.withheld_cells",
    "ConsistentBits": "discreet.attacks.reconstruction.decode_counts",
    "DecodedBits": "discreet.attacks.reconstruction.decode_counts",
    "DifferencedBit": "discreet.attacks.differencing",
    "ExactCounts": "discreet.attacks.reconstruction.subset_counts",
    "Frontier": "discreet.attacks.reconstruction.frontier",
    "FrontierPoint": "discreet.attacks.reconstruction.frontier",
    "GroupedSum": "discreet.attacks.reconstruction.grouped_sum",
    "GuessingRecord": "discreet.attacks.reconstruction.guess_ceiling",
    "MemoisedCounts": "discreet.attacks.reconstruction.subset_counts",
    "NoisyCounts": "discreet.attacks.reconstruction.subset_counts",
    "PeopleGroup": "discreet.attacks.reconstruction.printed_table",
    "PersonKind": "discreet.attacks.reconstruction.printed_table",
    "PopulationFact": "discreet.attacks.reconstruction.population_fact",
    "PrintedCounts": "discreet.attacks.reconstruction.printed_counts",
    "PrintedStatistic": "discreet.attacks.reconstruction.printed_table",
    "PrintedTable": "discreet.attacks.reconstruction.printed_table",
    "ReconstructedBlock": "discreet.attacks.reconstruction.census_block",
    "RestrictedCounts": "discreet.attacks.reconstruction.subset_counts",
    "SuppressedCounts": "discreet.attacks.reconstruction.subset_counts",
    "WithheldTable": "discreet.attacks.reconstruction.withhold_cells",
    "all_ages": "discreet.attacks.reconstruction.age_combinations",
    "all_subsets": "discreet.attacks.reconstruction.decode_counts",
    "as_bits": "discreet.attacks.reconstruction.subset_counts",
    "audit_cells": "discreet.attacks.reconstruction.withheld_cells",
    "combinations_left": "discreet.attacks.reconstruction.age_combinations",
    "consistent_bits": "discreet.attacks.reconstruction.decode_counts",
    "count_cells": "discreet.attacks.reconstruction.withheld_cells",
    "decode_linear": "discreet.attacks.reconstruction.decode_counts",
    "decode_powers": "discreet.attacks.reconstruction.one_query",
    "decode_squares": "discreet.attacks.reconstruction.decode_counts",
    "difference": "discreet.attacks.differencing",
    "distinct_ages": "discreet.attacks.reconstruction.age_combinations",
    "expected_share": "discreet.attacks.reconstruction.decode_counts",
    "find_undetermined": "discreet.attacks.reconstruction.decode_counts",
    "guess_by_refusal": "discreet.attacks.differencing",
    "measure_frontier": "discreet.attacks.reconstruction.frontier",
    "padded_pairs": "discreet.attacks.differencing",
    "play_guessing": "discreet.attacks.reconstruction.guess_ceiling",
    "play_population_fact": "discreet.attacks.reconstruction.population_fact",
    "power_query": "discreet.attacks.reconstruction.one_query",
    "queries_to_average": "discreet.attacks.differencing",
    "random_subsets": "discreet.attacks.reconstruction.decode_counts",
    "read_cells": "discreet.attacks.reconstruction.withheld_cells",
    "read_counts": "discreet.attacks.reconstruction.printed_counts",
    "read_table": "discreet.attacks.reconstruction.printed_table",
    "reconstruct_block": "discreet.attacks.reconstruction.census_block",
    "track": "discreet.attacks.differencing",
    "track_groups": "discreet.attacks.differencing",
    "track_overlap": "discreet.attacks.differencing",
    "value_range": "discreet.attacks.reconstruction.grouped_sum",
    "withhold_more": "discreet.attacks.reconstruction.withhold_cells",
    "withhold_small": "discreet.attacks.reconstruction.withhold_cells",
}

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
