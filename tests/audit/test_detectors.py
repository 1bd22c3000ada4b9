"""The table of broken twins and their detectors: a test's name says who catches what.

A test of a twin is called ``test_DETECTOR_catches_...``. The table below is of those that sampling
must catch; each is run as the test that it is. A twin that names no known detector fails here, and
so does one of sampling that is not in the table.
"""

import re
from collections import Counter
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parents[1]
NAMED = re.compile(r"^def (test_(?:the_)?(\w+?)_catches(?:_\w+)?)\(", re.MULTILINE)

DETECTORS = {
    "verifier": "exact verifier",
    "exact_verifier": "exact verifier",
    "exact_sums": "exact verifier",
    "exact_law": "exact verifier",
    "exact_curve": "exact verifier",
    "enumeration": "exact verifier",
    "tail": "exact verifier",
    "count": "exact verifier",
    "accountant": "accountant",
    "replay": "replay",
    "sampling": "sampling",
}

SAMPLING = {
    "audit/test_battery_twins.py": {"test_sampling_catches_it_without_being_asked"},
    "audit/test_catalogue.py": {
        "test_sampling_catches_a_clamp_that_is_looked_at_only_below",
        "test_sampling_catches_normal_noise_of_half_the_variance_by_cells",
        "test_sampling_catches_twins_of_vectors",
    },
    "audit/test_catalogue_of_choices.py": {"test_sampling_catches_choices_that_pay_too_little"},
    "audit/test_catalogue_of_machines.py": {"test_sampling_catches_machines_that_pay_too_little"},
    "audit/test_catalogue_of_schemes.py": {"test_sampling_catches_answers_that_are_not_kept"},
    "audit/test_one_run.py": {"test_sampling_catches_half_the_noise_in_one_run"},
    "audit/test_twins.py": {
        "test_sampling_catches_one_draw_for_all_cells",
        "test_sampling_catches_porous_low_bits",
    },
    "mechanisms/stability/test_twins.py": {"test_sampling_catches_the_threshold_for_one_group"},
}


@cache
def catching() -> tuple[tuple[str, str, str], ...]:
    """Return file, test and detector of every twin; the house's own rules have no detector."""
    paths = [path for path in sorted(TESTS.rglob("test_*.py")) if "house" not in path.parts]
    return tuple(
        (path.relative_to(TESTS).as_posix(), *found)
        for path in paths
        for found in NAMED.findall(path.read_text(encoding="utf-8"))
    )


def test_every_twin_names_a_known_detector():
    assert {detector for _, _, detector in catching()} <= set(DETECTORS)


def test_the_table_has_every_twin_of_sampling():
    found: dict[str, set[str]] = {}
    for path, name, detector in catching():
        if DETECTORS.get(detector) == "sampling":
            found.setdefault(path, set()).add(name)
    assert found == SAMPLING


def test_every_detector_has_twins():
    counted = Counter(DETECTORS[detector] for _, _, detector in catching())
    assert set(counted) == set(DETECTORS.values())
    assert min(counted.values()) >= 5
