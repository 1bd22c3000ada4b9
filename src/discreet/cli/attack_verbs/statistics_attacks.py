"""Attacks on statistics, as verbs of ``discreet attack``: trace, overfit, fingerprint."""

import argparse
import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.picture import require_kind, save
from discreet.attacks.attack_picture import picture_bytes
from discreet.attacks.records.coded_rows import CodedRows, read_rows
from discreet.attacks.statistics.attribute_counts import roc_curve
from discreet.attacks.statistics.attribute_rows import PublishedShares, read_shares, signs_of
from discreet.attacks.statistics.excess_picture import excess_picture
from discreet.attacks.statistics.false_discovery import DiscoveryControl
from discreet.attacks.statistics.fingerprint_code import FingerprintCode
from discreet.attacks.statistics.interactive_code import play_code
from discreet.attacks.statistics.overfitting import excess_ceiling, expected_excess, overfit
from discreet.attacks.statistics.pirates import PIRATES, Pirate, Signs, coin_signs, noisy
from discreet.attacks.statistics.score_test import TracingNull
from discreet.attacks.statistics.strong_priors import UniformMean
from discreet.attacks.statistics.tracing import Tracing, accused_of, trace_people
from discreet.attacks.statistics.tracing_picture import roc_picture, score_picture
from discreet.attacks.statistics.tracing_weights import TracingStatistic
from discreet.cli.attack_verbs.attack_verb import (
    AttackVerb,
    Told,
    add_plot,
    read_json,
    wrapped,
    write_private,
)
from discreet.cli.attack_verbs.trace_limits import distortion_of, expected_for
from discreet.cli.progress import counted_steps
from discreet.core.check import at_least_one
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Pure, short
from discreet.core.numbers import exact, float_up
from discreet.core.protocols import Rng
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.randomness.rng import SystemRng


def laplace_for(epsilon: str, *, queries: int, moves: int) -> DiscreteLaplace:
    """Return the noise that gives ``epsilon`` to all totals together, each moved by ``moves``."""
    loss = Pure(exact(epsilon))
    if loss.epsilon <= 0:
        raise InvalidArgument("epsilon is out of range", must="be greater than 0", got=epsilon)
    d_in = Contribution(l0=queries, linf=moves, metric="change_one")
    return DiscreteLaplace.calibrate(d_in=d_in, loss=loss)


def drawn(options: argparse.Namespace, figure: Any) -> str:
    """Write a picture of made-up people, and say so."""
    save(figure, Path(options.plot))
    return f"\n\nDrew {options.plot}"


def _drawn_in_private(options: argparse.Namespace, figure: Any) -> str:
    """Write a picture of rows into a new file that only its owner can read, and say so."""
    target = Path(options.plot)
    write_private(target, picture_bytes(figure, target))
    return f"\n\nDrew {target}, which only you can read"


# ---- trace


def _configure_trace(parser: argparse.ArgumentParser) -> None:
    one = parser.add_argument
    one("release", help="a file of JSON: the published share of each attribute, by its name")
    one("candidates", help="the people who are looked for: CSV or Parquet, 0 or 1 an attribute")
    one("references", help="people of the same population who are not in the data: CSV or Parquet")
    one("--pool", metavar="FILE", help="more such people, for statistics that need them")
    one(
        "--statistic",
        default="correlation",
        choices=[each.value for each in TracingStatistic],
        help="(default: correlation)",
    )
    one(
        "--null",
        default="references",
        choices=[each.value for each in TracingNull if each is not TracingNull.GAUSSIAN],
        help="what is known of people who are not in the data (default: references)",
    )
    one("--distortion", metavar="A", help="how far the shares may be off, for 'clipped'")
    one("--level", default="0.05", metavar="L", help="of false accusations (default: 0.05)")
    one(
        "--control",
        default=DiscoveryControl.BENJAMINI_HOCHBERG.value,
        choices=[each.value for each in DiscoveryControl],
        help="what the level bounds (default: benjamini-hochberg)",
    )
    one("--inside", metavar="C", help="a column of the candidates: 1 if they are in the data")
    one("--people", metavar="N", help="how many are in the data: says how many attributes trace")
    add_plot(parser)


def _trace(options: argparse.Namespace) -> Told:
    if options.plot:
        require_kind(Path(options.plot))
    shares = read_shares(read_json(options.release))
    rows = read_rows(Path(options.candidates))
    pool = None if options.pool is None else read_rows(Path(options.pool))
    others = signs_of(read_rows(Path(options.references)), shares, "references")
    found = trace_people(
        shares.means,
        signs_of(rows, shares, "candidates"),
        others,
        statistic=options.statistic,
        pool=None if pool is None else signs_of(pool, shares, "pool"),
        distortion=None if options.distortion is None else distortion_of(options.distortion),
        null=options.null,
        level=float(exact(options.level)),
        control=options.control,
    )
    inside = None if options.inside is None else _inside(rows, options.inside)
    text, data = _found(found)
    if inside is not None:
        more, known = _against(found, inside)
        text, data = text + more, data | known
    if options.people is not None:
        more, known = _enough(options.people, len(shares.names), len(others), found.level)
        text, data = text + more, data | known
    text = wrapped(text)
    if options.plot:
        text += _drawn_in_private(options, _tracing_figure(found, inside))
    return text, data


