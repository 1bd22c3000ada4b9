"""Attacks on whoever answers one by one, as a verb of ``discreet attack``: online."""

import argparse
import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from attrs import define

from discreet.accounting.picture import require_kind
from discreet.attacks.online.codeword_attack import CodewordPlan, attack_codewords
from discreet.attacks.online.prefix_attack import trace_prefixes
from discreet.attacks.online.queries_until_failure import curve_of_failures, failure_curve
from discreet.attacks.online.sample_answers import ExactMeans, NoisyMeans, Rows
from discreet.attacks.online.value_search import play_search
from discreet.attacks.online.vector_attack import (
    FreshVectors,
    KeptVector,
    recover_vector,
)
from discreet.attacks.reconstruction.guess_ceiling import guess_ceiling
from discreet.cli.attack_verbs.attack_verb import AttackVerb, Told, add_plot, wrapped
from discreet.cli.attack_verbs.statistics_attacks import drawn, laplace_for
from discreet.cli.progress import CountedSteps, counted_steps
from discreet.core.check import at_least_one
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Pure, short
from discreet.core.numbers import exact, float_up
from discreet.core.protocols import QueryInterface
from discreet.core.rounding import exp_up
from discreet.randomness.rng import SystemRng
from discreet.randomness.samplers import bernoulli

_MOST_COPIES = 20_000
_LARGEST = 64


def _configure(parser: argparse.ArgumentParser) -> None:
    one = parser.add_argument
    one("attack", choices=sorted(_ATTACKS), metavar="ATTACK", help=", ".join(sorted(_ATTACKS)))
    one("--people", metavar="N", help="how many rows there are (each attack has its default)")
    one("--queries", metavar="K", help="how many queries are asked, at most")
    one("--epsilon", default="1", metavar="E", help="of all private answers (default: 1)")
    one("--curve", metavar="N,N", help="codewords: the queries until failure, for several sizes")
    one("--proved", action="store_true", help="codewords: as large as in the proof")
    add_plot(parser)


def _run(options: argparse.Namespace) -> Told:
    _require_used(options)
    if options.plot:
        require_kind(Path(options.plot))
    return _ATTACKS[options.attack](options)


def _require_used(options: argparse.Namespace) -> None:
    """Refuse an option that this attack would not look at."""
    named = options.attack if options.curve is None else f"{options.attack} --curve"
    used = _USED.get(named, ())
    unused = [
        f"--{name}"
        for name in ("curve", "people", "queries", "proved", "plot")
        if getattr(options, name) not in (None, False) and name not in used
    ]
    if unused:
        raise InvalidArgument(
            f"'online {options.attack}' has no use for these options here",
            must=f"be among {', '.join(f'--{name}' for name in used)}" if used else "be left out",
            got=", ".join(unused),
        )


def _given(value: str | None, default: int, name: str) -> int:
    return default if value is None else at_least_one(value, name)


@define(eq=False)
class WatchedInterface:
    """An interface that moves a bar with every question that it is asked."""

    inner: QueryInterface
    bar: CountedSteps

    def answers(self, queries: Any) -> Any:
        """Return what the inner one answers."""
        self.bar.step()
        return self.inner.answers(queries)


def _exactly(bar: CountedSteps) -> Callable[[Rows], QueryInterface]:
    return lambda rows: WatchedInterface(ExactMeans(rows=rows), bar)


def _privately(
    epsilon: str, queries: int, moves: int, bar: CountedSteps
) -> Callable[[Rows], QueryInterface]:
    noise, rng = laplace_for(epsilon, queries=queries, moves=moves), SystemRng()
    return lambda rows: WatchedInterface(NoisyMeans(rows=rows, noise=noise, rng=rng), bar)


def _prefix(options: argparse.Namespace) -> Told:
    people = _given(options.people, 5, "people")
    queries = _given(options.queries, 80 * people**2, "queries")
    shape: dict[str, Any] = {"people": people, "queries": queries, "strangers": people}
    with counted_steps("questions", 2 * queries) as bar:
        opened = (_exactly(bar), _privately(options.epsilon, queries, 2, bar))
        plain, hidden = (trace_prefixes(one, rng=SystemRng(), **shape) for one in opened)
    epsilon = exact(options.epsilon)
    promised = "At such an ε nothing is promised."
    if epsilon <= _LARGEST:
        times = short(exp_up(epsilon))
        promised = f"Nobody traces a row more than {times} times as often as a stranger."
    text = (
        f"Exact answers: {plain}\n\nPrivate answers, ε = {short(epsilon)} for all together: "
        f"{hidden} {promised}"
    )
    return wrapped(text), {"exact": plain.to_json(), "private": hidden.to_json()}


