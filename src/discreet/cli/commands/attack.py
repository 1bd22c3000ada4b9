"""Attack your own release before an adversary does, from files that you name."""

import argparse
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from discreet.attacks.differencing import difference
from discreet.attacks.reconstruction.census_block import reconstruct_block
from discreet.attacks.reconstruction.decode_counts import decode_linear, decode_squares
from discreet.attacks.reconstruction.guess_ceiling import play_guessing
from discreet.attacks.reconstruction.printed_counts import read_counts
from discreet.attacks.reconstruction.printed_table import read_table
from discreet.attacks.reconstruction.subset_counts import ExactCounts, NoisyCounts
from discreet.attacks.records.class_report import find_homogeneous, report_anonymity
from discreet.attacks.records.coded_rows import CodedRows, read_rows
from discreet.attacks.records.find_unique import find_unique
from discreet.attacks.records.link_rows import link_rows
from discreet.cli.command import CommandResult
from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Pure, short
from discreet.core.numbers import exact
from discreet.core.protocols import IntArray
from discreet.core.terminal_text import lines
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.randomness.rng import SystemRng

MARK = "PRIVATE: for the owner of these rows alone. What an attack finds is the data."
"""Stands above every report."""

_DECODERS = {"squares": decode_squares, "linear": decode_linear}


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the verbs: difference, reconstruct, census, linkage, uniqueness."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    subs = {}
    for name, (summary, _) in _VERBS.items():
        subs[name] = verbs.add_parser(name, help=summary, description=summary)
        subs[name].add_argument("--json", action="store_true", help="print JSON")
        subs[name].add_argument(
            "-o", "--output", metavar="FILE", help="write all of it into a new file of mode 0600"
        )
    _add_bit(subs["difference"], "rows", is_needed=True)
    one = subs["difference"].add_argument
    one("--row", required=True, metavar="N", help="whose bit: the first row is 0")
    one("--epsilon", default="1", metavar="E", help="the loss of all answers together (default: 1)")
    one("--times", default="1", metavar="K", help="how often both queries are asked (default: 1)")
    one("--trials", default="1000", metavar="N", help="how many games are played (default: 1000)")
    one = subs["reconstruct"].add_argument
    one("counts", help="a file of JSON: how many people there are, and counts of sets of them")
    one("--method", default="squares", choices=sorted(_DECODERS), help="(default: squares)")
    _add_bit(subs["reconstruct"], "--truth", is_needed=False)
    one = subs["census"].add_argument
    one("table", help="a file of JSON: columns, ages, and counts, medians and means of groups")
    one("--seconds", default="60", metavar="S", help="how long each stage may take (default: 60)")
    one = subs["linkage"].add_argument
    one("released", help="the published rows: CSV or Parquet")
    one("public", help="a list that anybody can get: CSV or Parquet")
    one("--on", required=True, metavar="A,B", help="the columns that both have")
    one = subs["uniqueness"].add_argument
    one("rows", help="the rows: CSV or Parquet")
    one("--columns", metavar="A,B", help="the columns that are searched (default: all)")
    one("--most", default="3", metavar="N", help="at most so many columns in a set (default: 3)")
    one("--sensitive", metavar="C", help="a column that nobody shall learn: says what classes tell")


def _add_bit(parser: argparse.ArgumentParser, rows: str, *, is_needed: bool) -> None:
    parser.add_argument(rows, help="the rows with the secret bit: CSV or Parquet")
    parser.add_argument("--column", required=is_needed, metavar="C", help="where the bit is")
    parser.add_argument("--equals", required=is_needed, metavar="V", help="what means yes there")


def run(options: argparse.Namespace) -> CommandResult:
    """Run one attack, and mark what it found as private."""
    _, attack = _VERBS[options.verb]
    text, found = attack(options)
    data = {"private": MARK, "attack": options.verb, "found": found}
    told = f"{lines(MARK)}\n\n{text}"
    if options.output:
        _write(Path(options.output), json.dumps(data, indent=2, ensure_ascii=False) + "\n")
        told += f"\n\nWrote {options.output}, which only you can read"
    return CommandResult(told, data)


