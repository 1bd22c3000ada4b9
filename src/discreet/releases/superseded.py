"""Superseded: what is wrong with a release that an earlier version made, said wherever it is read.

Such a release is never given again as an answer, because its plan has another name now. It stays in
the ledger, and whoever reads it there has to know.
"""

from fractions import Fraction
from typing import Any

from discreet.tables.plans.plan import BOUNDING

NOISE = 2
"""The version of the samplers, which is part of a plan's name as the rules of bounding are.

Version 1 had noise of a scale of 2**23 or more with zeros in the low bits of some draws.
"""

_FIRST = {"bounding": 1, "noise": 1}
"""What made the releases that do not say."""

_FAULTY_SCALE = 2**23


def superseded(body: dict[str, Any]) -> list[str]:
    """Return what was wrong with the rules and the noise that made a release, each as a sentence.

    Example:
        >>> superseded({"made": {"bounding": 2, "noise": 2}})
        []
    """
    made = body.get("made", _FIRST)
    found = []
    if made["bounding"] < BOUNDING and body["limits"]["leave_out"]:
        found.append(
            "made by an earlier version, which did not keep a fair sample of rows: where a unit had"
            " more rows than its limit, rare values were kept too often and each FILTER counted"
            " rows of its own, so shares and means can be far off; ask again"
        )
    if made["noise"] < NOISE and any(map(_is_faulty, body["aggregates"])):
        found.append(
            "made by an earlier version, whose noise of a scale of 2^23 or more was not exact: it"
            " told more about single units than its cost says (see SECURITY.md)"
        )
    return found


def _is_faulty(aggregate: dict[str, Any]) -> bool:
    noise = aggregate["noise"]
    if "sigma_squared" in noise:
        return Fraction(noise["sigma_squared"]) >= _FAULTY_SCALE**2
    return noise["law"] != "quantile" and Fraction(noise["scale"]) >= _FAULTY_SCALE
