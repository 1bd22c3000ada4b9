"""Attacks on answers and printed numbers: differences, reconstruction, a census, sums."""

import argparse
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen

from discreet.attacks.differencing import (
    DifferencedBit,
    difference,
    guess_by_refusal,
    padded_pairs,
    track,
    track_groups,
    track_overlap,
)
from discreet.attacks.models.attempt import AttackReport, Attempt
from discreet.attacks.reconstruction.census_block import reconstruct_block
from discreet.attacks.reconstruction.grouped_sum import GroupedSum, value_range
from discreet.attacks.reconstruction.guess_ceiling import play_guessing
from discreet.attacks.reconstruction.one_query import decode_powers
from discreet.attacks.reconstruction.population_fact import play_population_fact
from discreet.attacks.reconstruction.printed_table import read_table, read_whole
from discreet.attacks.reconstruction.subset_counts import (
    AtomicCounts,
    ExactCounts,
    MemoisedCounts,
    NoisyCounts,
    RestrictedCounts,
    SuppressedCounts,
)
from discreet.attacks.records.coded_rows import read_rows
from discreet.cli.attack_verbs.attack_verb import (
    AttackVerb,
    Told,
    add_bit,
    bits_of,
    read_json,
    wrapped,
)
from discreet.cli.progress import progress_bar
from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Pure, short
from discreet.core.numbers import exact
from discreet.core.protocols import IntArray
from discreet.core.terminal_text import text_table
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.randomness.rng import SystemRng

_MOST_PAIRS = 1 << 26
"""A set says of each person whether it holds them: so many such bits are kept at once."""


@frozen
class _Target:
    """Whose bit is looked for, among whom, and how small a set may be."""

    bits: IntArray
    person: int
    least: int
    times: int

    def __attrs_post_init__(self) -> None:
        if self.times * self.people > _MOST_PAIRS:
            raise InvalidArgument(
                "There are too many queries about so many people",
                must=f"have at most {_MOST_PAIRS:,} as the product of --times and people",
                got=f"{self.times:,} times and {self.people:,} people",
            )

    @property
    def people(self) -> int:
        return int(self.bits.size)


def _by_sizes(target: _Target) -> DifferencedBit:
    """Four large sets in place of a small one."""
    ruled = RestrictedCounts(inner=ExactCounts(bits=target.bits), least=target.least)
    half = np.arange(target.people) < target.people // 2
    return track(ruled, target.person, half)


def _by_overlaps(target: _Target) -> DifferencedBit:
    exactly = ExactCounts(bits=target.bits)
    ruled = RestrictedCounts(inner=exactly, least=target.least, most_overlap=1)
    return track_overlap(ruled, target.person, target.people, target.least)


def _by_groups(target: _Target) -> DifferencedBit:
    """Groups of neighbours, as large as asked; the attacker knows the others of the group."""
    groups = np.arange(target.people) // target.least
    ruled = AtomicCounts(inner=ExactCounts(bits=target.bits), groups=groups)
    others = np.flatnonzero(groups == groups[target.person]).tolist()
    known = {one: bool(target.bits[one]) for one in others if one != target.person}
    told = track_groups(ruled, groups, known=known).get(target.person)
    return DifferencedBit(guess=told, estimate=None, queries=int(groups.max()) + 1, refused=0)


def _by_refusal(target: _Target) -> DifferencedBit:
    """Counts below the least are withheld; the others of the set have one less than that."""
    having = np.flatnonzero((target.bits == 1) & (np.arange(target.people) != target.person))
    if having.size < target.least - 1:
        raise InvalidArgument(
            "There are too few others with the bit",
            must=f"be {target.least - 1:,} or more",
            next="Choose a smaller --least",
        )
    members = np.zeros(target.people, dtype=np.bool_)
    members[having[: target.least - 1]] = True
    members[target.person] = True
    printed = SuppressedCounts(inner=ExactCounts(bits=target.bits), below=target.least)
    guess = guess_by_refusal(printed, members)
    return DifferencedBit(guess=guess, estimate=None, queries=1, refused=1 - guess)


