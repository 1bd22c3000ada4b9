"""Which texts of a list are held, and by how many: regression on the bits, with sure findings."""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from attrs import frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number
from discreet.core.protocols import IntArray
from discreet.local.rappor.rappor import Rappor
from discreet.local.rappor.text_spread import Floats, TextSpread, log_tail, reach, reaches

_FALSE_DISCOVERIES = Fraction(1, 20)
_CLEAR = 1e-9


@frozen(kw_only=True, eq=False)
class TextEstimate:
    r"""How many of the people who reported hold each candidate, and which of them are surely held.

    Guarantee:
        Let :math:`X` have a column for each candidate with the share of its filters, and one more
        for texts that are not listed. The weights :math:`A` are the pseudo-inverse, so
        :math:`AX = I`. The estimate of candidate :math:`s` is a sum over people of
        :math:`Y = \sum_i A_{s,(j,i)} (S_i - p^*)/(q^* - p^*)`, for the cohort :math:`j` that the
        device drew and the bits :math:`S` that it told. Over both, :math:`E[Y]` is
        :math:`(AX)_{s,r}` for a person who holds :math:`r`: 1 for :math:`s`, and 0 for any other
        candidate. So among people who hold candidates it is unbiased, exactly, and a sum of
        independent numbers in an interval of known ends, each of a variance of at most :math:`V`,
        the largest of any text. By Bennett's inequality [BLM13, Theorem 2.9],

        .. math:: P[\hat n - n \ge t] \le e^{-(nV/b^2)\, h(bt/(nV))}, \quad
                  h(u) = (1+u)\ln(1+u) - u,

        with :math:`b` the largest distance of :math:`Y` above its mean; alike below. It holds for
        every number of people.

        *Texts that are not listed* have bits of their own. The column of others takes them up on
        average over hash functions; a text that many people hold can still add to candidates, or
        take from them, by a share of its people of :math:`t_s` at most
        (:class:`.TextSpread`). How many people, ``unlisted`` at most, hold no candidate follows
        from the sum of all estimates: :math:`\varphi(1 - t) n \le n - \sum_s \hat n_s` and what
        coins add to that. So intervals are wider by :math:`t_s` times that number.

        ``p_values`` are the bound at :math:`n = 0` and that allowance, and ``found`` is
        Holm's choice among them [Hol79]: with probability at least ``1 - false_discoveries``, no
        text that nobody holds is found, however they depend on one another. All intervals hold
        together with the same probability. Half of the doubt is for coins, and the rest for hashes
        and for ``unlisted``; if people are known to hold ``listed_only``, all of it is for coins.

    Assumes:
        The hash functions of a text that is not listed are like those drawn by chance: the salt was
        chosen without looking at it. Devices report as the scheme says.

    Utility:
        ``errors`` are bounds on standard deviations of what coins add: :math:`\sqrt{nV}`.
    """

    candidates: tuple[str, ...]
    counts: Floats
    errors: Floats
    low: Floats
    high: Floats
    p_values: Floats
    found: tuple[str, ...]
    people: int
    unlisted: float
    """How many people hold no candidate, at most; 0 if that was said."""
    false_discoveries: Fraction

    def shares(self) -> Floats:
        """Return the estimated share of each candidate."""
        return self.counts / self.people


@frozen(kw_only=True, eq=False)
class Decoder:
    """The weights of a list of candidates: they do not depend on any report."""

    candidates: tuple[str, ...]
    weights: Floats
    """By candidate, cohort and bit: what a bit that is told adds, before chances are taken out."""
    spread: TextSpread
    """Bounds for each candidate, and in the end for the sum of all."""

    @property
    def variance(self) -> Floats:
        """Of what one person adds to each candidate, at most."""
        return self.spread.variance[:-1]

    @property
    def least(self) -> Floats:
        """The least that one report can add to each candidate."""
        return self.spread.least[:-1]

    @property
    def most(self) -> Floats:
        """The most that one report can add to each candidate."""
        return self.spread.most[:-1]


def decoder(scheme: Rappor, candidates: Sequence[str]) -> Decoder:
    """Return the weights, refusing lists that the filters cannot tell apart."""
    names = tuple(candidates)
    if not names or not all(map(check.is_unicode, names)) or len(set(names)) < len(names):
        raise InvalidArgument(
            "The candidates are not a list of texts",
            must="be some, each once, that UTF-8 can hold",
        )
    columns = scheme.filters(names).reshape(len(names), -1).astype(np.float64)
    others = np.full((1, columns.shape[1]), 1 - (1 - 1 / scheme.bits) ** scheme.hashes)
    design = np.concatenate([columns, others]).T / scheme.cohorts
    left, scales, right = np.linalg.svd(design, full_matrices=False)
    if len(names) >= len(design) or scales[-1] < _CLEAR * scales[0]:
        raise InvalidArgument(
            "The filters cannot tell these candidates apart",
            must=f"be fewer than {len(design)}, with other bits each",
            got=str(len(names)),
            next="Declare more bits or cohorts, or shorten the list",
        )
    solved = ((right.T / scales) @ left.T)[: len(names)]
    weights = solved.reshape(len(names), scheme.cohorts, scheme.bits)
    everybody = weights.sum(axis=0, keepdims=True)
    spread = TextSpread.of(scheme, np.concatenate([weights, everybody]))
    return Decoder(candidates=names, weights=weights, spread=spread)


