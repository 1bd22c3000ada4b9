"""What all reports of one person tell, if answers are kept, and if they are not."""

import math
from typing import Any

from discreet.accounting.picture import ACCENT, INK, OTHERS, new_figure, tidy
from discreet.core import check, optional
from discreet.core.event import ComposedEvent
from discreet.local.scheme import Scheme


def kept_lifetime(
    scheme: Scheme, *, distinct: int, questions: int = 1, versions: int = 1, devices: int = 1
) -> ComposedEvent:
    r"""Describe all reports of a person whose devices keep their answers, however many there are.

    Guarantee:
        A device that keeps one answer for each value says nothing new when it repeats one. Let two
        histories of values change at the same times, and let each have ``distinct`` different
        values. Then the reports are that many independent answers, repeated, and their
        probabilities differ by at most ``odds`` for each (of RAPPOR by those of its permanent
        response, which every report tells more of): the losses add up, over distinct values,
        over questions, over versions of a question (each has answers of its own) and over devices.

        **Of two histories that change at different times nothing is claimed.** If one repeats a
        value where the other changes it, two different reports there are possible under the second
        alone. Kept answers do not hide *when* a value changes, with any finite loss.

    Assumes:
        No device's memory was cleared: one that was is one more device.

    Example:
        >>> from discreet.local import KaryResponse
        >>> scheme = KaryResponse.calibrate(categories=8, epsilon=1)
        >>> kept_lifetime(scheme, distinct=3, devices=2) == scheme.lifetime(6)
        True
    """
    parts = {
        "distinct": distinct,
        "questions": questions,
        "versions": versions,
        "devices": devices,
    }
    return scheme.kept_event() * math.prod(
        check.at_least_one(each, name) for name, each in parts.items()
    )


def lifetime_picture(scheme: Scheme, *, reports: int = 60, every: int = 10) -> Any:
    """Draw the loss of one person against the number of reports, in four ways. Needs matplotlib.

    ``every`` so many reports the value changes to one that was never held before.
    """
    loss, kept = float(scheme.event().epsilon), float(scheme.kept_event().epsilon)
    counts = range(1, reports + 1)
    lines = [
        ("drawn anew for each report", [loss * n for n in counts], OTHERS[1], "-"),
        (f"kept; a new value every {every} reports", _steps(kept, counts, every), ACCENT, "-"),
        (
            "kept offset and two answers (and when it crosses)",
            [2 * kept for _ in counts],
            OTHERS[2],
            "--",
        ),
        ("kept; the value never changes", [kept for _ in counts], INK, "-"),
    ]
    figure = new_figure()
    axes = figure.subplots()
    for name, values, colour, style in lines:
        axes.step(counts, values, where="post", color=colour, linestyle=style, label=name)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(optional.load("matplotlib.ticker").StrMethodFormatter("{x:g}"))
    axes.set_yticks([loss * times for times in (1, 2, 5, 10, 20, 50) if times <= reports])
    axes.minorticks_off()
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    tidy(
        axes,
        title=f"Loss over a lifetime, at ε = {loss:.3g} for a report",
        x="reports",
        y="ε of all reports together",
    )
    return figure


def _steps(loss: float, counts: range, every: int) -> list[float]:
    return [loss * (1 + (n - 1) // every) for n in counts]
