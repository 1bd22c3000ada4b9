"""Say whether an exact number may be published, what that assumes, and what noise would cost."""

import argparse
from pathlib import Path
from typing import Any

from discreet.accounting.picture import require_kind, save
from discreet.cli.command import CommandResult
from discreet.cli.progress import said_meanwhile
from discreet.core.errors import InvalidArgument
from discreet.noiseless.advisor.certificate_file import read_certificate_question
from discreet.noiseless.advisor.certify import DELTA, EPSILON, STATISTICS, certify
from discreet.noiseless.certificate import Certificate
from discreet.noiseless.certificate_drawing import certificate_picture
from discreet.noiseless.finite.checked_model import check_model

CHECK = "check"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "statistic",
        help=f"one of {', '.join(STATISTICS)}; or a TOML file that says all of this; "
        f"or '{CHECK}', for a small model",
    )
    parser.add_argument("model", nargs="?", metavar="MODEL", help="the TOML file of a small model")
    parser.add_argument("--rows", metavar="N", help="how many rows there are")
    parser.add_argument("--known", metavar="N", help="how many of them the adversary may know")
    parser.add_argument(
        "--law", metavar="LAW", help="what is asserted of a row, such as 'uniform(0, 100)'"
    )
    parser.add_argument(
        "--range", nargs=2, metavar=("LOW", "HIGH"), help="public ends that values are clamped to"
    )
    parser.add_argument("--grid", metavar="STEP", help="values are on a public grid, such as 1")
    parser.add_argument(
        "--suppress-below", metavar="K", help="the least count that is shown (histogram)"
    )
    parser.add_argument("--at-least", metavar="N", help="how many rows say yes (threshold)")
    parser.add_argument("--use", metavar="HOW", help="split (default) or grouped rows (regression)")
    parser.add_argument(
        "--known-rows", metavar="HOW", help="how known rows were chosen; never by their values"
    )
    parser.add_argument("--chosen", metavar="WHEN", help="when the law was chosen: beforehand")
    parser.add_argument(
        "--dependence", metavar="HOW", help="independent (default), mixture or unknown"
    )
    parser.add_argument("--epsilon", metavar="E", help=f"the ε that is wanted (default: {EPSILON})")
    parser.add_argument("--delta", metavar="D", help=f"the δ that is wanted (default: {DELTA})")
    parser.add_argument(
        "--given",
        action="append",
        metavar="NAME",
        help="an earlier release, given which the law is asserted; may be said again",
    )
    parser.add_argument("--plot", metavar="FILE", help="write a picture (.png, .svg or .pdf)")


def run(options: argparse.Namespace) -> CommandResult:
    """Certify what is asked for; nothing is read but the declaration."""
    if options.statistic == CHECK:
        return _checked(options)
    if options.model is not None:
        raise InvalidArgument(
            "That is one word too many",
            must=f"be one statistic or one file, or '{CHECK}' and a file",
            got=options.model,
        )
    if options.plot:
        require_kind(Path(options.plot))
    with said_meanwhile("The certificate is worked out, which can take half a minute"):
        certificate = _certificate(options)
        text = str(certificate)
    if options.plot:
        save(certificate_picture(certificate), Path(options.plot))
        text += f"\n\nDrew {options.plot}"
    return CommandResult(text, certificate.to_json())


def _certificate(options: argparse.Namespace) -> Certificate:
    """Return what the options ask for; in a file all is said but what is wanted."""
    said = _said(options)
    if not options.statistic.endswith(".toml"):
        return certify(options.statistic, **said)
    beside = sorted(set(said) - {"epsilon", "delta"})
    if beside:
        raise InvalidArgument(
            "A file says all that is asserted",
            must="stand alone, or with --epsilon and --delta",
            got=", ".join(f"--{name}" for name in beside).replace("_", "-"),
        )
    return read_certificate_question(Path(options.statistic)).certificate(**said)


_ARGUMENTS = (
    "rows",
    "known",
    "law",
    "range",
    "grid",
    "suppress_below",
    "at_least",
    "use",
    "known_rows",
    "chosen",
    "dependence",
    "epsilon",
    "delta",
    "given",
)


def _said(options: argparse.Namespace) -> dict[str, Any]:
    found = {name: getattr(options, name) for name in _ARGUMENTS}
    return {name: value for name, value in found.items() if value is not None}


def _checked(options: argparse.Namespace) -> CommandResult:
    if options.model is None or _said(options) or options.plot:
        raise InvalidArgument(
            "A model is checked as it is written",
            must=f"be one TOML file after '{CHECK}', and no option but --json",
        )
    found = check_model(options.model)
    return CommandResult(str(found), found.to_json())
