"""A few ratings find a person among the published, and nobody is named who is not there."""

import math
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from scipy import stats

from discreet.attacks.records.coded_rows import code_rows
from discreet.attacks.records.sparse_match import (
    MatchScales,
    MatchVerdict,
    match_sparse,
    sparse_rows,
)
from discreet.core.errors import InvalidArgument
from discreet.randomness.samplers import uniform_integers
from tests.support.statistics.exact_tests import alpha

FIRST = date(2000, 1, 1)
COLUMNS = {"item": "film", "value": "mark", "date": "day"}


def made_up(people: int, films: int, each: int, rng):
    """Ratings of films of which some are seen by many and most by few."""
    lines = []
    for person in range(people):
        draws = uniform_integers(10**6, 4 * each, rng) / 10**6
        seen = dict.fromkeys((films * draws**2).astype(int).tolist())
        marks = 1 + uniform_integers(5, len(seen), rng)
        days = uniform_integers(2000, len(seen), rng)
        chosen = list(zip(seen, marks.tolist(), days.tolist(), strict=True))[:each]
        lines += [(person, film, mark, FIRST + timedelta(day)) for film, mark, day in chosen]
    return lines


def told_of(lines, person, rng, *, known: int, wrong: int):
    """Some ratings of one person, dates off by up to 14 days, some altogether wrong."""
    own = [line for line in lines if line[0] == person]
    order = np.argsort(uniform_integers(1 << 40, len(own), rng))[:known]
    told = []
    for count, place in enumerate(order.tolist()):
        _, film, mark, day = own[place]
        off = int(uniform_integers(29, 1, rng)[0]) - 14
        line = (person, film, mark, day + timedelta(off))
        if count < wrong:
            film, mark, off = (int(uniform_integers(n, 1, rng)[0]) for n in (2000, 5, 2000))
            line = (person, film, 1 + mark, FIRST + timedelta(off))
        told.append(line)
    return told


def as_table(lines, name="who"):
    columns = dict(zip((name, "film", "mark", "day"), zip(*lines, strict=True), strict=True))
    return sparse_rows(code_rows({k: list(v) for k, v in columns.items()}), person=name, **COLUMNS)


def test_eight_ratings_two_of_them_wrong_find_everybody(rng, soak):
    lines = made_up(1200, 2000, 30, rng)
    victims = range(soak.cases(40))
    told = [one for person in victims for one in told_of(lines, person, rng, known=8, wrong=2)]
    found = match_sparse(as_table(lines), as_table(told))
    matched = [one for one in found if one.verdict is MatchVerdict.MATCHED]
    assert all(one.known_as == one.published_as for one in matched)
    assert len(matched) >= 0.9 * len(victims)


def test_nobody_is_named_who_is_not_there(rng, soak):
    lines = made_up(1200, 2000, 30, rng)
    victims = range(soak.cases(40))
    told = [one for person in victims for one in told_of(lines, person, rng, known=8, wrong=2)]
    rest = [line for line in lines if line[0] not in victims]
    found = match_sparse(as_table(rest), as_table(told))
    assert [one for one in found if one.verdict is MatchVerdict.MATCHED] == []
    assert all(one.published_as is None for one in found)


def test_one_accidental_agreement_is_eccentric_and_no_match():
    """The printed test alone names a stranger: all others have a score of 0."""
    lines = [(person, person, 3, FIRST) for person in range(400)]
    told = [(0, 5, 3, FIRST), *((0, 1000 + film, 3, FIRST) for film in range(7))]
    (found,) = match_sparse(as_table(lines), as_table(told))
    assert found.eccentricity > 1.5
    assert found.agreeing == 1
    assert found.verdict is MatchVerdict.CANNOT_TELL
    assert "Cannot tell" in str(found)


def test_what_is_told_again_and_again_is_told_once():
    """A stranger shares one rare thing with somebody, by chance, and it is told five times."""
    films = [str(film) for film in range(200)]
    published: dict[str, list[Any]] = {
        "who": list(range(201)),
        "film": [*films, "rare"],
        "mark": [3] * 201,
    }
    told: dict[str, list[Any]] = {"who": [0] * 5, "film": ["rare"] * 5, "mark": [3] * 5}
    (found,) = match_sparse(
        *(
            sparse_rows(code_rows(one), person="who", item="film", value="mark")
            for one in (published, told)
        )
    )
    assert found.verdict is MatchVerdict.CANNOT_TELL
    assert (found.agreeing, found.known) == (1, 1)


def test_scores_are_the_formula():
    lines = [(0, "a", 4, 10), (1, "a", 1, 10), (2, "a", 5, 100), (0, "b", 2, 0), (3, "c", 1, 1)]
    told = [(9, "a", 5, 25), (9, "b", 2, 0)]
    (found,) = match_sparse(as_table(lines), as_table(told))
    heavy, light = 1 / math.log(2), 1 / math.log(3)
    scores = np.array(
        [
            light * (math.exp(-1 / 1.5) + math.exp(-0.5)) + heavy * 2,
            light * (math.exp(-4 / 1.5) + math.exp(-0.5)),
            light * (1 + math.exp(-75 / 30)),
            0,
        ]
    )
    second, first = sorted(scores)[-2:]
    assert found.eccentricity == pytest.approx((first - second) / scores.std())
    assert (found.agreeing, found.known) == (2, 2)
    # Nobody else agrees in either: 4 people, each with (0 + 1)/5 twice.
    assert found.by_chance == pytest.approx(4 / 25)
    assert found.verdict is MatchVerdict.CANNOT_TELL