def decode(
    scheme: Rappor,
    tally: IntArray,
    candidates: Sequence[str] | Decoder,
    *,
    false_discoveries: Number = _FALSE_DISCOVERIES,
    repeats: int = 1,
    listed_only: bool = False,
) -> TextEstimate:
    r"""Return how many people hold each candidate, from the tally of their reports.

    The counts of bits are first freed of bias, :math:`t = (c - (p + fq/2 - fp/2)N)/((1-f)(q-p))`
    by cohort [EPK14, section 4]; then they are regressed on the filters of the candidates. Up to
    ``repeats`` of the reports may be of one device and repeat an answer that it keeps. With
    ``listed_only`` it is taken for granted that nobody holds a text that is not a candidate.

    Example:
        >>> from discreet import SystemRng
        >>> from discreet.local import RapporCoins
        >>> coins = RapporCoins.calibrate(epsilon=4, hashes=1)
        >>> scheme = Rappor(bits=16, hashes=1, cohorts=64, salt="pets", coins=coins)
        >>> reports = scheme.randomise_many(["cat"] * 3000 + ["dog"] * 2000, SystemRng())
        >>> decode(scheme, scheme.tally(reports), ["ant", "bee", "cat", "dog"]).found
        ('cat', 'dog')
    """
    made = candidates if isinstance(candidates, Decoder) else decoder(scheme, candidates)
    level = check.level(false_discoveries, "false_discoveries")
    told, cohorts = tally[:, :-1].astype(np.float64), tally[:, -1:].astype(np.float64)
    people = int(tally[:, -1].sum())
    if people < 1:
        raise InvalidArgument("There are no reports", must="give at least one report")
    one, zero = float(scheme.coins.told_one), float(scheme.coins.told_zero)
    unbiased = (told - zero * cohorts) / (one - zero)
    counts = np.einsum("sji,ji->s", made.weights, unbiased)
    doubt = float(level) if listed_only else float(level) / 2
    spread, tests = made.spread, len(made.candidates)
    total = people * repeats * spread.variance
    above = repeats * (spread.most - np.minimum(spread.lowest, 0.0))
    below = repeats * (np.maximum(spread.highest, 1.0) - spread.least)
    unlisted, up, down = 0.0, np.zeros(tests), np.zeros(tests)
    if not listed_only:
        # A quarter of the doubt is for how many they are, and a quarter for what they add.
        most = reach(total[-1], above[-1], doubt / 4)
        unlisted = _unlisted(spread, people, people - float(counts.sum()) + most, doubt / 4)
        stray, part = spread.stray_variance[:-1], doubt / (4 * tests)
        up = unlisted * reaches(stray, spread.stray_up[:-1], part)
        down = unlisted * reaches(stray, spread.stray_down[:-1], part)
    share = doubt / (2 * tests)
    rows = zip((counts - up).tolist(), total.tolist(), above.tolist(), strict=False)
    log_p = np.array([log_tail(*row) for row in rows])
    return TextEstimate(
        candidates=made.candidates,
        counts=counts,
        errors=np.sqrt(total[:-1]),
        low=np.clip(counts - reaches(total[:-1], above[:-1], share) - up, 0.0, people),
        high=np.clip(counts + reaches(total[:-1], below[:-1], share) + down, 0.0, people),
        p_values=np.exp(log_p),
        found=_holm(made.candidates, log_p, math.log(doubt)),
        people=people,
        unlisted=unlisted,
        false_discoveries=level,
    )


def _unlisted(spread: TextSpread, people: int, missing: float, doubt: float) -> float:
    """Return how many people hold no candidate, at most, from what the estimates leave over."""
    hidden = reach(float(spread.stray_variance[-1]), float(spread.stray_up[-1]), doubt)
    return float(people) if hidden >= 1 else min(max(missing / (1 - hidden), 0.0), float(people))


def _holm(names: tuple[str, ...], log_p: Floats, log_level: float) -> tuple[str, ...]:
    """Return the names whose tests are passed, from the smallest p-value on, in their order."""
    passed = set[int]()
    for done, place in enumerate(np.argsort(log_p, kind="stable").tolist()):
        if log_p[place] > log_level - math.log(len(names) - done):
            break
        passed.add(place)
    return tuple(name for place, name in enumerate(names) if place in passed)
