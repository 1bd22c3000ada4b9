r"""The game of adaptive composition, played out exactly on finite mechanisms.

A bit is fixed. In each round an adversary, who has seen all answers so far, chooses two
neighbouring inputs and a mechanism, and gets the mechanism's answer on the input that the bit picks
[DRV10; DR14, section 3.5]. Composition is private if the two laws of what the adversary sees are
close.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from attrs import frozen

from discreet.audit.finite_divergence import FiniteLaw, hockey_stick
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Approximate, Pure
from discreet.core.numbers import Number

Transcript = tuple[Any, ...]
"""What the adversary has seen: its own coins first, then every answer."""

NO_COINS: FiniteLaw = {None: Fraction(1)}
_MOST_VIEWS = 100_000


@frozen(kw_only=True)
class Move:
    """One round: a mechanism, two neighbouring inputs for it, and the loss that it promises."""

    mechanism: Callable[[Any], FiniteLaw]
    neighbours: tuple[Any, Any]
    loss: Pure | Approximate

    def laws(self) -> tuple[FiniteLaw, FiniteLaw]:
        """Return the laws of the answer on the two inputs."""
        first, second = self.neighbours
        return self.mechanism(first), self.mechanism(second)


Adversary = Callable[[Transcript], Move | None]
"""The next move after a view, or ``None`` to stop. Its state is the view; its coins come first."""


@frozen
class Game:
    """The two laws of the adversary's view, one for each value of the bit."""

    views: tuple[FiniteLaw, FiniteLaw]
    spent: dict[Transcript, tuple[Pure | Approximate, ...]]
    """The losses on the way to each view, in order: they may depend on the answers."""

    def delta(self, epsilon: Number) -> tuple[Fraction, Fraction]:
        r"""Enclose the least δ with which the views are (ε, δ)-close, in both directions."""
        zero, one = self.views
        ways = [hockey_stick(zero, one, epsilon), hockey_stick(one, zero, epsilon)]
        return max(low for low, _ in ways), max(high for _, high in ways)


def play(adversary: Adversary, *, coins: FiniteLaw = NO_COINS, rounds: int = 64) -> Game:
    r"""Return the exact laws of what ``adversary`` sees, after at most ``rounds`` rounds.

    Guarantee:
        The probability of a view is the product of those of its answers given what came before, on
        the input that the bit picks. Every move is checked: a mechanism that breaks the loss it
        promises on its two inputs, by the hockey-stick divergence in both directions, is refused.

    Example:
        >>> from discreet.accounting import log_bounds
        >>> flip = lambda bit: {bit: Fraction(3, 4), 1 - bit: Fraction(1, 4)}
        >>> move = Move(mechanism=flip, neighbours=(0, 1), loss=Pure(log_bounds(Fraction(3))[1]))
        >>> game = play(lambda view: move if len(view) < 3 else None)
        >>> game.views[0][None, 0, 0], game.delta(0)[0]
        (Fraction(9, 16), Fraction(1, 2))
    """
    open_views: list[tuple[Transcript, Fraction, Fraction, tuple[Pure | Approximate, ...]]]
    open_views = [((coin,), mass, mass, ()) for coin, mass in coins.items()]
    views: tuple[dict[Transcript, Fraction], dict[Transcript, Fraction]] = ({}, {})
    spent: dict[Transcript, tuple[Pure | Approximate, ...]] = {}
    checked: set[int] = set()
    kept: list[Move] = []
    while open_views:
        view, zero, one, losses = open_views.pop()
        move = adversary(view) if len(view) <= rounds else None
        if move is None:
            views[0][view], views[1][view], spent[view] = zero, one, losses
            continue
        laws = move.laws()
        if id(move) not in checked:
            _require_loss(laws, move.loss)
            checked.add(id(move))
            kept.append(move)
        for answer in {**laws[0], **laws[1]}:
            masses = [law.get(answer, Fraction(0)) for law in laws]
            open_views.append(
                ((*view, answer), zero * masses[0], one * masses[1], (*losses, move.loss))
            )
        if len(open_views) + len(spent) > _MOST_VIEWS:
            raise Unsupported("This game has too many views", must=f"have at most {_MOST_VIEWS}")
    return Game((views[0], views[1]), spent)


def fixed(moves: Sequence[Move]) -> Adversary:
    """Return the adversary that makes these moves, whatever the answers."""
    return lambda view: moves[len(view) - 1] if len(view) <= len(moves) else None


def _require_loss(laws: tuple[FiniteLaw, FiniteLaw], loss: Pure | Approximate) -> None:
    delta = loss.delta if isinstance(loss, Approximate) else Fraction(0)
    for first, second in (laws, laws[::-1]):
        if hockey_stick(first, second, loss.epsilon)[0] > delta:
            raise InvalidArgument(
                "This mechanism breaks its promise on these neighbours",
                must=f"be private with {loss}",
                next="Give the move the loss that the mechanism has",
            )
