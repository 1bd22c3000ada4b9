"""Find frequent words that nobody listed, prefix by prefix, and say before what stays hidden."""

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from attrs import frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number
from discreet.core.protocols import IntArray
from discreet.local.device.words import END, OTHER
from discreet.local.frequency.share_estimate import (
    Floats,
    ShareEstimate,
    answered,
    estimate_shares,
)
from discreet.local.words.hashed_words import HashedWords

_HALF = Fraction(1, 2)
_FALSE_DISCOVERIES = Fraction(1, 20)
_MISSED = Fraction(1, 20)
_MOST_CANDIDATES = 2**21
UNKNOWN = "\N{REPLACEMENT CHARACTER}"
"""Shown for a character that the alphabet does not list."""


@frozen(kw_only=True, eq=False)
class WordsFound:
    r"""Words that are surely held by people who reported, and the share of each.

    Guarantee:
        A word is found if the lower end of its share is above ``least`` among the people who
        confirm, a fair sample of all. They have a hash and coins of their own, so that the list of
        ``tested`` words does not depend on them. Take a word that nobody holds. If its bucket is
        the bucket of at most a share ``least`` of them, its interval is wrong, which happens with
        probability at most ``false_discoveries / tested``. Else too many words fell into its
        bucket: on average over hash functions the share of the others in it is
        :math:`1/buckets`, so by Markov's inequality the chance is at most
        :math:`1/(buckets \cdot least)`. Together no such word is found, but with a probability of
        at most ``error``: ``false_discoveries`` and ``tested`` times that chance.

        The share of a bucket is that of its word and of others in it. So ``low`` is moved down by
        :math:`tested/(buckets \cdot false\_discoveries)`, but by no more than ``least``: others
        have more than that in any bucket that is tested with a probability of at most
        ``false_discoveries``, or what ``error`` adds to it. All ends hold together but with
        ``error``, or twice ``false_discoveries`` if that is more.

    Assumes:
        SHA-256 with the survey's salt behaves like a hash function drawn apart from the words.

    Utility:
        Which share is found with a stated probability is known beforehand:
        :func:`plan_words`. Everything below it may stay hidden.
    """

    words: tuple[str, ...]
    shares: Floats
    low: Floats
    high: Floats
    tested: int
    error: Fraction
    least: Fraction


def find_words(
    scheme: HashedWords,
    tally: IntArray,
    *,
    least: Number,
    false_discoveries: Number = _FALSE_DISCOVERIES,
    repeats: int = 1,
) -> WordsFound:
    """Return the words whose share is surely above ``least``.

    Up to ``repeats`` of the reports may be of one device and repeat an answer that it keeps.

    Prefixes whose share is surely above it are extended by all that the alphabet allows, and asked
    for in the next group. There are fewer than ``1 / least`` buckets of that kind, so that lists
    stay short.

    Example:
        >>> from discreet import SystemRng
        >>> scheme = HashedWords.calibrate(epsilon=4, longest=4, salt="pets")
        >>> reports = scheme.randomise_many(["cat"] * 7000 + ["lion"] * 3000, SystemRng())
        >>> find_words(scheme, scheme.tally(reports), least="0.05").words
        ('cat', 'lion')
    """
    share = check.level(least, "least")
    level = check.level(false_discoveries, "false_discoveries")
    answered(int(tally[:, -1].sum()))
    prefixes = [""] if tally[:, -1].all() else []
    for group in range(scheme.groups - 1):
        candidates = _extended(scheme, prefixes, scheme.lengths[group])
        if not candidates:
            break
        low = _measured(scheme, tally, group, candidates, level, repeats).low
        prefixes = [word for word, sure in zip(candidates, low, strict=True) if sure > share]
    if not prefixes:
        return _nothing(level, share)
    found = _measured(scheme, tally, scheme.groups - 1, prefixes, level, repeats)
    beside = min(float(len(prefixes) / (scheme.buckets * level)), float(share))
    sure = np.flatnonzero(found.low > float(share))
    order = sure[np.argsort(-found.shares[sure], kind="stable")]
    return WordsFound(
        words=tuple(_shown(prefixes[place]) for place in order),
        shares=found.shares[order],
        low=np.maximum(found.low[order] - beside, 0.0),
        high=found.high[order],
        tested=len(prefixes),
        error=min(level + len(prefixes) / (scheme.buckets * share), Fraction(1)),
        least=share,
    )


