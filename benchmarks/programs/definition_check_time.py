"""Print seconds of one check: ``python definition_check_time.py DEFINITION LAW ROWS``.

The sum of ROWS bits is released, so there are 2**ROWS databases. LAW says what is believed of
them: ``fair`` (independent bits), ``biased`` (independent, each with a bias of its own), ``mixed``
(one of two biases, the same for all) or ``any`` (a law with no structure at all, where nothing can
be merged). Loading libraries is not counted, and making the model is. What was found goes to the
standard error: the least δ at ε = 1/2.
"""

import json
import sys
import time
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from discreet.core.optional import load
from discreet.noiseless.finite.checked_delta import CheckedDelta
from discreet.noiseless.finite.compared_laws import check_differential, check_noiseless
from discreet.noiseless.finite.coupled_pairs import individuals
from discreet.noiseless.finite.coupled_worlds import check_distributional, check_simulated
from discreet.noiseless.finite.finite_model import (
    FiniteModel,
    deterministic,
    independent_rows,
    mixture,
    without_knowledge,
)

HALF = Fraction(1, 2)
BITS = [0, 1]


def fair(rows: int) -> Mapping[Any, Fraction]:
    """Return the law of independent fair bits."""
    return independent_rows(BITS, rows, [HALF, HALF])


def biased(rows: int) -> Mapping[Any, Fraction]:
    """Return the law of independent bits, each with its own bias."""
    shares = [Fraction(i + 1, 2 * rows) for i in range(rows)]
    return independent_rows(BITS, rows, [[share, 1 - share] for share in shares])


def mixed(rows: int) -> Mapping[Any, Fraction]:
    """Return the law of bits that share one of two biases."""
    parts = [
        independent_rows(BITS, rows, [share, 1 - share])
        for share in (Fraction(3, 10), Fraction(7, 10))
    ]
    return mixture([(HALF, part) for part in parts])


def anything(rows: int) -> Mapping[Any, Fraction]:
    """Return a law with scattered weights."""
    weights = {x: 1 + i * 7_368_787 % 15_485_863 % 999 for i, x in enumerate(fair(rows))}
    total = sum(weights.values())
    return {x: Fraction(weight, total) for x, weight in weights.items()}


LAWS = {"fair": fair, "biased": biased, "mixed": mixed, "any": anything}

CHECKS: Mapping[str, Callable[[FiniteModel, int], CheckedDelta]] = {
    "distributional": lambda model, rows: check_distributional(model, rows, HALF),
    "simulated": lambda model, rows: check_simulated(model, rows, HALF),
    "noiseless": lambda model, rows: check_noiseless(model, individuals(rows), HALF),
    "differential": lambda model, _: check_differential(model.mechanism, HALF),
}


def main(definition: str, law: str, rows: int) -> None:
    """Time one check."""
    for name in ("scipy.optimize", "scipy.sparse"):
        load(name)
    start = time.perf_counter()
    believed = LAWS[law](rows)
    model = FiniteModel(deterministic(sum, believed), [without_knowledge(believed)])
    found = CHECKS[definition](model, rows)
    seconds = time.perf_counter() - start
    print(f"{definition}, {law}, {2**rows} databases: δ = {found}", file=sys.stderr)
    print(json.dumps({"seconds": seconds}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
