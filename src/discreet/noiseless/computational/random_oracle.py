"""A random function in place of a cryptographic one: sampled when asked, and fresh each time."""

from collections.abc import Callable
from typing import Any, TypeVar

from attrs import define, field

from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.protocols import Rng

T = TypeVar("T")

Oracle = Callable[[bytes], bytes]
"""A function from texts of bytes to texts of the same length."""

MOST_BYTES = 1 << 26
"""So many bytes one invocation may have its oracle remember."""


@define(eq=False)
class LazyOracle:
    """A random length-preserving function, of which only what was asked is ever drawn.

    Guarantee:
        The answers have the law of a uniformly random function's: each new question gets fresh
        uniform bytes of its length, and each old one what it got. The law of finitely many values
        of a uniformly random function is that of independent uniform values.
    """

    _rng: Rng
    _answers: dict[bytes, bytes] = field(factory=dict)
    _used: int = 0

    def __call__(self, question: bytes) -> bytes:
        """Return the value at a text of bytes."""
        if not isinstance(question, bytes):
            raise InvalidArgument(
                "An oracle is asked bytes", must="be bytes", got=type(question).__name__
            )
        if question not in self._answers:
            size = len(question)
            self._used += 2 * size
            if self._used > MOST_BYTES:
                raise Unsupported("The oracle was asked too much", must=f"be {MOST_BYTES} bytes")
            drawn: bytes = self._rng.words(-(-size // 8)).tobytes()
            self._answers[question] = drawn[:size]
        return self._answers[question]


def with_random_oracle(
    mechanism: Callable[[Any, Oracle, Rng], T],
) -> Callable[[Any, Rng], T]:
    r"""Return the mechanism that runs another one with a random function of its own.

    Guarantee:
        If a mechanism is built from one-way functions in a black box and is
        :math:`\varepsilon`-IND-CDP for *every* one-way function, then what is returned here is
        :math:`(\varepsilon, negl)`-DP, against everybody: as efficient, and as useful up to what is
        negligible [Gro14, theorem 4.1]. So such constructions gain nothing over DP. The idea: with
        a random oracle a one-way function exists even against those who are unbounded but for the
        number of questions that they ask it; and who cannot ask at all, as here, is bounded by the
        law of the release alone.

    Assumes:
        The adversary never asks this function: it is forgotten when the call ends, and the next
        call draws another.

    Example:
        >>> from discreet import SystemRng
        >>> tagged = with_random_oracle(lambda x, oracle, rng: (oracle(x), oracle(x)))
        >>> first, second = tagged(b"four", SystemRng())
        >>> first == second, len(first)
        (True, 4)
    """

    def run(database: Any, rng: Rng) -> T:
        return mechanism(database, LazyOracle(rng), rng)

    return run
