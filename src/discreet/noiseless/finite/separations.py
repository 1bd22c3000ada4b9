"""Small models that tell definitions apart: each is an argument that can be computed."""

from fractions import Fraction

from discreet.core.check import at_least_one
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact
from discreet.noiseless.finite.finite_model import (
    FiniteModel,
    deterministic,
    independent_rows,
    mixture,
    with_knowledge,
    without_knowledge,
)
from discreet.noiseless.finite.named_statistics import parity, sign

_FAIR = ("1/2", "1/2")


def known_parity(rows: int) -> FiniteModel:
    """Return fair bits of which the adversary knows the parity, and the parity is released.

    Nothing is learnt, since it was known; so beliefs do not move, and the inference form holds with
    ε = δ = 0. But no simulator that lacks a row can say what is known to be true: coupled worlds
    need δ = 1/2, for every ε [Gro14, example 5.1]. At least two rows are needed.
    """
    if at_least_one(rows, "rows") < 2:
        raise InvalidArgument("rows is out of range", must="be at least 2", got=str(rows))
    bits = independent_rows([0, 1], rows, _FAIR)
    return FiniteModel(deterministic(parity, bits), [with_knowledge(bits, parity)])


def shared_sign(rows: int, flip: Number, *, is_known: bool = False) -> FiniteModel:
    """Return rows that share a hidden sign, each flipped at times, of which the sign is released.

    One row tells of all others. So two values of a row make two very different releases, and
    noiseless privacy fails; but whoever has the other rows can say nearly the same, and
    distributional privacy holds. If the sign is known, both hold: knowing *less* breaks noiseless
    privacy, and so does a mixture of two laws under each of which it holds [Gro14, section 5.5].
    The number of rows is odd, so that there is no tie.
    """
    share = exact(flip)
    if at_least_one(rows, "rows") % 2 == 0 or not 0 < share < Fraction(1, 2):
        raise InvalidArgument(
            "The model is out of range", must="have an odd number of rows, and a flip below 1/2"
        )
    down = independent_rows([-1, 1], rows, [1 - share, share])
    up = independent_rows([-1, 1], rows, [share, 1 - share])
    both = mixture([("1/2", down), ("1/2", up)])
    if not is_known:
        return FiniteModel(deterministic(sign, both), [without_knowledge(both)])
    known = {(x, mu): mass / 2 for mu, law in ((-1, down), (1, up)) for x, mass in law.items()}
    return FiniteModel(deterministic(sign, both), [known])


def stranger(rows: int, truth: Number = 1) -> FiniteModel:
    r"""Return a model in which somebody who is not in the data is found out, by any useful release.

    Databases are ``(secret, bits)``. The release is the parity of the bits, told truthfully with
    probability ``truth``: it never looks at the secret. The adversary knows the exclusive or of the
    secret and the parity, which by itself says nothing of the secret. After the release the secret
    is known as well as the release is useful. So no release that tells anybody anything keeps all
    beliefs where they were, which was asked of one in 1977 and is asked by definitions that compare
    *before* with *after*; but it is none of the release's doing that the stranger is found out:
    coupled worlds hold with δ = 0, for the simulator has all that the release depends on.

    Example:
        >>> from discreet.noiseless import check_pufferfish
        >>> print(check_pufferfish(stranger(2), [lambda x: x[0]], 5))
        1
    """
    right = exact(truth)
    if not Fraction(1, 2) <= right <= 1:
        raise InvalidArgument("truth is out of range", must="be from 1/2 to 1", got=str(right))
    bits = independent_rows([0, 1], rows, _FAIR)
    joint = {(secret, x): mass / 2 for secret in (0, 1) for x, mass in bits.items()}
    told = {
        value: {out: mass for out, mass in ((value, right), (1 - value, 1 - right)) if mass}
        for value in (0, 1)
    }
    return FiniteModel(
        {(secret, x): told[sum(x) % 2] for secret, x in joint},
        [with_knowledge(joint, lambda x: (x[0] + sum(x[1])) % 2)],
    )


def differenced_sums(rows: int) -> tuple[FiniteModel, FiniteModel, FiniteModel]:
    """Return a total of fair bits, the total without the first row, and both at once.

    Each alone is private; together they tell the first row. So there is no budget that adds up.
    """
    bits = independent_rows([0, 1], at_least_one(rows, "rows"), _FAIR)
    laws = [without_knowledge(bits)]
    return (
        FiniteModel(deterministic(sum, bits), laws),
        FiniteModel(deterministic(lambda x: sum(x[1:]), bits), laws),
        FiniteModel(deterministic(lambda x: (sum(x), sum(x[1:])), bits), laws),
    )
