"""Definitions without a simulator: DP itself, noiseless privacy and Pufferfish, by enumeration."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

from attrs import evolve, frozen

from discreet.audit.finite_divergence import FiniteLaw, excess
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number
from discreet.noiseless.finite.checked_delta import CheckedDelta, enclosed, words_of
from discreet.noiseless.finite.coupled_pairs import CoupledPair
from discreet.noiseless.finite.finite_model import Database, FiniteModel, certain
from discreet.noiseless.finite.world_conditions import conditions_of

Secret = Callable[[Database], int | None]
"""What Pufferfish protects: 0 or 1 of a database, or None where the question does not arise."""


@frozen(eq=False)
class Compared:
    """Two laws that a definition wants to be close, and which they are."""

    first: FiniteLaw
    second: FiniteLaw
    words: str


def closeness(first: FiniteLaw, second: FiniteLaw, factor: Fraction) -> Fraction:
    """Return the least δ with which two laws are close at a rational factor, both ways.

    Example:
        >>> closeness(certain(0), {0: Fraction(1, 2), 1: Fraction(1, 2)}, Fraction(1))
        Fraction(1, 2)
    """
    return max(excess(first, second, factor), excess(second, first, factor))


def check_differential(
    mechanism: Mapping[Database, FiniteLaw],
    epsilon: Number,
    *,
    neighbours: Sequence[tuple[Database, Database]] | None = None,
) -> CheckedDelta:
    r"""Return the least δ of differential privacy at an ε, over all neighbours.

    Neighbours differ in exactly one row, unless they are listed [Gro14, definitions 3.2 and 3.3].

    Example:
        >>> flip = {(b,): {b: Fraction(3, 4), 1 - b: Fraction(1, 4)} for b in (0, 1)}
        >>> print(check_differential(flip, 0), check_differential(flip, "1.0987"))
        0.5 0
    """
    pairs = _neighbours(mechanism) if neighbours is None else iter(neighbours)
    named = {id(law): law for law in mechanism.values()}
    seen: dict[tuple[int, int], Compared] = {}
    for x, other in pairs:
        key = id(mechanism[x]), id(mechanism[other])
        if key[0] != key[1] and key not in seen and key[::-1] not in seen:
            words = f"{words_of(x)} beside {words_of(other)}"
            seen[key] = Compared(named[key[0]], named[key[1]], words)
    return enclosed(epsilon, lambda factor: _worst(seen.values(), factor))


def check_noiseless(
    model: FiniteModel, pairs: Sequence[CoupledPair], epsilon: Number
) -> CheckedDelta:
    r"""Return the least δ of noiseless privacy at an ε.

    For every law, what is private is given once as :math:`v` and once as :math:`v'`, together with
    what is known; the two laws of the release must be close [Gro14, definition 5.7]. There is no
    simulator. So it fails where the private value tells of the others (see
    ``check_coupled_worlds``), it does not extend to mixtures, and knowing *less* can break it.
    """
    by_known: defaultdict[Any, list[Any]] = defaultdict(list)
    for index, pair in enumerate(pairs):
        blind = evolve(pair, alternative=lambda _: certain(None))
        for one in conditions_of(model, [blind]):
            by_known[one.law, index, one.known].append(one)
    compared = [
        Compared(
            a.released, b.released, f"{a.pair.name} is {words_of(a.value)} or {words_of(b.value)}"
        )
        for group in by_known.values()
        for a, b in combinations(group, 2)
    ]
    return enclosed(epsilon, lambda factor: _worst(compared, factor))


def check_pufferfish(
    model: FiniteModel, secrets: Sequence[Secret], epsilon: Number
) -> CheckedDelta:
    r"""Return the least δ of Pufferfish privacy at an ε.

    For every law, secret and knowledge, the release given that the secret is 0 must be close to the
    release given that it is 1 [Gro14, definition 5.8].

    Example:
        >>> from discreet.noiseless import without_knowledge
        >>> coin = {(0,): Fraction(1, 2), (1,): Fraction(1, 2)}
        >>> model = FiniteModel({x: certain(x) for x in coin}, [without_knowledge(coin)])
        >>> print(check_pufferfish(model, [lambda x: x[0]], 3))
        1
    """
    compared = []
    for number, secret in enumerate(secrets):
        laws = secret_laws(model, secret)
        for key, (_, released) in laws.items():
            law, known, value = key
            other = laws.get((law, known, 1))
            if value == 0 and other is not None:
                compared.append(Compared(released, other[1], f"secret {number + 1} is 0 or 1"))
    return enclosed(epsilon, lambda factor: _worst(compared, factor))


def secret_laws(
    model: FiniteModel, secret: Secret
) -> dict[tuple[int, Hashable, int | None], tuple[Fraction, FiniteLaw]]:
    """Return, by law, knowledge and value of a secret, its mass and the law of the release."""

    def private(x: Database) -> int | None:
        value = secret(x)
        if value not in (0, 1, None):
            raise InvalidArgument("That is no secret", must="be 0, 1 or None", got=words_of(value))
        return value

    pair = CoupledPair("secret", private, lambda _: certain(None))
    return {
        (one.law, one.known, one.value): (one.mass, one.released)  # type: ignore[misc]
        for one in conditions_of(model, [pair])
    }


def _worst(compared: Any, factor: Fraction) -> tuple[Fraction, str]:
    worst, where = Fraction(0), "nowhere: all are alike"
    done: dict[Any, Fraction] = {}
    for one in compared:
        key = frozenset(one.first.items()), frozenset(one.second.items())
        if key not in done:
            done[key] = closeness(one.first, one.second, factor)
        if done[key] > worst:
            worst, where = done[key], one.words
    return worst, where


def _neighbours(mechanism: Mapping[Database, FiniteLaw]) -> Iterator[tuple[Database, Database]]:
    """Yield databases of equal length that differ in one row."""
    for x in mechanism:
        if not isinstance(x, tuple):
            raise InvalidArgument(
                "Databases are not tuples of rows", must="be tuples, or have listed neighbours"
            )
    for i in range(max(map(len, mechanism))):
        alike: defaultdict[Any, list[Any]] = defaultdict(list)
        for x in mechanism:
            if i < len(x):
                alike[len(x), x[:i], x[i + 1 :]].append(x)
        for group in alike.values():
            yield from combinations(group, 2)
