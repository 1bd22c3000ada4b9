"""A picture of a certificate: δ against ε by each way, and what was asked for. Needs matplotlib."""

from fractions import Fraction
from typing import Any

from discreet.accounting.picture import ACCENT, INK, OTHERS, QUIET, new_figure, tidy
from discreet.core.loss import short
from discreet.core.numbers import float_up
from discreet.noiseless.certifiable import Way
from discreet.noiseless.certificate import Certificate

_FLOOR = 1e-30
"""What is below is drawn at the lower edge: a logarithm has no place for 0."""

_WORDS = {
    Way.SOURCE: "the source's formula, corrected",
    Way.MIXTURE: "mixture over hidden rows",
    Way.TIGHT: "the divergence itself",
}


def certificate_picture(certificate: Certificate) -> Any:
    """Draw δ against ε by each way, on a logarithmic scale, with the target as a corner.

    The certificate keeps what was asked for if a curve passes through the corner's lower left.
    """
    figure = new_figure()
    axes = figure.subplots()
    best = certificate.ways[-1]
    for rank, way in enumerate(certificate.ways):
        pairs = [
            (float_up(point.epsilon), max(_FLOOR, float_up(point.deltas[way])))
            for point in certificate.points
            if way in point.deltas
        ]
        xs, ys = zip(*pairs, strict=True)
        is_best = way is best
        axes.plot(
            xs,
            ys,
            "o-" if is_best else ".--",
            color=ACCENT if is_best else OTHERS[rank],
            linewidth=2.2 if is_best else 1.2,
            markersize=4,
            label=_WORDS[way],
        )
    _draw_target(axes, certificate)
    axes.set_yscale("log")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=_lowest(certificate), top=2)
    axes.legend(frameon=False)
    tidy(axes, title=certificate.advice.headline(), x="ε", y="δ (an upper bound)")
    return figure


def _lowest(certificate: Certificate) -> float:
    """Return where the picture ends below: nobody looks at a δ of 1e-200."""
    drawn = [float(delta) for point in certificate.points for delta in point.deltas.values()]
    asked = float(certificate.target.delta)
    least = min((one for one in drawn if one > 0), default=_FLOOR)
    return max(_FLOOR, least / 10, min(1e-15, asked / 1000 if asked else 1e-15))


def _draw_target(axes: Any, certificate: Certificate) -> None:
    """Draw the corner in which a curve must begin: at most this ε, and at most this δ."""
    epsilon, delta = float(certificate.target.epsilon), float(certificate.target.delta)
    if not delta:
        axes.axvline(epsilon, color=QUIET, linewidth=1)
        return
    axes.plot([0, epsilon], [delta, delta], color=INK, linewidth=1, linestyle=":")
    axes.plot([epsilon, epsilon], [delta, _FLOOR], color=INK, linewidth=1, linestyle=":")
    axes.fill_between([0, epsilon], [delta, delta], [_FLOOR, _FLOOR], color=ACCENT, alpha=0.06)
    words = f"asked for: ε = {short(certificate.target.epsilon)}, δ = {_power(delta)}"
    axes.annotate(
        words,
        (0, delta),
        xytext=(5, -12),
        textcoords="offset points",
        color=INK,
        size=8,
        bbox={"facecolor": "white", "alpha": 0.8, "edgecolor": "none", "pad": 1},
    )


def _power(delta: float) -> str:
    return short(Fraction(delta).limit_denominator(10**15)) if delta >= 1e-12 else f"{delta:.1g}"