def _found(found: Tracing) -> tuple[str, dict[str, Any]]:
    data = {
        "verdict": found.verdict.value,
        "why": found.why,
        "accused": list(accused_of(found)),
        "scores": found.scores.tolist(),
        "p_values": found.p_values.tolist(),
        "level": found.level,
        "control": found.control.value,
        "null": found.null.value,
    }
    return str(found), data


def _inside(rows: CodedRows, name: str) -> NDArray[np.bool_]:
    if name not in rows.columns:
        raise InvalidArgument(
            f"The candidates have no column {name}", must="say in it who is in the data, 1 or 0"
        )
    column = PublishedShares(names=(name,), means=np.zeros(1))
    inside = signs_of(rows, column, "candidates")[:, 0] > 0
    if inside.all() or not inside.any():
        raise InvalidArgument(
            f"All candidates are alike in {name}", must="be some who are in the data and some not"
        )
    return np.asarray(inside, dtype=np.bool_)


def _against(found: Tracing, inside: NDArray[np.bool_]) -> tuple[str, dict[str, Any]]:
    curve = roc_curve(found.scores[inside], found.scores[~inside])
    right, wrong = int(found.accused[inside].sum()), int(found.accused[~inside].sum())
    text = (
        f"\n\nOf those who are in the data {right} of {int(inside.sum())} are accused, of the "
        f"others {wrong} of {int((~inside).sum())}. A member scores above a stranger with "
        f"probability {curve.area:.3f}; at {found.level:g} false alarms a threshold would find "
        f"{curve.power_at(found.level):.1%}."
    )
    return text, {"traced": right, "false_alarms": wrong, "area": curve.area}


def _enough(
    given: str, attributes: int, references: int, level: float
) -> tuple[str, dict[str, Any]]:
    people = at_least_one(given, "people")
    needed, is_pooled = expected_for(people, UniformMean(), references=references, level=level)
    how = " (by 'likelihood', with most of these references as its pool)" if is_pooled else ""
    text = (
        f"\n\nThe exact shares of {people:,} people trace 95 % of them from about {needed:,} "
        f"attributes on{how}, if shares are spread evenly; these are {attributes:,}."
    )
    return text, {"attributes": attributes, "attributes_that_trace": needed}


def _tracing_figure(found: Tracing, inside: NDArray[np.bool_] | None) -> Any:
    if inside is None:
        return score_picture(found)
    return roc_picture({"scores": roc_curve(found.scores[inside], found.scores[~inside])})


# ---- overfit


def _configure_overfit(parser: argparse.ArgumentParser) -> None:
    one = parser.add_argument
    one("--people", default="1001", metavar="N", help="how many rows are kept (default: 1001)")
    one("--queries", default="1000", metavar="K", help="how many are asked (default: 1000)")
    one("--epsilon", default="1", metavar="E", help="of all private answers (default: 1)")
    add_plot(parser)


def _overfit(options: argparse.Namespace) -> Told:
    people = at_least_one(options.people, "people")
    queries = at_least_one(options.queries, "queries")
    rng, sample = SystemRng(), np.arange(people)
    noise = laplace_for(options.epsilon, queries=queries, moves=1)
    if options.plot:
        require_kind(Path(options.plot))
    with counted_steps("questions", 2 * queries) as bar:

        def answer(query: NDArray[np.bool_]) -> float:
            bar.step()
            return float(query[:people].mean())

        def private(query: NDArray[np.bool_]) -> float:
            bar.step()
            counted = np.array([query[:people].sum()], dtype=np.int64)
            return float(noise.release(counted, rng)[0]) / people

        shape = {"universe": 2 * people, "queries": queries}
        plain = overfit(answer, rng=rng, **shape).excess_on(sample)
        hidden = overfit(private, rng=rng, **shape).excess_on(sample)
    law = expected_excess(people, queries)
    scale = float(noise.scale) / people
    noisy_law = expected_excess(people, queries, scale=scale)
    ceiling = float_up(excess_ceiling(Pure(exact(options.epsilon))))
    most = math.ceil(1_000 * (0.5 + ceiling)) / 10
    epsilon = short(exact(options.epsilon))
    text = wrapped(
        f"{queries:,} random questions about {people:,} rows, and the one that they add up to, "
        f"whose truth is 50 %.\n\nExact answers: {0.5 + plain:.1%} of the rows say yes (the law "
        f"says {0.5 + law:.1%}).\n\nPrivate answers, ε = {epsilon} for all together: "
        f"{0.5 + hidden:.1%} (the law says {0.5 + noisy_law:.1%}; nothing that is fitted to them "
        f"is above {most}% on average)."
    )
    if options.plot:
        text += drawn(options, excess_picture(people, queries, plain, scale=scale))
    data = {"people": people, "queries": queries, "exact": {"excess": plain, "law": law}}
    return text, data | {"private": {"excess": hidden, "law": noisy_law, "ceiling": ceiling}}