def test_who_is_there_twice_is_not_told_apart():
    one = [(0, film, 3, FIRST) for film in range(8)]
    lines = one + [(1, film, 3, FIRST) for film in range(8)]
    lines += [(person, 8, 3, FIRST) for person in range(2, 50)]
    (found,) = match_sparse(as_table(lines), as_table(one))
    assert found.eccentricity == 0
    assert found.verdict is MatchVerdict.CANNOT_TELL


def test_things_alone_match_too():
    rows: dict[str, list] = {"who": [*([0] * 6), *range(1, 60)], "film": [*range(6), *([0] * 59)]}
    told: dict[str, list] = {"who": ["x"] * 6, "film": list(range(6))}
    tables = [sparse_rows(code_rows(one), person="who", item="film") for one in (rows, told)]
    (found,) = match_sparse(*tables)
    assert found.published_as == 0
    assert found.to_json()["verdict"] == "matched"


def test_nulls_agree_with_nothing_and_count_for_nobody():
    rows: dict[str, list] = {
        "who": [None, 0, 0, 1],
        "film": ["a", None, "a", "a"],
        "mark": [5, 5, None, 5],
        "day": [None, None, None, datetime(2026, 1, 1, 12, tzinfo=UTC)],
    }
    table = sparse_rows(code_rows(rows), person="who", **COLUMNS)
    assert (table.people, table.person.size) == ((0, 1), 2)
    (found, other) = match_sparse(table, table)
    assert found.agreeing == 0
    assert other.agreeing == 1
    assert found.verdict is other.verdict is MatchVerdict.CANNOT_TELL
    assert "None" not in repr(table)


def test_one_published_person_cannot_be_told_from_others():
    (found,) = match_sparse(as_table([(0, 1, 1, 1)]), as_table([(0, 1, 1, 1)]))
    assert (found.verdict, found.eccentricity) == (MatchVerdict.CANNOT_TELL, 0)


def test_bad_input_is_refused():
    with pytest.raises(InvalidArgument, match="scale"):
        MatchScales(rating="1e400")
    rows = code_rows({"who": [1], "film": ["a"], "mark": ["good"], "none": [None]})
    with pytest.raises(InvalidArgument, match="cannot be compared"):
        sparse_rows(rows, person="who", item="film", value="mark")
    with pytest.raises(InvalidArgument, match="both a person and a thing"):
        sparse_rows(rows, person="who", item="none")
    with pytest.raises(InvalidArgument, match="no column day"):
        sparse_rows(rows, person="who", item="film", date="day")
    plain = sparse_rows(rows, person="who", item="film")
    with pytest.raises(InvalidArgument, match="same columns"):
        match_sparse(plain, as_table([(0, 1, 1, 1)]))
    with pytest.raises(InvalidArgument, match="scale"):
        MatchScales(rating=0)


def of_series(people: int, rng, *, first: int = 0, of: int = 600):
    """Everybody saw all ten parts of two series, close together, and liked them alike."""
    lines = []
    for person in range(first, first + people):
        for series in uniform_integers(of, 2, rng).tolist():
            day, mark = (int(uniform_integers(n, 1, rng)[0]) for n in (2000, 5))
            lines += [
                (person, f"{series}.{part}", mark, FIRST + timedelta(day)) for part in range(10)
            ]
    return lines


def test_parts_of_a_series_name_no_stranger(rng):
    """Of independent things twenty would not agree by chance; of two series they do."""
    released, strangers = of_series(300, rng), of_series(200, rng, first=1000)
    plain = [[(who, film) for who, film, _, _ in lines] for lines in (released, strangers)]
    tables = [
        sparse_rows(
            code_rows(dict(zip(("who", "film"), zip(*lines, strict=True), strict=True))),
            person="who",
            item="film",
        )
        for lines in plain
    ]
    found = match_sparse(*tables)
    named = sum(one.verdict is MatchVerdict.MATCHED for one in found)
    share = alpha("attacks/match/series", parts=2)
    # A stranger is named who is among the 10 surest of 200; the others have a Beta(10, 190) place.
    most = stats.binom.isf(share, 200, stats.beta.isf(share, 10, 190))
    assert named <= most
    # Twice as many as may be would be named without the stand-ins: about a third of all.
    assert sum(one.tried > 0 for one in found) > 20
    assert all(one.published_as is None for one in found if one.verdict is MatchVerdict.CANNOT_TELL)


def test_what_is_told_of_one_series_alone_names_no_stranger():
    """Each of the published saw a series that one other saw too, on the same days."""
    lines = [
        (person, f"{series}.{part}", 3, FIRST + timedelta(part))
        for person in range(100)
        for series in (f"own {person}", f"shared {person // 2}")
        for part in range(10)
    ]
    told = [
        (1000 + stranger, f"own {stranger}.{part}", 3, FIRST + timedelta(part))
        for stranger in range(20)
        for part in range(8)
    ]
    found = match_sparse(as_table(lines), as_table(told))
    assert {one.verdict for one in found} == {MatchVerdict.CANNOT_TELL}
    assert all(one.strangers == one.tried == 100 for one in found)


def test_whoever_is_there_is_named_beside_series(rng):
    lines = of_series(300, rng, of=60_000)  # so that hardly two saw the same at the same time
    told = [line for victim in range(20) for line in told_of(lines, victim, rng, known=8, wrong=0)]
    found = match_sparse(as_table(lines), as_table(told))
    assert [one.published_as for one in found] == list(range(20))
    assert all(one.tried == 199 for one in found)
