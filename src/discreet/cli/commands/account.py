"""Account for losses: what was spent, what it converts to, how much noise is needed."""

import argparse
from collections.abc import Callable
from decimal import ROUND_FLOOR
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.accounting.accountants.zcdp import zcdp_loss
from discreet.accounting.accounting_question import METHODS, account
from discreet.accounting.calibration import calibrate, most_uses
from discreet.accounting.conversions.convert import convert
from discreet.accounting.losses.result import Result
from discreet.accounting.notation import read_events, read_scaled, repeated
from discreet.accounting.notation_names import SCALED, SHORT
from discreet.accounting.picture import curve_picture, save, tradeoff_picture
from discreet.accounting.tradeoff import trade_off
from discreet.cli.command import CommandResult
from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.event import Event
from discreet.core.loss import Approximate, Measure, PrivacyLoss, Pure, Zcdp
from discreet.core.mechanism_event import ApproximateResponseEvent
from discreet.core.numbers import exact, float_down, float_up
from discreet.core.stated_event import ApproximateEvent, PureEvent, ZcdpEvent

_EVENTS_HELP = "such as 'gaussian(scale=10) * 1000'; also: " + ", ".join(SHORT)
_TARGETS = {
    "approx": Measure.APPROXIMATE,
    "pure": Measure.PURE,
    "zcdp": Measure.ZCDP,
    "approx-zcdp": Measure.APPROXIMATE_ZCDP,
    "renyi": Measure.RENYI,
    "gaussian": Measure.GAUSSIAN,
    "mcdp": Measure.MEAN_CONCENTRATED,
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the verbs: epsilon, delta, convert, calibrate, uses, curve, tradeoff."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    epsilon = _verb(verbs, "epsilon", "the ε of events at a δ")
    delta = _verb(verbs, "delta", "the δ of events at an ε")
    curve = _verb(verbs, "curve", "ε at many δ, as numbers or as a picture")
    tradeoff = _verb(verbs, "tradeoff", "misses against false alarms of the best test (f-DP)")
    tradeoff.add_argument("--plot", metavar="FILE", help="write a picture (.png, .svg or .pdf)")
    for sub in (epsilon, delta, curve, tradeoff):
        sub.add_argument("events", nargs="+", help=_EVENTS_HELP)
    for sub in (epsilon, delta):
        sub.add_argument(
            "--measure", default="auto", choices=("auto", *METHODS), help="how to account"
        )
    epsilon.add_argument("--delta", required=True, metavar="D")
    delta.add_argument("--epsilon", required=True, metavar="E")
    curve.add_argument("--plot", metavar="FILE", help="write a picture (.png, .svg or .pdf)")
    conversion = _verb(verbs, "convert", "a stated loss in another measure")
    conversion.add_argument("loss", help="pure(1), approx(1, 1e-6) or zcdp(0.1)")
    conversion.add_argument("--to", required=True, choices=_TARGETS)
    conversion.add_argument("--delta", metavar="D")
    conversion.add_argument("--epsilon", metavar="E")
    conversion.add_argument("--method", default="auto", help="one theorem instead of the best")
    noise = _verb(verbs, "calibrate", "the least noise that a target allows")
    noise.add_argument(
        "mechanism",
        help="noise without its scale, such as gaussian or 'poisson(gaussian, rate=0.01)'; "
        f"scales may be left open for {', '.join(SCALED)}",
    )
    uses = _verb(verbs, "uses", "how often events can be used within a target")
    uses.add_argument("events", nargs="+", help=_EVENTS_HELP)
    for sub in (noise, uses):
        sub.add_argument("--epsilon", metavar="E")
        sub.add_argument("--delta", metavar="D", default="0")
        sub.add_argument("--rho", metavar="R", help="a zCDP target instead of ε and δ")
    noise.add_argument("--count", type=int, default=1, metavar="N", help="how many uses")
    noise.add_argument("--distance", default="1", metavar="D", help="what one unit can move")


def _verb(verbs: Any, name: str, summary: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = verbs.add_parser(name, help=summary, description=summary)
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser


def run(options: argparse.Namespace) -> CommandResult:
    """Do what the verb says."""
    return _VERBS[options.verb](options)


def _epsilon(options: argparse.Namespace) -> CommandResult:
    events = read_events(options.events)
    return _result(account(events, delta=exact(options.delta), measure=options.measure))


def _delta(options: argparse.Namespace) -> CommandResult:
    events = read_events(options.events)
    return _result(account(events, epsilon=exact(options.epsilon), measure=options.measure))


def _result(result: Result) -> CommandResult:
    lines = [str(result)]
    if result.lower is not None:
        lines.append(f"  no method could say less than {result.lower.shown(rounding=ROUND_FLOOR)}")
    lines += [f"  {other.method}: {other.loss}" for other in result.others]
    lower = {} if result.lower is None else _floats(result.lower, float_down)
    data = _floats(result.loss, _float_up) | {
        "lower": lower.get(_wanted(result)),
        "method": result.method,
        "theorem": result.theorem,
        "exact": result.loss.to_json(),
        "others": {other.method: _floats(other.loss, _float_up) for other in result.others},
    }
    return CommandResult("\n".join(lines), data)


def _wanted(result: Result) -> str:
    """Return the number in which the lower end differs: ε, unless δ was asked for."""
    upper, lower = result.loss, result.lower
    if isinstance(upper, Approximate) and isinstance(lower, Approximate):
        return "delta" if upper.epsilon == lower.epsilon else "epsilon"
    return "epsilon"


def _floats(loss: PrivacyLoss, rounded: Callable[[Fraction], float]) -> dict[str, Any]:
    """Return the numbers of a loss as floats, rounded to the safe side; a curve stays text."""
    if loss.measure is Measure.RENYI:
        return {"curve": str(loss)}
    numbers = {key: value for key, value in loss.to_json().items() if key != "measure"}
    return {key: rounded(Fraction(value)) for key, value in numbers.items()}


def _float_up(value: Fraction) -> float:
    """Round up, to a float that means its shortest decimal, so that 1e-6 stays 1e-06."""
    nearest = float(value)
    return nearest if exact(nearest) >= value else float_up(value)


def _convert(options: argparse.Namespace) -> CommandResult:
    (part, count), *others = read_events(options.loss).parts
    loss = _stated(part)
    if others or count != 1 or loss is None:
        raise InvalidArgument(
            "convert takes one stated loss", must="be pure(..), approx(..) or zcdp(..)"
        )
    result = convert(
        loss,
        to=_TARGETS[options.to],
        delta=None if options.delta is None else exact(options.delta),
        epsilon=None if options.epsilon is None else exact(options.epsilon),
        method=options.method,
    )
    return _result(result)


def _stated(event: Event) -> PrivacyLoss | None:
    if isinstance(event, PureEvent):
        return Pure(event.epsilon)
    if isinstance(event, ApproximateEvent | ApproximateResponseEvent):
        return Approximate(event.epsilon, event.delta)
    return zcdp_loss([event]) if isinstance(event, ZcdpEvent) else None


def _calibrate(options: argparse.Namespace) -> CommandResult:
    target = _target(options)
    count = check.whole(options.count)
    if count < 1:
        raise InvalidArgument("count is out of range", must="be at least 1", got=str(count))
    once = read_scaled(options.mechanism, distance=exact(options.distance))
    found = calibrate(lambda scale: repeated(once(scale), count), target=target)
    text = f"scale = {float_up(found.scale):.6g}: {found.result}"
    data = {"scale": float_up(found.scale), "exact_scale": str(found.scale), "count": count}
    return CommandResult(text, data | _result(found.result).data)


def _uses(options: argparse.Namespace) -> CommandResult:
    target = _target(options)
    found = most_uses(read_events(options.events), target=target)
    return CommandResult(
        f"{found} times within {target}", {"uses": found, "target": target.to_json()}
    )


def _target(options: argparse.Namespace) -> PrivacyLoss:
    if (options.rho is None) == (options.epsilon is None):
        raise InvalidArgument("Give one target", must="be either --epsilon (with --delta) or --rho")
    if options.rho is not None:
        return Zcdp(options.rho)
    delta = exact(options.delta)
    return Approximate(options.epsilon, delta) if delta else Pure(options.epsilon)


def _curve(options: argparse.Namespace) -> CommandResult:
    events = read_events(options.events)
    points = []
    for exponent in range(-12, 0):
        result = account(events, delta=Fraction(10) ** exponent)
        assert isinstance(result.loss, Approximate)
        points.append(
            {
                "delta": 10.0**exponent,
                "epsilon": float_up(result.loss.epsilon),
                "method": result.method,
            }
        )
    text = "\n".join(f"δ = {p['delta']:<6g} ε = {p['epsilon']:.6g} ({p['method']})" for p in points)
    if options.plot:
        save(curve_picture(events), Path(options.plot))
        text += f"\nDrew {options.plot}"
    return CommandResult(text, points)


def _tradeoff(options: argparse.Namespace) -> CommandResult:
    events = read_events(options.events)
    points = [
        {"false_alarms": alpha, "misses": max(0.0, low), "misses_at_most": max(0.0, high)}
        for alpha, low, high in trade_off(events).points(21)
    ]
    lines = [
        f"false alarms {p['false_alarms']:<5g} misses at least {p['misses']:.4f}" for p in points
    ]
    if options.plot:
        save(tradeoff_picture(events), Path(options.plot))
        lines.append(f"Drew {options.plot}")
    return CommandResult("\n".join(lines), points)


_VERBS = {
    "tradeoff": _tradeoff,
    "epsilon": _epsilon,
    "delta": _delta,
    "convert": _convert,
    "calibrate": _calibrate,
    "uses": _uses,
    "curve": _curve,
}
