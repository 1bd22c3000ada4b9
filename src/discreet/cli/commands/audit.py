"""Audit outputs of any mechanism: the least loss that they prove, with a confidence."""

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from discreet.attacks.records.coded_rows import CodedRows, alike_columns, read_rows
from discreet.attacks.records.mask_rows import random_order
from discreet.audit.histogram_bound import ORDERS, audit_histogram
from discreet.audit.one_run import audit_scores
from discreet.audit.sampling import audit_outputs
from discreet.cli.command import CommandResult
from discreet.cli.progress import counted_steps
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Approximate, Pure
from discreet.core.numbers import exact, float_down
from discreet.core.terminal_text import lines
from discreet.randomness.rng import SystemRng

_YES = {True: True, False: False, "yes": True, "no": False}
"""What a cell may say; 1 and 0 are the same keys as true and false."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the verbs: outputs, canaries."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    outputs = verbs.add_parser(
        "outputs", help="compare outputs that were drawn on two neighbouring data sets"
    )
    outputs.add_argument("first", help="outputs on one data set, one a row: CSV or Parquet")
    outputs.add_argument("second", help="outputs on its neighbour")
    canaries = verbs.add_parser(
        "canaries", help="say what one run told about canaries that were put in by fair coins"
    )
    canaries.add_argument("file", help="a row for each canary: CSV or Parquet")
    canaries.add_argument(
        "--included", default="included", metavar="C", help="whether it was in (default: included)"
    )
    canaries.add_argument(
        "--score",
        default="score",
        metavar="C",
        help="how much the run looks as if it was, made of the output alone (default: score)",
    )
    canaries.add_argument(
        "--guesses", metavar="N", help="guess so many, those with extreme scores (default: all)"
    )
    for sub in (outputs, canaries):
        sub.add_argument("--json", action="store_true", help="print JSON")
        sub.add_argument("--epsilon", metavar="E", help="the ε that is claimed")
        sub.add_argument("--delta", default="0", metavar="D", help="its δ (default: 0)")
        sub.add_argument(
            "--confidence", default="0.999999", metavar="C", help="(default: 0.999999)"
        )


def run(options: argparse.Namespace) -> CommandResult:
    """Run the audit, and say whether the claim is refuted if there is one."""
    text, data, refutes = _VERBS[options.verb](options)
    if options.epsilon is not None:
        delta = exact(options.delta)
        claim = Approximate(options.epsilon, delta) if delta else Pure(options.epsilon)
        data["refuted"] = refutes(claim)
        verdict = "is broken." if data["refuted"] else "is not refuted; that proves nothing."
        text += f"\n\nThe claim ({claim}) {verdict}"
    return CommandResult("\n".join(lines(one, indent="") for one in text.splitlines()), data)


def _outputs(options: argparse.Namespace) -> tuple[str, dict[str, Any], Any]:
    with counted_steps("stages", 4) as bar:
        files = []
        for path in (options.first, options.second):
            files.append(read_rows(Path(path)))
            bar.step()
        first, second = _alike(*files)
        found = audit_outputs(first, second, delta=options.delta, confidence=options.confidence)
        bar.step()
        cells = audit_histogram(first, second, confidence=options.confidence)
    data = {
        "epsilon_lower": float_down(found.epsilon_lower),
        "delta": float_down(found.delta),
        "confidence": float_down(found.confidence),
        "event": str(found.event),
        "likely": [found.likely_hits, found.likely_trials],
        "unlikely": [found.unlikely_hits, found.unlikely_trials],
        "renyi_lower": {str(order): float_down(cells.renyi(order)) for order in ORDERS},
    }
    return f"{found}.\n\nBesides, {cells}.", data, found.refutes


def _canaries(options: argparse.Namespace) -> tuple[str, dict[str, Any], Any]:
    rows = read_rows(Path(options.file))
    everywhere = np.arange(rows.rows)
    coins = [_YES.get(value) for value in rows.values(options.included, everywhere)]
    if None in coins:
        raise InvalidArgument(
            f"{options.included} does not say whether canaries were in",
            must="be true or false, yes or no, or 1 or 0 in each row",
        )
    found = audit_scores(
        np.array(coins, dtype=np.bool_),
        np.array(rows.values(options.score, everywhere)),
        rng=SystemRng(),
        guesses=options.guesses,
        delta=options.delta,
        confidence=options.confidence,
    )
    return f"{found}.", found.to_json(), found.refutes


def _alike(first: CodedRows, second: CodedRows) -> list[list[Any]]:
    """Return the outputs of both files, as the same kinds of values in the same columns.

    What kind of values a reader takes a column for is no part of an output: a file of whole numbers
    and one with a fraction somewhere are compared as numbers.
    """
    names = list(first.columns)
    if set(names) != set(second.columns):
        raise InvalidArgument(
            "The outputs are not of one form",
            must="have the same columns in both files",
            got=", ".join(sorted(set(names) ^ set(second.columns))),
        )
    files = alike_columns([first, second], names)
    kinds = {name: _number_kind(name, first, second) for name in names}
    return [_rows(one, kinds) for one in files]


def _number_kind(name: str, first: CodedRows, second: CodedRows) -> type | None:
    """Return as what numbers a column is compared, if one of the files has numbers in it."""
    held = [value for one in (first, second) for value in one.column(name).values]
    found = {float, int} & set(map(type, held))
    return None if not found else float if float in found else int


def _rows(rows: CodedRows, kinds: dict[str, type | None]) -> list[Any]:
    """Return outputs in a random order: those of a sorted file are not alike in both halves."""
    order = random_order(rows.rows, SystemRng())
    columns = []
    for name, kind in kinds.items():
        values = rows.values(name, order)
        columns.append(
            values if kind is None else [one if one is None else kind(one) for one in values]
        )
    return columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))


_VERBS = {"outputs": _outputs, "canaries": _canaries}