def _by_memory(target: _Target) -> DifferencedBit:
    """Each answer has noise of scale 2 and is remembered: other sets are asked each time."""
    if target.people < 40 and 1 << (target.people - 1) < target.times:
        raise InvalidArgument(
            "There are too few people for so many different sets",
            must=f"be at most {1 << (target.people - 1):,} times",
            got=f"{target.times:,}",
        )
    rng = SystemRng()
    noisy = NoisyCounts(bits=target.bits, noise=DiscreteLaplace(scale=2), rng=rng)
    pairs = padded_pairs(target.person, target.people, target.times, rng)
    return difference(MemoisedCounts(inner=noisy), pairs)


def _plainly(target: _Target) -> DifferencedBit:
    everybody = np.ones(target.people, dtype=np.bool_)
    others = np.arange(target.people) != target.person
    return difference(ExactCounts(bits=target.bits), [(everybody, others)])


_RULES: Mapping[str, tuple[str, Callable[[_Target], DifferencedBit]]] = {
    "none": ("every count is answered", _plainly),
    "sizes": ("sets of fewer than --least people, or all but so few, are refused", _by_sizes),
    "overlaps": ("small sets are refused, and those that share two people or more", _by_overlaps),
    "groups": (
        "only whole groups of --least people are counted; who attacks knows the others of one",
        _by_groups,
    ),
    "small": ("counts below --least are withheld; who attacks knows who else has it", _by_refusal),
    "memory": ("noise of scale 2, the same for the same set", _by_memory),
}


def _add_difference(parser: argparse.ArgumentParser) -> None:
    add_bit(parser, "rows", is_needed=True)
    one = parser.add_argument
    one("--row", required=True, metavar="N", help="whose bit: the first row is 0")
    one("--epsilon", default="1", metavar="E", help="the loss of all answers together (default: 1)")
    one("--times", default="1", metavar="K", help="how often both queries are asked (default: 1)")
    one("--trials", default="1000", metavar="N", help="how many games are played (default: 1000)")
    rules = " ".join(f"{name}: {told}." for name, (told, _) in _RULES.items())
    one("--rule", default="none", choices=list(_RULES), help=f"what is refused. {rules}")
    one("--least", default="3", metavar="N", help="how small a set or count may be (default: 3)")


def _difference(options: argparse.Namespace) -> Told:
    bits = bits_of(read_rows(Path(options.rows)), options.column, options.equals)
    place, times = check.whole(options.row), check.at_least_one(options.times, "times")
    if not 0 <= place < bits.size:
        raise InvalidArgument(
            "There is no such row", must=f"be from 0 to {bits.size - 1:,}", got=str(place)
        )
    epsilon, rng = exact(options.epsilon), SystemRng()
    if epsilon <= 0:
        raise InvalidArgument(
            "epsilon is out of range", must="be greater than 0", got=options.epsilon
        )
    least = check.at_least_one(options.least, "least")
    target = _Target(bits, place, least, times)
    said, attack = _RULES[options.rule]
    plain = attack(target)
    others = np.arange(bits.size) != place
    pairs = [(np.ones(bits.size, dtype=np.bool_), others)] * times
    noise = DiscreteLaplace(scale=2 * times / epsilon)

    def world(bit: bool) -> NoisyCounts:
        return NoisyCounts(bits=np.where(others, bits, int(bit)), noise=noise, rng=rng)

    record = play_guessing(
        world,
        lambda interface: difference(interface, pairs).guess,
        trials=check.at_least_one(options.trials, "trials"),
        loss=Pure(epsilon),
        rng=rng,
        on_step=progress_bar("games"),
    )
    answers = "Exact answers" if options.rule == "none" else f"Answers by a rule ({said})"
    if options.rule == "memory":
        answers += f", a guess that is {'right' if plain.guess == bits[place] else 'wrong'}"
    told = (
        f"{answers}: {plain}\n\nPrivate answers, ε = {short(epsilon)} for all "
        f"{2 * times:,} together, about a bit that is a fair coin: {record}"
    )
    games = AttackReport(
        attack="One person's bit from the count of everybody and that of all others.",
        attempts=(Attempt(release=f"private answers, ε = {short(epsilon)}", record=record),),
    )
    return wrapped(told), {
        "rule": options.rule,
        "exact": plain.to_json(),
        "private": record.to_json(),
        **games.to_json(),
    }


