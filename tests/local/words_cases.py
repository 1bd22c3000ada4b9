"""Words, with few buckets, so that reports can be enumerated."""

from discreet.local.words.hashed_words import HashedWords
from tests.local.case import Case

SMALL = HashedWords.calibrate(epsilon=2, longest=2, salt="w", alphabet="abé", step=1, buckets=4)

CASES = [Case("words", SMALL, (*SMALL.worst_pair(), "a", "éx", "𝄞clef"))]
