"""A report about a word of any spelling: one noisy bit of a hashed prefix of it."""

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core import check
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.numbers import Number
from discreet.core.protocols import IntArray, Rng
from discreet.local.coins import most_odds, part, threshold_below
from discreet.local.device.draws import UNIT
from discreet.local.device.words import END, OTHER, prefix_bucket, spelled
from discreet.local.held_texts import held_texts, written_salt
from discreet.local.report_numbers import Reports, as_numbers, as_reports, bytes_below
from discreet.local.scheme import Scheme
from discreet.randomness.samplers import bernoulli, uniform_integers

_MOST_BUCKETS = 2**24
LATIN = "abcdefghijklmnopqrstuvwxyz"


@frozen(kw_only=True)
class HashedWords(Scheme):
    r"""Report one bit about a prefix of a word; the device draws which prefix.

    A device draws a group. The people of group :math:`i` tell of the first ``lengths[i]``
    characters; those of the last one, who confirm what was found, of the whole word again, under a
    hash of their own. A prefix falls into one of ``buckets``, a power of two, by a public hash; the
    device draws a linear map of the bucket's number to one bit, and tells that bit, or its opposite
    [BNST17]. Characters that the alphabet does not list all count as one.

    Guarantee:
        Groups and maps are drawn whatever the word is. The bit is true with probability
        :math:`p` = ``truth / UNIT``, so the odds are :math:`p/(1-p)`, attained by two words of
        which some map tells different bits.

    Assumes:
        The device's bytes are unpredictable to whoever reads the report.

    Utility:
        Two different buckets have the same bit under exactly half of the maps, so a report supports
        the bucket of its prefix with probability :math:`p`, and any other with 1/2. Words are found
        by :func:`discreet.local.words.find_words.find_words`.

    Example:
        >>> scheme = HashedWords.calibrate(epsilon=2, longest=8, salt="new words")
        >>> scheme.lengths, scheme.size, round(float(scheme.event().epsilon), 9)
        ((2, 4, 6, 8, 8), 4, 2.0)
    """

    kind: ClassVar[str] = "words"
    alphabet: str = field()
    lengths: tuple[int, ...] = field(converter=tuple)
    buckets: int = field(converter=check.whole)
    salt: str = field(validator=written_salt)
    truth: int = field(converter=check.whole)

    @alphabet.validator
    def _letters(self, _: object, alphabet: str) -> None:
        if (
            not check.is_unicode(alphabet)
            or not alphabet
            or len(set(alphabet)) < len(alphabet)
            or {END, OTHER} & set(alphabet)
        ):
            raise InvalidArgument(
                "The alphabet is no list of characters", must="have some, each once, none unseen"
            )

    @lengths.validator
    def _rising(self, _: object, lengths: tuple[int, ...]) -> None:
        rises = all(a < b for a, b in itertools.pairwise(lengths[:-1]))
        if len(lengths) < 2 or lengths[0] < 1 or not rises or lengths[-1] != lengths[-2]:
            raise InvalidArgument(
                "The lengths are out of order",
                must="rise from at least 1, and have the last one twice",
                got=str(lengths),
            )

    @buckets.validator
    def _power(self, _: object, buckets: int) -> None:
        if not 2 <= buckets <= _MOST_BUCKETS or buckets & (buckets - 1):
            raise InvalidArgument(
                "buckets is out of range",
                must=f"be a power of two, at most {_MOST_BUCKETS}",
                got=str(buckets),
            )

    @truth.validator
    def _more_than_a_guess(self, _: object, truth: int) -> None:
        if not UNIT < 2 * truth < 2 * UNIT:
            raise InvalidArgument(
                "truth is out of range", must="be above UNIT / 2 and below UNIT", got=str(truth)
            )

    @classmethod
    def calibrate(
        cls,
        *,
        epsilon: Number,
        longest: int,
        salt: str,
        alphabet: str = LATIN,
        step: int = 2,
        buckets: int = 2**18,
    ) -> Self:
        """Return the scheme for words of up to ``longest`` characters, ``step`` more a group."""
        odds, more, end = most_odds(epsilon), check.at_least_one(step, "step"), check.whole(longest)
        lengths = (*range(more, end, more), end, end)
        truth = threshold_below(odds / (odds + 1))
        return cls(alphabet=alphabet, lengths=lengths, buckets=buckets, salt=salt, truth=truth)

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return len(self.lengths)

    @property
    def held(self) -> Fraction:
        """How likely a report supports the bucket of its prefix; any other has a half."""
        return part(self.truth)

    @property
    def _sizes(self) -> tuple[int, int]:
        return bytes_below(self.groups), bytes_below(2 * self.buckets)

    @property
    def size(self) -> int:
        """How many bytes a report has: the group, then map and bit."""
        return sum(self._sizes)

    def recipe(self) -> dict[str, Any]:
        """Return the public part of the scheme."""
        return {
            "kind": self.kind,
            "alphabet": self.alphabet,
            "lengths": list(self.lengths),
            "buckets": self.buckets,
            "salt": self.salt,
            "truth": self.truth,
        }

    def odds(self) -> Fraction:
        """Return the largest ratio of the probabilities of a report under two words."""
        return self.held / (1 - self.held)

    def worst_pair(self) -> tuple[str, str]:
        """Return two words that have prefixes in different buckets in some group."""
        letters = itertools.product(self.alphabet + "?", repeat=self.lengths[0])
        words = ["", *("".join(word) for word in itertools.islice(letters, 64))]
        spellings = [spelled(self.recipe(), word) for word in words]
        for group in range(self.groups):
            places = self.buckets_of(group, spellings)
            if (places != places[0]).any():
                return words[0], words[int(np.argmax(places != places[0]))]
        raise Unsupported(
            "No two words were found that are told apart",
            must="have more buckets",
            got=str(self.buckets),
            next="The odds are a bound all the same",
        )

    def buckets_of(self, group: int, spellings: Sequence[str]) -> IntArray:
        """Return the bucket of the prefix of each spelled word, in the hash of a group."""
        recipe, length = self.recipe(), self.lengths[group]
        found = [prefix_bucket(recipe, group, spelling[:length]) for spelling in spellings]
        return np.array(found, dtype=np.int64)

    def randomise_many(self, values: Any, rng: Rng) -> Reports:
        """Return the report of each person."""
        words, held = held_texts(values)
        recipe = self.recipe()
        spellings = [spelled(recipe, word) for word in words]
        table = np.stack([self.buckets_of(group, spellings) for group in range(self.groups)])
        group = uniform_integers(self.groups, held.size, rng)
        row = uniform_integers(self.buckets, held.size, rng)
        tells = bernoulli(self.held, held.size, rng)
        bit = _parity(row & table[group, held])
        told = 2 * row + np.where(tells, bit, 1 - bit)
        return np.hstack([as_reports(group, self.groups), as_reports(told, 2 * self.buckets)])

    def _parts(self, reports: Reports) -> tuple[IntArray, IntArray]:
        """Return group and told number of each report."""
        first = self._sizes[0]
        return as_numbers(reports[:, :first]), as_numbers(reports[:, first:])

    def possible(self, reports: Reports) -> NDArray[np.bool_]:
        """Tell which reports an honest device can make: of a group and a map that exist."""
        group, told = self._parts(self.check_reports(reports))
        return np.asarray((group < self.groups) & (told < 2 * self.buckets))

    def tally(self, reports: Reports) -> IntArray:
        """Return by group and map how many more told 0 than 1, and in the end how many told."""
        group, told = self._parts(self.check_possible(reports))
        cells = self.groups * 2 * self.buckets
        counts = np.bincount(group * 2 * self.buckets + told, minlength=cells)
        pairs = counts.reshape(self.groups, self.buckets, 2)
        people = pairs.sum(axis=(1, 2))[:, None]
        return np.concatenate([pairs[:, :, 0] - pairs[:, :, 1], people], axis=1)

    def supports(self, tally: IntArray, group: int) -> IntArray:
        """Return how many reports of a group support each bucket, all at once."""
        signs = tally[group, :-1].copy()
        width = 1
        while width < self.buckets:
            pairs = signs.reshape(-1, 2, width)
            first, second = pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]
            signs = np.stack([first, second], axis=1).ravel()
            width *= 2
        return np.asarray((tally[group, -1] + signs) // 2)


def _parity(numbers: IntArray) -> IntArray:
    """Return whether each number, below 2**32, has an odd number of ones."""
    for shift in (16, 8, 4, 2, 1):
        numbers = numbers ^ (numbers >> shift)
    return numbers & 1


def words_error(scheme: HashedWords, people: float) -> float:
    r"""Return the standard error of the share of a word that nobody holds.

    A report supports it with probability 1/2, and a word that is held with :math:`p`; about one of
    so many ``groups`` confirms words. So it is :math:`1/((2p - 1)\sqrt{n/g})`.
    """
    return math.sqrt(scheme.groups / people) / (2 * float(scheme.held) - 1)