def _nothing(error: Fraction, least: Fraction) -> WordsFound:
    """Return what is found if no word passes each group, or a group has no reports yet."""
    none = np.zeros(0)
    return WordsFound(
        words=(), shares=none, low=none, high=none, tested=0, error=error, least=least
    )


def _extended(scheme: HashedWords, prefixes: Sequence[str], length: int) -> list[str]:
    """Return every spelling of that length that begins with one of the prefixes."""
    letters = scheme.alphabet + OTHER
    steps = length - len(prefixes[0]) if prefixes else 0
    if len(prefixes) * (len(letters) + 1) ** steps > _MOST_CANDIDATES:
        raise InvalidArgument(
            "There are too many prefixes to look at",
            must=f"be at most {_MOST_CANDIDATES}",
            next="Ask for a larger least share, or declare shorter steps",
        )
    ends = [
        "".join(more).ljust(steps, END)
        for longer in range(steps + 1)
        for more in itertools.product(letters, repeat=longer)
    ]
    return [
        prefix + end
        for prefix in prefixes
        for end in (ends if not prefix.endswith(END) else [END * steps])
    ]


def _measured(
    scheme: HashedWords,
    tally: IntArray,
    group: int,
    spellings: Sequence[str],
    level: Fraction,
    repeats: int,
) -> ShareEstimate:
    """Return the shares of the buckets of some prefixes; their intervals hold together."""
    supports = scheme.supports(tally, group)[scheme.buckets_of(group, spellings)]
    return estimate_shares(
        supports,
        int(tally[group, -1]),
        held=scheme.held,
        other=_HALF,
        confidence=1 - level,
        together=True,
        repeats=repeats,
    )


def _shown(spelling: str) -> str:
    return spelling.rstrip(END).replace(OTHER, UNKNOWN)


def plan_words(
    scheme: HashedWords,
    people: int,
    *,
    least: Number,
    false_discoveries: Number = _FALSE_DISCOVERIES,
    missed: Number = _MISSED,
) -> float:
    r"""Return a share: a word that is held by more is found, but with probability ``missed``.

    What stays hidden is below it: nothing is promised for words that fewer people hold, and one
    that is held by a share of ``least`` or less is found only by chance.

    Guarantee:
        Let :math:`g` be the groups and :math:`\gamma = missed/(2g)`. With :math:`n` people the size
        :math:`N` of a group is at most some :math:`N^+`, and the sum of :math:`W`, a half for a
        report of the group that supports the word's bucket and minus a half for one that does not,
        at least :math:`n(p - \frac12)s/g - d`; both by Bernstein's inequality [BLM13, Theorem
        2.10], but with probability :math:`\gamma/2` and :math:`\gamma`. The lower end of an
        interval of Clopper and Pearson with a tail of :math:`\beta` is at most
        :math:`\sqrt{\ln(1/\beta)/(2N)} + 1/N` below the rate of supports (Hoeffding's
        inequality). So the word passes each group if the sum exceeds
        :math:`N (p - \frac12)\,least + \sqrt{N \ln(1/\beta)/2} + 1`, which is largest at
        :math:`N^+`.

    Assumes:
        At most ``1 / least`` prefixes are extended. That is so if all intervals hold and no two
        prefixes that are asked for share a bucket; more would make intervals hardly wider.

    Example:
        >>> scheme = HashedWords.calibrate(epsilon=4, longest=6, salt="pets")
        >>> 0.02 < plan_words(scheme, 1_000_000, least="0.01") < 0.03
        True
    """
    share = float(check.level(least, "least"))
    level = check.level(false_discoveries, "false_discoveries")
    groups, gap = scheme.groups, float(scheme.held - _HALF)
    log = math.log(2 * groups / float(check.level(missed, "missed")))
    mean = check.at_least_one(people, "people") / groups
    spread = math.sqrt(2 * mean * (log + math.log(2))) + (log + math.log(2)) / 3
    largest = mean + spread
    moved = math.sqrt(mean * log / 2) + log / 3
    steps = np.diff([0, *scheme.lengths[:-1]]).max()
    candidates = (len(scheme.alphabet) + 2.0) ** float(steps) / share
    tail = math.log(2 * candidates / float(level))
    wanted = largest * gap * share + math.sqrt(largest * tail / 2) + 1 + largest * 1e-8
    return min(1.0, (wanted + moved) / (mean * gap))
