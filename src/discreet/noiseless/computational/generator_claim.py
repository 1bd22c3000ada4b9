r"""What is claimed of noise that was made from our own generator's words.

No computer has ideal randomness. The words of ``randomness.rng.SystemRng`` are the key stream of
AES-256, so what is drawn with them is at best private against those who cannot tell AES-256 from a
random permutation: in the words of [Gro14, definition 4.3], SIM-CDP, where the ideal mechanism is
the same one with ideal words. This is so for every library that draws noise from a generator; here
it is said, with its number.
"""

from fractions import Fraction

from attrs import frozen

from discreet.core.check import whole
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact

WORDS_PER_KEY = 1 << 24
"""A key is thrown away after so many words."""

BLOCKS_PER_KEY = WORDS_PER_KEY // 2
COLLISIONS = Fraction(BLOCKS_PER_KEY**2, 1 << 129)
"""What a permutation's lack of collisions tells, for each key."""


@frozen(kw_only=True)
class GeneratorClaim:
    """How well an efficient test can tell our words from ideal ones.

    Attributes:
        words: How many words were drawn, of 64 bits each.
        keys: How many keys that took.
        distinguishing: A bound on the advantage of every test, given what is assumed of the cipher.
    """

    words: int
    keys: int
    distinguishing: Fraction

    def __str__(self) -> str:
        """Return the claim in a sentence."""
        return (
            f"{self.words} words from {self.keys} keys: an efficient test's advantage is at most "
            f"{float(self.distinguishing):.3g}, if AES-256 is what it is taken to be."
        )


def generator_claim(words: int, *, cipher: Number = Fraction(1, 1 << 128)) -> GeneratorClaim:
    r"""Return the bound on telling so many words of our generator from ideal ones.

    Guarantee:
        With :math:`k` keys the advantage is at most :math:`k (a + q^2 2^{-129})`, where :math:`a`
        bounds that against AES-256 and the operating system's key for :math:`q = 2^{23}` blocks.
        Proof. One key after another is replaced by ideal words; each step costs the cipher's
        advantage and, by the switching lemma, the collisions that a permutation lacks.

    Args:
        words: How many words of 64 bits are drawn, with each thread's share rounded up to keys.
        cipher: :math:`a`. It is an assumption: nobody can prove it. The default is one key guessed.

    Example:
        >>> generator_claim(10**6).distinguishing == Fraction(1, 2**83) + Fraction(1, 2**128)
        True
    """
    count, advantage = whole(words), exact(cipher)
    if count < 0 or not 0 <= advantage <= 1:
        raise InvalidArgument(
            "The claim is out of range",
            must="have at least 0 words, and an advantage from 0 to 1",
        )
    keys = -(-count // WORDS_PER_KEY)
    bound = min(Fraction(1), keys * (advantage + COLLISIONS))
    return GeneratorClaim(words=count, keys=keys, distinguishing=bound)
