"""Pictures: what is drawn where, over time and in bars, whatever the keys are called."""

import datetime
from pathlib import Path
from typing import Any

import matplotlib
import pytest
from matplotlib import dates

from discreet.core.errors import InvalidArgument
from discreet.releases.release_picture import MOST_BARS, MOST_SERIES, ReleasePicture

DAYS = [datetime.date(2025, month, 1) for month in (3, 1, 2)]


@pytest.fixture(autouse=True)
def no_windows():
    matplotlib.use("agg")
    from matplotlib import pyplot

    yield
    pyplot.close("all")


def picture(keys: list[tuple[Any, ...]], **parts: Any) -> ReleasePicture:
    count, names = len(keys), tuple(f"key {i}" for i in range(len(keys[0]) if keys else 1))
    usual: dict[str, Any] = {
        "values": [10 * i for i in range(1, count + 1)],
        "intervals": [(10 * i - 2, 10 * i + 3) for i in range(1, count + 1)],
    }
    return ReleasePicture(over=names, keys=keys, title="n", **(usual | parts))


def segments(axes: Any) -> list[list[list[float]]]:
    """The ends of all lines that stand for what is not known."""
    return [
        segment.tolist()
        for lines in axes.collections
        if hasattr(lines, "get_segments")
        for segment in lines.get_segments()
    ]


def test_time_goes_from_left_to_right():
    axes = picture([(day,) for day in DAYS]).draw()
    (line, _) = axes.lines
    assert list(line.get_xdata()) == sorted(map(dates.date2num, DAYS))
    assert list(line.get_ydata()) == [20, 30, 10]
    first = dates.date2num(DAYS[1])
    assert [[first, 18.0], [first, 23.0]] in segments(axes)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("key 0", "n")


def test_moments_stand_between_days():
    moments = [datetime.datetime(2025, 1, 1, 12), datetime.datetime(2025, 1, 1, 6)]  # noqa: DTZ001
    axes = picture([(moment,) for moment in moments]).draw()
    early, late = axes.lines[0].get_xdata()
    assert late - early == 0.25


def test_other_keys_are_lines_of_their_own():
    keys = [(day, place) for place in ("north", "$south$") for day in DAYS]
    axes = picture(keys).draw()
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["north", "$south$"]
    one, _, other, _ = axes.lines
    assert not set(one.get_xdata()) & set(other.get_xdata())
    many = [(DAYS[0], str(place)) for place in range(MOST_SERIES + 1)]
    assert len(picture(many).draw().patches) == MOST_SERIES + 1


def test_a_row_without_a_time_is_not_drawn():
    axes = picture([*((day,) for day in DAYS), (None,)]).draw()
    assert len(axes.lines[0].get_xdata()) == 3
    assert "1 without a time not drawn" in axes.get_xlabel()


@pytest.mark.parametrize(
    "keys", [[(day,) for day in DAYS[:2]], [("a",), ("b",)]], ids=["time", "bars"]
)
def test_two_lines_tell_noise_and_all(keys):
    totals = [(3, 14), (None, None)]
    axes = picture(keys, totals=totals).draw()
    along = 1 if isinstance(keys[0][0], datetime.date) else 0
    drawn = [sorted(end[along] for end in segment) for segment in segments(axes)]
    assert [8, 13] in drawn
    assert [3, 14] in drawn
    # The other has no end on either side: it goes as far as there is room, to two arrows.
    assert [-11.5, 34.5] in drawn
    marks = [
        found.get_offsets().tolist() for found in axes.collections if hasattr(found, "get_sizes")
    ]
    points = [point[along] for offsets in marks for point in offsets]
    assert {-11.5, 34.5} <= set(points)


def test_what_is_far_away_does_not_hide_the_rest():
    axes = picture([("a",)], totals=[(0, 10**30)]).draw()
    assert axes.get_xlim()[1] < 100


def test_unknown_noise_is_hollow_and_no_value_is_nothing():
    keys = [(day,) for day in DAYS]
    axes = picture(keys, values=[1, None, 2], intervals=[None, None, (1, 3)]).draw()
    assert len(axes.lines[0].get_xdata()) == 2
    assert "hollow" in axes.get_title(loc="left")
    assert [
        bar.get_width() for bar in picture([("a",)], values=[None], intervals=[None]).draw().patches
    ] == [0]


@pytest.mark.parametrize(
    "key", ["$5 to $10", r"$\\bad{$", "a" * 500, "\u202eleft", "two\nlines", ""]
)
def test_keys_may_be_called_anything(key, tmp_path):
    path = tmp_path / "picture.png"
    axes = picture([(key,), (DAYS[0],)]).draw(path=path)
    assert path.read_bytes().startswith(b"\x89PNG")
    (label, _) = (tick.get_text() for tick in axes.get_yticklabels())
    assert len(label) <= 40
    assert "\n" not in label


def test_numbers_that_no_float_holds_are_drawn_at_the_edge():
    axes = picture([("a",)], values=[-(10**400)], intervals=[(-(10**401), 0)]).draw()
    assert axes.patches[0].get_width() == -1e300


def test_a_calendar_ends():
    ends = (datetime.date.min, datetime.date.max)
    for drawn in (
        picture([(day,) for day in ends]).draw(),
        picture([("a",)], values=[DAYS[0]], intervals=[ends], totals=[(None, None)]).draw(),
    ):
        drawn.figure.canvas.draw()


def test_axes_may_be_given():
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    assert picture([("a",)]).draw(axes) is axes
    assert len(axes.patches) == 1


def test_files_need_no_pyplot(tmp_path: Path):
    from matplotlib import pyplot

    picture([("a",)]).draw(path=tmp_path / "picture.svg")
    assert not pyplot.get_fignums()
    picture([("a",)]).draw()
    assert len(pyplot.get_fignums()) == 1


def test_too_many_rows_are_refused():
    with pytest.raises(InvalidArgument, match="from 1 to 100 rows"):
        picture([(str(i),) for i in range(MOST_BARS + 1)]).draw()
    picture([(DAYS[0] + datetime.timedelta(days=i),) for i in range(MOST_BARS + 1)]).draw()
