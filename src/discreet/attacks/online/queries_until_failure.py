"""How many adaptive queries a mechanism stands, by the number of its rows."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import frozen

from discreet.accounting.picture import QUIET, new_figure, tidy
from discreet.attacks.online.code_keys import KeyKind
from discreet.attacks.online.codeword_attack import CodewordPlan, OpenRows, attack_codewords
from discreet.core.check import at_least_one
from discreet.core.errors import InvalidArgument
from discreet.core.protocols import Rng

_USERS = 20


@frozen(kw_only=True)
class FailureCurve:
    """After how many queries a mechanism was wrong, for samples of several sizes.

    Attributes:
        people: The sizes.
        queries: For each, the median number of queries until the first wrong answer; infinite if
            most attacks ended without one.
    """

    people: tuple[int, ...]
    queries: tuple[float, ...]

    @property
    def slope(self) -> float:
        """The power of the number of rows with which the queries grow, by least squares of logs.

        Example:
            >>> round(FailureCurve(people=(2, 4), queries=(100.0, 400.0)).slope, 9)
            2.0
        """
        kept = [pair for pair in zip(self.people, self.queries, strict=True) if pair[1] < math.inf]
        if len({people for people, _ in kept}) < 2:
            return math.nan
        across, up = (np.log(np.array(side, dtype=np.float64)) for side in zip(*kept, strict=True))
        return float(np.polyfit(across, up, 1)[0])

    def __str__(self) -> str:
        pairs = ", ".join(
            f"{people} rows: {queries:,.0f}" if queries < math.inf else f"{people} rows: none"
            for people, queries in zip(self.people, self.queries, strict=True)
        )
        grown = "" if math.isnan(self.slope) else f" They grow as the power {self.slope:.2f}."
        return f"Queries until the first wrong answer: {pairs}.{grown}"

    def to_json(self) -> dict[str, object]:
        """Return the curve for other programs."""
        shown = [None if one == math.inf else one for one in self.queries]
        slope = None if math.isnan(self.slope) else self.slope
        return {"people": list(self.people), "queries": shown, "slope": slope}


def failure_curve(
    open_rows: OpenRows,
    *,
    people: Sequence[int],
    rng: Rng,
    repeats: int = 3,
    keys: KeyKind | str = KeyKind.STREAM,
) -> FailureCurve:
    """Attack samples of several sizes by practical code words, each size several times.

    All sizes have one population, so that the threshold's logarithm is the same for all.

    Example:
        >>> from discreet import SystemRng
        >>> from discreet.attacks.online.sample_answers import ExactMeans
        >>> curve = failure_curve(
        ...     lambda rows: ExactMeans(rows=rows), people=[1, 2], rng=SystemRng(), repeats=1
        ... )
        >>> curve.queries[0] < curve.queries[1]
        True
    """
    sizes, count = [at_least_one(one, "people") for one in people], at_least_one(repeats, "repeats")
    if not sizes:
        raise InvalidArgument("There is no size", must="be one number of rows or more")
    found = []
    for size in sizes:
        plan = CodewordPlan.practical(size, users=_USERS * max(sizes))
        runs = [attack_codewords(open_rows, plan=plan, rng=rng, keys=keys) for _ in range(count)]
        ends = [math.inf if run.failed_at is None else run.failed_at for run in runs]
        found.append(float(np.median(ends)))
    return FailureCurve(people=tuple(sizes), queries=tuple(found))


def curve_of_failures(curves: dict[str, FailureCurve]) -> Any:
    """Draw curves beside the square of the number of rows, with logarithmic axes.

    The first curve must have an end everywhere: its numbers stand beside the axes.
    """
    figure = new_figure()
    axes = figure.subplots()
    first = next(iter(curves.values()))
    for name, curve in curves.items():
        axes.plot(curve.people, curve.queries, "o-", label=name)
    scale = first.queries[0] / first.people[0] ** 2
    ends = np.array([min(first.people), max(first.people)], dtype=np.float64)
    axes.plot(ends, scale * ends**2, "--", color=QUIET, label="square of the rows")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.minorticks_off()
    axes.set_xticks(first.people, [str(one) for one in first.people])
    axes.set_yticks(first.queries, [f"{one:,.0f}" for one in first.queries])
    axes.legend(frameon=False)
    tidy(axes, title="Adaptive queries until an answer is wrong", x="rows", y="queries")
    return figure