def _write(target: Path, text: str) -> None:
    """Make a new file that nobody else can read, under any umask."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(target, flags, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as cause:
        got = (cause.strerror or type(cause).__name__).lower()
        raise InvalidArgument(
            f"{target} cannot be written", must="be a new file", got=got
        ) from None


def _read_json(path: str) -> Any:
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        raise InvalidArgument(f"{path} cannot be read", must="be a file of JSON") from None


def _named(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _bits(rows: CodedRows, column: str, equals: str) -> IntArray:
    found = rows.column(column)
    is_yes = np.array([_shown(value) == equals for value in found.values], dtype=np.int64)
    if not is_yes.any():
        raise InvalidArgument(f"No row has this value in {column}", got=equals)
    return is_yes[found.codes]


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


Told = tuple[str, Any]


def _difference(options: argparse.Namespace) -> Told:
    bits = _bits(read_rows(Path(options.rows)), options.column, options.equals)
    place, times = check.whole(options.row), check.at_least_one(options.times, "times")
    if not 0 <= place < bits.size:
        raise InvalidArgument("There is no such row", must="be there, counted from 0")
    epsilon, rng = exact(options.epsilon), SystemRng()
    if epsilon <= 0:
        raise InvalidArgument(
            "epsilon is out of range", must="be greater than 0", got=options.epsilon
        )
    everybody = np.ones(bits.size, dtype=np.bool_)
    others = np.arange(bits.size) != place
    pairs = [(everybody, others)] * times
    plain = difference(ExactCounts(bits=bits), pairs[:1])
    noise = DiscreteLaplace(scale=2 * times / epsilon)

    def world(bit: bool) -> NoisyCounts:
        return NoisyCounts(bits=np.where(others, bits, int(bit)), noise=noise, rng=rng)

    record = play_guessing(
        world,
        lambda interface: difference(interface, pairs).guess,
        trials=check.at_least_one(options.trials, "trials"),
        loss=Pure(epsilon),
        rng=rng,
    )
    told = (
        f"Exact answers: {plain}\n\nPrivate answers, ε = {short(epsilon)} for all "
        f"{2 * times:,} together, about a bit that is a fair coin: {record}"
    )
    return _wrapped(told), {"exact": plain.to_json(), "private": record.to_json()}


def _reconstruct(options: argparse.Namespace) -> Told:
    printed = read_counts(_read_json(options.counts))
    found = _DECODERS[options.method](printed.sets, printed.counts, people=printed.people)
    told = f"{int(found.bits.sum()):,} of {printed.people:,} people seem to have the bit."
    data: dict[str, Any] = {"method": found.method, "bits": found.bits.tolist()}
    if options.truth is not None:
        if options.column is None or options.equals is None:
            raise InvalidArgument("The truth needs a column", must="have --column and --equals")
        truth = _bits(read_rows(Path(options.truth)), options.column, options.equals)
        share = found.share_right(truth)
        data["share_right"] = float(share)
        told += f" That is right for {float(share):.1%} of them; all alike would be right for "
        told += f"{float(max(truth.mean(), 1 - truth.mean())):.1%}."
    else:
        told += " Whether that is right, only the truth can tell (--truth)."
    return _wrapped(told), data


def _census(options: argparse.Namespace) -> Told:
    found = reconstruct_block(read_table(_read_json(options.table)), seconds=options.seconds)
    return str(found), found.to_json()


def _linkage(options: argparse.Namespace) -> Told:
    released, public = read_rows(Path(options.released)), read_rows(Path(options.public))
    found = link_rows(released, public, on=_named(options.on))
    return _wrapped(str(found)), found.to_json()


def _uniqueness(options: argparse.Namespace) -> Told:
    rows = read_rows(Path(options.rows))
    names = list(rows.columns) if options.columns is None else _named(options.columns)
    names = [name for name in names if name != options.sensitive]
    report = find_unique(rows, columns=names, most=check.at_least_one(options.most, "most"))
    parts = [str(report)]
    data: dict[str, Any] = {"sets": report.to_json()}
    if options.sensitive is not None:
        known = {"quasi": names, "sensitive": options.sensitive}
        classes = report_anonymity(rows, **known)
        alike = find_homogeneous(rows, **known)
        parts += [str(classes), _wrapped(str(alike))]
        data |= {"classes": classes.to_json(), "homogeneous": alike.to_json()}
    return "\n\n".join(parts), data


def _wrapped(text: str) -> str:
    return "\n".join(lines(line, indent="") for line in text.splitlines())


_VERBS: Mapping[str, tuple[str, Callable[[argparse.Namespace], Told]]] = {
    "difference": ("find one person's bit from two counts, exact and private", _difference),
    "reconstruct": ("find everybody's bit from many published counts", _reconstruct),
    "census": ("find the people of a block from its printed table", _census),
    "linkage": ("join published rows with a public list", _linkage),
    "uniqueness": ("say which columns single people out", _uniqueness),
}
