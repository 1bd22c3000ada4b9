"""How many published means give their people away, as a verb of ``discreet attack``: traceable."""

import argparse
from typing import Any

from discreet.attacks.statistics.attribute_counts import (
    LeastAttributes,
    expected_attributes,
    expected_with_pool,
    least_attributes,
)
from discreet.attacks.statistics.strong_priors import (
    BetaMean,
    MeanPrior,
    UniformMean,
    strength_for,
)
from discreet.cli.attack_verbs.attack_verb import AttackVerb, Told, wrapped
from discreet.core.check import at_least_one
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import exact

_COUNTED = 100_000
"""For more people ξ is that for every number of them, which is as good."""


def _configure(parser: argparse.ArgumentParser) -> None:
    one = parser.add_argument
    one("--people", required=True, metavar="N", help="how many people the shares are of")
    one("--attributes", metavar="D", help="how many shares are published, if that is known")
    one(
        "--prior",
        default="uniform",
        metavar="P",
        help="how shares are spread: uniform (the default), uniform:LOW,HIGH or beta:U,V",
    )
    one("--distortion", default="0", metavar="A", help="how far shares may be off (default: 0)")
    one("--references", default="1", metavar="R", help="whom an adversary has (default: 1)")
    one("--level", default="0.05", metavar="L", help="of false accusations (default: 0.05)")


def prior_of(text: str) -> MeanPrior:
    """Return how shares of yes are spread, as means of signs.

    Example:
        >>> prior_of("uniform:0.5,1"), prior_of("beta:2,5")
        (UniformMean(low=0.0, high=1.0), BetaMean(u=2.0, v=5.0))
    """
    name, _, given = text.partition(":")
    numbers = [float(exact(one.strip())) for one in given.split(",")] if given else []
    if name == "uniform" and len(numbers) in (0, 2):
        if numbers and not 0 <= numbers[0] < numbers[1] <= 1:
            raise InvalidArgument(
                "The ends of --prior are out of range", must="have 0 <= LOW < HIGH <= 1", got=given
            )
        return UniformMean(*(2 * one - 1 for one in numbers))
    if name == "beta" and len(numbers) == 2:
        return BetaMean(*numbers)
    raise InvalidArgument(
        "--prior is no spread of shares",
        must="be uniform, uniform:LOW,HIGH or beta:U,V",
        got=text,
    )


def distortion_of(text: str) -> float:
    """Return how far means of signs may be off, from how far shares may be.

    Example:
        >>> distortion_of("0.1")
        0.2
    """
    shares = exact(text)
    if not 0 <= shares <= 1:
        raise InvalidArgument("--distortion is out of range", must="be from 0 to 1", got=text)
    return float(2 * shares)


def expected_for(
    people: int, prior: MeanPrior, *, references: int, level: float
) -> tuple[int, bool]:
    """Return how many exact shares trace most people, and whether that takes a pool."""
    plain = expected_attributes(people, prior, level=level, references=references)
    pooled = expected_with_pool(people, references=references, level=level)
    return (plain, False) if pooled is None or plain <= pooled else (pooled, True)


def _traceable(options: argparse.Namespace) -> Told:
    people = at_least_one(options.people, "people")
    references = at_least_one(options.references, "references")
    prior, level = prior_of(options.prior), float(exact(options.level))
    distortion = distortion_of(options.distortion)
    expected, _ = expected_for(people, prior, references=references, level=level)
    known = min(expected, expected_with_pool(people, references=None, level=level) or expected)
    proved = least_attributes(people, prior, distortion=distortion, level=level)
    strength = strength_for(prior, people) if people <= _COUNTED else prior.strength
    data: dict[str, Any] = {
        "people": people,
        "strength": strength,
        "spread": prior.spread,
        "expected": expected,
        "expected_if_known": known,
        "proved": proved.proved,
    }
    text = (
        f"Exact shares of {people:,} people trace 95 % of them from about {expected:,} attributes "
        f"on, with {references:,} reference{'s' * (references > 1)} and level {level:g}; and from "
        f"about {known:,} on, if the shares of the whole population are known.\n\n"
        f"Whatever is published, if no share is off by more than {distortion / 2:g}: "
        f"{_said(proved)}\n\nThe prior's ξ is {strength:.4g} for so many "
        f"people: what a release of one attribute can tell of all of them together."
    )
    if options.attributes is not None:
        given = at_least_one(options.attributes, "attributes")
        data |= {"attributes": given, "is_traceable": given >= expected}
        text += f"\n\n{given:,} attributes {_verdict(given, expected, known, proved)}"
    return wrapped(text), data


def _said(found: LeastAttributes) -> str:
    if found.proved is None:
        return "nothing is proved, since that much may hide everybody."
    return f"from {found.proved:,} attributes on each of them is traced, which is proved."


def _verdict(given: int, expected: int, known: int, proved: LeastAttributes) -> str:
    if proved.proved is not None and given >= proved.proved:
        return "trace everybody, however the shares are distorted within that."
    if given >= expected:
        return "trace most people if they are exact."
    if given >= known:
        return "trace most people if they are exact, but that takes more references."
    return (
        "trace fewer, if any. That is no promise: some people may stand out, and shares may be "
        "spread in another way. Privacy is."
    )


LIMIT_ATTACKS: tuple[AttackVerb, ...] = (
    AttackVerb(
        "traceable",
        "say how many published shares give their people away",
        _configure,
        _traceable,
        is_made_up=True,
    ),
)
