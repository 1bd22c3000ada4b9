"""A shuffler: takes reports and gives them back in an order that says nothing."""

import numpy as np

from discreet.core.protocols import Rng
from discreet.local.report_numbers import Reports


def shuffle_reports(reports: Reports, rng: Rng) -> Reports:
    """Return the same reports in an order drawn uniformly; nothing else goes in or comes out.

    Guarantee:
        Each order is equally likely, given ideal words: reports are sorted by words that are drawn
        anew until they all differ, and distinct words are equally likely in each order. Identities,
        addresses and times are not arguments, so they cannot be passed on.

    Assumes:
        Whoever shuffles does not work with the collector, and forgets the order.

    Example:
        >>> from discreet import SystemRng
        >>> reports = np.array([[1], [2], [3]], dtype=np.uint8)
        >>> sorted(shuffle_reports(reports, SystemRng()).ravel().tolist())
        [1, 2, 3]
    """
    while True:
        order = np.argsort(words := rng.words(len(reports)), kind="stable")
        ordered = words[order]
        if (ordered[1:] != ordered[:-1]).all():
            return reports[order].copy()