# ---- fingerprint


def _configure_fingerprint(parser: argparse.ArgumentParser) -> None:
    one = parser.add_argument
    one("--users", default="100", metavar="N", help="how many words there are (default: 100)")
    one("--colluders", default="10", metavar="C", help="how many pirates (default: 10)")
    one("--length", default="40000", metavar="L", help="how long a word is (default: 40000)")
    one(
        "--pirate",
        default="majority",
        choices=sorted(name.replace(" ", "-") for name in (*PIRATES, "noisy")),
        help="what they publish of their words (default: majority)",
    )
    one("--failure", default="0.001", metavar="F", help="that an innocent is accused")
    one("--proved", action="store_true", help="the code of the proof, which is very long")
    one("--interactive", action="store_true", help="position by position; the accused are out")
    one("--epsilon", metavar="E", help="also let a private mechanism publish the pirates' words")


def _fingerprint(options: argparse.Namespace) -> Told:
    users, few = at_least_one(options.users, "users"), at_least_one(options.colluders, "colluders")
    length, failure = at_least_one(options.length, "length"), float(exact(options.failure))
    proved = FingerprintCode.proved(users=users, colluders=few, failure=failure)
    code = FingerprintCode.practical(users=users, colluders=few, length=length, failure=failure)
    code = proved if options.proved else code
    name = options.pirate.replace("-", " ")
    pirate = {**PIRATES, "noisy": noisy(PIRATES["majority"], 0.05)}[name]
    rng = SystemRng()
    play = _by_rounds if options.interactive else _by_book
    text, data = play(code, pirate, rng)
    told = f"{name}: {text}"
    found = {"pirate": name, "proved_length": proved.length, **data}
    if options.epsilon is not None:
        noise = laplace_for(options.epsilon, queries=code.length, moves=2)
        hidden, private = play(code, _private_pirate(noise), rng)
        told += f"\n\nA private mechanism, ε = {short(exact(options.epsilon))}: {hidden}"
        found["private"] = private
    told += (
        f"\n\nThe code whose proof needs no normal law has {proved.length:,} positions "
        f"({code.length:,} here)."
    )
    return wrapped(told), found


def _by_book(code: FingerprintCode, pirate: Pirate, rng: Rng) -> Told:
    book = code.draw(rng)
    found = book.accuse(pirate(book.words[: code.colluders], rng))
    guilty = int(found.accused[: code.colluders].sum())
    innocent = int(found.accused[code.colluders :].sum())
    return _accused(code, guilty, innocent, code.length)


def _by_rounds(code: FingerprintCode, pirate: Pirate, rng: Rng) -> Told:
    with counted_steps("positions", code.length) as bar:

        def watched(held: Signs, coins: Rng) -> Signs:
            bar.step()
            return pirate(held, coins)

        game = play_code(code, watched, np.arange(code.colluders), rng)
    return _accused(code, len(game.accused_at) - game.innocent, game.innocent, game.rounds)


def _accused(code: FingerprintCode, guilty: int, innocent: int, rounds: int) -> Told:
    text = (
        f"{guilty} of {code.colluders} pirates and {innocent} of {code.users - code.colluders} "
        f"innocents are accused after {rounds:,} positions."
    )
    return text, {"pirates_accused": guilty, "innocents_accused": innocent, "positions": rounds}


def _private_pirate(noise: DiscreteLaplace) -> Pirate:
    """Return who publishes the sign of a noisy total of the words that are held, be they few."""

    def answer(held: Signs, rng: Rng) -> Signs:
        totals = noise.release(held.sum(axis=0, dtype=np.int64), rng)
        coins = coin_signs(len(totals), rng)
        return np.where(totals == 0, coins, np.sign(totals)).astype(np.int8)

    return answer


STATISTICS_ATTACKS: tuple[AttackVerb, ...] = (
    AttackVerb(
        "trace",
        "say which candidates are in the data behind published shares",
        _configure_trace,
        _trace,
    ),
    AttackVerb(
        "overfit",
        "fit a question to rows that nobody may see, from random questions about them",
        _configure_overfit,
        _overfit,
        is_made_up=True,
    ),
    AttackVerb(
        "fingerprint",
        "find out who copied from the words of a code",
        _configure_fingerprint,
        _fingerprint,
        is_made_up=True,
    ),
)
