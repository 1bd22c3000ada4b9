"""Attacks on many published counts of sets of people, and how much noise it takes to stop them."""

import argparse
from pathlib import Path
from typing import Any

from discreet.attacks.attack_picture import frontier_picture, picture_bytes
from discreet.attacks.reconstruction.decode_counts import (
    consistent_bits,
    decode_linear,
    decode_squares,
    find_undetermined,
)
from discreet.attacks.reconstruction.frontier import NOISES, measure_frontier
from discreet.attacks.reconstruction.printed_counts import PrintedCounts, read_counts
from discreet.attacks.records.coded_rows import read_rows
from discreet.cli.attack_verbs.attack_verb import (
    AttackVerb,
    Told,
    add_bit,
    add_plot,
    bits_of,
    named,
    read_json,
    wrapped,
    write_private,
)
from discreet.cli.progress import progress_bar
from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.protocols import IntArray
from discreet.randomness.rng import SystemRng

_DECODERS = {"squares": decode_squares, "linear": decode_linear}


def _add_reconstruct(parser: argparse.ArgumentParser) -> None:
    one = parser.add_argument
    one("counts", help="a file of JSON: how many people there are, and counts of sets of them")
    methods = [*sorted(_DECODERS), "exhaustive"]
    one("--method", default="squares", choices=methods, help="(default: squares)")
    one("--error", metavar="E", help="exhaustive: no count is further from the truth than this")
    add_bit(parser, "--truth", is_needed=False)


def _reconstruct(options: argparse.Namespace) -> Told:
    printed, truth = read_counts(read_json(options.counts)), _truth(options)
    if (options.method == "exhaustive") != (options.error is not None):
        raise InvalidArgument(
            "An exhaustive search, and nothing else, needs the largest error",
            must="have --error with --method exhaustive",
        )
    if options.error is not None:
        return _searched(printed, options.error, truth)
    found = _DECODERS[options.method](printed.sets, printed.counts, people=printed.people)
    told = f"{int(found.bits.sum()):,} of {printed.people:,} people seem to have the bit."
    open_bits = find_undetermined(printed.sets, printed.counts, people=printed.people)
    data: dict[str, Any] = {
        "method": found.method,
        "bits": found.bits.tolist(),
        "undetermined": open_bits.tolist(),
    }
    if open_bits.size:
        told += f" Of {open_bits.size:,} it cannot be told: no sum of counts is about one of them."
    if truth is not None:
        share = found.share_right(truth)
        data["share_right"] = float(share)
        told += f" That is right for {float(share):.1%} of them; all alike would be right for "
        told += f"{float(max(truth.mean(), 1 - truth.mean())):.1%}."
    else:
        told += " Whether that is right, only the truth can tell (--truth)."
    return wrapped(told), data


def _truth(options: argparse.Namespace) -> IntArray | None:
    if options.truth is None:
        return None
    if options.column is None or options.equals is None:
        raise InvalidArgument("The truth needs a column", must="have --column and --equals")
    return bits_of(read_rows(Path(options.truth)), options.column, options.equals)


def _searched(printed: PrintedCounts, error: str, truth: IntArray | None) -> Told:
    """Look at all assignments of bits: what they have in common is proved, up to the error."""
    found = consistent_bits(printed.sets, printed.counts, people=printed.people, error=error)
    told, data = str(found), {"method": "exhaustive", **found.to_json()}
    if truth is not None and found.count:
        right = found.decided_right(truth)
        data["decided_right"] = right
        told += f" That is right for {right:,} of {found.decided:,}."
    return wrapped(told), data


def _add_frontier(parser: argparse.ArgumentParser) -> None:
    one = parser.add_argument
    one("--people", default="500", metavar="N", help="how many fair bits (default: 500)")
    one("--queries", metavar="M", help="how many random sets (default: eight for each person)")
    one("--noise", metavar="A,B", help="deviations over √n (default: .05 to 4)")
    one("--method", default="squares", choices=sorted(_DECODERS), help="(default: squares)")
    add_plot(parser)


def _frontier(options: argparse.Namespace) -> Told:
    people = check.at_least_one(options.people, "people")
    found = measure_frontier(
        people,
        8 * people if options.queries is None else check.whole(options.queries),
        rng=SystemRng(),
        noises=NOISES if options.noise is None else named(options.noise),
        decode=_DECODERS[options.method],
        on_step=progress_bar("noises"),
    )
    told = str(found)
    if options.plot is not None:
        path = Path(options.plot)
        write_private(path, picture_bytes(frontier_picture(found), path))
        told += f"\n\nDrew {options.plot}"
    return told, found.to_json()


COUNT_ATTACKS = (
    AttackVerb(
        "reconstruct",
        "find everybody's bit from many published counts",
        _add_reconstruct,
        _reconstruct,
    ),
    AttackVerb(
        "frontier",
        "measure how much noise it takes to stop that, on made-up bits",
        _add_frontier,
        _frontier,
        is_made_up=True,
    ),
)
