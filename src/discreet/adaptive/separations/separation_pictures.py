"""Pictures of what may be asked at once, one by one, and adaptively. They need matplotlib."""

from fractions import Fraction
from typing import Any

from discreet.accounting.picture import ACCENT, INK, OTHERS, new_figure, tidy
from discreet.adaptive.separations.prefix_separation import (
    PrefixSeparation,
    most_offline_prefixes,
    most_online_prefixes,
)
from discreet.adaptive.separations.threshold_separation import (
    people_adaptive,
    people_offline,
    people_online,
)
from discreet.adaptive.separations.vector_separation import VectorSeparation
from discreet.core.loss import Approximate
from discreet.core.numbers import Number, exact

_LARGEST = 10.0**60


def prefix_picture(shown: PrefixSeparation, *, error: Number = Fraction(1, 5)) -> Any:
    """Draw how many prefix questions are possible, and the scores of those who were asked about."""
    figure = new_figure(9, 4)
    left, right = figure.subplots(1, 2)
    people = [round(10 ** (place / 8)) for place in range(40, 65)]
    offline = [most_offline_prefixes(people=n, texts=n, epsilon=1, error=error) for n in people]
    online = [
        most_online_prefixes(people=n, loss=Approximate(1, Fraction(1, 30 * n)), error=error)
        for n in people
    ]
    left.plot(
        people,
        [min(_LARGEST, max(0.1, float(k))) for k in offline],
        color=ACCENT,
        label="known at once: this many can be had",
    )
    left.plot(
        people,
        [float(k or 0) for k in online],
        color=OTHERS[1],
        label="one by one: nobody answers more",
    )
    left.set_xscale("log")
    left.set_yscale("log")
    left.set_ylim(1, _LARGEST)
    tidy(
        left, title=f"Prefix questions within {float(exact(error)):.2g}", x="people", y="questions"
    )
    left.legend(frameon=False, fontsize=8, loc="upper left")
    both = [*shown.members, *shown.outsiders]
    bins = [min(both) + (max(both) - min(both)) * step / 30 for step in range(31)]
    right.hist(shown.outsiders, bins=bins, color=OTHERS[0], alpha=0.7, label="not in the data")
    right.hist(shown.members, bins=bins, color=OTHERS[1], alpha=0.7, label="in the data")
    tidy(
        right,
        title=f"{shown.people:,} people, {shown.questions:,} questions one by one",
        x="how much the answers go along with a person",
        y="people",
    )
    right.legend(frameon=False, fontsize=8)
    return figure


def vector_picture(shown: VectorSeparation) -> Any:
    """Draw how much adaptive answers tell of the data, the more of them there are."""
    figure = new_figure()
    axes = figure.subplots()
    counts = range(1, len(shown.agreed) + 1)
    axes.plot(counts, shown.agreed, color=OTHERS[1], label="adaptive: a valid answer each time")
    axes.plot(
        [1, len(shown.agreed)],
        [shown.agreed[0]] * 2,
        color=ACCENT,
        label="fixed questions: one answer, again and again",
    )
    axes.axhline(0.75, color=INK, linewidth=0.8, linestyle=":")
    end = len(shown.agreed)
    said = "nobody with ε = 1, δ = 0.05 is surely above"
    axes.annotate(said, (end, 0.745), color=INK, fontsize=8, va="top", ha="right")
    axes.set_ylim(0.5, 1.02)
    tidy(axes, title="Correlated vectors", x="questions", y="share of people whose sign is known")
    axes.legend(frameon=False, fontsize=8, loc="lower right")
    return figure


def threshold_picture(
    *, epsilon: Number = 1, delta: Number = "1e-9", alpha: Number = "0.05", beta: Number = "0.05"
) -> Any:
    """Draw how many people thresholds take: known at once, one by one, and adaptively with a δ."""
    figure = new_figure()
    axes = figure.subplots()
    counts = [round(10 ** (place / 4)) for place in range(4, 25)]
    asked: dict[str, Any] = {"alpha": alpha, "beta": beta}
    axes.plot(
        counts,
        [people_offline(questions=k, epsilon=epsilon, **asked) for k in counts],
        color=ACCENT,
        label="pure, known at once: enough",
    )
    least = [people_online(questions=k, epsilon=epsilon, **asked) for k in counts]
    axes.plot(counts, least, color=OTHERS[1], label="pure, one by one: needed")
    axes.fill_between(counts, least, 1, color=OTHERS[1], alpha=0.15)
    loss = Approximate(exact(epsilon), exact(delta))
    axes.plot(
        counts,
        [people_adaptive(questions=k, loss=loss, **asked) for k in counts],
        color=OTHERS[2],
        label="with a δ, adaptive: enough",
    )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(bottom=10)
    tidy(axes, title=f"Thresholds within {float(exact(alpha)):.2g}", x="questions", y="people")
    axes.legend(frameon=False, fontsize=8, loc="upper left")
    return figure
