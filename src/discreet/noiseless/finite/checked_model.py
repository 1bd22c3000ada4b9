"""Check a small model of one's own: which definition holds, with which numbers, in words."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from attrs import field, frozen

from discreet.core.numbers import float_up
from discreet.noiseless.finite.checked_delta import CheckedDelta, CheckedEpsilon, least_epsilon
from discreet.noiseless.finite.compared_laws import (
    check_differential,
    check_noiseless,
    check_pufferfish,
)
from discreet.noiseless.finite.coupled_worlds import check_coupled_worlds, check_simulated
from discreet.noiseless.finite.inference_forms import check_inference, check_semantic
from discreet.noiseless.finite.model_file import (
    WORST_CASE,
    DeclaredModel,
    PrivacyDefinition,
    read_model,
)

_NAMES: Mapping[PrivacyDefinition, str] = {
    PrivacyDefinition.DIFFERENTIAL: "Differential privacy",
    PrivacyDefinition.SIMULATED: "Differential privacy in simulator form",
    PrivacyDefinition.DISTRIBUTIONAL: "Distributional privacy (coupled worlds)",
    PrivacyDefinition.INFERENCE: "Distributional privacy in inference form",
    PrivacyDefinition.NOISELESS: "Noiseless privacy",
    PrivacyDefinition.PUFFERFISH: "Pufferfish privacy",
    PrivacyDefinition.SEMANTIC: "Semantic privacy",
}

_MEANINGS: Mapping[PrivacyDefinition, str] = {
    PrivacyDefinition.DIFFERENTIAL: "Whoever knows all rows but one learns little of that one.",
    PrivacyDefinition.SIMULATED: "Somebody who never saw the row could have said nearly the same. "
    "Two neighbours are then 2ε and (1 + e^ε)δ apart, not ε and δ.",
    PrivacyDefinition.DISTRIBUTIONAL: "Somebody who never saw what is private could have said "
    "nearly the same, as far as an adversary with these beliefs can tell.",
    PrivacyDefinition.INFERENCE: "What is believed after the release is nearly what would be "
    "believed after a simulator had said the same. The simulator is the best one of the coupled "
    "worlds, or a constant one; another may do better.",
    PrivacyDefinition.NOISELESS: "The release looks nearly alike for two values of what is "
    "private. A mixture of laws, or an adversary who knows less, is not covered.",
    PrivacyDefinition.PUFFERFISH: "The release looks nearly alike whether a secret is 0 or 1. A "
    "mixture of laws, or an adversary who knows less, is not covered.",
    PrivacyDefinition.SEMANTIC: "Here ε is a distance of beliefs, from 0 to 1. δ is how often the "
    "release moves them further than that, under the laws that are listed.",
}


@frozen(eq=False, kw_only=True)
class CheckedModel:
    """What was found for a model: the least δ at each ε, and the least ε if a δ was given.

    Attributes:
        declared: What was asked.
        found: The least δ at each ε.
        least: The least ε at the δ that was given; None if none was.
    """

    declared: DeclaredModel = field(repr=False)
    found: tuple[CheckedDelta, ...]
    least: CheckedEpsilon | None

    @property
    def text(self) -> str:
        """All of it in words."""
        asked = self.declared
        lines = [
            f"{_NAMES[asked.definition]} of {asked.statistic}",
            _size(asked),
            *_believed(asked),
            "",
            f"{'ε':>8}  least δ",
            *(f"{float(one.epsilon):>8.6g}  {one}{_holds(one)}" for one in self.found),
        ]
        if self.least is not None:
            lines += ["", f"Least ε with δ = {float(self.least.delta):.6g}: {self.least}"]
        worst = next((one.where for one in self.found if one.where), "")
        lines += ["", *([f"Worst where {worst}."] if worst else []), _MEANINGS[asked.definition]]
        return "\n".join(lines)

    def __str__(self) -> str:
        """Return the text."""
        return self.text

    def to_json(self) -> dict[str, Any]:
        """Return what was found, with exact ends of every number as texts."""
        asked = self.declared
        return {
            "definition": asked.definition.value,
            "statistic": asked.statistic,
            "rows": asked.rows,
            "databases": asked.model.size,
            "laws": len(asked.model.laws),
            "known": asked.known,
            "private": asked.private,
            "is_position_known": asked.is_position_known,
            "deltas": [
                {
                    "epsilon": str(one.epsilon),
                    "low": str(one.low),
                    "high": str(one.high),
                    "delta": float_up(one.high),
                    "where": one.where,
                }
                for one in self.found
            ],
            "least_epsilon": None
            if self.least is None
            else {
                "delta": str(self.least.delta),
                "low": str(self.least.low),
                "high": None if self.least.high is None else str(self.least.high),
            },
            "meaning": _MEANINGS[asked.definition],
        }


def _size(asked: DeclaredModel) -> str:
    size = f"{asked.rows} rows over {asked.values} values: {asked.model.size} databases"
    return f"{size}; private is {asked.private}."


def _believed(asked: DeclaredModel) -> list[str]:
    if asked.definition in WORST_CASE:
        return ["Nothing is assumed of the rows."]
    count = len(asked.model.laws)
    laws = "one law" if count == 1 else f"one of {count} laws"
    return [f"Assumed of the rows: {laws}. The adversary knows {asked.known}."]


def _holds(one: CheckedDelta) -> str:
    if one.high == 0:
        return " (it holds without any δ)"
    return " (it says nothing)" if one.low >= 1 else ""


def check_model(source: str | Path | Mapping[str, Any]) -> CheckedModel:
    r"""Check a model file, or a mapping with the same keys, and return what was found.

    Guarantee:
        Every δ that is shown is an upper bound of the least one, and every lower end is certain,
        for the model as it is written. A model is no data: nothing private is read.

    Example:
        >>> model = {
        ...     "definition": "distributional", "epsilon": [0, "1/2"],
        ...     "universe": [0, 1], "rows": 4,
        ...     "law": {"probabilities": ["1/2", "1/2"]}, "mechanism": {"name": "sum"},
        ... }
        >>> [str(one) for one in check_model(model).found]
        ['0.1875', '0.0604876']
    """
    asked = read_model(source)
    check = _checker(asked)
    found = tuple(check(epsilon) for epsilon in asked.epsilons)
    least = None if asked.delta is None else least_epsilon(check, asked.delta, tolerance="1e-4")
    return CheckedModel(declared=asked, found=found, least=least)


def _checker(asked: DeclaredModel) -> Callable[[Fraction], CheckedDelta]:
    model, pairs, rows = asked.model, asked.pairs, asked.rows
    is_known = asked.is_position_known
    match asked.definition:
        case PrivacyDefinition.DIFFERENTIAL:
            return lambda epsilon: check_differential(model.mechanism, epsilon)
        case PrivacyDefinition.SIMULATED:
            return lambda epsilon: check_simulated(model, rows, epsilon, is_position_known=is_known)
        case PrivacyDefinition.DISTRIBUTIONAL:
            return lambda epsilon: check_coupled_worlds(
                model, pairs, epsilon, is_position_known=is_known
            )
        case PrivacyDefinition.INFERENCE:
            return lambda epsilon: _inference(asked, epsilon)
        case PrivacyDefinition.NOISELESS:
            return lambda epsilon: check_noiseless(model, pairs, epsilon)
        case PrivacyDefinition.PUFFERFISH:
            return lambda epsilon: check_pufferfish(model, asked.secrets, epsilon)
        case PrivacyDefinition.SEMANTIC:
            priors = [_marginal(law) for law in model.laws]
            return lambda epsilon: check_semantic(
                model.mechanism, priors, rows, epsilon, default=asked.default
            )


def _inference(asked: DeclaredModel, epsilon: Fraction) -> CheckedDelta:
    """Check the inference form with two simulators, and return the better one's δ."""
    model, pairs, is_known = asked.model, asked.pairs, asked.is_position_known
    best = check_coupled_worlds(model, pairs, epsilon, is_position_known=is_known).simulator
    constant = _constant(asked)
    tried = [
        check_inference(model, pairs, best, epsilon, is_position_known=is_known),
        check_inference(model, pairs, lambda _: constant, epsilon, is_position_known=is_known),
    ]
    found = min(tried, key=lambda one: one.high)
    # Over all simulators nothing is known from below.
    return CheckedDelta(found.epsilon, Fraction(0), found.high, found.where)


def _constant(asked: DeclaredModel) -> Mapping[Any, Fraction]:
    """Return the law of what is released, under the mean of all laws."""
    laws = asked.model.laws
    mixed: dict[Any, Fraction] = {}
    for law in laws:
        for (x, _), mass in law.items():
            for outcome, share in asked.model.mechanism[x].items():
                mixed[outcome] = mixed.get(outcome, Fraction(0)) + mass * share / len(laws)
    return mixed


def _marginal(law: Mapping[Any, Fraction]) -> dict[Any, Fraction]:
    prior: dict[Any, Fraction] = {}
    for (x, _), mass in law.items():
        prior[x] = prior.get(x, Fraction(0)) + mass
    return prior