def _add_census(parser: argparse.ArgumentParser) -> None:
    one = parser.add_argument
    one("table", help="a file of JSON: columns, ages, and counts, medians and means of groups")
    one("--seconds", default="60", metavar="S", help="how long each stage may take (default: 60)")


def _census(options: argparse.Namespace) -> Told:
    found = reconstruct_block(
        read_table(read_json(options.table)),
        seconds=options.seconds,
        on_step=progress_bar("stages"),
    )
    return str(found), found.to_json()


def _add_sums(parser: argparse.ArgumentParser) -> None:
    one = parser.add_argument
    one("groups", help="printed sums: CSV or Parquet with a line for each group")
    one("--people", required=True, metavar="C", help="the column that says how many are in it")
    one("--total", required=True, metavar="C", help="the column with the sum of their values")
    one("--low", required=True, metavar="L", help="the least that anybody's value can be")
    one("--high", required=True, metavar="H", help="the most that anybody's value can be")


def _sums(options: argparse.Namespace) -> Told:
    rows = read_rows(Path(options.groups))
    every = np.arange(rows.rows)
    printed = [rows.values(name, every) for name in (options.people, options.total)]
    found = []
    for place, (people, total) in enumerate(zip(*printed, strict=True)):
        if people is None or total is None:
            continue
        if not _is_number(people) or not _is_number(total):
            raise InvalidArgument(
                "The groups cannot be read", must="have numbers of people and totals"
            )
        if people == total == 0:
            continue
        group = GroupedSum(
            people=read_whole(people), total=total, low=options.low, high=options.high
        )
        least, most = value_range(group)
        found.append({"group": place, "least": float(least), "most": float(most)})
    known = [one for one in found if one["least"] == one["most"]]
    told = f"In {len(known):,} of {len(found):,} groups everybody's value is known exactly."
    table = [
        [str(one["group"]), f"{one['least']:g}", f"{one['most']:g}"]
        for one in sorted(found, key=lambda one: one["most"] - one["least"])[:20]
    ]
    shown = text_table(["group", "each at least", "each at most"], table)
    return f"{wrapped(told)}\n\n{shown}", found


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _add_digits(parser: argparse.ArgumentParser) -> None:
    one = parser.add_argument
    one("answer", help="the sum of N to the power of minus each value, all its digits or a/b")
    one("--people", required=True, metavar="N", help="how many people were summed up")


def _digits(options: argparse.Namespace) -> Told:
    found = decode_powers(options.answer, check.whole(options.people))
    if found is None:
        told = "Cannot tell: the digits are not those of such a sum. It was rounded, or has noise."
        return wrapped(told), None
    listed = sorted(found.items())
    told = text_table(["value", "people"], [[str(value), f"{n:,}"] for value, n in listed])
    return told, [{"value": value, "people": count} for value, count in listed]


def _add_population(parser: argparse.ArgumentParser) -> None:
    one = parser.add_argument
    one("--people", default="1000", metavar="N", help="how many are counted (default: 1000)")
    one("--epsilon", default="1", metavar="E", help="the loss of the count (default: 1)")
    one("--trials", default="1000", metavar="N", help="how many games are played (default: 1000)")


def _population(options: argparse.Namespace) -> Told:
    found = play_population_fact(
        check.whole(options.people),
        epsilon=options.epsilon,
        trials=check.whole(options.trials),
        rng=SystemRng(),
    )
    return wrapped(str(found)), found.to_json()


ANSWER_ATTACKS = (
    AttackVerb(
        "difference",
        "find one person's bit from two counts, exact and private",
        _add_difference,
        _difference,
    ),
    AttackVerb("census", "find the people of a block from its printed table", _add_census, _census),
    AttackVerb("sums", "find values from the printed sums of groups", _add_sums, _sums),
    AttackVerb("digits", "find everybody's value from one exact number", _add_digits, _digits),
    AttackVerb(
        "population",
        "show what a fact about everybody tells about one who is not there",
        _add_population,
        _population,
        is_made_up=True,
    ),
)
