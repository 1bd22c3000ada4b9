"""Made-up people with several rows each, and the counted rows of all or of some of them."""

from collections import Counter

import numpy as np

from discreet.synthesis.counted.counted_rows import CountedRows

Person = list[tuple[int, ...]]


def counted(people: list[Person], sizes: tuple[int, ...], *, most: int) -> CountedRows:
    """Count the rows of all people, of each of whom at most so many are kept."""
    tally = Counter(row for person in people for row in person[:most])
    rows = sorted(tally)
    codes = np.array(rows, dtype=np.int64).reshape(len(rows), len(sizes))
    return CountedRows(sizes, codes, np.array([tally[row] for row in rows], dtype=np.int64))


def some_people(rng, sizes: tuple[int, ...], *, people: int, most: int) -> list[Person]:
    """Return people of up to so many rows, the last of them with as many as can be, all alike."""
    found: list[Person] = []
    for _ in range(people):
        words = rng.words(1 + most * len(sizes)).tolist()
        rows = words[0] % (most + 1)
        values = [word % sizes[place % len(sizes)] for place, word in enumerate(words[1:])]
        width = len(sizes)
        found.append([tuple(values[i * width : (i + 1) * width]) for i in range(rows)])
    found.append([tuple(size - 1 for size in sizes)] * most)
    return found
