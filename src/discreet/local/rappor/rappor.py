"""RAPPOR for texts: Bloom filters in cohorts."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.event import ComposedEvent
from discreet.core.protocols import IntArray, Rng
from discreet.core.stated_event import PureEvent
from discreet.local.device.rappor import bloom
from discreet.local.frequency.bitmaps import no_spare_bits
from discreet.local.held_texts import held_texts, written_salt
from discreet.local.rappor.bit_reports import Bits, packed, told_bits, unpacked
from discreet.local.rappor.rappor_coins import RapporCoins
from discreet.local.report_numbers import Reports, as_numbers, as_reports, bytes_below
from discreet.local.scheme import Scheme
from discreet.randomness.samplers import uniform_integers

_MOST_COHORTS = 2**16
_TRIED = 4096


@frozen(kw_only=True)
class Rappor(Scheme):
    r"""Report a text by the bits that it sets in a Bloom filter [EPK14].

    A person belongs to one of ``cohorts``, drawn by the device whatever the value is; each cohort
    has ``hashes`` public hash functions of its own, made of the survey's ``salt``, so that texts
    which share bits in one cohort do not in another. Kept responses and fresh ones are full RAPPOR;
    with coins for one time (``p = 0`` and ``q = 1``) it is one-time RAPPOR.

    Guarantee:
        The losses of :class:`.RapporCoins` with ``hashes`` hash functions: ``odds`` for one report,
        ``lifetime`` for several. They are attained by two texts that set ``hashes`` bits each in
        one cohort, none of them common, and smaller elsewhere.

    Assumes:
        The device keeps its cohort and its permanent responses
        (:func:`discreet.local.device.rappor.remembered`).

    Utility:
        Texts on a list of candidates are found by :func:`.decode`; texts that nobody listed are
        not: those are for :class:`discreet.local.words.hashed_words.HashedWords`.

    Example:
        >>> coins = RapporCoins.declare(f="1/2", p="1/2", q="3/4")
        >>> scheme = Rappor(bits=32, hashes=2, cohorts=8, salt="colours", coins=coins)
        >>> round(float(scheme.event().epsilon), 3), scheme.size
        (1.074, 5)
        >>> round(float(scheme.lifetime(1000).parts[0][0].epsilon), 3)
        4.394
    """

    kind: ClassVar[str] = "rappor"
    bits: int = field(converter=check.whole)
    hashes: int = field(converter=check.whole, validator=check.positive)
    cohorts: int = field(converter=check.whole)
    salt: str = field(validator=written_salt)
    coins: RapporCoins

    @bits.validator
    def _room(self, _: object, bits: int) -> None:
        if not 2 <= bits <= 2**16:
            raise InvalidArgument("bits is out of range", must="be from 2 to 65536", got=str(bits))

    @cohorts.validator
    def _few(self, _: object, cohorts: int) -> None:
        if not 1 <= cohorts <= _MOST_COHORTS:
            raise InvalidArgument(
                "cohorts is out of range",
                must=f"be at least 1 and at most {_MOST_COHORTS}",
                got=str(cohorts),
            )

    def __attrs_post_init__(self) -> None:
        """Refuse filters in which two texts cannot be apart: their loss would be another."""
        if self.bits < 2 * self.hashes:
            raise InvalidArgument(
                "A filter is too small",
                must="have at least two bits for each hash function",
                got=f"{self.bits} bits for {self.hashes}",
            )

    @property
    def _cohort_size(self) -> int:
        return bytes_below(self.cohorts)

    @property
    def size(self) -> int:
        """How many bytes a report has: the cohort, then the bits."""
        return self._cohort_size + (self.bits + 7) // 8

    def recipe(self) -> dict[str, Any]:
        """Return the public part of the scheme."""
        return {
            "kind": self.kind,
            "bits": self.bits,
            "hashes": self.hashes,
            "cohorts": self.cohorts,
            "salt": self.salt,
            "f": self.coins.f,
            "p": self.coins.p,
            "q": self.coins.q,
        }

    def odds(self) -> Fraction:
        """Return the largest ratio of the probabilities of one report under two texts."""
        return self.coins.odds(self.hashes)

    def kept_event(self) -> PureEvent:
        """Describe all reports of one value, whose permanent response is kept."""
        return self.coins.permanent_event(self.hashes)

    def lifetime(self, reports: int, *, values: int = 1) -> ComposedEvent:
        """Describe so many reports of a person who held so many values, each response kept."""
        return self.coins.lifetime(self.hashes, reports, values)

    def worst_pair(self) -> tuple[str, str]:
        """Return two texts with full filters in the first cohort, no bit of them common."""
        recipe, seen = self.recipe(), list[tuple[str, frozenset[int]]]()
        for number in range(_TRIED):
            ones = bloom(recipe, text := str(number), 0)
            if len(ones) < self.hashes:
                continue
            for other, theirs in seen:
                if not ones & theirs:
                    return other, text
            seen.append((text, ones))
        raise Unsupported(
            "No two such texts were found",
            must="have filters with more room for each hash function",
            got=f"{self.bits} bits for {self.hashes}",
            next="The odds are a bound all the same",
        )

    def filters(self, texts: Sequence[str]) -> Bits:
        """Return the filter of each text in each cohort: texts, then cohorts, then bits."""
        recipe = self.recipe()
        table = np.zeros((len(texts), self.cohorts, self.bits), dtype=np.bool_)
        for row, text in enumerate(texts):
            for cohort in range(self.cohorts):
                table[row, cohort, list(bloom(recipe, text, cohort))] = True
        return table

    def randomise_many(self, values: Any, rng: Rng) -> Reports:
        """Return the first report of each person."""
        texts, held = held_texts(values)
        cohorts = uniform_integers(self.cohorts, held.size, rng)
        filters = self.filters(texts)[held, cohorts]
        named = as_reports(cohorts, self.cohorts)
        return np.concatenate([named, packed(told_bits(self.coins, filters, rng))], axis=1)

    def _cohorts(self, reports: Reports) -> IntArray:
        return as_numbers(reports[:, : self._cohort_size])

    def possible(self, reports: Reports) -> Bits:
        """Tell which reports an honest device can make: of a cohort, with no bit too many."""
        array = self.check_reports(reports)
        return np.asarray((self._cohorts(array) < self.cohorts) & no_spare_bits(array, self.bits))

    def tally(self, reports: Reports) -> IntArray:
        """Return by cohort how many reports tell each bit as 1, and in the end how many there are.

        The law of a tally is all that decoding uses, so that reports need not be kept.
        """
        array = self.check_possible(reports)
        cohorts, bits = self._cohorts(array), unpacked(array[:, self._cohort_size :], self.bits)
        counts = [np.bincount(cohorts[told], minlength=self.cohorts) for told in bits.T]
        return np.stack([*counts, np.bincount(cohorts, minlength=self.cohorts)], axis=1)
