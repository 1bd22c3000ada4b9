"""Local hashing: k-ary response after a random linear map, decoded by one transform."""

from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from attrs import field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number
from discreet.core.protocols import IntArray, Rng
from discreet.local.coins import most_odds, part
from discreet.local.device.draws import UNIT
from discreet.local.frequency.frequency_scheme import FrequencyScheme
from discreet.local.frequency.k_ary import respond, truth_of
from discreet.local.frequency.walsh_hadamard import mapped, walsh_hadamard
from discreet.local.report_numbers import Reports, as_numbers, as_reports, bytes_below
from discreet.randomness.samplers import uniform_integers

MOST_CATEGORIES = 2**22
"""Decoding takes memory for each."""

_MOST_BITS = 8
_LEAST_CHUNK = 1 << 16


@frozen(kw_only=True)
class LocalHashing(FrequencyScheme):
    r"""Report a random map of the categories to few values, and there the truth or another value.

    A map takes the :math:`m` bits of a category to ``bits`` = :math:`r` bits, linearly over the
    field of two elements. It is given by :math:`m + r - 1` random bits :math:`t`: bit :math:`i` of
    :math:`h_t(x)` is :math:`\sum_b t_{i+b} x_b` modulo 2, so a row of the matrix is the row before
    it, shifted. The report is :math:`t` and :math:`h_t(x)` after k-ary response among the
    :math:`g = 2^r` values.

    Guarantee:
        The map is drawn without looking at the value, so the odds are those of the response
        [WBLJ17, section 4.4]: :math:`p(g-1)/(1-p)` with :math:`p` for ``truth / UNIT``. Any two
        values attain it, because some map takes them apart.

    Assumes:
        The device's bytes are unpredictable to whoever reads the report, and every device draws a
        map of its own. If all people shared one map, no report would be less private, but
        values that it takes together could not be told apart.

    Utility:
        A report supports all values that its map takes to what is told: the one that is held with
        probability :math:`p`, any other with exactly :math:`1/g`. *Proof*. For
        :math:`d = x \oplus x' \ne 0` with the highest bit :math:`b`, bit :math:`i` of
        :math:`h_t(d)` is :math:`t_{i+b}` plus terms of :math:`t` below it; from the lowest
        :math:`i` on, any value of :math:`h_t(d)` is attained by exactly one choice of
        :math:`t_b, \dots, t_{b+r-1}`, whatever the rest is. So it is uniform, and
        :math:`P[h_t(x) = h_t(x')] = 1/g`. A lie is uniform among the other values, and does not
        depend on the map: together :math:`p/g + (1-1/g)(1-p)/(g-1) = 1/g`. The variance at a share
        of 0 is :math:`q(1-q)/(n(p-q)^2)` with :math:`q = 1/g`; it is least for :math:`g` near
        :math:`e^\varepsilon + 1`, about :math:`4e^\varepsilon/(n(e^\varepsilon-1)^2)`.

        *Decoding*. With :math:`A` for the matrix of :math:`t` and :math:`y` for what is told,

        .. math:: [h_t(x) = y] = \frac1g \sum_{u \in \{0,1\}^r}
            (-1)^{\langle u, A x \rangle + \langle u, y \rangle}
            = \frac1g \sum_u (-1)^{\langle A^T u, x \rangle} (-1)^{\langle u, y \rangle} .

        So each report adds :math:`(-1)^{\langle u, y \rangle}` at the index :math:`A^T u`, for
        each :math:`u`, and one Walsh-Hadamard transform of the sum gives the supports of all
        :math:`2^m` values: :math:`O(n g + m 2^m)`, where testing each value against each report is
        :math:`O(n k)`.

    Example:
        >>> scheme = LocalHashing.calibrate(categories=100_000, epsilon=1)
        >>> scheme.bits, scheme.size, round(float(scheme.event().epsilon), 9)
        (2, 3, 1.0)
    """

    kind: ClassVar[str] = "local_hashing"
    categories: int = field(converter=check.whole, validator=check.between(2, MOST_CATEGORIES))
    bits: int = field(converter=check.whole, validator=check.between(1, _MOST_BITS))
    truth: int = field(converter=check.whole)

    @truth.validator
    def _more_than_a_guess(self, _: object, truth: int) -> None:
        if not UNIT >> self.bits < truth < UNIT:
            raise InvalidArgument(
                "truth is out of range",
                must="be above UNIT / 2**bits and below UNIT",
                got=str(truth),
            )

    @classmethod
    def calibrate(cls, *, categories: int, epsilon: Number, bits: int | None = None) -> Self:
        """Return the scheme of least variance that ``epsilon`` allows, or that of so many bits."""
        odds, every = most_odds(epsilon), check.whole(categories)
        most = max(1, min(_MOST_BITS, (every - 1).bit_length()))
        widths = range(1, most + 1) if bits is None else [check.at_least_one(bits, "bits")]
        offered = (
            cls(categories=every, bits=width, truth=truth_of(2**width, odds)) for width in widths
        )
        return min(offered, key=lambda scheme: scheme.variance(1))

    @property
    def size(self) -> int:
        """How many bytes a report has."""
        return bytes_below(self._maps() << self.bits)

    def recipe(self) -> dict[str, Any]:
        """Return the public part of the scheme."""
        return {
            "kind": self.kind,
            "categories": self.categories,
            "bits": self.bits,
            "truth": self.truth,
        }

    def odds(self) -> Fraction:
        """Return the largest ratio of the probabilities of a report under two values."""
        return self.held * ((1 << self.bits) - 1) / (1 - self.held)

    @property
    def held(self) -> Fraction:
        """How likely a report supports the value of its person."""
        return part(self.truth)

    @property
    def other(self) -> Fraction:
        """How likely a report supports any one other value, over all maps."""
        return Fraction(1, 1 << self.bits)

    def randomise_many(self, values: IntArray, rng: Rng) -> Reports:
        """Return the report of each person; the words used do not depend on the values."""
        held = self.check_values(values)
        drawn = uniform_integers(self._maps(), held.size, rng)
        places = mapped((drawn >> row for row in range(self.bits)), held)
        told = respond(places, 2**self.bits, self.held, rng)
        return as_reports(drawn + self._maps() * told, self._maps() << self.bits)

    def told_below(self) -> int:
        """Return how many different reports there are."""
        return self._maps() << self.bits

    def tally(self, reports: Reports) -> IntArray:
        """Return the sum of signs at each index; its transform are the supports."""
        told = as_numbers(self.check_possible(reports))
        indices = 1 << self._width()
        signed = np.zeros(2 * indices, dtype=np.int64)
        chunk = max(_LEAST_CHUNK, indices)
        for start in range(0, told.size, chunk):
            rows = self._signed_rows(told[start : start + chunk])
            sums = [np.zeros_like(rows[0])]
            for row in rows:
                sums += [row ^ known for known in sums]
            for index in sums:
                signed += np.bincount(index, minlength=2 * indices)
        return signed[:indices] - signed[indices:]

    def supports(self, tally: IntArray) -> IntArray:
        """Return how many reports support each value."""
        return walsh_hadamard(tally)[: self.categories] >> self.bits

    def _signed_rows(self, told: IntArray) -> list[IntArray]:
        """Return the rows of each report's matrix, with a bit of what is told above each."""
        width = self._width()
        places = told >> (width + self.bits - 1)
        mask = (1 << width) - 1
        return [(told >> row) & mask | ((places >> row) & 1) << width for row in range(self.bits)]

    def _width(self) -> int:
        return (self.categories - 1).bit_length()

    def _maps(self) -> int:
        return 1 << (self._width() + self.bits - 1)