def _vectors(options: argparse.Namespace) -> Told:
    signs, rng = _given(options.people, 1000, "people"), SystemRng()
    epsilon = exact(options.epsilon)
    share = Fraction(math.tanh(float(epsilon) / 2) * (1 - 1e-12))
    enough = math.ceil(100 / share**2) if share > 0 else _MOST_COPIES
    queries = _given(options.queries, min(enough, _MOST_COPIES), "queries")
    secret = np.where(bernoulli(Fraction(1, 2), signs, rng), 1, -1)
    with counted_steps("questions", 2 * queries) as bar:
        found = [
            recover_vector(
                WatchedInterface(kind(secret=secret, alpha=share, rng=rng), bar), queries=queries
            )
            for kind in (FreshVectors, KeptVector)
        ]
    right = [float(one.share_right(secret)) for one in found]
    ceiling = float_up(guess_ceiling(Pure(epsilon)))
    most = math.ceil(10_000 * ceiling) / 100
    text = (
        f"A new noisy copy for each of {queries:,} queries, ε = {short(epsilon)} for each: "
        f"{right[0]:.1%} of {signs:,} signs are recovered.\n\nOne copy for all of them, "
        f"ε = {short(epsilon)} in all: {right[1]:.1%}; nobody can do better than {most}% in "
        "the long run. But its answers agree with one another, which an adaptive list forbids."
    )
    data = {"queries": queries, "signs": signs, "fresh": right[0], "kept": right[1]}
    return wrapped(text), data | {"ceiling": ceiling}


def _search(options: argparse.Namespace) -> Told:
    people, domain, rounds = _given(options.people, 1001, "people"), 1 << 20, 100
    if people < 3 or people % 2 == 0:
        raise InvalidArgument(
            "Nobody stands in the middle",
            must="be an odd number of people, 3 or more",
            got=str(people),
        )
    sides, steps = people // 2, domain.bit_length() - 1
    loss, rng = Pure(exact(options.epsilon)), SystemRng()
    with counted_steps("questions", 2 * rounds * steps) as bar:
        opened = (_exactly(bar), _privately(options.epsilon, steps, 1, bar))
        plain, hidden = (
            play_search(one, sides=sides, domain=domain, rounds=rounds, loss=loss, rng=rng)
            for one in opened
        )
    text = (
        f"One person's value among {domain:,}, from {steps} threshold queries about {people:,} "
        f"people. Exact answers: it is found in {plain.right} of {rounds} games.\n\nPrivate "
        f"answers, ε = {short(loss.epsilon)} for all together: in {hidden.right} of {rounds}; "
        f"nobody finds it more often than {short(hidden.ceiling)} of the time."
    )
    return wrapped(text), {"exact": plain.to_json(), "private": hidden.to_json()}


def _codewords(options: argparse.Namespace) -> Told:
    if options.curve is not None:
        return _curve(options)
    people = _given(options.people, 5, "people")
    plan, rng = CodewordPlan.practical(people), SystemRng()
    proved = CodewordPlan.proved(people).code
    if options.proved:
        plan = CodewordPlan(people=people, code=proved)
    most = _given(options.queries, plan.code.length, "queries")
    with counted_steps("questions", most) as bar:
        plain = attack_codewords(_exactly(bar), plan=plan, rng=rng, most=most)
    with counted_steps("questions", plain.queries) as bar:
        opened = _privately(options.epsilon, plain.queries, 2, bar)
        hidden = attack_codewords(opened, plan=plan, rng=rng, most=plain.queries, to_the_end=True)
    text = (
        f"Exact answers: {plain}\n\nPrivate answers, ε = {short(exact(options.epsilon))} for as "
        f"many together: {hidden} Noise for so many answers hides the rows, and is wrong by "
        f"itself: nothing answers so many questions about so few rows.\n\nThe proof, which no "
        f"mechanism escapes, takes {proved.length:,} queries about {proved.users:,} users."
    )
    data = {"exact": plain.to_json(), "private": hidden.to_json()}
    return wrapped(text), data | {"proved_queries": proved.length}


def _curve(options: argparse.Namespace) -> Told:
    sizes = [at_least_one(one, "people") for one in options.curve.split(",") if one.strip()]
    expected = sum(3 * CodewordPlan.practical(size).code.length // 2 for size in sizes)
    with counted_steps("questions", expected) as bar:
        curve = failure_curve(_exactly(bar), people=sizes, rng=SystemRng())
    text = wrapped(str(curve))
    if options.plot:
        text += drawn(options, curve_of_failures({"exact means": curve}))
    return text, curve.to_json()


_ATTACKS: Mapping[str, Callable[[argparse.Namespace], Told]] = {
    "prefix": _prefix,
    "vectors": _vectors,
    "search": _search,
    "codewords": _codewords,
}

_USED: Mapping[str, tuple[str, ...]] = {
    "prefix": ("people", "queries"),
    "vectors": ("people", "queries"),
    "search": ("people",),
    "codewords": ("people", "queries", "proved"),
    "codewords --curve": ("curve", "plot"),
}
"""Which options each attack looks at, beside the loss and the form of what it prints."""

ONLINE_ATTACKS: tuple[AttackVerb, ...] = (
    AttackVerb(
        "online",
        "attack a mechanism that answers one by one: prefix, vectors, search, codewords",
        _configure,
        _run,
        is_made_up=True,
    ),
)
